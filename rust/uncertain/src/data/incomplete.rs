//! [`Incomplete`]: Gaussian rows of which some features may be missing.
//!
//! A [`GaussianArray`] holds finite numbers only, and everything that computes with one relies on that. So gaps
//! are marks beside it, and what can work with them takes `impl Into<Incomplete>`: rows without gaps go in as
//! they are, `&data`. A missing feature is one of infinite variance; its number in the array is never looked at.
//!
//! A limit ("flux < 3.2") is a gap that one more thing is known of: on which side of the number in the array its reading
//! lies. Algorithms with limits ([`Incomplete::limits`]) take them from there; for all others they are gaps.
//!
//! Rows may also be mixtures ([`MixtureArray`]): then the Gaussians are their components, and each of them has the marks
//! of its row. Only what says so ([`OfMixtures::Own`](crate::state::OfMixtures::Own)) ever sees such rows.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use ndarray::{ArrayBase, Data, Ix2};

use crate::data::covariance::{Field, FieldShape};
use crate::data::{GaussianArray, MixtureArray, Rows, Weights};
use crate::error::{Error, Result};

/// Rows to ask about: a `&GaussianArray`, a `&MixtureArray`, or a `&Dataset`, which may have gaps.
#[derive(Debug, Clone, Copy)]
pub struct Incomplete<'a> {
    gaussians: &'a GaussianArray,
    missing: Option<&'a [bool]>,
    limits: Option<&'a [i8]>,
    mixtures: Option<&'a MixtureArray>,
    parts: Option<&'a [u32]>,
}

/// Gaussians or mixtures with their gaps, owned. Made from either (`into`); a data set holds them.
#[derive(Debug, Clone)]
pub struct MarkedRows {
    data: GaussianArray,
    missing: Option<Arc<[bool]>>,
    limits: Option<Arc<[i8]>>,
    parts: Option<Arc<[u32]>>,
    mixtures: Option<MixtureArray>,
}

impl MarkedRows {
    /// The rows, for all that asks about them.
    pub(crate) fn view(&self) -> Incomplete<'_> {
        let rows = Incomplete::from_parts(&self.data, self.missing.as_deref(), self.limits.as_deref());
        Incomplete { parts: self.parts.as_deref(), mixtures: self.mixtures.as_ref(), ..rows }
    }

    /// Adds a mask of gaps, n x d.
    pub(crate) fn with_gaps<S: Data<Elem = bool>>(&self, gaps: &ArrayBase<S, Ix2>) -> Result<Self> {
        let missing = self.marks(gaps, "gaps")?;
        Ok(Self { missing: missing.contains(&true).then_some(missing), ..self.clone() })
    }

    /// Adds limits where there are gaps, n x d.
    pub(crate) fn with_limits<S: Data<Elem = i8>>(&self, limits: &ArrayBase<S, Ix2>) -> Result<Self> {
        let limits = self.marks(limits, "limits of features")?;
        let limited = self.view().with_limits(&limits)?.limits.is_some();
        Ok(Self { limits: limited.then_some(limits), ..self.clone() })
    }

    /// One mark for every number, of mixtures those of its row.
    fn marks<T: Copy, S: Data<Elem = T>>(&self, marks: &ArrayBase<S, Ix2>, what: &str) -> Result<Arc<[T]>> {
        let (n, d) = (self.view().n_rows(), self.data.n_features());
        if marks.dim() != (n, d) {
            return Err(Error::shape(what, format!("{n} x {d}"), format!("{} x {}", marks.nrows(), marks.ncols())));
        }
        let marks: Arc<[T]> = marks.iter().copied().collect();
        match &self.mixtures {
            None => Ok(marks),
            Some(mixtures) => Ok(mixtures.marks_of_components(&marks)?.into()),
        }
    }

    /// Marks components as parts of rows, of which only one is true.
    pub(crate) fn with_parts(self, parts: Vec<u32>) -> Self {
        Self { parts: Some(parts.into()), ..self }
    }

    /// The components of mixtures as rows by themselves.
    pub(crate) fn components(&self) -> Self {
        Self { mixtures: None, parts: None, ..self.clone() }
    }
}

