//! Kernels between points, with the derivatives that carry a Gaussian through their feature maps.
//!
//! | kernel | K(x, z) |
//! |---|---|
//! | linear | x'z |
//! | quadratic | (x'z)^2 |
//! | polynomial | (gamma x'z + coef0)^degree: with coef0 > 0 all products of up to `degree` features |
//! | rbf | exp(-gamma ``|x - z|``^2), the Gaussian kernel of bandwidth sigma = 1 / sqrt(2 gamma) |
//!
//! Quadratic: all products of two features, without the features themselves and without a constant; from the toy problems
//! of Yang, Gunn, "Iterative Constraints in Support Vector Classification with Uncertain Information", 2007. A boundary
//! x'Qx = const through ellipses and hyperbolas around zero.
//!
//! Every kernel here is a function k(t) of one number, x'z or |x - z|^2, so a kernel gives k, k' and k'' ([`Jet`]) and the
//! chain rule is written once:
//! ```text
//! t = x'z:          dK/dx = k' z              d2K/dx dz' = k' I + k'' z x'
//! t = |x - z|^2:    dK/dx = 2 k' (x - z)      d2K/dx dz' = -2 k' I - 4 k'' (x - z)(x - z)'
//! ```
//! The mixed second derivative is thus always a I + b u v' ([`Mixed`]): its product with a vector costs
//! O(d), and nobody needs the matrix.
//!
//! To add a kernel: one variant of [`PointKernel`] with its [`jet`](PointKernel::jet), one line in `samples` of the tests,
//! which run every variant through finite differences.

mod gram;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::data::{GaussianArray, distinct};
use crate::error::{Error, Result};
use crate::kernel::probabilistic_rbf::bandwidth;
use crate::named::named;
use crate::params::{check_not_negative, check_positive};

/// A positive semi-definite kernel between points.
///
/// ```
/// use uncertain::Result;
/// use uncertain::kernels::PointKernel;
///
/// # fn main() -> Result<()> {
/// let kernel = PointKernel::Rbf { gamma: 0.5 }.check()?;
/// assert_eq!(kernel.value(&[1.0, 2.0], &[1.0, 0.0]), (-2.0_f64).exp());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, strum::EnumDiscriminants)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
#[strum_discriminants(
    name(KernelName),
    doc = "A [`PointKernel`] without its parameters.",
    derive(strum::IntoStaticStr, strum::VariantArray),
    strum(serialize_all = "snake_case")
)]
#[non_exhaustive]
pub enum PointKernel {
    /// x'z
    Linear,
    /// (x'z)^2
    Quadratic,
    /// (gamma x'z + coef0)^degree
    Polynomial {
        /// At least 1.
        degree: u32,
        /// > 0
        gamma: f64,
        /// >= 0
        coef0: f64,
    },
    /// exp(-gamma |x - z|^2)
    Rbf {
        /// > 0; 1 / (2 sigma^2)
        gamma: f64,
    },
}

named!(KernelName, "kernel");

/// The number t that a kernel is a function of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Argument {
    /// x'z
    Product,
    /// |x - z|^2
    SquaredDistance,
}

/// k, k' and k'' at some t.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jet {
    /// k(t)
    pub value: f64,
    /// k'(t)
    pub first: f64,
    /// k''(t)
    pub second: f64,
}

/// d2K/dx dz' = scale I + outer u v', where (u, v) is (z, x) or, for distances, (x - z, x - z).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mixed {
    /// Of the identity.
    pub scale: f64,
    /// Of the outer product.
    pub outer: f64,
}

impl PointKernel {
    /// The kernel of this name; parameters it does not have are ignored.
    ///
    /// # Errors
    /// An unknown name, or a parameter out of range.
    pub fn new(name: &str, degree: u32, gamma: f64, coef0: f64) -> Result<Self> {
        match name.parse()? {
            KernelName::Linear => Ok(Self::Linear),
            KernelName::Quadratic => Ok(Self::Quadratic),
            KernelName::Polynomial => Self::Polynomial { degree, gamma, coef0 }.check(),
            KernelName::Rbf => Self::Rbf { gamma }.check(),
        }
    }

