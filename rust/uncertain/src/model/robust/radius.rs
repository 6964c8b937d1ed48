//! Radii from confidences.

use crate::error::{Error, Result};
use crate::named::named;
use crate::special::quantile;

/// Assumption about a row's distribution, besides its mean and covariance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Bound {
    /// It is Gaussian: r = Phi^-1(p).
    #[default]
    Gaussian,
    /// Nothing: r = sqrt(p / (1 - p)), the sharp one-sided Chebyshev bound.
    Chebyshev,
}

impl Bound {
    /// The radius r at which y (w'x + b) >= 1 + r s holds with at least this probability.
    ///
    /// # Errors
    /// A confidence outside [1/2, 1) (Gaussian; below 1/2 the radius is negative) or [0, 1) (Chebyshev).
    pub fn radius(self, confidence: f64) -> Result<f64> {
        let (lowest, expected) = match self {
            Self::Gaussian => (0.5, "at least 0.5 and below 1"),
            Self::Chebyshev => (0.0, "at least 0 and below 1"),
        };
        if !(confidence >= lowest && confidence < 1.0) {
            return Err(Error::parameter("confidence", confidence, expected));
        }
        Ok(match self {
            Self::Gaussian => quantile(confidence).max(0.0),
            Self::Chebyshev => (confidence / (1.0 - confidence)).sqrt(),
        })
    }
}

named!(Bound, "bound");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radii_of_known_confidences() {
        assert!((Bound::Gaussian.radius(0.975).unwrap() - 1.959_963_984_540_054).abs() < 1e-12);
        // Half a unit in the last place of 1/2 is left without fused multiply-add.
        assert!(Bound::Gaussian.radius(0.5).unwrap().abs() < 1e-15);
        assert!((Bound::Chebyshev.radius(0.9).unwrap() - 3.0).abs() < 1e-12);
        for (bound, p) in [(Bound::Gaussian, 0.4), (Bound::Gaussian, 1.0), (Bound::Chebyshev, -0.1)] {
            assert!(matches!(bound.radius(p), Err(Error::Parameter { name, .. }) if name == "confidence"));
        }
        assert!(Bound::Chebyshev.radius(f64::NAN).is_err());
        assert_eq!("chebyshev".parse(), Ok(Bound::Chebyshev));
        assert!("markov".parse::<Bound>().is_err());
    }
}
