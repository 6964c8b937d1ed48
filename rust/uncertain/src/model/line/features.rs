//! Lines whose features share errors: rounds of lines whose targets alone do ([`shared_features`](crate::model::shared_features)).

use crate::control::Control;
use crate::data::{Incomplete, Modes, Targets};
use crate::error::{Error, Result};
use crate::model::shared_features::{Estimated, FeatureModes, InnerFit, Round};
use crate::params::Valid;

use super::{LineFit, Params, SharedErrors};

pub(super) fn fit(
    params: &Valid<Params>,
    rows: Incomplete<'_>,
    targets: &Targets,
    shared: &SharedErrors,
    control: &Control,
) -> Result<LineFit> {
    if targets.feature_covariances().is_some() {
        return Err(Error::Data(
            "modes of features: errors that readings share are not for errors that go with the target's (xy_cov=)"
                .into(),
        ));
    }
    let Modes { of_targets, of_features, k } = &shared.modes;
    let all = FeatureModes::new(rows, of_features, of_targets, *k, |i| targets.weight(i))?;
    let mut naive = None;
    let (last, round) = all.settled(|round: Option<&Round>| {
        let modes = round.map_or_else(Modes::default, |round| Modes {
            of_targets: round.modes.clone(),
            of_features: vec![],
            k: round.k,
        });
        let own = SharedErrors { modes, groups: shared.groups.clone() };
        let mut fit = match round {
            None => params.fit_line(rows, targets, &own, control)?,
            Some(round) => params.fit_line((&round.rows).into(), &targets.shifted(&round.shift)?, &own, control)?,
        };
        if round.is_none() {
            // Least squares of the readings as they are.
            naive = fit.naive.take();
        }
        let p = fit.law.len();
        let std = (1..p).map(|j| fit.covariance[j * p + j].sqrt()).collect();
        Ok(InnerFit { beta: fit.law[1..].to_vec(), std, mixture: fit.mixture.clone(), fit })
    })?;
    let fit = last.fit;
    let Estimated { modes, covariance, with_law } =
        round.restored(&fit.modes, &fit.modes_covariance, &fit.modes_law_covariance, fit.law.len());
    Ok(LineFit { modes, modes_covariance: covariance, modes_law_covariance: with_law, naive, ..fit })
}
