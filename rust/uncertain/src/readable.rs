//! Structs that others may read and not write: [`readable!`] states a field and the method that gives it once.

/// A struct with private fields; one with `=> Type` behind it has a public method of its name and with its words, which
/// gives the field as that type ([`Read`]).
macro_rules! readable {
    (
        $(#[$meta:meta])*
        $vis:vis struct $Name:ident {$(
            $(#[doc = $doc:expr])*
            $(#[serde($($serde:tt)+)])?
            $field:ident: $type:ty $(=> $read:ty)?
        ),+ $(,)?}
    ) => {
        $(#[$meta])*
        $vis struct $Name {$(
            $(#[doc = $doc])*
            $(#[serde($($serde)+)])?
            $field: $type,
        )+}

        impl $Name {
            $($crate::readable::readable! { @method [$($doc)*] $field $(=> $read)? })+
        }
    };
    (@method [$($doc:expr)*] $field:ident) => {};
    (@method [$($doc:expr)*] $field:ident => $read:ty) => {
        $(#[doc = $doc])*
        #[must_use]
        #[inline]
        pub fn $field(&self) -> $read {
            $crate::readable::Read::read(&self.$field)
        }
    };
}
pub(crate) use readable;

/// A field as others see it: a copy, or borrowed.
pub(crate) trait Read<'a, R> {
    fn read(&'a self) -> R;
}

impl<T: Copy> Read<'_, T> for T {
    #[inline(always)]
    fn read(&self) -> T {
        *self
    }
}

impl<'a, T> Read<'a, &'a T> for T {
    #[inline(always)]
    fn read(&'a self) -> &'a T {
        self
    }
}

impl<'a, T> Read<'a, &'a [T]> for Vec<T> {
    #[inline(always)]
    fn read(&'a self) -> &'a [T] {
        self
    }
}

impl<'a, T> Read<'a, Option<&'a T>> for Option<T> {
    #[inline(always)]
    fn read(&'a self) -> Option<&'a T> {
        self.as_ref()
    }
}

impl<'a, T> Read<'a, Option<&'a [T]>> for Option<Vec<T>> {
    #[inline(always)]
    fn read(&'a self) -> Option<&'a [T]> {
        self.as_deref()
    }
}
