//! [`Noise`]: the law of a target's noise, a scale mixture of normal distributions whose narrowest part is N(0, u).
//!
//! ```text
//! sum_j pi_j N(0, a_j u + V_j)
//! none       one part, a = 1
//! mixture    1 - eps of it a = 1, eps of it V = w^2: bad data with a width of their own (D. W. Hogg, J. Bovy, D. Lang, Data
//!            analysis recipes: fitting a model to data, 2010, arXiv:1008.4686, section 3)
//! student    a = 1 / g, g ~ Gamma(nu / 2, nu / 2): Student's t with nu degrees of freedom (K. L. Lange, R. J. A. Little,
//!            J. M. G. Taylor, Robust statistical modeling using the t distribution, JASA 84, 1989)
//! ```
//! As parts, both stay Gaussian where something else is integrated (the error of x, the true x), and the derivatives are
//! those of a mixture. Student's parts are nodes of the trapezoid rule in log g, dense around 0 and wider towards the tail,
//! with shares that sum to 1: a law of its own for any nu, whose density is Student's to 1e-4 for nu <= 30 within
//! thirty standard deviations. For nu -> infinity only g = 1 is left.
//!
//! Bad data are at least twice as wide as the rest: narrower ones are a matter of the shape of the noise, in which the
//! share would have no meaning.

use crate::error::{Error, Result};
use crate::named::named;

/// Outliers among readings of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Outliers {
    /// Noise with Student's distribution.
    Student,
    /// A share of bad data, with another width.
    Mixture,
}

named!(Outliers, "outliers");

/// Parameters of a law of noise, at most.
pub(super) const MOST: usize = 2;
/// Step of log g at its centre, in units of which it is 2 sinh(x / 2), and the ends of x.
const STEP: f64 = 0.3;
const ENDS: (i32, i32) = (-18, 9);
/// log nu.
const DEGREES: (f64, f64) = (0.0, 5.3);
/// logit of the share of bad data.
const SHARE: (f64, f64) = (-14.0, 0.0);
/// Noise that is wider by this factor, as a variance, is that of an outlier.
const WIDE: f64 = 9.0;

/// Which law, and what is known of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Noise {
    Normal,
    /// Degrees of freedom where they are given.
    Student(Option<f64>),
    Mixture,
}

/// One part: log pi, a, V, and their derivatives by the working parameters.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Part {
    pub log_share: f64,
    pub times: f64,
    pub plus: f64,
    /// d log pi, and d^2 log pi by one and the same parameter; mixed ones are 0.
    pub share: [f64; MOST],
    pub share2: [f64; MOST],
    /// dV = d^2 V by the last parameter, which is its logarithm.
    pub wider: [f64; MOST],
}

impl Noise {
    pub(super) fn new(outliers: Option<Outliers>, degrees: Option<f64>) -> Result<Self> {
        if let Some(nu) = degrees
            && (outliers != Some(Outliers::Student) || !(nu >= 1.0 && nu.is_finite()))
        {
            let allowed = ">= 1, and only of outliers=\"student\"";
            return Err(Error::parameter("degrees_of_freedom", nu, allowed));
        }
        Ok(match outliers {
            None => Self::Normal,
            Some(Outliers::Student) => Self::Student(degrees),
            Some(Outliers::Mixture) => Self::Mixture,
        })
    }

    /// Number of working parameters: log nu, or logit eps and log V.
    pub(super) fn n(self) -> usize {
        match self {
            Self::Normal | Self::Student(Some(_)) => 0,
            Self::Student(None) => 1,
            Self::Mixture => 2,
        }
    }

    /// Start and bounds of the working parameters, of noise with this typical variance, and of bad data with that.
    pub(super) fn start(self, typical: f64, bad: f64) -> Vec<(f64, f64, f64)> {
        let least = (3.0 * typical).max(f64::MIN_POSITIVE).ln();
        match self {
            Self::Normal | Self::Student(Some(_)) => vec![],
            Self::Student(None) => vec![(4.0f64.ln(), DEGREES.0, DEGREES.1)],
            Self::Mixture => {
                vec![(-3.0, SHARE.0, SHARE.1), (bad.max(20.0 * typical).ln(), least, least + 40.0)]
            }
        }
    }

    /// The parts; the narrow one is the first.
    pub(super) fn parts(self, working: &[f64]) -> Vec<Part> {
        match self {
            Self::Normal => vec![Part { times: 1.0, ..Part::default() }],
            Self::Mixture => {
                let eps = 1.0 / (1.0 + (-working[0]).exp());
                let (plus, bend) = (working[1].exp(), -eps * (1.0 - eps));
                let part = |log_share, slope, plus| Part {
                    log_share,
                    times: 1.0,
                    plus,
                    share: [slope, 0.0],
                    share2: [bend, 0.0],
                    wider: [0.0, plus],
                };
                vec![part((-eps).ln_1p(), -eps, 0.0), part(eps.ln(), 1.0 - eps, plus)]
            }
            Self::Student(given) => student(given.unwrap_or_else(|| working[0].exp())),
        }
    }

