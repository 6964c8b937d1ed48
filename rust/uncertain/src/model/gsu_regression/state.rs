//! The regression in files and other languages.

use super::{Params, ValidParams};
use crate::control::Control;
use crate::error::Result;
use crate::model::FitReport;
use crate::model::linear::Regressor;
use crate::state::{Arrays, Fitted, Parts, PenaltyPath, RemoteRows, Training, header};

header! { fit: FitReport }

impl Fitted for Regressor {
    type Params = Params;
    type Header = Header;

    fn fit(params: &ValidParams, training: &Training<'_>, control: &Control) -> Result<Self> {
        params.fit(training.complete()?, training.targets()?, control)
    }

    fn fit_remote(params: &ValidParams, remote: &RemoteRows<'_>, control: &Control) -> Result<Self> {
        params.fit_remote(remote, control)
    }

    fn path(
        params: &ValidParams,
        penalties: &[f64],
        training: &Training<'_>,
        control: &Control,
    ) -> Result<PenaltyPath> {
        let (rows, targets) = (training.complete()?, training.targets()?);
        params.path(rows, targets, training.groups.as_deref(), penalties, control)
    }

    fn write(&self, _: &ValidParams, arrays: &mut Arrays) -> Header {
        Header { fit: self.write(arrays) }
    }

    fn read(header: Header, _: &ValidParams, parts: &mut Parts<'_>) -> Result<Self> {
        Self::read(header.fit, parts)
    }
}
