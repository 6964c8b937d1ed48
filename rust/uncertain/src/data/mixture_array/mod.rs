//! [`MixtureArray`]: n rows, each a mixture of a few Gaussians, sum_c v_ic N(x_ic, S_ic).
//!
//! Idea: the components of all rows are one [`GaussianArray`], of any kind, and two vectors say which of them are a
//! row (offsets, as in an Arrow list) and with which weights. So every kernel of this library that passes over
//! Gaussian rows passes over components, and memory is counted in components. A sum over a row's
//! distribution is a sum over its components, exactly:
//!
//! - a fit that minimises expected losses is the fit to the components as rows, which keep the label of their row and
//!   have its weight times v_ic ([`MixtureArray::labels`], [`MixtureArray::targets`]);
//! - an answer is the average of the answers of the components (`state/folding.rs`, the one place that folds);
//! - the kernel of two rows is the double sum of the kernels of their components (`probabilistic_kernel::folded`).
//!
//! Rejected: a seventh kind of covariance (a component has a mean, too), and rows of as many components each
//! (padding is computed, and a row of 2 peaks beside one of 30 draws is what people have).

mod fold;

use std::ops::Range;
use std::sync::Arc;

use crate::data::covariance::{Diagonal, packed_len};
use crate::data::weights::TakeRows;
use crate::data::{Covariances, GaussianArray, Labels, Rows, Targets, Unit, Weights};
use crate::error::{Error, Result};
use crate::{memory, parallel};

pub(crate) use fold::Fold;

/// Weights of a row may miss 1 by so much, which is rounding of single precision; they are divided by their sum.
const ROUNDING: f64 = 1e-5;
/// Components of one row at most.
const MOST: usize = 1_000_000;

/// n rows that are mixtures of Gaussians in d dimensions; cheap to clone and to slice.
///
/// ```
/// use uncertain::MixtureArray;
/// use uncertain::ndarray::arr1;
/// use uncertain::prelude::*;
///
/// # fn main() -> Result<()> {
/// // A redshift with two peaks, and one with a single peak.
/// let components = GaussianArray::from_std(arr1(&[0.4, 2.1, 0.9]), arr1(&[0.05, 0.2, 0.1]))?;
/// let data = MixtureArray::new(components, vec![0, 2, 3], vec![0.7, 0.3, 1.0])?;
/// assert_eq!((data.n_rows(), data.components().n_rows()), (2, 3));
///
/// let moments = data.collapse()?;
/// assert!((moments.means().at(0, 0) - (0.7 * 0.4 + 0.3 * 2.1)).abs() < 1e-15);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct MixtureArray {
    components: GaussianArray,
    /// Row i has the components `offsets[i] .. offsets[i + 1]`.
    offsets: Arc<[usize]>,
    weights: Arc<[f64]>,
}

impl PartialEq for MixtureArray {
    fn eq(&self, other: &Self) -> bool {
        self.components == other.components && self.offsets == other.offsets && self.weights == other.weights
    }
}

impl From<&GaussianArray> for MixtureArray {
    /// Rows of one component each.
    fn from(rows: &GaussianArray) -> Self {
        let n = rows.n_rows();
        Self { components: rows.clone(), offsets: (0..=n).collect(), weights: vec![1.0; n].into() }
    }
}

impl From<&Self> for MixtureArray {
    fn from(rows: &Self) -> Self {
        rows.clone()
    }
}

impl MixtureArray {
    /// Row i has the components `offsets[i] .. offsets[i + 1]`; `weights` are theirs, >= 0, of every row with sum 1.
    ///
    /// # Errors
    /// Offsets that do not begin with 0, descend, or do not end with the number of components; a row without
    /// components; a weight that is negative or no number; weights whose sum is not 1.
    pub fn new(components: GaussianArray, offsets: Vec<usize>, mut weights: Vec<f64>) -> Result<Self> {
        let total = components.n_rows();
        if weights.len() != total {
            return Err(Error::shape("weights", format!("{total}, one per component"), weights.len()));
        }
        if offsets.first() != Some(&0) || offsets.last() != Some(&total) {
            let ends = format!("{:?} and {:?}", offsets.first(), offsets.last());
            return Err(Error::shape("offsets", format!("a first one of 0 and a last one of {total}"), ends));
        }
        for (row, pair) in offsets.windows(2).enumerate() {
            let &[from, to] = pair else { continue };
            if from >= to {
                return Err(Error::Data(format!(
                    "row {row} has no components (offsets {from} and {to}); a row needs one at least: leave it out"
                )));
            }
            if to - from > MOST {
                return Err(Error::Data(format!(
                    "row {row} has {} components, more than {MOST}; take fewer draws of it, or fit a mixture of a few \
                     components to them (uncertainty.from_draws)",
                    to - from
                )));
            }
            let own = weights.get_mut(from..to).ok_or_else(|| {
                Error::shape("offsets", format!("ascending numbers up to {total}"), format!("{to} for row {row}"))
            })?;
            normalise(row, own)?;
        }
        Ok(Self { components, offsets: offsets.into(), weights: weights.into() })
    }

