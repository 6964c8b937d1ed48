//! The family in files and other languages. The rows' radii and the history of the fit stay behind in files:
//! predictions need neither.

use super::{Model, Params, ValidParams};
use crate::control::Control;
use crate::data::Dataset;
use crate::error::Result;
use crate::model::FitReport;
use crate::model::linear::LinearClassifier;
use crate::number;
use crate::state::{Arrays, Fitted, HasPredictor, Parts, PenaltyPath, Predictor, RemoteRows, header};

header! {
    fits: Vec<FitReport>,
    /// The radius in use.
    #[serde(with = "number")]
    radius: f64,
}

impl Fitted for Model {
    type Params = Params;
    type Header = Header;

    fn fit(params: &ValidParams, data: &Dataset, control: &Control) -> Result<Self> {
        params.fit(data.complete()?, data.labels()?, control)
    }

    fn fit_remote(params: &ValidParams, remote: &RemoteRows<'_>, control: &Control) -> Result<Self> {
        params.fit_remote(remote, control)
    }

    fn path(params: &ValidParams, penalties: &[f64], data: &Dataset, control: &Control) -> Result<PenaltyPath> {
        params.path(data.complete()?, data.labels()?, penalties, control)
    }

    fn write(&self, params: &ValidParams, arrays: &mut Arrays) -> Header {
        self.radii.iter().enumerate().for_each(|(k, radii)| arrays.aside(format!("radii.{k}"), radii));
        self.history.iter().enumerate().for_each(|(k, steps)| arrays.aside(format!("history.{k}"), steps));
        Header { fits: self.linear.write(arrays), radius: params.radius() }
    }

    fn read(header: Header, _: &ValidParams, parts: &mut Parts<'_>) -> Result<Self> {
        Ok(Self { linear: LinearClassifier::read(header.fits, parts)?, radii: vec![], history: vec![] })
    }
}

impl HasPredictor for Model {
    fn predictor(&self) -> &dyn Predictor {
        &self.linear
    }
}
