//! [`Model`]: what a fit leaves behind, and what it says about new rows.

use ndarray::Array2;

use crate::data::GaussianArray;
use crate::error::{Error, Result};
use crate::model::platt::Sigmoid;
use crate::model::{one_vs_rest, score};
use crate::solver::{Solution, Status};

/// How the fit of one hyperplane ended.
#[derive(Debug, Clone, PartialEq)]
pub struct FitReport {
    /// J(w, b) on the fitted rows.
    pub objective: f64,
    /// Certified relative duality gap: J - min J <= gap * J. NaN where it is not known.
    pub gap: f64,
    /// Iterations over all rows (SGD: steps).
    pub n_iter: usize,
    /// How the solver ended.
    pub status: Status,
}

impl FitReport {
    pub(crate) fn of(solution: &Solution) -> Self {
        let &Solution { objective, gap, iterations, status, .. } = solution;
        Self { objective, gap, n_iter: iterations, status }
    }
}

/// A fitted SVM-GSU: one hyperplane for two classes, else one per class against the rest.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Model {
    /// One row of d weights per hyperplane.
    pub coef: Array2<f64>,
    /// One intercept per hyperplane.
    pub intercept: Vec<f64>,
    /// How each fit ended.
    pub fits: Vec<FitReport>,
    /// One sigmoid per hyperplane, when probabilities were fitted.
    pub platt: Option<Vec<Sigmoid>>,
    /// SGD steps behind the hyperplanes, where [`partial_fit`](super::ValidParams::partial_fit) goes on.
    pub steps: u64,
}

impl Model {
    /// All weights zero, no reports.
    pub(in crate::model) fn zero(d: usize, hyperplanes: usize) -> Self {
        Self {
            coef: Array2::zeros((hyperplanes, d)),
            intercept: vec![0.0; hyperplanes],
            fits: vec![],
            platt: None,
            steps: 0,
        }
    }

    /// Number of features d.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.coef.ncols()
    }

    /// Number of classes.
    #[must_use]
    pub fn n_classes(&self) -> usize {
        if self.is_binary() { 2 } else { self.intercept.len() }
    }

    fn is_binary(&self) -> bool {
        self.intercept.len() == 1
    }

    pub(super) fn weights(&self, hyperplane: usize) -> Vec<f64> {
        self.coef.row(hyperplane).to_vec()
    }

    fn check(&self, data: &GaussianArray) -> Result<()> {
        if data.n_features() == self.n_features() {
            Ok(())
        } else {
            let expected = format!("{} features, as the model was fitted on", self.n_features());
            Err(Error::shape("data", expected, data.n_features()))
        }
    }

    /// n x (1 or K) numbers, one column per hyperplane.
    fn columns(&self, n: usize, column: impl Fn(usize, &[f64]) -> Result<Vec<f64>>) -> Result<Array2<f64>> {
        let mut out = Array2::zeros((n, self.intercept.len()));
        for k in 0..self.intercept.len() {
            let values = column(k, &self.weights(k))?;
            out.column_mut(k).iter_mut().zip(values).for_each(|(out, value)| *out = value);
        }
        Ok(out)
    }

    /// The mean scores w'x_i + b: n x 1 for two classes, n x K otherwise.
    pub fn decision(&self, data: &GaussianArray) -> Result<Array2<f64>> {
        self.check(data)?;
        self.columns(data.n_rows(), |k, w| score::means(data, w, self.intercept[k]))
    }

    /// Means and standard deviations of the scores, N(w'x_i + b, w'S_i w), shaped like [`decision`](Self::decision).
    pub fn decision_distribution(&self, data: &GaussianArray) -> Result<(Array2<f64>, Array2<f64>)> {
        let means = self.decision(data)?;
        let stds = self.columns(data.n_rows(), |_, w| score::stds(data, w))?;
        Ok((means, stds))
    }

    /// The class code of every row: the sign of the score, or the class of the largest one.
    pub fn predict(&self, data: &GaussianArray) -> Result<Vec<u32>> {
        Ok(one_vs_rest::classes(self.decision(data)?.view()))
    }

    /// P(class | row), n x K, rows summing to 1: the sigmoid of each score averaged over the row's own Gaussian.
    ///
    /// # Errors
    /// [`Error::Data`] when the model was fitted without probabilities.
    pub fn predict_proba(&self, data: &GaussianArray) -> Result<Array2<f64>> {
        let Some(sigmoids) = &self.platt else {
            return Err(Error::Data("this model has no probabilities: fit it with probability = true".into()));
        };
        let (means, stds) = self.decision_distribution(data)?;
        one_vs_rest::probabilities(sigmoids, means.view(), stds.view())
    }
}
