//! The machine in files and other languages: its hyperplanes and `worst_case_accuracy`, one per hyperplane.

use super::{Model, Params, ValidParams};
use crate::control::Control;
use crate::data::Dataset;
use crate::error::Result;
use crate::model::FitReport;
use crate::model::linear::LinearClassifier;
use crate::state::{Arrays, Fitted, HasPredictor, OfMixtures, Parts, Predictor, RemoteRows, header};

header! { fits: Vec<FitReport> }

impl Fitted for Model {
    type Params = Params;
    type Header = Header;
    const OF_MIXTURES: OfMixtures = OfMixtures::Moments;

    fn fit(params: &ValidParams, data: &Dataset, control: &Control) -> Result<Self> {
        params.fit(data.complete()?, data.labels()?, control)
    }

    fn fit_remote(params: &ValidParams, remote: &RemoteRows<'_>, control: &Control) -> Result<Self> {
        params.fit_remote(remote, control)
    }

    fn write(&self, _: &ValidParams, arrays: &mut Arrays) -> Header {
        arrays.vector("worst_case_accuracy", &self.worst_case_accuracy);
        Header { fits: self.linear.write(arrays) }
    }

    fn read(header: Header, _: &ValidParams, parts: &mut Parts<'_>) -> Result<Self> {
        let linear = LinearClassifier::read(header.fits, parts)?;
        let worst_case_accuracy = parts.shaped("worst_case_accuracy", &[linear.intercept.len()])?;
        Ok(Self { linear, worst_case_accuracy })
    }
}

impl HasPredictor for Model {
    fn predictor(&self) -> &dyn Predictor {
        &self.linear
    }
}
