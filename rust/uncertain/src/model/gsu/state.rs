//! SVM-GSU in files and other languages.

use super::{Model, Params, ValidParams};
use crate::control::Control;
use crate::error::Result;
use crate::model::FitReport;
use crate::model::linear::Classifier;
use crate::state::{Arrays, Fitted, HasPredictor, Parts, PenaltyPath, Predictor, RemoteRows, Training, header};

header! { fits: Vec<FitReport>, steps: u64 }

impl Fitted for Model {
    type Params = Params;
    type Header = Header;

    fn fit(params: &ValidParams, training: &Training<'_>, control: &Control) -> Result<Self> {
        params.fit(training.complete()?, training.labels()?, control)
    }

    fn fit_remote(params: &ValidParams, remote: &RemoteRows<'_>, control: &Control) -> Result<Self> {
        params.fit_remote(remote, control)
    }

    fn partial_fit(
        params: &ValidParams,
        before: Option<&Self>,
        training: &Training<'_>,
        control: &Control,
    ) -> Result<Self> {
        params.partial_fit(before, training.complete()?, training.labels()?, control)
    }

    fn path(
        params: &ValidParams,
        penalties: &[f64],
        training: &Training<'_>,
        control: &Control,
    ) -> Result<PenaltyPath> {
        params.path(training.complete()?, training.labels()?, penalties, control)
    }

    fn write(&self, _: &ValidParams, arrays: &mut Arrays) -> Header {
        Header { fits: self.linear.write(arrays), steps: self.steps }
    }

    fn read(header: Header, _: &ValidParams, parts: &mut Parts<'_>) -> Result<Self> {
        Ok(Self { linear: Classifier::read(header.fits, parts)?, steps: header.steps })
    }
}

impl HasPredictor for Model {
    fn predictor(&self) -> &dyn Predictor {
        &self.linear
    }
}
