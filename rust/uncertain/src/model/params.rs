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

/// `name()` and `FromStr` of an option whose values users write by the names in its `ALL`.
macro_rules! named {
    ($type:ty, $option:literal) => {
        impl $type {
            /// The name users write.
            #[must_use]
            pub fn name(self) -> &'static str {
                Self::ALL.into_iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
            }
        }

        impl std::str::FromStr for $type {
            type Err = Error;

            fn from_str(name: &str) -> Result<Self> {
                let names = Self::ALL.map(|(known, _)| known).join(", ");
                let found = Self::ALL.into_iter().find(|(known, _)| *known == name);
                found
                    .map(|(_, value)| value)
                    .ok_or_else(|| Error::parameter($option, format!("{name:?}"), format!("one of {names}")))
            }
        }
    };
}
pub(crate) use named;

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
