//! What the builders of all models share.

use crate::error::{Error, Result};

/// Builder methods `name(self, value) -> Self`, each for one field: `name: type => field.inner;`.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty => $($field:ident).+;)*) => {$(
        $(#[$doc])*
        pub fn $name(mut self, $name: $type) -> Self {
            self.$($field).+ = $name;
            self
        }
    )*};
}
pub(crate) use setters;

/// A finite number > 0?
pub(super) fn check_positive(name: &'static str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(Error::parameter(name, value, "a finite number > 0")) }
}

/// Two folds at least?
pub(super) fn check_folds(folds: usize) -> Result<()> {
    if folds < 2 { Err(Error::parameter("folds", folds, "at least 2")) } else { Ok(()) }
}

/// One thread at least?
pub(super) fn check_threads(threads: Option<usize>) -> Result<()> {
    if threads == Some(0) { Err(Error::parameter("threads", 0, "at least 1")) } else { Ok(()) }
}
