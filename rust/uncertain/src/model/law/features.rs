//! Laws whose features share errors: rounds of laws whose linear predictors alone do
//! ([`shared_features`](crate::model::shared_features)).

use crate::control::Control;
use crate::data::Modes;
use crate::error::{Error, Result};
use crate::model::law::{ModeEstimates, Model, Observations, ValidParams};
use crate::model::shared_features::{Estimated, FeatureModes, InnerFit, Round};

impl ValidParams {
    pub(super) fn fit_features(&self, problem: &Observations<'_>, control: &Control) -> Result<Model> {
        let Modes { of_targets, of_features, k } = &problem.modes;
        let weight = |i: usize| problem.weights.as_ref().map_or(1.0, |weights| weights[i]);
        let all = FeatureModes::new(problem.rows, of_features, of_targets, *k, weight)?;
        let mut naive = None;
        let (last, round) = all.settled(|round: Option<&Round>| {
            let mut own = Observations { modes: Modes::default(), ..problem.clone() };
            if let Some(round) = round {
                own.rows = (&round.rows).into();
                own.modes = Modes { of_targets: round.modes.clone(), of_features: vec![], k: round.k };
                // A linear predictor has what is taken off a target.
                let known = |i: usize| problem.offsets.as_ref().map_or(0.0, |offsets| offsets[i]);
                own.offsets = Some(round.shift.iter().enumerate().map(|(i, shift)| known(i) - shift).collect());
            }
            let fit = self.fit_all(&own, control)?;
            if fit.mixture.n_components() > 1 {
                return Err(Error::Data("modes of features need n_components=1".into()));
            }
            if round.is_none() {
                naive = Some(fit.naive.clone());
            }
            let (d, p, first) = (fit.mixture.n_features(), fit.law.values.len(), fit.first_coef());
            let std = (first..first + d).map(|j| fit.law.covariance[j * p + j].sqrt()).collect();
            Ok(InnerFit { beta: fit.coef().to_vec(), std, mixture: fit.mixture.clone(), fit })
        })?;
        let (fit, none) = (last.fit, ModeEstimates::default());
        let own = fit.modes.as_ref().unwrap_or(&none);
        let Estimated { modes, covariance, with_law } =
            round.restored(&own.values, &own.covariance, &own.with_law, fit.law.values.len());
        let modes = Some(ModeEstimates { values: modes, covariance, with_law });
        Ok(Model { modes, naive: naive.unwrap_or_else(|| fit.naive.clone()), ..fit })
    }
}
