//! The regression in files and other languages.

use super::{Params, ValidParams};
use crate::control::Control;
use crate::data::Dataset;
use crate::error::Result;
use crate::model::FitReport;
use crate::model::linear::LinearRegressor;
use crate::state::{Arrays, Fitted, Parts, PenaltyPath, RemoteRows, header};

header! { fit: FitReport }

impl Fitted for LinearRegressor {
    type Params = Params;
    type Header = Header;

    fn fit(params: &ValidParams, data: &Dataset, control: &Control) -> Result<Self> {
        params.fit(data.complete()?, data.targets()?, control)
    }

    fn fit_remote(params: &ValidParams, remote: &RemoteRows<'_>, control: &Control) -> Result<Self> {
        params.fit_remote(remote, control)
    }

    fn path(params: &ValidParams, penalties: &[f64], data: &Dataset, control: &Control) -> Result<PenaltyPath> {
        let (rows, targets) = (data.complete()?, data.targets()?);
        params.path(rows, targets, data.groups.as_deref(), penalties, control)
    }

    fn write(&self, _: &ValidParams, arrays: &mut Arrays) -> Header {
        Header { fit: self.write(arrays) }
    }

    fn read(header: Header, _: &ValidParams, parts: &mut Parts<'_>) -> Result<Self> {
        Self::read(header.fit, parts)
    }
}
