//! K = (x'z)^2: all products of two features, without the features themselves and without a constant.
//! Source: the toy problems of Yang, Gunn, "Iterative Constraints in Support Vector Classification with
//! Uncertain Information", 2007. A boundary x'Qx = const through ellipses and hyperbolas around zero.

use super::Jet;

#[inline]
pub(super) fn jet(t: f64) -> Jet {
    Jet { value: t * t, first: 2.0 * t, second: 2.0 }
}
