//! The fitted model: a feature map and a hyperplane per pair of classes.

use ndarray::{Array2, ArrayView2};

use crate::control::Control;
use crate::data::{MixtureArray, RowSource, Workspace, source};
use crate::error::{Error, Result};
use crate::kernel::features::RandomFeatures;
use crate::model::FitReport;
use crate::model::one_vs_one::{probabilities, votes};
use crate::model::platt::Sigmoid;
use crate::{linalg, parallel};

/// A fitted classifier on features.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Model {
    /// From rows to features.
    pub map: RandomFeatures,
    /// The bandwidth of the kernel.
    pub sigma: f64,
    /// Weights of the features, one row per pair of classes (0, 1), (0, 2) .. (1, 2) ..
    pub coef: Array2<f64>,
    /// Intercepts of the pairs.
    pub intercept: Vec<f64>,
    /// Number of classes.
    pub n_classes: usize,
    /// How the solver ended for each pair.
    pub fits: Vec<FitReport>,
    /// One sigmoid per pair, when probabilities were fitted.
    pub platt: Option<Vec<Sigmoid>>,
    /// Bytes that the fit took beside the rows, at most; 0 for a model from parts.
    pub memory: u64,
}

impl Model {
    /// A model for predictions from its numbers; there are no reports.
    pub(crate) fn from_parts(
        map: RandomFeatures,
        sigma: f64,
        n_classes: usize,
        coef: Array2<f64>,
        intercept: Vec<f64>,
        platt: Option<Vec<Sigmoid>>,
    ) -> Result<Self> {
        let count = n_classes * n_classes.saturating_sub(1) / 2;
        if count == 0 || coef.dim() != (count, map.n_columns()) {
            let expected = format!("{count} x {} for {n_classes} classes", map.n_columns());
            return Err(Error::shape("coef", expected, format!("{:?}", coef.dim())));
        }
        for (what, len) in [("intercept", intercept.len()), ("sigmoids", platt.as_ref().map_or(count, Vec::len))] {
            if len != count {
                return Err(Error::shape(what, format!("{count}, one per pair of classes"), len));
            }
        }
        let coef = coef.as_standard_layout().into_owned();
        Ok(Self { map, sigma, coef, intercept, n_classes, fits: vec![], platt, memory: 0 })
    }

    /// The scores of all pairs, n x K (K - 1) / 2.
    pub(crate) fn pair_scores(&self, data: impl Into<MixtureArray>, control: &Control) -> Result<Array2<f64>> {
        let data = data.into();
        let source = self.map.prepare_mixtures(&data)?;
        let scores = scores(&source, self.coef.view(), &self.intercept, control)?;
        Array2::from_shape_vec((data.n_rows(), self.intercept.len()), scores)
            .map_err(|e| Error::Internal(format!("scores: {e}")))
    }

    /// The scores: n x 1 for two classes, positive for class 1; else n x K as in
    /// [`kernel_svc`](crate::kernel_svc::SvcExpansion::decision).
    pub(crate) fn decision(&self, data: impl Into<MixtureArray>, control: &Control) -> Result<Array2<f64>> {
        Ok(votes(self.pair_scores(data, control)?, self.n_classes))
    }

    /// P(class | row), n x K, rows summing to 1, from the sigmoids of the pairs as in
    /// [`kernel_svc`](crate::kernel_svc::SvcExpansion::predict_proba).
    pub(crate) fn predict_proba(&self, data: impl Into<MixtureArray>, control: &Control) -> Result<Array2<f64>> {
        let sigmoids = self.platt.as_ref().ok_or_else(Error::no_probabilities)?;
        Ok(probabilities(self.pair_scores(data, control)?.view(), sigmoids, self.n_classes))
    }
}

/// z_i'w_k + b_k of every row i and line k of `coef`, row-major.
pub(super) fn scores(
    source: &dyn RowSource,
    coef: ArrayView2<'_, f64>,
    intercept: &[f64],
    control: &Control,
) -> Result<Vec<f64>> {
    let (width, count) = (source.width(), intercept.len());
    // width x count
    let transposed: Vec<f64> = coef.t().iter().copied().collect();
    let mut out = crate::memory::zeros(source.n_rows(), count)?;
    parallel::fill_rows(&mut out, count, |range, out| {
        let (mut workspace, mut block) = (Workspace::default(), vec![]);
        let mut first = range.start;
        for out in out.chunks_mut(source::block_rows(width) * count) {
            control.check()?;
            let n = out.len() / count;
            block.resize(n * width, 0.0);
            source.fill(first..first + n, &mut workspace, &mut block)?;
            linalg::gemm(&block, &transposed, (n, width, count), false, out);
            out.chunks_exact_mut(count).for_each(|row| row.iter_mut().zip(intercept).for_each(|(s, b)| *s += b));
            first += n;
        }
        Ok(())
    })?;
    Ok(out)
}