    /// The name users write.
    #[must_use]
    pub fn name(&self) -> &'static str {
        KernelName::from(self).name()
    }

    /// The scale of its argument, if it has one.
    #[must_use]
    pub fn gamma(&self) -> Option<f64> {
        match self {
            Self::Linear | Self::Quadratic => None,
            Self::Polynomial { gamma, .. } | Self::Rbf { gamma } => Some(*gamma),
        }
    }

    /// The kernel itself, if its parameters make it positive semi-definite and smooth.
    pub fn check(self) -> Result<Self> {
        self.gamma().map_or(Ok(()), |gamma| check_positive("gamma", gamma))?;
        if let Self::Polynomial { degree, coef0, .. } = self {
            if !(1..=100).contains(&degree) {
                return Err(Error::parameter("degree", degree, "a whole number from 1 to 100"));
            }
            check_not_negative("coef0", coef0)?;
        }
        Ok(self)
    }

    /// The argument of K.
    #[must_use]
    pub fn argument(&self) -> Argument {
        match self {
            Self::Linear | Self::Quadratic | Self::Polynomial { .. } => Argument::Product,
            Self::Rbf { .. } => Argument::SquaredDistance,
        }
    }

    /// k and its derivatives at t.
    #[must_use]
    #[inline]
    pub fn jet(&self, t: f64) -> Jet {
        match *self {
            Self::Linear => Jet { value: t, first: 1.0, second: 0.0 },
            Self::Quadratic => Jet { value: t * t, first: 2.0 * t, second: 2.0 },
            Self::Polynomial { degree, gamma, coef0 } => {
                let (base, p) = (gamma * t + coef0, f64::from(degree));
                // No negative powers: 0^-1 times the zero in front of it would be NaN.
                let power = |n: u32| base.powi(n as i32);
                Jet {
                    value: power(degree),
                    first: p * gamma * power(degree - 1),
                    second: if degree < 2 { 0.0 } else { p * (p - 1.0) * gamma * gamma * power(degree - 2) },
                }
            }
            Self::Rbf { gamma } => {
                let value = (-gamma * t).exp();
                Jet { value, first: -gamma * value, second: gamma * gamma * value }
            }
        }
    }

    /// K(x, z).
    #[must_use]
    pub fn value(&self, x: &[f64], z: &[f64]) -> f64 {
        self.jet(self.argument().value(x, z)).value
    }

    /// g(x) and its gradient in x, for the function g(x) = K(x, z) or, along a `direction` a, its derivative
    /// g(x) = (dK/dz)'a: the inner products of phi(x) and of its derivatives with phi(z) or J(z) a.
    #[inline]
    pub(crate) fn against(&self, x: &[f64], z: &[f64], direction: Option<&[f64]>, gradient: &mut [f64]) -> f64 {
        let argument = self.argument();
        let jet = self.jet(argument.value(x, z));
        let Some(a) = direction else {
            match argument {
                Argument::Product => gradient.iter_mut().zip(z).for_each(|(g, z)| *g = jet.first * z),
                Argument::SquaredDistance => {
                    gradient.iter_mut().zip(x.iter().zip(z)).for_each(|(g, (x, z))| *g = 2.0 * jet.first * (x - z));
                }
            }
            return jet.value;
        };
        let Mixed { scale, outer } = argument.mixed(&jet);
        let points = x.iter().zip(z);
        match argument {
            Argument::Product => {
                let along: f64 = x.iter().zip(a).map(|(x, a)| x * a).sum();
                gradient.iter_mut().zip(z.iter().zip(a)).for_each(|(g, (z, a))| *g = scale * a + outer * along * z);
                jet.first * along
            }
            Argument::SquaredDistance => {
                let along: f64 = points.clone().zip(a).map(|((x, z), a)| (x - z) * a).sum();
                gradient
                    .iter_mut()
                    .zip(points.zip(a))
                    .for_each(|(g, ((x, z), a))| *g = scale * a + outer * along * (x - z));
                -2.0 * jet.first * along
            }
        }
    }

    /// dK/dx into `out`, d numbers. (dK/dz is the same with x and z exchanged.)
    pub fn gradient(&self, x: &[f64], z: &[f64], out: &mut [f64]) {
        self.against(x, z, None, out);
    }

    /// d2K/dx dz' into `out`, d x d row-major: element (i, j) is d2K/dx_i dz_j.
    pub fn hessian(&self, x: &[f64], z: &[f64], out: &mut [f64]) {
        let (d, argument) = (x.len(), self.argument());
        let Mixed { scale, outer } = argument.mixed(&self.jet(argument.value(x, z)));
        for i in 0..d {
            for j in 0..d {
                let product = match argument {
                    Argument::Product => z[i] * x[j],
                    Argument::SquaredDistance => (x[i] - z[i]) * (x[j] - z[j]),
                };
                out[i * d + j] = if i == j { scale } else { 0.0 } + outer * product;
            }
        }
    }
}

impl Argument {
    /// t of a pair of points.
    #[must_use]
    pub fn value(self, x: &[f64], z: &[f64]) -> f64 {
        match self {
            Self::Product => x.iter().zip(z).map(|(x, z)| x * z).sum(),
            Self::SquaredDistance => x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum(),
        }
    }

    /// The parts of d2K/dx dz'.
    #[must_use]
    pub fn mixed(self, jet: &Jet) -> Mixed {
        match self {
            Self::Product => Mixed { scale: jet.first, outer: jet.second },
            Self::SquaredDistance => Mixed { scale: -2.0 * jet.first, outer: -4.0 * jet.second },
        }
    }
}

/// The median heuristic: gamma = 1 / (2 m^2) with the median distance m of two different rows, as
/// [`median_distance`](crate::kernel::probabilistic_rbf::median_distance) has it (error bars included).
///
/// A row that comes twice counts once, so that a weight of two and a row given twice mean the same.
///
/// # Errors
/// With fewer than two different rows, and with distances that overflow.
pub fn median_gamma(data: &GaussianArray, seed: u64) -> Result<f64> {
    let m = bandwidth::median(&data.take(&distinct(data))?, "gamma", seed)?;
    let gamma = 0.5 / (m * m);
    if gamma.is_normal() {
        Ok(gamma)
    } else {
        Err(Error::Data(format!(
            "gamma = \"median\": 1 / (2 m^2) of the median distance {m:e} is not a finite number > 0"
        )))
    }
}