    /// From parts that are known to fit.
    pub(crate) fn from_checked(components: GaussianArray, offsets: Arc<[usize]>, weights: Arc<[f64]>) -> Self {
        Self { components, offsets, weights }
    }

    /// These rows, whose components became others.
    pub(crate) fn with_components(&self, components: GaussianArray) -> Self {
        Self { components, ..self.clone() }
    }

    /// These components with other weights, which sum to 1 over every row.
    pub(crate) fn with_weights(&self, weights: Vec<f64>) -> Self {
        Self { weights: weights.into(), ..self.clone() }
    }

    /// The components of all rows, row after row.
    #[must_use]
    pub fn components(&self) -> &GaussianArray {
        &self.components
    }

    /// Where the components of every row begin; one more for the end.
    #[must_use]
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The weight of every component in its row.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Dimension d of every Gaussian.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.components.n_features()
    }

    /// The numbers of the components of a row. Panics when there is no such row, as slices do.
    #[must_use]
    pub fn row(&self, row: usize) -> Range<usize> {
        self.offsets[row]..self.offsets[row + 1]
    }

    /// Has every row one component?
    #[must_use]
    pub fn is_gaussian(&self) -> bool {
        self.n_rows() == self.components.n_rows()
    }

    /// The row of every component.
    #[must_use]
    pub fn row_numbers(&self) -> Vec<u32> {
        let mut numbers = vec![0; self.components.n_rows()];
        (0..self.n_rows()).for_each(|row| numbers[self.row(row)].fill(row as u32));
        numbers
    }

    /// Bytes of a row, on average.
    #[must_use]
    pub fn row_bytes(&self) -> usize {
        let own = self.components.row_bytes() + size_of::<f64>();
        (own * self.components.n_rows()).div_ceil(self.n_rows().max(1)) + size_of::<usize>()
    }

    /// Rows `range`; the components share the memory.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let offsets = &self.offsets[range.start..=range.end];
        let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
        Self {
            components: self.components.slice(first..last),
            offsets: offsets.iter().map(|at| at - first).collect(),
            weights: self.weights[first..last].into(),
        }
    }

    /// The rows with these numbers, copied.
    ///
    /// # Errors
    /// A row that does not exist.
    pub fn take(&self, rows: &[usize]) -> Result<Self> {
        if let Some(&row) = rows.iter().find(|&&i| i >= self.n_rows()) {
            return Err(Error::Data(format!("row {row} does not exist: there are {} rows", self.n_rows())));
        }
        let numbers = self.component_numbers(rows);
        let mut offsets = vec![0];
        rows.iter().fold(0, |at, &row| {
            let next = at + self.row(row).len();
            offsets.push(next);
            next
        });
        let weights = numbers.iter().map(|&c| self.weights[c]).collect();
        Ok(Self::from_checked(self.components.take(&numbers)?, offsets.into(), weights))
    }

    /// The numbers of the components of these rows.
    pub(crate) fn component_numbers(&self, rows: &[usize]) -> Vec<usize> {
        rows.iter().flat_map(|&row| self.row(row)).collect()
    }

    /// Marks of the components from those of their rows, n x d (missing features, limits).
    ///
    /// # Errors
    /// Another number of marks.
    pub fn marks_of_components<T: Copy>(&self, marks: &[T]) -> Result<Vec<T>> {
        let (n, d) = (self.n_rows(), self.n_features());
        if marks.len() != n * d {
            return Err(Error::shape("marks of features", format!("{n} x {d}"), marks.len()));
        }
        Ok(self.row_numbers().iter().flat_map(|&row| &marks[row as usize * d..][..d]).copied().collect())
    }

    /// The distribution of these features alone, in this order.
    ///
    /// # Errors
    /// As in [`GaussianArray::columns`].
    pub fn columns(&self, columns: &[usize]) -> Result<Self> {
        Ok(self.with_components(self.components.columns(columns)?))
    }

    /// The rows of all arrays below each other.
    ///
    /// # Errors
    /// As in [`GaussianArray::concat`].
    pub fn concat(pieces: &[Self]) -> Result<Self> {
        let components: Vec<GaussianArray> = pieces.iter().map(|piece| piece.components.clone()).collect();
        let components = GaussianArray::concat(&components)?;
        let mut offsets = vec![0];
        for piece in pieces {
            let before = offsets.last().copied().unwrap_or(0);
            offsets.extend(piece.offsets[1..].iter().map(|at| before + at));
        }
        let weights = pieces.iter().flat_map(|piece| piece.weights.iter().copied()).collect();
        Ok(Self::from_checked(components, offsets.into(), weights))
    }

    /// The features of all arrays beside each other, row by row, independent: every component of one with every
    /// component of the others.
    ///
    /// # Errors
    /// As in [`GaussianArray::hstack`]; a row with more than a million components.
    pub fn hstack(pieces: &[Self]) -> Result<Self> {
        let Some(first) = pieces.first() else {
            return Err(Error::Data("nothing to stack: the list of arrays is empty".into()));
        };
        let n = first.n_rows();
        if let Some((at, other)) = pieces.iter().enumerate().find(|(_, p)| p.n_rows() != n) {
            return Err(Error::shape(format!("array {at} of the list to stack"), format!("{n} rows"), other.n_rows()));
        }
        let mut offsets = vec![0_usize];
        for row in 0..n {
            let count = pieces.iter().try_fold(1_usize, |all, p| all.checked_mul(p.row(row).len()));
            let Some(count) = count.filter(|count| *count <= MOST) else {
                return Err(Error::Data(format!(
                    "row {row} would have more than {MOST} components, those of one array with those of the others; \
                     collapse some of the arrays before"
                )));
            };
            offsets.push(offsets[row] + count);
        }
        memory::ask(offsets[n], pieces.len() * size_of::<usize>())?;
        let mut numbers: Vec<Vec<usize>> = pieces.iter().map(|_| Vec::with_capacity(offsets[n])).collect();
        let mut weights = Vec::with_capacity(offsets[n]);
        for row in 0..n {
            for at in 0..offsets[row + 1] - offsets[row] {
                // The digits of `at`, the last array's running fastest.
                let (mut rest, mut weight) = (at, 1.0);
                for (piece, numbers) in pieces.iter().zip(&mut numbers).rev() {
                    let own = piece.row(row);
                    let component = own.start + rest % own.len();
                    rest /= own.len();
                    numbers.push(component);
                    weight *= piece.weights[component];
                }
                weights.push(weight);
            }
        }
        let taken = pieces.iter().zip(&numbers).map(|(piece, numbers)| piece.components.take(numbers));
        let components = GaussianArray::hstack(&taken.collect::<Result<Vec<_>>>()?)?;
        Ok(Self::from_checked(components, offsets.into(), weights.into()))
    }

    /// One Gaussian per row with the mean and the covariance of its mixture,
    ///
    /// ```text
    /// x_i = sum_c v_ic x_ic,    S_i = sum_c v_ic (S_ic + (x_ic - x_i)(x_ic - x_i)')
    /// ```
    ///
    /// Rows of one component are their component, whatever its kind; else there is a variance for a single feature,
    /// and a full matrix for several.
    ///
    /// # Errors
    /// No memory for the matrices.
    pub fn collapse(&self) -> Result<GaussianArray> {
        if self.is_gaussian() {
            return Ok(self.components.clone());
        }
        let (n, d) = (self.n_rows(), self.n_features());
        let (rows, covariances) = (self.components.means(), self.components.covariances());
        let means = Rows::written(n, d, |row, out| {
            for c in self.row(row) {
                out.iter_mut().zip(&*rows.row(c)).for_each(|(m, x)| *m += self.weights[c] * x);
            }
            Ok(())
        })?;
        let packed = || vec![0.0; packed_len(d)];
        let triangles = Rows::written_with(n, packed_len(d), packed, |packed, row, out| {
            let mean = means.row(row);
            for c in self.row(row) {
                covariances.triangle(c, d, packed);
                let (weight, x) = (self.weights[c], rows.row(c));
                let mut at = 0;
                for i in 0..d {
                    for j in 0..=i {
                        out[at] += weight * (packed[at] + (x[i] - mean[i]) * (x[j] - mean[j]));
                        at += 1;
                    }
                }
            }
            Ok(())
        })?;
        let covariances = match d {
            1 => Diagonal { values: triangles, unit: Unit::Variance }.into(),
            _ => Covariances::triangles_unchecked(triangles),
        };
        Ok(GaussianArray::from_checked(means, covariances))
    }

    /// The skewness of every feature's mixture, row by row; 0 where it has no width.
    ///
    /// ```text
    /// sum_c v_c [ (m_c - m)^3 + 3 (m_c - m) s_c^2 ] / s^3
    /// ```
    ///
    /// # Errors
    /// No memory.
    pub fn skewness(&self) -> Result<Vec<f64>> {
        let (d, covariances) = (self.n_features(), self.components.covariances());
        let moments = || (vec![0.0; d], vec![0.0; d], vec![0.0; d]);
        parallel::new_rows_with(self.n_rows(), d, moments, |(mean, square, variances), row, out| {
            mean.fill(0.0);
            square.fill(0.0);
            for c in self.row(row) {
                mean.iter_mut().zip(&*self.components.means().row(c)).for_each(|(m, x)| *m += self.weights[c] * x);
            }
            for c in self.row(row) {
                let (v, x) = (self.weights[c], self.components.means().row(c));
                covariances.variances(c, variances);
                for j in 0..d {
                    let (off, own) = (x[j] - mean[j], variances[j]);
                    square[j] += v * (off * off + own);
                    out[j] += v * off * (off * off + 3.0 * own);
                }
            }
            for (out, square) in out.iter_mut().zip(square) {
                *out = if *square > 0.0 { *out / (*square * square.sqrt()) } else { 0.0 };
            }
            Ok(())
        })
    }

    /// Labels of the components from those of the rows: their classes, their weights times the components', and
    /// groups that keep a row whole where rows are held out.
    ///
    /// # Errors
    /// Labels of another number of rows.
    pub fn labels(&self, labels: &Labels) -> Result<Labels> {
        labels.check_rows(self.n_rows())?;
        labels.for_components(&self.row_numbers(), &self.weights)
    }

    /// Targets of the components from those of the rows, with their weights times the components'.
    ///
    /// # Errors
    /// Targets of another number of rows.
    pub fn targets(&self, targets: &Targets) -> Result<Targets> {
        targets.check_rows(self.n_rows())?;
        targets.for_components(&self.row_numbers(), &self.weights)
    }

    /// Weights of the components: weights of their rows (1 if `None`) times their shares.
    pub(crate) fn weights_of_components(&self, weights: Option<&Weights>) -> Result<Weights> {
        weights.map_or(Ok(()), |weights| weights.check_rows(self.n_rows()))?;
        let mut own = self.weights.to_vec();
        if let Some(weights) = weights {
            (0..self.n_rows()).for_each(|row| own[self.row(row)].iter_mut().for_each(|v| *v *= weights[row]));
        }
        Weights::new(own)
    }
}

