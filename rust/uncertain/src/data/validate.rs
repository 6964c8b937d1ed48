//! The one place where data is checked. Nothing after it looks for NaN or negative variances.
//!
//! Every row is read once, in parallel, and the first offending row in row order is reported.
//! Good data stays where it is: a d x d matrix is tested in a scratch copy of its own size.
//!
//! Tolerances, all relative to the matrix: elements may differ from their mirror image by
//! [`ASYMMETRY`] of the largest element; eigenvalues down to -[`CLIP`] of the largest eigenvalue are
//! taken for rounding (numbers from text or f32) and set to zero, with a warning; below that the
//! matrix is refused. What lies within [`NOISE`] of zero is the rounding of exact arithmetic in
//! double precision (a rank-deficient F F'), changes nothing and is left alone.
//!
//! The test itself: S + NOISE tr(S) I has a Cholesky factor for every good matrix, at a tenth of
//! the price of its eigenvalues, which are computed only when that fails.

use crate::data::covariance::{Full, Isotropic, Layout, LowRank, Shared, packed_len};
use crate::data::{Covariances, Rows, Unit};
use crate::error::{Error, Result};
use crate::linalg::Eigh;
use crate::{parallel, simd};

/// Largest accepted |S_ij - S_ji|, relative to the largest element of S.
pub const ASYMMETRY: f64 = 1e-6;
/// Largest magnitude of a negative eigenvalue that is set to zero, relative to the largest eigenvalue.
pub const CLIP: f64 = 1e-6;
/// Magnitude of a negative eigenvalue, relative to the trace, that is not even worth a warning.
pub const NOISE: f64 = 1e-13;

/// What the error messages call the data: column names, or arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// The means.
    pub means: String,
    /// The covariances, standard deviations, variances, precisions or factors.
    pub covariances: String,
    /// The variances beside a factor.
    pub diagonal: String,
}

impl Default for Names {
    fn default() -> Self {
        Self { means: "means".into(), covariances: "cov".into(), diagonal: "var".into() }
    }
}

/// Check means and covariances; the covariances come back, mended where [`CLIP`] allows, with warnings.
pub(super) fn check(means: &Rows, covariances: Covariances, names: &Names) -> Result<(Covariances, Vec<String>)> {
    let d = means.width();
    elements(means, &names.means, Rule::Finite)?;
    let what = names.covariances.as_str();
    match covariances {
        Covariances::Zero => Ok((Covariances::Zero, vec![])),
        Covariances::Isotropic(Isotropic { ref values, unit }) => {
            elements(values, what, Rule::of(unit))?;
            Ok((covariances, vec![]))
        }
        Covariances::Diagonal(ref k) => {
            elements(&k.values, what, Rule::of(k.unit))?;
            Ok((covariances, vec![]))
        }
        Covariances::LowRank(LowRank { ref factor, ref diagonal, .. }) => {
            elements(factor, what, Rule::Factor)?;
            diagonal.as_ref().map_or(Ok(()), |v| elements(v, &names.diagonal, Rule::Variance))?;
            Ok((covariances, vec![]))
        }
        Covariances::Full(full) => check_full(full, d, what),
        Covariances::Shared(shared) => check_shared(shared, d, what),
    }
}

/// What a single number must be.
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
    pub(crate) fn of(unit: Unit) -> Self {
        match unit {
            Unit::Variance => Self::Variance,
            Unit::StandardDeviation => Self::StandardDeviation,
        }
    }

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
        for (first, segment) in values.segments(part) {
            // Without a branch inside, so that it runs at the speed of memory.
            let fine = match rule {
                Rule::Finite => all(segment, |x| Rule::Finite.holds(x)),
                Rule::Variance => all(segment, |x| Rule::Variance.holds(x)),
                Rule::StandardDeviation => all(segment, |x| Rule::StandardDeviation.holds(x)),
                Rule::Factor => all(segment, |x| Rule::Factor.holds(x)),
            };
            if !fine && let Some(at) = segment.iter().position(|x| !rule.holds(*x)) {
                return Err(rule.error(what, first + at / width, at % width, segment[at]));
            }
        }
        Ok(())
    })?;
    results.into_iter().collect()
}

#[inline(always)]
fn all(values: &[f64], holds: impl Fn(f64) -> bool) -> bool {
    values.chunks(1024).all(|chunk| chunk.iter().fold(true, |fine, x| fine & holds(*x)))
}

/// Is a square matrix its own transpose, within [`ASYMMETRY`]? All elements finite?
pub(super) fn check_square(matrix: &[f64], d: usize, what: &str, row: usize) -> Result<()> {
    if !all(matrix, |x| x.is_finite())
        && let Some(column) = matrix.iter().position(|x| !x.is_finite())
    {
        return Err(Error::NotFinite { what: what.into(), row, column, value: matrix[column] });
    }
    let gap = |i: usize, j: usize| (matrix[j * d + i] - matrix[i * d + j]).abs();
    // Most matrices are symmetric to the last bit, or nearly: no need for the largest element then.
    let diagonal = (0..d).fold(0.0_f64, |m, i| m.max(matrix[i * d + i]));
    let widest = (0..d).map(|i| (0..i).fold(0.0_f64, |m, j| m.max(gap(i, j)))).fold(0.0_f64, f64::max);
    if widest <= ASYMMETRY * diagonal {
        return Ok(());
    }
    let largest = matrix.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    for i in 0..d {
        if let Some(j) = (0..i).find(|&j| gap(i, j) > ASYMMETRY * largest) {
            let (upper, lower) = (matrix[j * d + i], matrix[i * d + j]);
            return Err(Error::NotSymmetric { what: what.into(), row, i: j, j: i, upper, lower });
        }
    }
    Ok(())
}

