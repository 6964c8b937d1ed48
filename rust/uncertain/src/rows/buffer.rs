//! Memory that somebody keeps alive, and the type of the numbers in it.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use uncertain_simd::Stored;

use crate::readable::Read;

/// Memory that somebody keeps alive: a `Vec`, an Arrow buffer, a NumPy array; of either type.
#[derive(Clone)]
pub enum SharedBuffer {
    /// float64.
    F64(Arc<dyn AsRef<[f64]> + Send + Sync>),
    /// float32.
    F32(Arc<dyn AsRef<[f32]> + Send + Sync>),
}

/// The type that the numbers of [`Rows`](super::Rows) are stored in. Results are always float64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[non_exhaustive]
pub enum ElementType {
    /// float32.
    #[strum(serialize = "float32")]
    F32,
    /// float64.
    #[strum(serialize = "float64")]
    F64,
}

crate::named::named!(ElementType, "dtype");

impl ElementType {
    /// Bytes of a number.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::F32 => size_of::<f32>(),
            Self::F64 => size_of::<f64>(),
        }
    }
}

impl SharedBuffer {
    /// All its numbers.
    #[must_use]
    pub fn stored(&self) -> Stored<'_> {
        match self {
            Self::F64(values) => Stored::F64((**values).as_ref()),
            Self::F32(values) => Stored::F32((**values).as_ref()),
        }
    }

    pub(super) fn element_type(&self) -> ElementType {
        match self {
            Self::F64(_) => ElementType::F64,
            Self::F32(_) => ElementType::F32,
        }
    }
}

/// Codes of classes in memory that somebody keeps alive.
#[derive(Clone)]
pub struct SharedCodes(Arc<dyn AsRef<[u32]> + Send + Sync>);

impl SharedCodes {
    /// All of `codes`.
    pub fn new(codes: impl AsRef<[u32]> + Send + Sync + 'static) -> Self {
        Self(Arc::new(codes))
    }
}

impl Deref for SharedCodes {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        (*self.0).as_ref()
    }
}

impl<'a> Read<'a, &'a [u32]> for SharedCodes {
    #[inline(always)]
    fn read(&'a self) -> &'a [u32] {
        self
    }
}

impl fmt::Debug for SharedCodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl PartialEq for SharedCodes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl From<Vec<f64>> for SharedBuffer {
    fn from(values: Vec<f64>) -> Self {
        Self::F64(Arc::new(values))
    }
}

impl From<Vec<f32>> for SharedBuffer {
    fn from(values: Vec<f32>) -> Self {
        Self::F32(Arc::new(values))
    }
}
