//! Gaussians as plain columns: means, logarithms of the sizes of errors, correlations.
//!
//! ```text
//! x_1 ... x_d,  log10 max(s_1 / t_1, 1e-9) ... log10 max(s_d / t_d, 1e-9),  c_12 c_13 ... c_23 ...
//! ```
//!
//! with the row's standard deviations s, the scale t of every feature, and correlations c (0 where a value is exact or
//! missing). A missing value is NaN, and so is the size of its error. Of rows that are mixtures, which have means and
//! separate covariances, the skewness of every feature may follow the sizes; Gaussians have 0.

use crate::data::Incomplete;
use crate::error::{Error, Result};
use crate::named::named;
use crate::readable::readable;

/// Errors below this, in units of the feature's scale, count as this. Trees that were grown with a larger floor have no
/// threshold below that.
const FLOOR: f64 = 1e-9;

/// Which of them there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Columns {
    /// Means alone.
    Means,
    /// Means and sizes.
    Errors,
    /// Means, sizes and correlations.
    Correlations,
    /// Means, sizes and skewness.
    Skewness,
}

named!(Columns, "columns");

readable! {
    /// Makes the columns.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ErrorColumns {
        /// Which columns there are.
        columns: Columns => Columns,
        /// The unit of every feature's errors.
        scale: Vec<f64> => &[f64],
        /// Columns that become of them.
        n_columns: usize => usize,
    }
}

impl ErrorColumns {
    /// With a scale > 0 per feature.
    ///
    /// # Errors
    /// No features, a scale that is none, or more columns than can be counted.
    pub fn new(columns: Columns, scale: Vec<f64>) -> Result<Self> {
        let d = scale.len();
        if let Some(j) = scale.iter().position(|t| !(t.is_finite() && *t > 0.0)) {
            return Err(Error::Data(format!("feature {j}: the scale of its errors is {:e}", scale[j])));
        }
        let pairs = || d.checked_mul(d.checked_sub(1)?).map(|twice| twice / 2);
        let n_columns = match columns {
            Columns::Means => Some(d),
            Columns::Errors => d.checked_mul(2),
            Columns::Skewness => d.checked_mul(3),
            Columns::Correlations => pairs().and_then(|pairs| d.checked_mul(2)?.checked_add(pairs)),
        };
        match n_columns.filter(|&n| n > 0) {
            Some(n_columns) => Ok(Self { columns, scale, n_columns }),
            None => Err(Error::Data(format!("{d} features cannot become columns"))),
        }
    }

    /// Features of the rows.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.scale.len()
    }

    /// The columns of one row; `skewness`: of all rows that are mixtures.
    pub(super) fn write(&self, rows: &Incomplete<'_>, skewness: Option<&[f64]>, row: usize, out: &mut [f64]) {
        let (data, d) = (rows.gaussians(), self.scale.len());
        let (means, rest) = out.split_at_mut(d);
        means.copy_from_slice(&data.means().row(row));
        if self.columns != Columns::Means {
            let (std, more) = rest.split_at_mut(d);
            if self.columns == Columns::Correlations {
                correlate(rows, row, std, more);
            } else {
                data.covariances().variances(row, std);
            }
            if self.columns == Columns::Skewness {
                match skewness {
                    Some(all) => more.copy_from_slice(&all[row * d..(row + 1) * d]),
                    None => more.fill(0.0),
                }
            }
            for (size, t) in std.iter_mut().zip(&self.scale) {
                *size = (size.sqrt() / t).max(FLOOR).log10();
            }
        }
        for j in (0..d).filter(|&j| rows.is_missing(row, j)) {
            out[j] = f64::NAN;
            if self.columns != Columns::Means {
                out[d + j] = f64::NAN;
            }
            if self.columns == Columns::Skewness {
                out[2 * d + j] = f64::NAN;
            }
        }
    }
}

/// Variances, and correlations in the order 12, 13, ..., 23, ...
fn correlate(rows: &Incomplete<'_>, row: usize, variances: &mut [f64], correlations: &mut [f64]) {
    let d = variances.len();
    let mut packed = vec![0.0; d * (d + 1) / 2];
    rows.gaussians().covariances().triangle(row, d, &mut packed);
    let element = |a: usize, b: usize| packed[b * (b + 1) / 2 + a];
    (0..d).for_each(|j| variances[j] = element(j, j));
    let pairs = (0..d).flat_map(|a| (a + 1..d).map(move |b| (a, b)));
    for ((a, b), out) in pairs.zip(correlations) {
        let product = variances[a].sqrt() * variances[b].sqrt();
        let known = product > 0.0 && !rows.is_missing(row, a) && !rows.is_missing(row, b);
        *out = if known { element(a, b) / product } else { 0.0 };
    }
}
