//! The discriminant in files and other languages: all components class by class with their shares of all rows.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::{Model, Params, ValidParams};
use crate::control::Control;
use crate::data::Incomplete;
use crate::deconvolution::{Components, Mixture, Progress};
use crate::error::{Error, Result};
use crate::state::{Answers, Arrays, Fitted, Parameters, Parts, Remote, Training};

impl Parameters for Params {
    fn check(self) -> Result<ValidParams> {
        Self::check(self)
    }

    fn set_threads(&mut self, threads: Option<usize>) {
        self.em.threads = threads;
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    n_classes: usize,
    progress: Option<Progress>,
}

impl Fitted for Model {
    type Params = Params;
    type Header = Header;

    fn fit(params: &ValidParams, training: &Training<'_>, control: &Control) -> Result<Self> {
        Ok(params.fit(training.rows, training.labels()?, control)?.0)
    }

    fn fit_remote(params: &ValidParams, remote: &Remote<'_>, control: &Control) -> Result<Self> {
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

    fn answers(&self) -> &dyn Answers {
        self
    }
}

impl Answers for Model {
    fn n_features(&self) -> Option<usize> {
        Some(self.mixture.n_features())
    }

    fn n_classes(&self) -> Option<usize> {
        Some(self.n_classes)
    }

    fn takes_gaps(&self) -> bool {
        true
    }

    fn takes_limits(&self) -> bool {
        true
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

    fn log_proba(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        self.log_proba(rows, control)
    }
}
