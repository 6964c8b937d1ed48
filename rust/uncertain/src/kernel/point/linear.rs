//! K = x'z: the kernel of the data as they are.

use super::Jet;

#[inline]
pub(super) fn jet(t: f64) -> Jet {
    Jet { value: t, first: 1.0, second: 0.0 }
}
