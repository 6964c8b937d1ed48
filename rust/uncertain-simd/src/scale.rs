//! Powers of two, by which numbers are scaled without rounding.

/// The largest power of two that is at most x > 0; subnormal numbers count as the smallest normal one.
#[must_use]
pub fn power_of_two_near(x: f64) -> f64 {
    // The exponent bits alone.
    f64::from_bits(x.to_bits() & 0x7ff0_0000_0000_0000).max(f64::MIN_POSITIVE)
}
