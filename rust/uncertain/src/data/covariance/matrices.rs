//! Are matrices symmetric and positive semi-definite?
//!
//! Tolerances, all relative to the matrix: elements may differ from their mirror image by
//! [`ASYMMETRY`] of the largest element; eigenvalues down to -[`CLIP`] of the largest eigenvalue are
//! taken for rounding (numbers from text or f32) and set to zero, with a warning; below that the
//! matrix is refused. Values within [`NOISE`] of zero are the rounding of exact arithmetic in
//! double precision (a rank-deficient F F'), change nothing and are left alone.
//!
//! The test itself: S + NOISE tr(S) I has a Cholesky factor for every good matrix, at a tenth of
//! the price of its eigenvalues, which are computed only when that fails. Small matrices are factored eight at a time;
//! what is wrong with any of them is then found out one by one.

use super::triangle::{unpack, unpack_into};
use crate::data::Rows;
use crate::data::validate::all;
use crate::error::{Error, Result};
use crate::linalg::Eigh;
use crate::simd::{LANES, Layout, Pack};
use crate::{parallel, simd};

/// Largest accepted |S_ij - S_ji|, relative to the largest element of S.
pub const ASYMMETRY: f64 = 1e-6;
/// Largest magnitude of a negative eigenvalue that is set to zero, relative to the largest eigenvalue.
pub const CLIP: f64 = 1e-6;
/// Magnitude of a negative eigenvalue, relative to the trace, that is not even worth a warning.
pub const NOISE: f64 = 1e-13;
/// Factor at which a matrix is tested whose trace or eigenvalues overflow: a power of two, so that no bit is lost.
const SMALLER: f64 = 1.0 / (1_u64 << 40) as f64;

/// Is a square matrix symmetric, within [`ASYMMETRY`]? All elements finite?
pub(crate) fn check_square(matrix: &[f64], d: usize, what: &str, row: usize) -> Result<()> {
    // One after the other first: that is how memory is read fastest.
    if !all(matrix, |x| x.is_finite())
        && let Some(column) = matrix.iter().position(|x| !x.is_finite())
    {
        return Err(Error::NotFinite { what: what.into(), row, column, value: matrix[column] });
    }
    // Most matrices are symmetric to the last bit, or nearly: no need for the largest element then.
    let diagonal = (0..d).fold(0.0_f64, |m, i| m.max(matrix[i * d + i]));
    if simd::is_mirrored(matrix, d, ASYMMETRY * diagonal) {
        return Ok(());
    }
    let gap = |i: usize, j: usize| (matrix[j * d + i] - matrix[i * d + j]).abs();
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
    together: Vec<Pack>,
    /// Matrices that come packed.
    squares: Vec<f64>,
    eigh: Option<Eigh>,
}

impl Tester {
    fn new(d: usize) -> Self {
        Self { d, scratch: vec![0.0; d * d], together: vec![], squares: vec![], eigh: None }
    }

