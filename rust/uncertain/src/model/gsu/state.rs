//! SVM-GSU in files and other languages.

use super::{Model, Params, ValidParams};
use crate::control::Control;
use crate::data::Dataset;
use crate::error::Result;
use crate::model::FitReport;
use crate::model::linear::LinearClassifier;
use crate::state::{Arrays, Fitted, HasPredictor, Parts, PenaltyPath, Predictor, RemoteRows, header};

header! { fits: Vec<FitReport>, steps: u64 }

impl Fitted for Model {
    type Params = Params;
    type Header = Header;

    fn fit(params: &ValidParams, data: &Dataset, control: &Control) -> Result<Self> {
        params.fit(data.complete()?, data.labels()?, control)
    }

    fn fit_remote(params: &ValidParams, remote: &RemoteRows<'_>, control: &Control) -> Result<Self> {
        params.fit_remote(remote, control)
    }

    fn partial_fit(params: &ValidParams, before: Option<&Self>, data: &Dataset, control: &Control) -> Result<Self> {
        params.partial_fit(before, data.complete()?, data.labels()?, control)
    }

    fn path(params: &ValidParams, penalties: &[f64], data: &Dataset, control: &Control) -> Result<PenaltyPath> {
        params.path(data.complete()?, data.labels()?, penalties, control)
    }

    fn write(&self, _: &ValidParams, arrays: &mut Arrays) -> Header {
        Header { fits: self.linear.write(arrays), steps: self.steps }
    }

    fn read(header: Header, _: &ValidParams, parts: &mut Parts<'_>) -> Result<Self> {
        Ok(Self { linear: LinearClassifier::read(header.fits, parts)?, steps: header.steps })
    }
}

impl HasPredictor for Model {
    fn predictor(&self) -> &dyn Predictor {
        &self.linear
    }
}
