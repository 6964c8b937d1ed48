//! The discriminant in files and other languages: all components class by class with their shares of all rows.

use ndarray::Array2;

use super::{Model, Params, ValidParams};
use crate::control::Control;
use crate::data::{Dataset, Incomplete};
use crate::deconvolution::{Components, Mixture, Observed, ReportHeader, log_sum};
use crate::error::{Error, Result};
use crate::state::{About, Arrays, Fitted, OfMixtures, Parameters, Parts, Predictor, RemoteRows, header};

impl Parameters for Params {
    fn check(self) -> Result<ValidParams> {
        Self::check(self)
    }

    fn control_mut(&mut self) -> Option<&mut Control> {
        self.em.control_mut()
    }
}

header! { n_classes: usize, progress: Option<ReportHeader> }

impl Fitted for Model {
    type Params = Params;
    type Header = Header;
    const OF_MIXTURES: OfMixtures = OfMixtures::Likelihood;

    fn fit(params: &ValidParams, data: &Dataset, control: &Control) -> Result<Self> {
        Ok(params.fit(data.rows(), data.labels()?, control)?.0)
    }

    fn fit_remote(params: &ValidParams, remote: &RemoteRows<'_>, control: &Control) -> Result<Self> {
        params.fit_remote(remote, control)
    }

    fn write(&self, _: &ValidParams, arrays: &mut Arrays) -> Header {
        self.mixture.write(arrays);
        let progress = self.report.as_ref().map(|report| report.write(arrays));
        Header { n_classes: self.n_classes, progress }
    }

    fn read(header: Header, params: &ValidParams, parts: &mut Parts<'_>) -> Result<Self> {
        let Header { n_classes, progress } = header;
        let mixture = Mixture::read(parts)?;
        let (all, each) = (mixture.n_components(), params.params().em.components);
        if !matches!(each, Components::Fixed(k) if n_classes.checked_mul(k) == Some(all)) {
            let why = format!("{all} components cannot be {each:?} for each of {n_classes} classes");
            return Err(Error::ModelFile(why));
        }
        if params.params().priors.as_ref().is_some_and(|priors| priors.len() != n_classes) {
            return Err(Error::ModelFile(format!("its priors are not one for each of {n_classes} classes")));
        }
        let model = Self::new(mixture, n_classes)?;
        Ok(Self { report: progress.map(|progress| progress.read(parts)).transpose()?, ..model })
    }
}

impl Predictor for Model {
    fn about(&self) -> About {
        About::model(self.mixture.n_features(), self.n_classes).with_limits().with_mixtures(OfMixtures::Likelihood)
    }

    fn decision(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        self.decision(rows, control)
    }

    fn decision_distribution(&self, rows: Incomplete<'_>, control: &Control) -> Result<(Array2<f64>, Array2<f64>)> {
        self.decision_distribution(rows, control)
    }

    fn predict_proba(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        self.predict_proba(rows, control)
    }

    fn log_joint(&self, rows: Incomplete<'_>, control: &Control) -> Result<Option<Array2<f64>>> {
        self.matrix(self.log_joint(rows, control)?).map(Some)
    }

    /// Of the features, whatever the class.
    fn log_likelihood(&self, rows: Incomplete<'_>, control: &Control) -> Result<Vec<f64>> {
        rows.gaussians().check_features(self.mixture.n_features())?;
        let logs = Observed::from_rows(rows, None).log_densities(None, &self.mixture, control)?;
        Ok(logs.chunks_exact(self.mixture.n_components()).map(log_sum).collect())
    }

    fn log_proba(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        self.log_proba(rows, control)
    }
}
