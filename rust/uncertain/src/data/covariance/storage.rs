//! How the numbers of a kind lie in memory, in tables and in model files, and how they move with the features.

use super::{Covariances, Unit, packed_len};
use crate::data::Rows;
use crate::data::validate::{Names, Rule, elements};
use crate::error::Result;

/// How the numbers of one row are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldShape {
    /// One number.
    One,
    /// One number per feature.
    PerFeature,
    /// d x r, row-major.
    Factor(usize),
    /// d x d, row-major.
    Square,
    /// The lower triangle of a symmetric matrix, row by row.
    Packed,
}

impl FieldShape {
    /// The sizes from the outside in; none for a single number.
    #[must_use]
    pub fn sizes(self, d: usize) -> Vec<usize> {
        match self {
            Self::One => vec![],
            Self::PerFeature => vec![d],
            Self::Factor(rank) => vec![d, rank],
            Self::Square => vec![d, d],
            Self::Packed => vec![packed_len(d)],
        }
    }
}

/// One of the arrays that a kind consists of.
#[derive(Debug, Clone)]
pub struct Field {
    /// Name for users: the argument of that name gives it back.
    pub name: &'static str,
    /// A row for each mean, or one.
    pub values: Rows,
    /// How the numbers of a row are arranged.
    pub shape: FieldShape,
    /// Is it one row for all means?
    pub shared: bool,
    pub(crate) rule: Rule,
}

impl Field {
    pub(crate) fn new(name: &'static str, values: &Rows, shape: FieldShape, rule: Rule) -> Self {
        Self { name, values: values.clone(), shape, shared: false, rule }
    }
}

/// The arrays of a kind on their way back from a file, by name.
pub(crate) type Fields<'a> = dyn FnMut(&str) -> Option<Rows> + 'a;

/// A kind as its numbers.
pub(crate) trait Storage: Clone + Into<Covariances> {
    /// The arrays it consists of, the most important one first.
    fn fields(&self) -> Vec<Field>;

    /// From its [`fields`](Self::fields) by name; `None` when one is missing. Sizes are checked later.
    fn from_fields(fields: &mut Fields<'_>, d: usize) -> Option<Self>;

    /// This kind with other rows: sliced or picked.
    fn map_rows(&self, change: &dyn Fn(&Rows) -> Rows) -> Self;

    /// D S_i D for every row, D = diag(factor).
    fn scaled(&self, factor: &[f64]) -> Result<Covariances>;

    /// The rows and columns of these features, in this order.
    fn columns(&self, columns: &[usize], d: usize) -> Self;

    /// The numbers checked, and mended where that is allowed, with warnings.
    fn checked(self, _d: usize, names: &Names) -> Result<(Self, Vec<String>)> {
        let fields = self.fields();
        let check = |(at, field): (usize, &Field)| elements(&field.values, names.field_label(at), field.rule);
        fields.iter().enumerate().try_for_each(check)?;
        Ok((self, vec![]))
    }

    /// The numbers that are one variance or deviation per row or feature; every isotropic or diagonal structure has them.
    fn scalars(&self) -> Option<(&Rows, Unit)> {
        None
    }

    /// Its rows above those of `others`, if that can be done in this kind at less cost than in that of the structure.
    fn joined(&self, _others: &[&Covariances]) -> Option<Result<Covariances>> {
        None
    }
}
