//! Where the profile of a likelihood has fallen by so much: an end of an interval.

use crate::error::Result;

/// Most fits for an end of an interval.
const MOST_FITS: usize = 30;
/// An end is found to this part of the half-width.
const ENOUGH: f64 = 1e-6;
/// Standard errors from the estimate beyond which an interval has no end.
const ENDLESS: f64 = 100.0;

/// The distance from the best at which the root of the deviance is z, by secants inside a bracket; it is about |by| / |std|.
pub(super) fn end(z: f64, std: f64, root: impl Fn(f64) -> Result<f64>) -> Result<f64> {
    let ((mut low, mut at_low), mut high) = ((0.0, -z), f64::INFINITY);
    let mut by = z;
    for _ in 0..MOST_FITS {
        let value = root(by * std)? - z;
        if value.abs() <= ENOUGH * z || high - low <= ENOUGH * low {
            break;
        }
        // The root of the deviance is nearly linear: the line through this point and the last one below.
        let next = by - value * (by - low) / (value - at_low);
        if value < 0.0 {
            (low, at_low) = (by, value);
        } else {
            high = by;
        }
        by = if high.is_infinite() {
            if next.is_finite() && next > by { next.min(4.0 * by) } else { 2.0 * by }
        } else if next > low && next < high {
            next
        } else {
            0.5 * (low + high)
        };
        if by > ENDLESS {
            return Ok(f64::INFINITY * std.signum());
        }
    }
    Ok(by * std)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_where_the_root_is() {
        for z in [1.0, 1.96] {
            let found = end(z, -0.5, |by| Ok((by.abs() / 0.5).powf(0.8))).unwrap();
            assert!(((found.abs() / 0.5).powf(0.8) - z).abs() < 1e-5 && found < 0.0);
            assert_eq!(end(z, 0.5, |by| Ok((by / 0.5).tanh() * 0.9 * z)).unwrap(), f64::INFINITY);
        }
    }
}
