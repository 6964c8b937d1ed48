//! What the builders of all models share.

use crate::error::{Error, Result};

/// Parameters that have passed their check, and can fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Valid<P>(pub(crate) P);

impl<P> Valid<P> {
    /// The parameters, to look at or to change.
    pub fn params(&self) -> &P {
        &self.0
    }
}

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
pub(crate) fn check_positive(name: &'static str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(Error::parameter(name, value, "a finite number > 0")) }
}

/// A finite number >= 0?
pub(crate) fn check_not_negative(name: &'static str, value: f64) -> Result<()> {
    if value >= 0.0 && value.is_finite() { Ok(()) } else { Err(Error::parameter(name, value, "a finite number >= 0")) }
}

/// One thread at least?
pub(crate) fn check_threads(threads: Option<usize>) -> Result<()> {
    if threads == Some(0) { Err(Error::parameter("threads", 0, "at least 1")) } else { Ok(()) }
}