    /// Are these matrices, [`LANES`] at most, all fine as they are? If not so, each is looked at by itself.
    fn are_fine(&mut self, values: &[f64], layout: Layout) -> bool {
        let (d, width) = (self.d, layout.width(self.d));
        let fine = |s: &[f64]| match layout {
            Layout::Square => check_square(s, d, "", 0).is_ok(),
            Layout::Packed => all(s, |x| x.is_finite()),
        };
        if d > simd::TOGETHER || !values.chunks_exact(width).all(fine) {
            return false;
        }
        self.together.resize(d * (d + 1) / 2, Pack::ZERO);
        match layout {
            Layout::Square => simd::put_together(values, d, &mut self.together),
            Layout::Packed => {
                self.squares.resize(values.len() / width * d * d, 0.0);
                let squares = self.squares.chunks_exact_mut(d * d).zip(values.chunks_exact(width));
                squares.for_each(|(square, packed)| unpack_into(packed, d, square));
                simd::put_together(&self.squares, d, &mut self.together);
            }
        }
        // Row i of the upper triangle begins with the diagonal.
        let start = |i: usize| i * d - i * i.saturating_sub(1) / 2;
        for (l, s) in values.chunks_exact(width).enumerate() {
            let trace: f64 = (0..d).map(|i| s[layout.row_start(i, d) + i]).sum();
            if !trace.is_finite() {
                return false;
            }
            (0..d).for_each(|i| self.together[start(i)].0[l] += NOISE * trace);
        }
        simd::factor_upper_together(&mut self.together, d).iter().all(|good| *good)
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
        if !trace.is_finite() {
            return self.test_smaller(values, layout, what, row);
        }
        (0..d).for_each(|i| self.scratch[i * d + i] += NOISE * trace);
        if simd::factor_upper(&mut self.scratch, d) {
            return Ok(None);
        }
        let eigh = self.eigh.get_or_insert_with(|| Eigh::new(d));
        eigh.decompose(line)?;
        let (smallest, largest) = (eigh.values[0], eigh.values[d - 1]);
        if !(smallest.is_finite() && largest.is_finite()) {
            return self.test_smaller(values, layout, what, row);
        }
        if smallest >= -NOISE * trace.max(0.0) {
            Ok(None)
        } else if smallest >= -CLIP * largest {
            Ok(Some((eigh.function(|x| x.max(0.0)), smallest)))
        } else {
            Err(Error::NotPositive { what: what.into(), row, eigenvalue: smallest, largest })
        }
    }

    /// [`Self::test`] of numbers near the largest there are: without a bound, every matrix would be within it.
    fn test_smaller(
        &mut self,
        values: &[f64],
        layout: Layout,
        what: &str,
        row: usize,
    ) -> Result<Option<(Vec<f64>, f64)>> {
        let smaller: Vec<f64> = values.iter().map(|v| v * SMALLER).collect();
        let tested = self.test(&smaller, layout, what, row).map_err(|error| match error {
            Error::NotPositive { what, row, eigenvalue, largest } => {
                Error::NotPositive { what, row, eigenvalue: eigenvalue / SMALLER, largest: largest / SMALLER }
            }
            other => other,
        });
        let Some((packed, smallest)) = tested? else { return Ok(None) };
        let mended: Vec<f64> = packed.iter().map(|v| v / SMALLER).collect();
        match mended.iter().position(|v| !v.is_finite()) {
            Some(column) => Err(Error::NotFinite { what: what.into(), row, column, value: mended[column] }),
            None => Ok(Some((mended, smallest / SMALLER))),
        }
    }
}

/// Are all matrices symmetric and positive semi-definite?
pub(super) fn check_full(values: Rows, layout: Layout, d: usize, what: &str) -> Result<(Rows, Vec<String>)> {
    let (width, n) = (values.width(), values.n_rows());
    let parts = parallel::map_fine(n, |part| {
        let mut tester = Tester::new(d);
        let mut mended = vec![];
        for (first, segment) in values.segments(part) {
            let mut fine = false;
            for (k, s) in segment.chunks_exact(width).enumerate() {
                let row = first + k;
                if k.is_multiple_of(LANES) {
                    fine = tester.are_fine(&segment[k * width..segment.len().min((k + LANES) * width)], layout);
                }
                if fine {
                    continue;
                }
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
        return Ok((values, vec![]));
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
    Ok((values.with_rows(&changed)?, vec![warning]))
}

/// [`check_full`] of one matrix, as a packed triangle; what comes back replaces it.
pub(super) fn check_shared(packed: &[f64], d: usize, what: &str) -> Result<Option<(Vec<f64>, String)>> {
    if let Some(column) = packed.iter().position(|x| !x.is_finite()) {
        return Err(Error::NotFinite { what: what.into(), row: 0, column, value: packed[column] });
    }
    let what = format!("{what} (one matrix for all rows)");
    let mended = Tester::new(d).test(packed, Layout::Packed, &what, 0)?;
    Ok(mended.map(|(packed, smallest)| {
        let warning = format!(
            "{what}: the covariance matrix had a slightly negative eigenvalue ({smallest:e}), taken for rounding and \
             set to zero"
        );
        (packed, warning)
    }))
}
