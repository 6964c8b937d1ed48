//! Common parts of the builders of all models.

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

/// A struct with its defaults and a method to set each field, every field stated once: `name: type = default`.
///
/// `as impl Into<Type>` behind the type is what the method takes; `=> { name: type }` behind the default names the fields
/// of an inner struct that have a method here, too. A model file holds the fields as they are, and no others.
macro_rules! builder {
    (
        $(#[$meta:meta])*
        pub struct $Name:ident {$(
            $(#[doc = $doc:expr])+
            $(#[serde($($serde:tt)+)])?
            $field:ident: $type:ty $(as $given:ty)? = $default:expr $(=> { $($inner:ident: $inner_type:ty),+ })?
        ),+ $(,)?}
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        #[must_use]
        pub struct $Name {$(
            $(#[doc = $doc])+
            $(#[serde($($serde)+)])?
            pub $field: $type,
        )+}

        impl Default for $Name {
            fn default() -> Self {
                Self { $($field: $default),+ }
            }
        }

        impl $Name {
            /// The defaults.
            pub fn new() -> Self {
                Self::default()
            }

            $(
                $crate::params::builder! { @set [$($doc)+ concat!(" Default: `", stringify!($default), "`.")]
                    $field: $type $(as $given)? }
                $($(
                    #[doc = concat!("As [`", stringify!($type), "::", stringify!($inner), "`].")]
                    pub fn $inner(mut self, $inner: $inner_type) -> Self {
                        self.$field.$inner = $inner;
                        self
                    }
                )+)?
            )+
        }
    };
    (@set [$($doc:expr)+] $field:ident: $type:ty) => {
        $(#[doc = $doc])+
        pub fn $field(mut self, $field: $type) -> Self {
            self.$field = $field;
            self
        }
    };
    (@set [$($doc:expr)+] $field:ident: $type:ty as $given:ty) => {
        $(#[doc = $doc])+
        pub fn $field(mut self, $field: $given) -> Self {
            self.$field = $field.into();
            self
        }
    };
}

/// The parameters of a model: a [`builder!`] with a `control` that is in no file. Its method `ranges` says which of
/// the others are out of range.
macro_rules! params {
    ($(#[$meta:meta])* pub struct $Name:ident { $($fields:tt)+ }) => {
        $crate::params::builder! {
            $(#[$meta])*
            #[doc = "Parameters as the caller wishes them; [`check`](Self::check) makes them usable."]
            pub struct $Name {
                $($fields)+
                /// Stops a fit, hears of its progress and says how many threads it may use. In no file.
                #[serde(skip)]
                control: $crate::Control = $crate::Control::new(),
            }
        }

        #[doc = concat!(" Parameters that have passed [`", stringify!($Name), "::check`].")]
        pub type ValidParams = $crate::params::Valid<$Name>;

        impl $Name {
            /// Parameters that can fit, or the first one that is out of range.
            pub fn check(self) -> $crate::Result<ValidParams> {
                self.ranges()?;
                Ok($crate::params::Valid(self))
            }
        }

        impl $crate::state::Parameters for $Name {
            fn check(self) -> $crate::Result<ValidParams> {
                Self::check(self)
            }

            fn control_mut(&mut self) -> Option<&mut $crate::Control> {
                Some(&mut self.control)
            }
        }
    };
}
pub(crate) use {builder, params};

/// A finite number > 0?
pub(crate) fn check_positive(name: &'static str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(Error::parameter(name, value, "a finite number > 0")) }
}

/// A finite number >= 0?
pub(crate) fn check_not_negative(name: &'static str, value: f64) -> Result<()> {
    if value >= 0.0 && value.is_finite() { Ok(()) } else { Err(Error::parameter(name, value, "a finite number >= 0")) }
}

/// A count >= 1?
pub(crate) fn check_at_least_one(name: &'static str, count: impl Into<Option<usize>>) -> Result<()> {
    if count.into() == Some(0) { Err(Error::parameter(name, 0, "at least 1")) } else { Ok(()) }
}
