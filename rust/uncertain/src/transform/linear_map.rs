//! [`LinearMap`]: linear combinations of the features, such as colours from magnitudes: x -> x A, hence S -> A'S A.
//!
//! A row is a row vector, A is d x k. The image of a Gaussian under a linear map is a Gaussian, exactly. Its covariance
//! is of the cheapest kind that the matrix allows (a *selection* has one element that is not zero in every column, and
//! never two in a row; columns are *disjoint* if no row of A has two):
//!
//! | kind | selection | disjoint | any matrix |
//! |---|---|---|---|
//! | zero | zero | zero | zero |
//! | isotropic, diagonal | as scaling makes it | diagonal | full |
//! | low-rank | low-rank | low-rank | low-rank; full with variances beside the factor |
//! | shared | shared | shared | shared |
//! | full | full | full | full |
//!
//! Gaps and limits go with their features through a selection with positive elements (others would turn limits around);
//! other matrices refuse them.
//!
//! Every number of a row is computed from that row alone, in the same order wherever the row stands, so that a part of
//! the rows gives the same bits as all of them. That is why there is no matrix product over blocks of rows: small
//! matrices use the kinds' own verbs, larger ones a product per row.

use ndarray::{Array2, ArrayBase, Data, Ix2};

use crate::control::Control;
use crate::data::covariance::{
    BlockVerbs, Diagonal, Direction, Factor, LowRank, Structure, packed_index, packed_len, unpack_into,
};
use crate::data::validate::{Rule, elements};
use crate::data::{Covariances, Dataset, GaussianArray, Incomplete, Rows, Unit};
use crate::error::{Error, Result};
use crate::memory::zeros;
use crate::readable::readable;
use crate::simd::{self, Power};
use crate::state::{About, Arrays, Fitted, Parts, Predictor, Valid};
use crate::{linalg, parallel, with_kind};

readable! {
    /// x -> x A.
    ///
    /// ```
    /// use uncertain::ndarray::arr2;
    /// use uncertain::prelude::*;
    /// use uncertain::transform::LinearMap;
    ///
    /// # fn main() -> Result<()> {
    /// let magnitudes = GaussianArray::from_std(arr2(&[[20.0, 19.5, 19.25]]), arr2(&[[0.3, 0.4, 0.0]]))?;
    /// // u - g and g - r: one column for each.
    /// let colours = LinearMap::new(&arr2(&[[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]]))?.transform(&magnitudes)?;
    /// assert_eq!(colours.means().to_array(), arr2(&[[0.5, 0.25]]));
    /// assert!((colours.cov()?[[0, 0, 1]] + 0.16).abs() < 1e-15); // both have the error of g, with opposite signs
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct LinearMap {
        /// A, d x k, row by row.
        matrix: Vec<f64> => &[f64],
        /// A', k x d.
        transposed: Vec<f64>,
        k: usize,
        /// Rows of A that are not zero.
        used: Vec<u32>,
        selection: Option<Selection>,
    }
}

/// The feature behind every column, and what it is multiplied by, where each has one.
#[derive(Debug, Clone, PartialEq)]
struct Selection {
    features: Vec<usize>,
    factors: Vec<f64>,
}

impl Selection {
    /// Of A', k x d.
    fn find(transposed: &[f64], d: usize) -> Option<Self> {
        let one = |column: &[f64]| {
            let j = column.iter().position(|a| *a != 0.0)?;
            column[j + 1..].iter().all(|a| *a == 0.0).then_some((j, column[j]))
        };
        let (features, factors): (Vec<_>, _) =
            transposed.chunks_exact(d).map(one).collect::<Option<Vec<_>>>()?.into_iter().unzip();
        let mut seen = vec![false; d];
        let own = features.iter().all(|&j| !std::mem::replace(&mut seen[j], true));
        own.then_some(Self { features, factors })
    }
}

impl LinearMap {
    /// By a matrix of d x k: d features in, k out.
    ///
    /// # Errors
    /// No elements, or some that are not finite.
    pub fn new<S: Data<Elem = f64>>(matrix: &ArrayBase<S, Ix2>) -> Result<Self> {
        let (matrix, k): (Vec<f64>, _) = (matrix.iter().copied().collect(), matrix.ncols());
        if matrix.is_empty() {
            return Err(Error::shape("matrix", "a row for every feature and at least one column", matrix.len()));
        }
        if let Some(at) = matrix.iter().position(|a| !a.is_finite()) {
            return Err(Error::NotFinite { what: "matrix".into(), row: at / k, column: at % k, value: matrix[at] });
        }
        let rows = || matrix.chunks_exact(k);
        let transposed: Vec<f64> = (0..k).flat_map(|a| rows().map(move |row| row[a])).collect();
        let used = (0..).zip(rows()).filter(|(_, row)| row.iter().any(|a| *a != 0.0)).map(|(j, _)| j).collect();
        let selection = Selection::find(&transposed, matrix.len() / k);
        Ok(Self { matrix, transposed, k, used, selection })
    }

