//! The kinds of covariance, behind two short lists of verbs.
//!
//! An algorithm never looks at the entries of S_i. It asks for w'S_i w (quad), S_i w (apply),
//! M += c S_i (add_to), variances, the trace, or the symmetric square root, and every kind answers at the least
//! cost it can. Hot loops use the block form of the same verbs, [`BlockVerbs`]: many rows, one
//! direction w, so that a kind can prepare what depends on w alone ([`Direction`]) and keep per row
//! what a second verb would compute again (the memo: S_i w for a full matrix, F_i'w for a factor).
//! An algorithm that is cheaper for some matrices asks what they look like ([`Structure`]), never for their kind.
//!
//! The second list, `Storage`, is what happens to the numbers themselves: they are checked, sliced, scaled, cut to some
//! features, and written to tables and files as named arrays ([`Field`]).
//!
//! To add a kind: one file here with both lists; one variant of [`Covariances`], [`Kind`] and `with_kind!`. The
//! compiler lists the matches, all in this file, and the conformance test compares every verb with the dense matrix.
//!
//! Symmetric sums M are packed lower triangles (triangle.rs).

use std::ops::Range;

use crate::data::Rows;
use crate::data::validate::{Names, Rule, elements};
use crate::error::{Error, Result};
use crate::named::named;

mod diagonal;
mod full;
mod isotropic;
mod low_rank;
mod matrices;
mod shared;
pub(crate) mod storage;
mod triangle;
mod verbs;
mod zero;

pub use diagonal::Diagonal;
pub use full::{Full, Layout};
pub use isotropic::Isotropic;
pub use low_rank::LowRank;
pub(crate) use matrices::check_square;
pub use matrices::{ASYMMETRY, CLIP, NOISE};
pub use shared::Shared;
pub(crate) use storage::Storage;
pub use storage::{Field, FieldShape};
pub use triangle::{packed_index, packed_len};
pub(crate) use triangle::{unpack, unpack_into};
pub use verbs::{BlockVerbs, Direction, Factor, Structure};
pub use zero::Zero;

/// Whether stored numbers are variances or standard deviations (squared on the fly, never copied).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// sigma^2
    Variance,
    /// sigma
    StandardDeviation,
}

impl Unit {
    /// The argument that takes such numbers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Variance => "var",
            Self::StandardDeviation => "std",
        }
    }

    /// The variance that a number stands for.
    #[must_use]
    #[inline(always)]
    pub fn variance(self, x: f64) -> f64 {
        match self {
            Self::Variance => x,
            Self::StandardDeviation => x * x,
        }
    }

    /// Factor of the numbers when the features are multiplied by `factor`.
    fn scales(self, factor: &[f64]) -> Vec<f64> {
        factor.iter().map(|f| if self == Self::Variance { f * f } else { f.abs() }).collect()
    }

    fn rule(self) -> Rule {
        match self {
            Self::Variance => Rule::Variance,
            Self::StandardDeviation => Rule::StandardDeviation,
        }
    }

    /// The field that is there, and its unit.
    pub(crate) fn named(fields: &mut storage::Fields<'_>) -> Option<(Rows, Self)> {
        [Self::StandardDeviation, Self::Variance].into_iter().find_map(|unit| Some((fields(unit.name())?, unit)))
    }
}

/// The kind of covariance, without its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// Exact points.
    Zero,
    /// One variance per row: S_i = s_i^2 I.
    Isotropic,
    /// One variance per row and feature.
    Diagonal,
    /// S_i = F_i F_i' + diag(v_i), F_i of d x r.
    LowRank,
    /// A d x d matrix per row.
    Full,
    /// One d x d matrix for all rows.
    Shared,
}

named!(Kind, "kind");

/// The covariances of all rows, of one kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Covariances {
    /// Exact points.
    Zero,
    /// One variance per row.
    Isotropic(Isotropic),
    /// One variance per row and feature.
    Diagonal(Diagonal),
    /// A factor per row, with or without a diagonal.
    LowRank(LowRank),
    /// A matrix per row.
    Full(Full),
    /// One matrix for all rows.
    Shared(Shared),
}

/// Run `$body` with `$kind` bound to the concrete kind: static dispatch inside hot loops.
#[macro_export]
#[doc(hidden)]
macro_rules! with_kind {
    ($covariances:expr, $kind:ident => $body:expr) => {
        match $covariances {
            $crate::data::Covariances::Zero => {
                let $kind = &$crate::data::covariance::Zero;
                $body
            }
            $crate::data::Covariances::Isotropic($kind) => $body,
            $crate::data::Covariances::Diagonal($kind) => $body,
            $crate::data::Covariances::LowRank($kind) => $body,
            $crate::data::Covariances::Full($kind) => $body,
            $crate::data::Covariances::Shared($kind) => $body,
        }
    };
}