impl From<Incomplete<'_>> for MarkedRows {
    fn from(rows: Incomplete<'_>) -> Self {
        Self {
            data: rows.gaussians.clone(),
            missing: rows.missing.map(Arc::from),
            limits: rows.limits.map(Arc::from),
            parts: rows.parts.map(Arc::from),
            mixtures: rows.mixtures.cloned(),
        }
    }
}

impl From<GaussianArray> for MarkedRows {
    fn from(data: GaussianArray) -> Self {
        Self { data, missing: None, limits: None, parts: None, mixtures: None }
    }
}

impl From<&GaussianArray> for MarkedRows {
    fn from(data: &GaussianArray) -> Self {
        data.clone().into()
    }
}

impl From<MixtureArray> for MarkedRows {
    fn from(mixtures: MixtureArray) -> Self {
        let gaussian = mixtures.is_gaussian();
        Self { mixtures: (!gaussian).then(|| mixtures.clone()), ..mixtures.components().into() }
    }
}

impl From<&MixtureArray> for MarkedRows {
    fn from(mixtures: &MixtureArray) -> Self {
        mixtures.clone().into()
    }
}

impl<'a> From<&'a MixtureArray> for Incomplete<'a> {
    fn from(mixtures: &'a MixtureArray) -> Self {
        Self { mixtures: Some(mixtures).filter(|rows| !rows.is_gaussian()), ..mixtures.components().into() }
    }
}

impl<'a> From<&'a GaussianArray> for Incomplete<'a> {
    /// Nothing is missing.
    fn from(gaussians: &'a GaussianArray) -> Self {
        Self { gaussians, missing: None, limits: None, mixtures: None, parts: None }
    }
}

impl<'a> Incomplete<'a> {
    /// `missing`: n x d marks, row by row.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of marks.
    pub fn new(gaussians: &'a GaussianArray, missing: &'a [bool]) -> Result<Self> {
        Self::from(gaussians).with_missing(missing)
    }

    /// These rows with marks: n x d, of mixtures those of the components, which every one has from its row
    /// ([`MixtureArray::marks_of_components`]).
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of marks.
    pub fn with_missing(self, missing: &'a [bool]) -> Result<Self> {
        let (n, d) = (self.gaussians.n_rows(), self.gaussians.n_features());
        if missing.len() != n * d {
            return Err(Error::shape("marks of missing features", format!("{n} x {d}"), missing.len()));
        }
        Ok(Self { missing: missing.contains(&true).then_some(missing), ..self })
    }

    /// Rows with marks, some of which are limits: n x d, -1 where the reading is below the number of the array,
    /// +1 where it is above, else 0; of mixtures those of the components.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of limits, [`Error::Data`] for one that is not marked as missing, or another
    /// number than these three.
    pub fn with_limits(self, limits: &'a [i8]) -> Result<Self> {
        let (n, d) = (self.gaussians.n_rows(), self.gaussians.n_features());
        if limits.len() != n * d {
            return Err(Error::shape("limits of features", format!("{n} x {d}"), limits.len()));
        }
        let marked = |at: usize| self.missing.is_some_and(|missing| missing[at]);
        if let Some(at) = (0..n * d).find(|&at| limits[at] != 0 && (limits[at].abs() > 1 || !marked(at))) {
            let (row, feature, limit) = (at / d, at % d, limits[at]);
            return Err(Error::Data(format!(
                "limits: row {row}, feature {feature} is {limit}; it must be -1 or 1 where there is no reading, else 0"
            )));
        }
        Ok(Self { limits: limits.iter().any(|limit| *limit != 0).then_some(limits), ..self })
    }

    /// From parts whose sizes fit.
    pub(crate) fn from_parts(
        gaussians: &'a GaussianArray,
        missing: Option<&'a [bool]>,
        limits: Option<&'a [i8]>,
    ) -> Self {
        Self { missing, limits, ..gaussians.into() }
    }

    /// Marks the Gaussians as the components of these rows.
    pub(crate) fn with_mixtures(self, mixtures: &'a MixtureArray) -> Self {
        Self { mixtures: Some(mixtures).filter(|rows| !rows.is_gaussian()), ..self }
    }

    /// The Gaussians as rows by themselves: of mixtures their components.
    pub(crate) fn components(self) -> Self {
        Self { mixtures: None, parts: None, ..self }
    }

    /// Rows, of which every one is a part of the row of this number: a component of a mixture, of which only one is
    /// true. The parts of a row follow each other.
    pub(crate) fn with_parts(self, parts: &'a [u32]) -> Self {
        Self { parts: Some(parts), ..self }
    }

