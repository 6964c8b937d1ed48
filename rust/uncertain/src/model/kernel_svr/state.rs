//! The regressor in files and other languages: its support rows and `dual_coef`.

use ndarray::Array2;

use super::{Model, Params, SvrExpansion, ValidParams};
use crate::control::Control;
use crate::data::{Dataset, Incomplete};
use crate::error::Result;
use crate::model::FitReport;
use crate::model::kernel_machine::{BasisHeader, KernelOrigin, gram, no_path, read, write};
use crate::state::{
    About, Arrays, Fitted, OfMixtures, Parts, PenaltyPath, Predictor, as_mixtures, column, folded_moments, header,
};

header! { basis: Option<BasisHeader>, fit: FitReport }

impl Fitted for Model {
    type Params = Params;
    type Header = Header;
    const OF_MIXTURES: OfMixtures = OfMixtures::Own;

    fn fit(params: &ValidParams, data: &Dataset, control: &Control) -> Result<Self> {
        let (rows, targets) = (as_mixtures(data.rows())?, data.targets()?);
        match params.params().kernel {
            KernelOrigin::Probabilistic => params.fit(rows, targets, control),
            KernelOrigin::Precomputed => {
                let expansion = gram(&rows, |kernel| params.fit_kernel(kernel, targets, control))?;
                Ok(Self { basis: None, expansion })
            }
        }
    }

    fn path(params: &ValidParams, penalties: &[f64], data: &Dataset, control: &Control) -> Result<PenaltyPath> {
        let (rows, targets) = (as_mixtures(data.rows())?, data.targets()?);
        match params.params().kernel {
            KernelOrigin::Probabilistic => params.path(rows, targets, data.groups.as_deref(), penalties, control),
            KernelOrigin::Precomputed => Err(no_path()),
        }
    }

    fn write(&self, _: &ValidParams, arrays: &mut Arrays) -> Header {
        let machine = &self.expansion;
        let basis = write(self.basis.as_ref(), &machine.support, arrays);
        arrays.vector("dual_coef", &machine.dual_coef);
        arrays.vector("intercept", &[machine.intercept]);
        Header { basis, fit: machine.fit.clone() }
    }

    fn read(header: Header, _: &ValidParams, parts: &mut Parts<'_>) -> Result<Self> {
        let (basis, support) = read(header.basis, parts)?;
        let dual_coef = parts.shaped("dual_coef", &[support.len()])?;
        let intercept = parts.shaped("intercept", &[1])?[0];
        Ok(Self { basis, expansion: SvrExpansion { support, dual_coef, intercept, fit: header.fit } })
    }

    fn rows(&self) -> Option<&crate::GaussianArray> {
        self.basis.as_ref().map(|basis| basis.rows())
    }
}

impl Predictor for Model {
    fn about(&self) -> About {
        About::model(self.n_features(), 0).with_mixtures(OfMixtures::Own)
    }

    fn decision(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        Ok(column(self.predict_within(as_mixtures(rows)?, control)?))
    }

    fn decision_distribution(&self, rows: Incomplete<'_>, control: &Control) -> Result<(Array2<f64>, Array2<f64>)> {
        folded_moments(rows, |rows| {
            let (means, stds) = self.predict_distribution(rows, control)?;
            Ok((column(means), column(stds)))
        })
    }
}
