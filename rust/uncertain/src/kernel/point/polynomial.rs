//! K = (gamma x'z + coef0)^degree: with coef0 > 0 all products of up to `degree` features.

use super::Jet;

#[inline]
pub(super) fn jet(t: f64, degree: u32, gamma: f64, coef0: f64) -> Jet {
    let base = gamma * t + coef0;
    let p = f64::from(degree);
    // No negative powers: 0^-1 times the zero in front of it would be NaN.
    let power = |n: u32| base.powi(n as i32);
    Jet {
        value: power(degree),
        first: p * gamma * power(degree - 1),
        second: if degree < 2 { 0.0 } else { p * (p - 1.0) * gamma * gamma * power(degree - 2) },
    }
}
