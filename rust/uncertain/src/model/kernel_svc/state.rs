//! The classifier in files and other languages: its support rows, `dual_coef` ((K - 1) x support rows), `intercept`,
//! and `platt` (pairs x 2) where there are probabilities.

use ndarray::Array2;

use super::{Model, Params, SvcExpansion, ValidParams};
use crate::control::Control;
use crate::data::{Dataset, Incomplete};
use crate::error::{Error, Result};
use crate::model::FitReport;
use crate::model::kernel_machine::{BasisHeader, KernelOrigin, gram, no_path, read, write};
use crate::model::platt::Sigmoid;
use crate::state::{
    About, Arrays, Fitted, OfMixtures, Parts, PenaltyPath, Predictor, as_mixtures, folded_moments, header,
};

header! { basis: Option<BasisHeader>, n_support: Vec<usize>, fits: Vec<FitReport> }

impl Fitted for Model {
    type Params = Params;
    type Header = Header;
    const OF_MIXTURES: OfMixtures = OfMixtures::Own;

    fn fit(params: &ValidParams, data: &Dataset, control: &Control) -> Result<Self> {
        let (rows, labels) = (as_mixtures(data.rows())?, data.labels()?);
        match params.params().kernel {
            KernelOrigin::Probabilistic => params.fit(rows, labels, control),
            KernelOrigin::Precomputed => {
                let expansion = gram(&rows, |kernel| params.fit_kernel(kernel, labels, control))?;
                Ok(Self { basis: None, expansion })
            }
        }
    }

    fn path(params: &ValidParams, penalties: &[f64], data: &Dataset, control: &Control) -> Result<PenaltyPath> {
        let (rows, labels) = (as_mixtures(data.rows())?, data.labels()?);
        match params.params().kernel {
            KernelOrigin::Probabilistic => params.path(rows, labels, penalties, control),
            KernelOrigin::Precomputed => Err(no_path()),
        }
    }

    fn write(&self, _: &ValidParams, arrays: &mut Arrays) -> Header {
        let machine = &self.expansion;
        let basis = write(self.basis.as_ref(), &machine.support, arrays);
        arrays.matrix("dual_coef", &machine.dual_coef);
        arrays.vector("intercept", &machine.intercept);
        Sigmoid::write(machine.platt.as_deref(), arrays);
        Header { basis, n_support: machine.n_support.clone(), fits: machine.fits.clone() }
    }

    fn read(header: Header, _: &ValidParams, parts: &mut Parts<'_>) -> Result<Self> {
        let Header { basis, n_support, fits } = header;
        let (basis, support) = read(basis, parts)?;
        let (k, m, pairs) = (n_support.len(), support.len(), fits.len());
        let sum = n_support.iter().try_fold(0_usize, |sum, &n| sum.checked_add(n));
        if k < 2 || sum != Some(m) || pairs != k * (k - 1) / 2 {
            return Err(Error::ModelFile(format!(
                "{k} classes, {m} support rows and {pairs} reports of pairs do not fit together"
            )));
        }
        let expansion = SvcExpansion {
            support,
            n_support,
            dual_coef: parts.shaped_matrix("dual_coef", [k - 1, m])?,
            intercept: parts.shaped("intercept", &[pairs])?,
            fits,
            platt: Sigmoid::read(pairs, parts)?,
        };
        Ok(Self { basis, expansion })
    }

    fn rows(&self) -> Option<&crate::GaussianArray> {
        self.basis.as_ref().map(|basis| basis.rows())
    }
}

impl Predictor for Model {
    fn about(&self) -> About {
        About::model(self.n_features(), self.n_classes()).with_mixtures(OfMixtures::Own)
    }

    fn decision(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        self.answer(as_mixtures(rows)?, SvcExpansion::decision, control)
    }

    fn decision_distribution(&self, rows: Incomplete<'_>, control: &Control) -> Result<(Array2<f64>, Array2<f64>)> {
        folded_moments(rows, |rows| self.decision_distribution(rows, control))
    }

    fn predict_proba(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        self.answer(as_mixtures(rows)?, SvcExpansion::predict_proba, control)
    }
}