/// Tests matrices of one size; its workspaces are made once per thread and part.
struct Tester {
    d: usize,
    scratch: Vec<f64>,
    eigh: Option<Eigh>,
}

impl Tester {
    fn new(d: usize) -> Self {
        Self { d, scratch: vec![0.0; d * d], eigh: None }
    }

    /// None: fine as it is. Some: the packed triangle with tiny negative eigenvalues set to zero,
    /// and the smallest eigenvalue there was. `values` is one matrix in this layout.
    fn test(&mut self, values: &[f64], layout: Layout, what: &str, row: usize) -> Result<Option<(Vec<f64>, f64)>> {
        let d = self.d;
        let line = |i: usize| &values[layout.row_start(i, d)..][..i + 1];
        match layout {
            // The upper triangle will do: it is the same, and does not have to be transposed.
            Layout::Square => self.scratch.copy_from_slice(values),
            Layout::Packed => unpack_into(values, d, &mut self.scratch),
        }
        let trace: f64 = (0..d).map(|i| self.scratch[i * d + i]).sum();
        (0..d).for_each(|i| self.scratch[i * d + i] += NOISE * trace);
        if simd::factor_upper(&mut self.scratch, d) {
            return Ok(None);
        }
        let eigh = self.eigh.get_or_insert_with(|| Eigh::new(d));
        eigh.decompose(line)?;
        let (smallest, largest) = (eigh.values[0], eigh.values[d - 1]);
        if smallest >= -NOISE * trace.max(0.0) {
            Ok(None)
        } else if smallest >= -CLIP * largest {
            Ok(Some((eigh.function(|x| x.max(0.0)), smallest)))
        } else {
            Err(Error::NotPositive { what: what.into(), row, eigenvalue: smallest, largest })
        }
    }
}

fn check_full(full: Full, d: usize, what: &str) -> Result<(Covariances, Vec<String>)> {
    let Full { values, layout } = full;
    let (width, n) = (values.width(), values.n_rows());
    let parts = parallel::map_fine(n, |part| {
        let mut tester = Tester::new(d);
        let mut mended = vec![];
        for (first, segment) in values.segments(part) {
            for (k, s) in segment.chunks_exact(width).enumerate() {
                let row = first + k;
                match layout {
                    Layout::Square => check_square(s, d, what, row)?,
                    Layout::Packed => {
                        if let Some(column) = s.iter().position(|x| !x.is_finite()) {
                            return Err(Error::NotFinite { what: what.into(), row, column, value: s[column] });
                        }
                    }
                }
                if let Some((packed, smallest)) = tester.test(s, layout, what, row)? {
                    let matrix = match layout {
                        Layout::Packed => packed,
                        Layout::Square => unpack(&packed, d),
                    };
                    mended.push((row, matrix, smallest));
                }
            }
        }
        Ok(mended)
    })?;
    let mended: Vec<_> = parts.into_iter().flatten().collect();
    if mended.is_empty() {
        return Ok((Covariances::Full(Full { values, layout }), vec![]));
    }
    let smallest = mended.iter().fold(0.0_f64, |m, (_, _, value)| m.min(*value));
    let (first, more) = (mended.iter().take(5).map(|m| m.0.to_string()).collect::<Vec<_>>(), mended.len() > 5);
    let warning = format!(
        "{what}: {} of {n} covariance matrices had a slightly negative eigenvalue (smallest {smallest:e}), taken for \
         rounding and set to zero: row{} {}{}",
        mended.len(),
        if mended.len() == 1 { "" } else { "s" },
        first.join(", "),
        if more { ", ..." } else { "" },
    );
    let changed: Vec<_> = mended.into_iter().map(|(row, matrix, _)| (row, matrix)).collect();
    Ok((Covariances::Full(Full { values: values.with_rows(&changed)?, layout }), vec![warning]))
}

fn check_shared(shared: Shared, d: usize, what: &str) -> Result<(Covariances, Vec<String>)> {
    let packed = &shared.packed;
    if let Some(column) = packed.iter().position(|x| !x.is_finite()) {
        return Err(Error::NotFinite { what: what.into(), row: 0, column, value: packed[column] });
    }
    let what = format!("{what} (one matrix for all rows)");
    let mended = Tester::new(d).test(packed, Layout::Packed, &what, 0)?;
    Ok(match mended {
        None => (Covariances::Shared(shared), vec![]),
        Some((packed, smallest)) => {
            let warning = format!(
                "{what}: the covariance matrix had a slightly negative eigenvalue ({smallest:e}), taken for rounding and \
                 set to zero"
            );
            (Covariances::Shared(Shared { packed: packed.into() }), vec![warning])
        }
    })
}

/// The square matrix of a packed triangle.
pub(crate) fn unpack(packed: &[f64], d: usize) -> Vec<f64> {
    let mut square = vec![0.0; d * d];
    unpack_into(packed, d, &mut square);
    square
}

/// [`unpack`] in place.
pub(crate) fn unpack_into(packed: &[f64], d: usize, square: &mut [f64]) {
    for i in 0..d {
        let line = &packed[packed_len(i)..packed_len(i + 1)];
        square[i * d..=i * d + i].copy_from_slice(line);
        (0..i).for_each(|j| square[j * d + i] = line[j]);
    }
}
