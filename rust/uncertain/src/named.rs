//! Options that users write by name: strum lists the variants, [`named!`] makes names of them everywhere.

use crate::error::{Error, Result};

/// `name()`, `FromStr` and serde of an option, by strum's names; the error lists them.
///
/// For enums without fields that derive `strum::IntoStaticStr` and `strum::VariantArray`.
macro_rules! named {
    ($type:ty, $option:literal) => {
        impl $type {
            /// The name users write.
            #[must_use]
            pub fn name(self) -> &'static str {
                self.into()
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::Error;

            fn from_str(name: &str) -> $crate::Result<Self> {
                $crate::named::parse(name, $option)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                name.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use named;

pub(crate) fn parse<T>(name: &str, option: &'static str) -> Result<T>
where
    T: strum::VariantArray + Copy + Into<&'static str>,
{
    let found = T::VARIANTS.iter().copied().find(|&known| known.into() == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = T::VARIANTS.iter().map(|&known| known.into()).collect();
        Error::parameter(option, format!("{name:?}"), format!("one of {}", names.join(", ")))
    })
}