impl TakeRows for MixtureArray {
    fn count(&self) -> usize {
        self.n_rows()
    }

    fn bytes(&self) -> usize {
        self.row_bytes()
    }

    fn pick(&self, rows: &[usize]) -> Result<Self> {
        self.take(rows)
    }

    fn sets(&self) -> Result<Vec<Vec<usize>>> {
        if self.is_gaussian() { self.components.sets() } else { self.collapse()?.sets() }
    }
}

/// Weights of a row with sum 1, or why they are none. A sum of exactly 1 is left as it is.
fn normalise(row: usize, weights: &mut [f64]) -> Result<()> {
    for (at, &value) in weights.iter().enumerate() {
        if !value.is_finite() {
            return Err(Error::NotFinite { what: "weights of components".into(), row, column: at, value });
        }
        if value < 0.0 {
            return Err(Error::Data(format!(
                "weights of components: row {row}, component {at} is {value}; weights must be >= 0"
            )));
        }
    }
    let sum: f64 = weights.iter().sum();
    if !((sum - 1.0).abs() <= ROUNDING) {
        return Err(Error::Data(format!(
            "weights of components: those of row {row} sum to {sum}; they must sum to 1: divide them by their sum"
        )));
    }
    if sum != 1.0 {
        weights.iter_mut().for_each(|weight| *weight /= sum);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