impl Covariances {
    /// The kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Zero => Kind::Zero,
            Self::Isotropic(_) => Kind::Isotropic,
            Self::Diagonal(_) => Kind::Diagonal,
            Self::LowRank(_) => Kind::LowRank,
            Self::Full(_) => Kind::Full,
            Self::Shared(_) => Kind::Shared,
        }
    }

    /// A kind from its arrays by name; `None` when one is missing. Sizes are checked by
    /// [`GaussianArray::new`](crate::GaussianArray::new).
    pub(crate) fn from_fields(kind: Kind, fields: &mut storage::Fields<'_>, d: usize) -> Option<Self> {
        Some(match kind {
            Kind::Zero => Self::Zero,
            Kind::Isotropic => Isotropic::from_fields(fields, d)?.into(),
            Kind::Diagonal => Diagonal::from_fields(fields, d)?.into(),
            Kind::LowRank => LowRank::from_fields(fields, d)?.into(),
            Kind::Full => Full::from_fields(fields, d)?.into(),
            Kind::Shared => Shared::from_fields(fields, d)?.into(),
        })
    }

    /// The arrays that the kind consists of; none for exact points.
    #[must_use]
    pub fn fields(&self) -> Vec<Field> {
        with_kind!(self, k => k.fields())
    }

    /// The numbers checked, and mended where [`CLIP`] allows, with warnings.
    pub(crate) fn checked(self, d: usize, names: &Names) -> Result<(Self, Vec<String>)> {
        with_kind!(self, k => {
            let (checked, warnings) = k.checked(d, names)?;
            Ok((checked.into(), warnings))
        })
    }

    /// Do the sizes fit n rows in d dimensions?
    pub(crate) fn check_shape(&self, n: usize, d: usize, names: &Names) -> Result<()> {
        for (at, field) in self.fields().iter().enumerate() {
            let (rows, width) = (if field.shared { 1 } else { n }, field.shape.sizes(d).iter().product());
            let (got_rows, got_width) = (field.values.n_rows(), field.values.width());
            if (got_rows, got_width) != (rows, width) {
                let expected = format!("{rows} x {width} elements for {n} means of {d} features");
                return Err(Error::shape(names.field_label(at), expected, format!("{got_rows} x {got_width}")));
            }
        }
        Ok(())
    }

    /// Form of the matrices.
    #[must_use]
    pub fn structure(&self) -> Structure<'_> {
        with_kind!(self, k => k.structure())
    }

    /// The packed triangle of S, where it is the same for all rows.
    #[must_use]
    pub fn common(&self) -> Option<&[f64]> {
        with_kind!(self, k => k.common())
    }

    /// Prepare a direction for the block verbs.
    #[must_use]
    pub fn along(&self, w: &[f64]) -> Direction {
        let shared = with_kind!(self, k => k.along(w));
        Direction {
            w: w.to_vec(),
            squares: w.iter().map(|x| x * x).collect(),
            norm2: w.iter().map(|x| x * x).sum(),
            shared,
        }
    }

    /// w'S w of one row.
    #[must_use]
    pub fn quad(&self, row: usize, w: &[f64]) -> f64 {
        let (along, mut out) = (self.along(w), [0.0]);
        with_kind!(self, k => {
            let mut memo = vec![0.0; k.memo_width(w.len())];
            k.quads(row, &along, &mut memo, &mut out);
        });
        out[0]
    }

    /// out = S w of one row.
    pub fn apply(&self, row: usize, w: &[f64], out: &mut [f64]) {
        let along = self.along(w);
        with_kind!(self, k => {
            let mut memo = vec![0.0; k.memo_width(w.len())];
            k.quads(row, &along, &mut memo, &mut [0.0]);
            k.images(row, 1, &along, &memo, out);
        });
    }

    /// M += c S of one row; M is a packed d x d triangle.
    pub fn add_to(&self, row: usize, c: f64, d: usize, packed: &mut [f64]) {
        with_kind!(self, k => k.add_to(row, &[0], &[c], d, packed));
    }

    /// The trace of S of one row in d dimensions.
    #[must_use]
    pub fn trace(&self, row: usize, d: usize) -> f64 {
        with_kind!(self, k => k.trace(row, d))
    }

    /// The diagonal of S of one row, d variances.
    pub fn variances(&self, row: usize, out: &mut [f64]) {
        with_kind!(self, k => k.variances(row, out));
    }

    /// The packed triangle of S of one row.
    pub fn triangle(&self, row: usize, d: usize, out: &mut [f64]) {
        with_kind!(self, k => k.triangle(row, d, out));
    }

    /// This kind, whose rows became these.
    pub(crate) fn with_rows(&self, change: &dyn Fn(&Rows) -> Rows) -> Self {
        with_kind!(self, k => k.map_rows(change).into())
    }

    /// The covariances of rows `range`, sharing the memory.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        self.with_rows(&|rows| rows.slice(range.clone()))
    }

    /// The covariances of the rows with these numbers, copied.
    #[must_use]
    pub fn take(&self, rows: &[usize]) -> Self {
        self.with_rows(&|values| values.take(rows))
    }

    /// D S_i D for every row, D = diag(factor). Standard deviations stay standard deviations, a shared matrix stays
    /// shared, a factor keeps its rank; isotropic covariances become diagonal unless all factors are equal, full ones
    /// come back packed.
    pub fn scaled(&self, factor: &[f64]) -> Result<Self> {
        let scaled = with_kind!(self, k => k.scaled(factor))?;
        // Scaling keeps a good matrix good, but may overflow: 1 / s with s = 1e-200, squared.
        scaled.fields().iter().try_for_each(|field| elements(&field.values, "scaled covariances", field.rule))?;
        Ok(scaled)
    }

    /// The covariances of these of the d features, in this order.
    pub(crate) fn columns(&self, columns: &[usize], d: usize) -> Self {
        with_kind!(self, k => k.columns(columns, d).into())
    }
}

/// The variants that hold the type of a kind.
macro_rules! variants {
    ($($kind:ident)*) => {$(
        impl From<$kind> for Covariances {
            fn from(kind: $kind) -> Self {
                Self::$kind(kind)
            }
        }
    )*};
}
variants!(Isotropic Diagonal LowRank Full Shared);