    /// The law as users know it: degrees of freedom, or share and width of bad data; and their derivatives.
    pub(super) fn natural(self, working: &[f64]) -> Vec<(f64, f64)> {
        match self {
            Self::Normal => vec![],
            Self::Student(Some(nu)) => vec![(nu, 0.0)],
            Self::Student(None) => vec![(working[0].exp(), working[0].exp())],
            Self::Mixture => {
                let (eps, width) = (1.0 / (1.0 + (-working[0]).exp()), (0.5 * working[1]).exp());
                vec![(eps, eps * (1.0 - eps)), (width, 0.5 * width)]
            }
        }
    }

    /// The share of a row's mass that is an outlier's: bad data, or noise more than three times as wide as its scale.
    pub(super) fn outlying(self, parts: &[Part], shares: &[f64]) -> f64 {
        let outlying = parts.iter().zip(shares).filter(|(part, _)| part.plus > 0.0 || part.times > WIDE);
        // Shares sum to one up to rounding.
        outlying.map(|(_, share)| share).sum::<f64>().min(1.0)
    }
}

fn student(nu: f64) -> Vec<Part> {
    let place = |i: i32| {
        let x = STEP * f64::from(i);
        (2.0 * (0.5 * x).sinh(), (0.5 * x).cosh())
    };
    let nodes: Vec<(f64, f64)> = (ENDS.0..=ENDS.1).map(place).collect();
    // log of the density of log g without its constant, and its derivative by nu / 2.
    let along: Vec<f64> = nodes.iter().map(|(u, _)| u - u.exp() + 1.0).collect();
    let logs: Vec<f64> = nodes.iter().zip(&along).map(|((_, width), c)| 0.5 * nu * c + width.ln()).collect();
    let total = crate::mixture::log_sum(&logs);
    let shares: Vec<f64> = logs.iter().map(|log| (log - total).exp()).collect();
    let mean: f64 = shares.iter().zip(&along).map(|(p, c)| p * c).sum();
    let spread: f64 = shares.iter().zip(&along).map(|(p, c)| p * (c - mean).powi(2)).sum();
    let part = |((u, _), (log, c)): (&(f64, f64), (&f64, &f64))| {
        let slope = 0.5 * nu * (c - mean);
        Part {
            log_share: log - total,
            times: (-u).exp(),
            plus: 0.0,
            share: [slope, 0.0],
            share2: [slope - (0.5 * nu).powi(2) * spread, 0.0],
            wider: [0.0; MOST],
        }
    };
    nodes.iter().zip(logs.iter().zip(&along)).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_student_s_density() {
        for nu in [1.0f64, 3.0, 8.0, 30.0] {
            let parts = student(nu);
            let unit = |r: f64| (1.0 + r * r / nu).ln() * -0.5 * (nu + 1.0);
            let density = |r: f64| -> f64 {
                let one = |p: &Part| (p.log_share - 0.5 * r * r / p.times).exp() / p.times.sqrt();
                parts.iter().map(one).sum::<f64>().ln()
            };
            for r in [0.5, 2.0, 8.0, 30.0] {
                let (found, exact) = (density(r) - density(0.0), unit(r));
                if exact > -200.0 && (nu < 20.0 || r < 10.0) {
                    assert!((found - exact).abs() < 2e-3, "nu {nu}, r {r}: {found} {exact}");
                }
            }
        }
    }

    #[test]
    fn derivatives_are_those_of_the_shares() {
        for (noise, at) in [(Noise::Student(None), vec![1.3]), (Noise::Mixture, vec![-2.0, 1.0])] {
            let h = 1e-5;
            for k in 0..noise.n() {
                let ends = [h, -h].map(|h| {
                    let mut moved = at.clone();
                    moved[k] += h;
                    noise.parts(&moved)
                });
                for (part, (above, below)) in noise.parts(&at).iter().zip(ends[0].iter().zip(&ends[1])) {
                    let slope = (above.log_share - below.log_share) / (2.0 * h);
                    let bend = (above.share[k] - below.share[k]) / (2.0 * h);
                    assert!((slope - part.share[k]).abs() < 1e-7 * (1.0 + slope.abs()));
                    assert!((bend - part.share2[k]).abs() < 1e-7 * (1.0 + bend.abs()));
                    assert!(((above.plus - below.plus) / (2.0 * h) - part.wider[k]).abs() < 1e-6);
                }
            }
            let total: f64 = noise.parts(&at).iter().map(|part| part.log_share.exp()).sum();
            assert!((total - 1.0).abs() < 1e-12);
        }
    }
}
