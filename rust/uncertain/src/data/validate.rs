//! The one place where data is checked. Nothing after it looks for NaN or negative variances.
//!
//! Here are single numbers and the names that errors use; matrices are in covariance/matrices.rs.
//!
//! Every row is read once, in parallel, and the first offending row in row order is reported.
//! Good data stays where it is: a d x d matrix is tested in a scratch copy of its own size.

use crate::data::Rows;
use crate::error::{Error, Result};
use crate::parallel;
use crate::simd::{Element, of_type};

/// Name of the data in error messages: column names, or arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// The means.
    pub means: String,
    /// The covariances, standard deviations, variances, precisions or factors.
    pub covariances: String,
    /// The variances beside a factor.
    pub diagonal: String,
}

impl Names {
    /// The name of a kind's array: the first, or what is beside it.
    pub(crate) fn field_label(&self, at: usize) -> &str {
        if at == 0 { &self.covariances } else { &self.diagonal }
    }
}

impl Default for Names {
    fn default() -> Self {
        Self { means: "means".into(), covariances: "cov".into(), diagonal: "var".into() }
    }
}

/// Condition on a single number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    Finite,
    Variance,
    /// >= 0 with a finite square.
    StandardDeviation,
    /// Finite square.
    Factor,
}

/// The largest number with a finite square, rounded down.
const LARGEST_ROOT: f64 = 1.34e154;

impl Rule {
    #[inline(always)]
    fn holds(self, x: f64) -> bool {
        match self {
            Self::Finite => x.abs() < f64::INFINITY,
            Self::Variance => (0.0..f64::INFINITY).contains(&x),
            Self::StandardDeviation => (0.0..=LARGEST_ROOT).contains(&x),
            Self::Factor => x.abs() <= LARGEST_ROOT,
        }
    }

    fn error(self, what: &str, row: usize, column: usize, value: f64) -> Error {
        let what = what.to_string();
        if !value.is_finite() {
            Error::NotFinite { what, row, column, value }
        } else if value < 0.0 && self != Self::Factor {
            Error::Negative { what, row, column, value }
        } else {
            Error::Data(format!("{what}: row {row}, element {column} is {value:e}; its square is not a finite number"))
        }
    }
}

/// Every number of `values` must obey `rule`.
pub(crate) fn elements(values: &Rows, what: &str, rule: Rule) -> Result<()> {
    let width = values.width();
    let results = parallel::map_parts(values.n_rows(), |part| {
        for (first, segment) in values.stored_segments(part) {
            let wrong = of_type!(segment.stored(), segment => match rule {
                Rule::Finite => first_wrong(segment, |x| Rule::Finite.holds(x)),
                Rule::Variance => first_wrong(segment, |x| Rule::Variance.holds(x)),
                Rule::StandardDeviation => first_wrong(segment, |x| Rule::StandardDeviation.holds(x)),
                Rule::Factor => first_wrong(segment, |x| Rule::Factor.holds(x)),
            });
            if let Some((at, value)) = wrong {
                return Err(rule.error(what, first + at / width, at % width, value));
            }
        }
        Ok(())
    })?;
    results.into_iter().collect()
}

/// The first number that does not hold, and its place.
fn first_wrong(values: &[impl Element], holds: impl Fn(f64) -> bool + Copy) -> Option<(usize, f64)> {
    if all(values, holds) {
        return None;
    }
    values.iter().map(|x| x.wide()).enumerate().find(|(_, x)| !holds(*x))
}

/// Without a branch inside, so that it runs at the speed of memory.
#[inline(always)]
pub(super) fn all(values: &[impl Element], holds: impl Fn(f64) -> bool) -> bool {
    values.chunks(1024).all(|chunk| chunk.iter().fold(true, |fine, x| fine & holds(x.wide())))
}