    /// Gaussians of these numbers, which `data` holds, with their marks.
    pub(crate) fn part<'b>(&self, numbers: Range<usize>, data: &'b GaussianArray) -> Incomplete<'b>
    where
        'a: 'b,
    {
        let d = self.gaussians.n_features();
        let own = numbers.start * d..numbers.end * d;
        Incomplete::from_parts(
            data,
            self.missing.map(|marks| &marks[own.clone()]),
            self.limits.map(|limits| &limits[own]),
        )
    }

    /// The row of every part, where rows are mixtures.
    pub(crate) fn parts(&self) -> Option<&'a [u32]> {
        self.parts
    }

    /// Number of rows, whole ones where they are mixtures.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.mixtures.map_or_else(|| self.gaussians.n_rows(), MixtureArray::n_rows)
    }

    /// The mixtures whose components the Gaussians are, where rows are mixtures.
    pub(crate) fn mixtures(&self) -> Option<&'a MixtureArray> {
        self.mixtures
    }

    /// The rows; what they say about missing features means nothing.
    #[must_use]
    pub fn gaussians(&self) -> &'a GaussianArray {
        self.gaussians
    }

    /// The first Gaussian of a row, whose marks are those of the row.
    fn first(&self, row: usize) -> usize {
        self.mixtures.map_or(row, |mixtures| mixtures.offsets()[row])
    }

    /// The marks of the rows where these are of their components.
    pub(crate) fn marks_per_row<T: Copy>(&self, marks: &[T]) -> Vec<T> {
        let d = self.gaussians.n_features();
        (0..self.n_rows()).flat_map(|row| &marks[self.first(row) * d..][..d]).copied().collect()
    }

    /// The marks, n x d, of mixtures one row per component; `None` when nothing is missing.
    #[must_use]
    pub fn missing(&self) -> Option<&'a [bool]> {
        self.missing
    }

    /// The limits, as [`missing`](Self::missing); `None` when there are none.
    #[must_use]
    pub fn limits(&self) -> Option<&'a [i8]> {
        self.limits
    }

    /// The limit of this feature in this row: -1 where its reading is below the number, +1 above, else 0.
    #[must_use]
    pub fn limit(&self, row: usize, feature: usize) -> i8 {
        self.limits.map_or(0, |limits| limits[self.first(row) * self.gaussians.n_features() + feature])
    }

    /// Has this row a limit?
    pub(crate) fn is_limited(&self, row: usize) -> bool {
        let (first, d) = (self.first(row), self.gaussians.n_features());
        self.limits.is_some_and(|limits| limits[first * d..(first + 1) * d].iter().any(|limit| *limit != 0))
    }

    /// Is this feature missing in this row?
    #[must_use]
    pub fn is_missing(&self, row: usize, feature: usize) -> bool {
        self.missing.is_some_and(|m| m[self.first(row) * self.gaussians.n_features() + feature])
    }

    /// A feature that none of these rows has.
    #[must_use]
    pub fn unseen(&self, rows: impl Iterator<Item = usize> + Clone) -> Option<usize> {
        self.missing?;
        (0..self.gaussians.n_features()).find(|&j| rows.clone().all(|i| self.is_missing(i, j)))
    }

    /// Is this feature missing, and no limit? Its number means nothing.
    pub(crate) fn is_filler(&self, row: usize, feature: usize) -> bool {
        self.is_missing(row, feature) && self.limit(row, feature) == 0
    }

    /// The rows with means and covariances of 0 under gaps, so that what stands there moves nowhere.
    pub(crate) fn without_fillers(&self) -> Result<Cow<'a, GaussianArray>> {
        let (data, n, d) = (self.gaussians, self.gaussians.n_rows(), self.gaussians.n_features());
        if self.missing.is_none() {
            return Ok(Cow::Borrowed(data));
        }
        let blank = |values: &Rows, features: &[[usize; 2]]| {
            Rows::written(n, values.width(), |row, out| {
                out.copy_from_slice(&values.row(row));
                let pairs = out.iter_mut().zip(features);
                let fillers = pairs.filter(|(_, [i, j])| self.is_filler(row, *i) || self.is_filler(row, *j));
                fillers.for_each(|(value, _)| *value = 0.0);
                Ok(())
            })
        };
        let each: Vec<[usize; 2]> = (0..d).map(|j| [j, j]).collect();
        let mut fields = vec![];
        for Field { name, values, shape, shared, .. } in data.covariances().fields() {
            let features = match shape {
                FieldShape::PerFeature => each.clone(),
                FieldShape::Factor(rank) => (0..d * rank).map(|at| [at / rank; 2]).collect(),
                FieldShape::Square => (0..d * d).map(|at| [at / d, at % d]).collect(),
                FieldShape::Packed => (0..d).flat_map(|i| (0..=i).map(move |j| [i, j])).collect(),
                FieldShape::One => vec![],
            };
            fields.push((name.to_owned(), if shared { values } else { blank(&values, &features)? }));
        }
        let kind = data.covariances().kind();
        GaussianArray::from_fields(kind, blank(data.means(), &each)?, fields).map(Cow::Owned)
    }

    /// The rows, which must have neither gaps nor limits and be no mixtures.
    pub(crate) fn complete(self) -> Result<&'a GaussianArray> {
        self.unlimited()?;
        if self.mixtures.is_some() {
            return Err(Error::Data(
                "rows that are mixtures came to what takes none; collapse them to Gaussians".into(),
            ));
        }
        match self.missing {
            None => Ok(self.gaussians),
            Some(_) => Err(Error::Data(
                "rows with missing features need an imputer, a denoiser or a discriminant, and the model has none before \
                 they come to a step that does not take them"
                    .into(),
            )),
        }
    }

    /// Refuses rows with limits.
    pub(crate) fn unlimited(self) -> Result<()> {
        match (0..self.n_rows()).find(|&row| self.is_limited(row)) {
            None => Ok(()),
            Some(row) => Err(Error::Data(format!(
                "row {row} has a limit: limits need a denoiser, a discriminant or a regression with a mixture, and the model \
                 has none before they come to a step that does not take them"
            ))),
        }
    }

    /// One Gaussian with the moments of the mixture in the place of every row, with its gaps and limits.
    pub(crate) fn moments(self) -> Result<MarkedRows> {
        let Some(mixtures) = self.mixtures else { return Ok(self.gaussians.into()) };
        Ok(MarkedRows {
            missing: self.missing.map(|marks| self.marks_per_row(marks).into()),
            limits: self.limits.map(|limits| self.marks_per_row(limits).into()),
            ..mixtures.collapse()?.into()
        })
    }

    /// The rows with these numbers, copied, and their marks.
    pub(crate) fn take(&self, rows: &[usize]) -> Result<MarkedRows> {
        let mixtures = self.mixtures.map(|mixtures| mixtures.take(rows)).transpose()?;
        let (data, numbers) = match (&mixtures, self.mixtures) {
            (Some(taken), Some(all)) => (taken.components().clone(), Cow::Owned(all.component_numbers(rows))),
            _ => (self.gaussians.take(rows)?, Cow::Borrowed(rows)),
        };
        let d = self.gaussians.n_features();
        let missing = self.missing.map(|marks| picked(marks, &numbers, d).into());
        let limits = self.limits.map(|limits| picked(limits, &numbers, d).into());
        let parts = self.parts.map(|parts| picked(parts, &numbers, 1).into());
        Ok(MarkedRows { data, missing, limits, parts, mixtures })
    }

    /// Refuses weights of another number of rows, and a feature that is missing in every row of positive weight:
    /// nothing can be learned about it.
    pub(crate) fn check_with(&self, weights: Option<&Weights>) -> Result<()> {
        weights.map_or(Ok(()), |w| w.check_rows(self.n_rows()))?;
        let counts = |i: &usize| weights.is_none_or(|w| w[*i] > 0.0);
        match self.unseen((0..self.n_rows()).filter(counts)) {
            Some(j) if self.limits.is_some() => {
                Err(Error::Data(format!("feature {j} is missing or a limit in every row; leave it out")))
            }
            Some(j) => Err(Error::Data(format!("feature {j} is missing in every row; leave it out"))),
            None => Ok(()),
        }
    }
}

/// The marks of these rows, `d` each.
fn picked<T: Copy>(marks: &[T], rows: &[usize], d: usize) -> Vec<T> {
    rows.iter().flat_map(|&row| &marks[row * d..(row + 1) * d]).copied().collect()
}
