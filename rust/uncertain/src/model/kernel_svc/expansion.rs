//! Scores, classes and probabilities from kernel values.

use ndarray::{Array2, ArrayView2};

use crate::data::MixtureArray;
use crate::error::{Error, Result};
use crate::model::FitReport;
use crate::model::one_vs_one;
use crate::model::one_vs_one::{Pair, pairs};
use crate::model::platt::Sigmoid;

/// A fitted classifier on any kernel: f = sum_i a_i K(x_i, .) + b for each pair of classes.
///
/// It knows its support rows by their numbers only. Methods take the kernel between new rows and the support
/// rows, n x (number of support rows), in the order of `support`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SvcExpansion {
    /// Numbers of the support rows among the fitted rows (of mixtures: among their components): those of class 0, of class 1 and so on,
    /// ascending within a class.
    pub support: Vec<u32>,
    /// How many of them each class has.
    pub n_support: Vec<usize>,
    /// Signed coefficients, (K - 1) x support rows. For a row of class i, line j - 1 belongs to the pair
    /// (i, j) when j > i and line j to the pair (j, i) when j < i.
    pub dual_coef: Array2<f64>,
    /// Intercepts of the pairs (0, 1), (0, 2) .. (1, 2) ..
    pub intercept: Vec<f64>,
    /// How the solver ended for each pair.
    pub fits: Vec<FitReport>,
    /// One sigmoid per pair, when probabilities were fitted.
    pub platt: Option<Vec<Sigmoid>>,
}

impl SvcExpansion {
    /// Number of classes.
    #[must_use]
    pub fn n_classes(&self) -> usize {
        self.n_support.len()
    }

    /// For rows that are mixtures: support rows become their components, whose coefficients are the row's times their
    /// weights, so that the kernel with a support row is that with a Gaussian again.
    pub(super) fn spread_over(&mut self, data: &MixtureArray) {
        if data.is_gaussian() {
            return;
        }
        let rows = std::mem::take(&mut self.support);
        let mut first = 0;
        for count in &mut self.n_support {
            let of_class = &rows[first..first + *count];
            first += *count;
            *count = of_class.iter().map(|&row| data.row(row as usize).len()).sum();
        }
        let parts: Vec<(usize, usize)> =
            rows.iter().enumerate().flat_map(|(at, &row)| data.row(row as usize).map(move |c| (at, c))).collect();
        let coef = |line: usize, k: usize| self.dual_coef[[line, parts[k].0]] * data.weights()[parts[k].1];
        self.dual_coef = Array2::from_shape_fn((self.dual_coef.nrows(), parts.len()), |(line, k)| coef(line, k));
        self.support = parts.iter().map(|&(_, c)| c as u32).collect();
    }

    /// The scores of all pairs, n x K (K - 1) / 2.
    pub(crate) fn pair_scores(&self, kernel: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        let m = kernel.ncols();
        if m != self.support.len() {
            return Err(Error::shape("kernel", format!("{} columns, one per support row", self.support.len()), m));
        }
        let mut scores = kernel.dot(&self.pair_coef());
        for mut row in scores.outer_iter_mut() {
            row.iter_mut().zip(&self.intercept).for_each(|(score, b)| *score += b);
        }
        Ok(scores)
    }

    /// The coefficients of every pair, support rows x K (K - 1) / 2.
    pub(super) fn pair_coef(&self) -> Array2<f64> {
        let m = self.support.len();
        let starts: Vec<usize> = (0..=self.n_classes()).map(|i| self.n_support[..i].iter().sum()).collect();
        let mut coef = Array2::zeros((m, self.intercept.len()));
        for (pair, Pair { first, second, .. }) in pairs(self.n_classes()).enumerate() {
            for (class, line) in [(first, second - 1), (second, first)] {
                for s in starts[class]..starts[class + 1] {
                    coef[[s, pair]] = self.dual_coef[[line, s]];
                }
            }
        }
        coef
    }

    /// The scores: n x 1 for two classes, positive for class 1. Otherwise n x K: the pairs a class wins, plus
    /// less than 1/3 for how clearly it wins them (scikit-learn's `decision_function_shape="ovr"`).
    pub(crate) fn decision(&self, kernel: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        Ok(one_vs_one::votes(self.pair_scores(kernel)?, self.n_classes()))
    }

    /// P(class | row), n x K, rows summing to 1: the sigmoid of the score, and for several classes the
    /// coupling of all pairs' sigmoids by Wu, Lin and Weng (JMLR 5, 2004).
    pub(crate) fn predict_proba(&self, kernel: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        let sigmoids = self.platt.as_ref().ok_or_else(Error::no_probabilities)?;
        Ok(one_vs_one::probabilities(self.pair_scores(kernel)?.view(), sigmoids, self.n_classes()))
    }
}
