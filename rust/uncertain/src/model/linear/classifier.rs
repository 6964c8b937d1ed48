//! [`LinearClassifier`]: one hyperplane for two classes, else one per class against the rest.

use ndarray::Array2;

use super::scores;
use crate::data::GaussianArray;
use crate::error::{Error, Result};
use crate::model::platt::Sigmoid;
use crate::model::{FitReport, one_vs_rest};
use crate::solver::Solution;
use crate::state::column;

/// A fitted linear classifier.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearClassifier {
    /// One row of d weights per hyperplane.
    pub coef: Array2<f64>,
    /// One intercept per hyperplane.
    pub intercept: Vec<f64>,
    /// How each fit ended.
    pub fits: Vec<FitReport>,
    /// One sigmoid per hyperplane, when probabilities were fitted.
    pub platt: Option<Vec<Sigmoid>>,
}

impl LinearClassifier {
    /// All weights zero, no reports.
    pub(in crate::model) fn zero(d: usize, hyperplanes: usize) -> Self {
        Self { coef: Array2::zeros((hyperplanes, d)), intercept: vec![0.0; hyperplanes], fits: vec![], platt: None }
    }

    /// The hyperplanes of a solver in d dimensions.
    pub(in crate::model) fn from_solutions(d: usize, solutions: &[Solution], platt: Option<Vec<Sigmoid>>) -> Self {
        let mut model = Self { platt, ..Self::zero(d, solutions.len()) };
        for (k, solution) in solutions.iter().enumerate() {
            model.set(k, &solution.w, solution.b);
        }
        model.fits = solutions.iter().map(FitReport::from).collect();
        model
    }

    /// Put a hyperplane in its place.
    pub(in crate::model) fn set(&mut self, hyperplane: usize, w: &[f64], b: f64) {
        self.coef.row_mut(hyperplane).iter_mut().zip(w).for_each(|(coef, w)| *coef = *w);
        self.intercept[hyperplane] = b;
    }

    /// Number of features d.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.coef.ncols()
    }

    /// Number of classes.
    #[must_use]
    pub fn n_classes(&self) -> usize {
        if self.intercept.len() == 1 { 2 } else { self.intercept.len() }
    }

    /// The d weights of a hyperplane.
    pub(in crate::model) fn weights(&self, hyperplane: usize) -> Vec<f64> {
        self.coef.row(hyperplane).to_vec()
    }

    /// n x (1 or K) numbers, one column per hyperplane.
    fn columns(&self, n: usize, values: impl Fn(usize, &[f64]) -> Result<Vec<f64>>) -> Result<Array2<f64>> {
        let values = |k| scores::finite(values(k, &self.weights(k))?);
        if self.intercept.len() == 1 {
            return Ok(column(values(0)?));
        }
        let mut out = Array2::zeros((n, self.intercept.len()));
        for (k, mut out) in out.columns_mut().into_iter().enumerate() {
            out.iter_mut().zip(values(k)?).for_each(|(out, value)| *out = value);
        }
        Ok(out)
    }

    /// The mean scores w'x_i + b: n x 1 for two classes, n x K otherwise.
    pub(crate) fn decision(&self, data: &GaussianArray) -> Result<Array2<f64>> {
        data.check_features(self.n_features())?;
        self.columns(data.n_rows(), |k, w| scores::means(data, w, self.intercept[k]))
    }

    /// Means and standard deviations of the scores, N(w'x_i + b, w'S_i w), shaped like [`decision`](Self::decision).
    pub(crate) fn decision_distribution(&self, data: &GaussianArray) -> Result<(Array2<f64>, Array2<f64>)> {
        let means = self.decision(data)?;
        let stds = self.columns(data.n_rows(), |_, w| scores::stds(data, w))?;
        Ok((means, stds))
    }

    /// P(class | row), n x K, rows summing to 1: the sigmoid of each score averaged over the row's own Gaussian.
    pub(crate) fn predict_proba(&self, data: &GaussianArray) -> Result<Array2<f64>> {
        let sigmoids = self.platt.as_ref().ok_or_else(Error::no_probabilities)?;
        let (means, stds) = self.decision_distribution(data)?;
        one_vs_rest::probabilities(sigmoids, means.view(), stds.view())
    }
}