    /// Features d of the rows it takes.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.matrix.len() / self.k
    }

    /// Features k of what it makes of them.
    #[must_use]
    pub fn n_features_out(&self) -> usize {
        self.k
    }

    /// The rows' images, of the kinds above.
    pub(crate) fn transform(&self, data: &GaussianArray, control: &Control) -> Result<GaussianArray> {
        let d = self.n_features();
        data.check_features(d)?;
        if let Some(Selection { features, factors }) = &self.selection {
            let picked = data.columns(features)?;
            let means = picked.means().times(factors)?;
            elements(&means, "mapped means", Rule::Finite)?;
            return Ok(GaussianArray::from_checked(means, picked.covariances().scaled(factors)?));
        }
        let means = data.means().mapped(self.k, |x, out| self.combine(x, Power::One, out))?;
        elements(&means, "mapped means", Rule::Finite)?;
        let covariances = self.covariances(data, control)?;
        let fields = covariances.fields();
        fields.iter().try_for_each(|field| elements(&field.values, "mapped covariances", field.rule))?;
        Ok(GaussianArray::from_checked(means, covariances))
    }

    /// Does every feature go to one column at most? Then independent features stay independent.
    fn disjoint(&self) -> bool {
        self.matrix.chunks_exact(self.k).all(|row| row.iter().filter(|a| **a != 0.0).count() <= 1)
    }

    /// `out[a] = sum_j x_j A_ja`, or with the squares of A: variances of independent features.
    fn combine(&self, x: &[f64], power: Power, out: &mut [f64]) {
        simd::add_slices(&self.matrix, self.k, &self.used, x, power, out);
    }

    fn covariances(&self, data: &GaussianArray, control: &Control) -> Result<Covariances> {
        let (covariances, disjoint) = (data.covariances(), self.disjoint());
        Ok(match (covariances.structure(), covariances.common()) {
            (Structure::Zero, _) => Covariances::Zero,
            (Structure::Isotropic | Structure::Diagonal, _) if disjoint => {
                Diagonal { values: self.variances(data, control)?, unit: Unit::Variance }.into()
            }
            (Structure::Factor(k), _) if disjoint || k.diagonal.is_none() => {
                let diagonal = k.diagonal.map(|v| v.mapped(self.k, |v, out| self.combine(v, Power::Two, out)));
                LowRank { factor: self.factors(&k)?, rank: k.rank, diagonal: diagonal.transpose()? }.into()
            }
            (Structure::Dense, Some(_)) => {
                let mut out = vec![0.0; packed_len(self.k)];
                with_kind!(covariances, kind => products(kind, 0, &self.directions(covariances), &mut out));
                Covariances::triangle_unchecked(out)
            }
            _ => Covariances::triangles_unchecked(self.triangles(data, control)?),
        })
    }

    /// Of independent features that go to one column each.
    fn variances(&self, data: &GaussianArray, control: &Control) -> Result<Rows> {
        let variances = || vec![0.0; self.n_features()];
        Rows::written_with(data.n_rows(), self.k, variances, |variances, row, out| {
            control.check()?;
            data.covariances().variances(row, variances);
            self.combine(variances, Power::Two, out);
            Ok(())
        })
    }

    /// A'F of every row, k x r.
    fn factors(&self, low: &Factor<'_>) -> Result<Rows> {
        let size = (self.k, self.n_features(), low.rank);
        low.factor.mapped(self.k * low.rank, |f, out| linalg::gemm(&self.transposed, f, size, false, out))
    }

    /// A'S A of every row.
    fn triangles(&self, data: &GaussianArray, control: &Control) -> Result<Rows> {
        let (covariances, width) = (data.covariances(), packed_len(self.k));
        let columns = self.directions(covariances);
        let large = self.n_features() * self.k >= LARGE;
        let mut out = zeros(data.n_rows(), width)?;
        parallel::fill_rows(&mut out, width, |rows, out| {
            let mut matrices = Matrices::new(self);
            for (first, out) in rows.step_by(STRIP).zip(out.chunks_mut(STRIP * width)) {
                control.check()?;
                if large {
                    let rows = (first..).zip(out.chunks_exact_mut(width));
                    rows.for_each(|(row, out)| matrices.write(covariances, row, out));
                } else {
                    with_kind!(covariances, kind => products(kind, first, &columns, out));
                }
            }
            Ok(())
        })?;
        Ok(Rows::from_owned(out, data.n_rows(), width))
    }

    /// The columns of A, prepared for the verbs.
    fn directions(&self, covariances: &Covariances) -> Vec<Direction> {
        self.transposed.chunks_exact(self.n_features()).map(|a| covariances.along(a)).collect()
    }
}

