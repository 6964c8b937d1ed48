//! The regression in files and other languages: the mixture of features and target, the target last; `coef` (d),
//! `intercept` (1), `scatter` (1) of a single component, and their standard errors `coef_std`, `intercept_std`, `scatter_std`
//! as far as they are known; and what is known [`Beside`] the law.

use ndarray::Array2;

use super::{Beside, Errors, Law, Model, Params, ValidParams, conditional, fit_remote};
use crate::control::Control;
use crate::data::{Dataset, Incomplete};
use crate::deconvolution::{Mixture, Observed, ReportHeader, log_sum};
use crate::density::Densities;
use crate::error::{Error, Result};
use crate::model::line::SharedErrors;
use crate::state::{About, Arrays, Fitted, OfMixtures, Parts, Predictor, RemoteRows, column};

impl Fitted for Model {
    type Params = Params;
    type Header = Option<ReportHeader>;
    const OF_MIXTURES: OfMixtures = OfMixtures::Own;

    fn fit(params: &ValidParams, data: &Dataset, control: &Control) -> Result<Self> {
        let Some(targets) = &data.targets else {
            return Err(Error::Data("a regression needs the targets of the rows".into()));
        };
        let shared = SharedErrors { modes: data.modes.clone(), groups: data.groups.clone() };
        super::fit(params, data.rows(), targets, &shared, control)
    }

    fn fit_remote(params: &ValidParams, remote: &RemoteRows<'_>, control: &Control) -> Result<Self> {
        fit_remote(params, remote, control)
    }

    fn write(&self, _: &ValidParams, arrays: &mut Arrays) -> Option<ReportHeader> {
        self.mixture.write(arrays);
        if let Some(law) = &self.law {
            arrays.vector("coef", &law.coef);
            arrays.vector("intercept", &[law.intercept]);
            arrays.vector("scatter", &[law.scatter]);
            if let Some(errors) = &law.errors {
                arrays.vector("coef_std", &errors.coef);
                if !errors.covariance.is_empty() {
                    arrays.put("covariance", &[law.coef.len() + 1; 2], errors.covariance.as_slice());
                }
                arrays.vector("intercept_std", &[errors.intercept]);
                errors.scatter.iter().for_each(|std| arrays.vector("scatter_std", &[*std]));
            }
        }
        self.beside.iter().for_each(|beside| beside.write(self.n_features(), arrays));
        self.profile.iter().for_each(|ends| arrays.aside("profile", ends));
        self.undetermined.iter().for_each(|shares| arrays.aside("undetermined", shares));
        self.report.as_ref().map(|report| report.write(arrays))
    }

    fn read(progress: Option<ReportHeader>, _: &ValidParams, parts: &mut Parts<'_>) -> Result<Self> {
        let mut model = Self::new(Mixture::read(parts)?)?;
        let d = model.n_features();
        if let Some(law) = &mut model.law {
            *law = Law {
                coef: parts.shaped("coef", &[d])?,
                intercept: parts.shaped("intercept", &[1])?[0],
                scatter: parts.shaped("scatter", &[1])?[0],
                errors: None,
            };
            if let Some(coef) = parts.optional_shaped("coef_std", &[d])? {
                let intercept = parts.shaped("intercept_std", &[1])?[0];
                let scatter = parts.optional_shaped("scatter_std", &[1])?.map(|std| std[0]);
                let covariance = parts.optional_shaped("covariance", &[d + 1, d + 1])?.unwrap_or_default();
                law.errors = Some(Errors { covariance, coef, intercept, scatter });
            }
        }
        if model.law.is_some() {
            let beside = Beside::read(d, parts)?;
            model.beside = (beside != Beside::default()).then_some(beside);
        }
        model.report = progress.map(|progress| progress.read(parts)).transpose()?;
        Ok(model)
    }
}

impl Predictor for Model {
    fn about(&self) -> About {
        About::model(self.n_features(), 0).with_limits().with_mixtures(OfMixtures::Likelihood)
    }

    fn decision(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        Ok(column(self.densities(rows, control)?.moments().0))
    }

    fn decision_distribution(&self, rows: Incomplete<'_>, control: &Control) -> Result<(Array2<f64>, Array2<f64>)> {
        let (means, stds) = self.densities(rows, control)?.moments();
        Ok((column(means), column(stds)))
    }

    fn densities(&self, rows: Incomplete<'_>, control: &Control) -> Result<Densities> {
        self.densities(rows, control)
    }

    fn joint_densities(&self, rows: Incomplete<'_>, control: &Control) -> Result<Option<Densities>> {
        self.scaled(rows, |rows| conditional::joint_densities(&self.mixture, rows, control)).map(Some)
    }

    /// Of the features.
    fn log_likelihood(&self, rows: Incomplete<'_>, control: &Control) -> Result<Vec<f64>> {
        let (features, k) = (conditional::feature_marginal(&self.mixture)?, self.mixture.n_components());
        rows.gaussians().check_features(features.n_features())?;
        let logs = self.scaled(rows, |rows| Observed::from_rows(rows, None).log_densities(None, &features, control))?;
        Ok(logs.chunks_exact(k).map(log_sum).collect())
    }
}
