//! K = exp(-gamma |x - z|^2), the Gaussian kernel of bandwidth sigma = 1 / sqrt(2 gamma).

use super::Jet;

#[inline]
pub(super) fn jet(t: f64, gamma: f64) -> Jet {
    let value = (-gamma * t).exp();
    Jet { value, first: -gamma * value, second: gamma * gamma * value }
}