/// Rows at a time: few enough that they stay in the cache while all columns of A pass over them.
const STRIP: usize = 16;

/// The triangles of A'S A of rows from `first` on: a'S b = (S a)'b for the columns a, b of A.
fn products(kind: &impl BlockVerbs, first: usize, columns: &[Direction], out: &mut [f64]) {
    let (d, width) = (columns[0].w.len(), packed_len(columns.len()));
    let n = out.len() / width;
    let mut memo = vec![0.0; n * kind.memo_width(d)];
    let (mut images, mut values) = (vec![0.0; n * d], vec![0.0; n]);
    for (a, column) in columns.iter().enumerate() {
        let mut put = |b: usize, values: &[f64]| {
            out.chunks_exact_mut(width).zip(values).for_each(|(out, v)| out[packed_index(a, b)] = *v);
        };
        kind.quads(first, column, &mut memo, &mut values);
        put(a, &values);
        kind.images(first, n, column, &memo, &mut images);
        for (b, other) in columns[..a].iter().enumerate() {
            simd::dot_slices(&images, &other.w, Power::One, &mut values);
            put(b, &values);
        }
    }
}

/// Elements of A from which a matrix product per row pays: for full matrices half of the verbs' processor time at
/// 8 x 8, two fifths at 40 x 10, a sixth at 200 x 50 (measured on AVX-512).
const LARGE: usize = 64;

/// A'S A of one row after the other by matrix products, with workspaces.
struct Matrices<'a> {
    map: &'a LinearMap,
    packed: Vec<f64>,
    square: Vec<f64>,
    /// A'S, k x d.
    image: Vec<f64>,
    /// A'S A, k x k.
    product: Vec<f64>,
}

impl<'a> Matrices<'a> {
    fn new(map: &'a LinearMap) -> Self {
        Self { map, packed: vec![], square: vec![], image: vec![], product: vec![] }
    }

    fn write(&mut self, covariances: &Covariances, row: usize, out: &mut [f64]) {
        let (map, d, k) = (self.map, self.map.n_features(), self.map.k);
        self.image.resize(k * d, 0.0);
        self.product.resize(k * k, 0.0);
        if covariances.structure().is_diagonal() {
            self.square.resize(d, 0.0);
            covariances.variances(row, &mut self.square);
            for (image, column) in self.image.chunks_exact_mut(d).zip(map.transposed.chunks_exact(d)) {
                (0..d).for_each(|j| image[j] = self.square[j] * column[j]);
            }
        } else {
            self.packed.resize(packed_len(d), 0.0);
            self.square.resize(d * d, 0.0);
            covariances.triangle(row, d, &mut self.packed);
            unpack_into(&self.packed, d, &mut self.square);
            linalg::gemm(&map.transposed, &self.square, (k, d, d), false, &mut self.image);
        }
        linalg::gemm(&self.image, &map.matrix, (k, d, k), false, &mut self.product);
        for (a, line) in self.product.chunks_exact(k).enumerate() {
            let triangle = &mut out[packed_index(a, 0)..=packed_index(a, a)];
            triangle.copy_from_slice(&line[..=a]);
            // Rounding may leave -1e-17 for a direction without variance.
            triangle[a] = triangle[a].max(0.0);
        }
    }
}

/// A fit has nothing to choose: the matrix is given, else it is the identity.
pub use crate::state::NoParams as Params;

impl Fitted for LinearMap {
    type Params = Params;
    type Header = ();

    fn fit(_: &Valid<Params>, data: &Dataset, _: &Control) -> Result<Self> {
        let d = data.rows().gaussians().n_features();
        Self::new(&Array2::eye(d))
    }

    fn write(&self, _: &Valid<Params>, arrays: &mut Arrays) {
        arrays.put("matrix", &[self.n_features(), self.k], self.matrix.as_slice());
    }

    fn read((): (), _: &Valid<Params>, parts: &mut Parts<'_>) -> Result<Self> {
        Self::new(&parts.matrix("matrix")?)
    }
}

impl Predictor for LinearMap {
    fn about(&self) -> About {
        let about = About::transform(self.n_features()).to(self.k);
        let positive = |selection: &Selection| selection.factors.iter().all(|factor| *factor > 0.0);
        if self.selection.as_ref().is_some_and(positive) { about.keeping_gaps() } else { about }
    }

    fn picked(&self) -> Option<&[usize]> {
        self.selection.as_ref().map(|selection| selection.features.as_slice())
    }

    fn transform(&self, rows: Incomplete<'_>, control: &Control) -> Result<GaussianArray> {
        match self.about().takes_gaps {
            true => self.transform(&*rows.without_fillers()?, control),
            false => self.transform(rows.complete()?, control),
        }
    }
}
