//! [`Family`]: the density of a target given its linear predictor, one file each.
//!
//! log p(y | eta, a) is split into a part without eta, [`Constant`], that a row needs once, and one with it, [`Local`],
//! that every node of an integral needs. `a` are the further parameters of a family on scales without bounds
//! (logarithms of dispersions; the thresholds of ordered classes), of which a row depends on two at most:
//! [`Family::active`]. All families are log-concave in eta, which the quadrature builds on.
//!
//! A new family is one file and one variant of [`FamilyKind`].

mod binomial;
mod gamma;
mod lognormal;
mod negative_binomial;
mod ordinal;
mod poisson;
mod weibull;

use std::fmt::Debug;

use crate::error::Result;
use crate::model::law::quadrature::{Integral, NUMBERS};
use crate::named::named;

/// Distribution of the targets given the linear predictor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum FamilyKind {
    /// Two classes: P(1) = 1 / (1 + exp(-eta)).
    #[default]
    Binomial,
    /// Counts with mean and variance exp(eta).
    Poisson,
    /// Counts with mean mu = exp(eta) and variance mu + dispersion mu^2.
    NegativeBinomial,
    /// Positive numbers with mean mu = exp(eta) and variance dispersion mu^2.
    Gamma,
    /// Ordered classes: P(at most c) = 1 / (1 + exp(eta - threshold_c)).
    Ordinal,
    /// Times: log t = eta + scale W, exp(W) standard exponential; proportional hazards.
    Weibull,
    /// Times: log t = eta + scale N(0, 1).
    Lognormal,
}

named!(FamilyKind, "family");

impl FamilyKind {
    /// Are its targets classes?
    #[must_use]
    pub fn is_classifier(self) -> bool {
        matches!(self, Self::Binomial | Self::Ordinal)
    }

    /// May a target be a time that was not reached?
    #[must_use]
    pub fn is_survival(self) -> bool {
        matches!(self, Self::Weibull | Self::Lognormal)
    }

    /// Is there an intercept? Thresholds are several.
    #[must_use]
    pub fn has_intercept(self) -> bool {
        self != Self::Ordinal
    }

    pub(super) fn family(self) -> &'static dyn Family {
        match self {
            Self::Binomial => &binomial::Binomial,
            Self::Poisson => &poisson::Poisson,
            Self::NegativeBinomial => &negative_binomial::NegativeBinomial,
            Self::Gamma => &gamma::Gamma,
            Self::Ordinal => &ordinal::Ordinal,
            Self::Weibull => &weibull::Weibull,
            Self::Lognormal => &lognormal::Lognormal,
        }
    }
}

/// Further parameters that one row may depend on.
pub(super) const ACTIVE: usize = NUMBERS - 2;

/// log p without what has no eta, and its derivatives in eta and in the row's active further parameters.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Local {
    pub value: f64,
    /// d / d eta and d^2 / d eta^2.
    pub d1: f64,
    pub d2: f64,
    /// d / d a.
    pub extra: [f64; ACTIVE],
    /// d^2 / d eta d a.
    pub cross: [f64; ACTIVE],
    /// d^2 / d a d a: both of the first, mixed, both of the second.
    pub second: [f64; 3],
}

/// The part of log p without eta: value, d / d a, d^2 / d a d a.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Constant {
    pub value: f64,
    pub extra: [f64; ACTIVE],
    pub second: [f64; 3],
}

/// A row's target; a censored time was not reached.
#[derive(Debug, Clone, Copy)]
pub(super) struct Observation {
    pub y: f64,
    pub censored: bool,
}

/// A row's target, what is added to its predictor, and its weight.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weighted {
    pub seen: Observation,
    pub offset: f64,
    pub weight: f64,
}

/// log p(y | eta, a).
pub(super) trait Family: Debug + Sync {
    /// Why a target is none of this family's.
    fn refusal(&self, y: f64) -> Option<&'static str>;

    /// Is there one further parameter, the logarithm of a dispersion or scale?
    fn has_scale(&self) -> bool {
        false
    }

    /// Number of further parameters, of so many classes.
    fn n_extra(&self, _n_classes: usize) -> usize {
        usize::from(self.has_scale())
    }

    /// The bounds of each further parameter.
    fn bounds(&self) -> (f64, f64) {
        if self.has_scale() { LOG_BOUNDS } else { (f64::NEG_INFINITY, f64::INFINITY) }
    }

    /// Places of the further parameters that a row with this target depends on.
    fn active(&self, _seen: Observation, _n_extra: usize) -> [Option<usize>; ACTIVE] {
        [self.has_scale().then_some(0), None]
    }

    fn constant(&self, _seen: Observation, _extra: &[f64]) -> Constant {
        Constant::default()
    }

    fn local(&self, seen: Observation, eta: f64, extra: &[f64]) -> Local;

    /// log int p(y | eta, a) N(eta; m, v) d eta, v > 0, where there is a better way than nodes over eta.
    fn integrated(&self, _seen: Observation, _law: (f64, f64), _extra: &[f64]) -> Option<Integral> {
        None
    }

    /// The eta with the largest density of a target, or the end of the range.
    fn peak(&self, seen: Observation, extra: &[f64]) -> f64;

    /// Intercept (0 where there is none) and further parameters where the features do not matter.
    fn start(&self, rows: &[Weighted], n_classes: usize) -> (f64, Vec<f64>);

    /// The further parameters as users know them, and their derivatives in `a`.
    fn natural(&self, extra: &[f64]) -> Vec<(f64, f64)> {
        extra.iter().map(|a| (a.exp(), a.exp())).collect()
    }

    /// Inverse of [`natural`](Self::natural).
    fn working_values(&self, values: &[f64]) -> Vec<f64> {
        values.iter().map(|value| value.ln()).collect()
    }

    /// Mean and variance of a target whose eta is N(m, v), where both are finite.
    fn moments(&self, _m: f64, _v: f64, _extra: &[f64]) -> Option<(f64, f64)> {
        None
    }
}

/// Weighted mean of a function of the rows.
fn mean(rows: &[Weighted], f: impl Fn(&Weighted) -> f64) -> f64 {
    let total: f64 = rows.iter().map(|row| row.weight).sum();
    rows.iter().map(|row| row.weight * f(row)).sum::<f64>() / total
}

/// log(sum y / sum exp offset): the intercept of a mean exp(eta), a little above 0 for counts of zero alone.
fn log_mean(rows: &[Weighted]) -> f64 {
    let largest = rows.iter().fold(f64::NEG_INFINITY, |most, row| most.max(row.offset));
    let (y, size) = (mean(rows, |row| row.seen.y), mean(rows, |row| (row.offset - largest).exp()));
    y.max(0.1 / rows.len() as f64).ln() - size.ln() - largest
}

/// Mean and variance of log t - offset.
fn log_moments(rows: &[Weighted]) -> (f64, f64) {
    let centre = mean(rows, |row| row.seen.y.ln() - row.offset);
    (centre, mean(rows, |row| (row.seen.y.ln() - row.offset - centre).powi(2)))
}

fn check_positive(y: f64) -> Option<&'static str> {
    (!(y > 0.0)).then_some("it must be > 0")
}

fn check_count(y: f64) -> Option<&'static str> {
    if y < 0.0 {
        Some("a count must be >= 0")
    } else if y.fract() != 0.0 {
        Some("a count must be a whole number")
    } else {
        None
    }
}

/// Limits of logarithms of dispersions and scales: beyond them they are 0 or infinite for every purpose.
const LOG_BOUNDS: (f64, f64) = (-25.0, 25.0);

#[cfg(test)]
mod tests {
    use super::*;

    /// Targets of every family, of four classes where they are classes, with further parameters.
    pub(crate) fn cases() -> Vec<(FamilyKind, Observation, Vec<f64>)> {
        let seen = |y: f64| Observation { y, censored: false };
        let censored = |y: f64| Observation { y, censored: true };
        let mut all = vec![];
        for y in [0.0, 1.0] {
            all.push((FamilyKind::Binomial, seen(y), vec![]));
        }
        for y in [0.0, 1.0, 7.0, 40.0, 3e5] {
            all.push((FamilyKind::Poisson, seen(y), vec![]));
            all.push((FamilyKind::NegativeBinomial, seen(y), vec![-0.7]));
            all.push((FamilyKind::NegativeBinomial, seen(y), vec![-12.0]));
        }
        for y in [1e-3, 0.8, 250.0] {
            all.push((FamilyKind::Gamma, seen(y), vec![0.4]));
            all.push((FamilyKind::Gamma, seen(y), vec![6.0]));
            for kind in [FamilyKind::Weibull, FamilyKind::Lognormal] {
                all.push((kind, seen(y), vec![-0.5]));
                all.push((kind, censored(y), vec![-0.5]));
            }
        }
        for y in [0.0, 1.0, 2.0, 3.0] {
            all.push((FamilyKind::Ordinal, seen(y), vec![-1.0, -0.8, 2.0]));
        }
        all
    }

    #[test]
    fn derivatives_are_those_of_the_values() {
        for (kind, seen, extra) in cases() {
            let family = kind.family();
            let active = family.active(seen, extra.len());
            let peak = family.peak(seen, &extra).clamp(-3.0, 3.0 + seen.y.max(1.0).ln());
            for eta in [peak - 0.9, peak + 0.3] {
                let at = family.local(seen, eta, &extra);
                let h = 1e-5;
                let shifted = |place: Option<usize>, eta: f64, by: f64| {
                    let mut extra = extra.clone();
                    place.into_iter().for_each(|place| extra[place] += by);
                    (family.local(seen, eta, &extra), family.constant(seen, &extra))
                };
                let close = |found: f64, low: f64, high: f64, what: &str| {
                    let expected = (high - low) / (2.0 * h);
                    let size = 1.0 + expected.abs() + 1e-5 * (at.value.abs() + at.d1.abs());
                    assert!(
                        (found - expected).abs() < 2e-5 * size,
                        "{kind:?} {seen:?} {eta} {what}: {found} {expected}"
                    );
                };
                let (low, high) = (shifted(None, eta - h, 0.0).0, shifted(None, eta + h, 0.0).0);
                close(at.d1, low.value, high.value, "d1");
                close(at.d2, low.d1, high.d1, "d2");
                let constant = family.constant(seen, &extra);
                for (e, place) in active.iter().enumerate().filter(|(_, place)| place.is_some()) {
                    let ((low, low_c), (high, high_c)) = (shifted(*place, eta, -h), shifted(*place, eta, h));
                    close(at.extra[e], low.value, high.value, "extra");
                    close(at.cross[e], low.d1, high.d1, "cross");
                    close(at.second[2 * e], low.extra[e], high.extra[e], "second");
                    close(constant.extra[e], low_c.value, high_c.value, "constant");
                    close(constant.second[2 * e], low_c.extra[e], high_c.extra[e], "constant second");
                    if e == 1 {
                        close(at.second[1], low.extra[0], high.extra[0], "mixed");
                        close(constant.second[1], low_c.extra[0], high_c.extra[0], "constant mixed");
                    }
                }
            }
        }
    }

    #[test]
    fn probabilities_add_up_to_one() {
        let log = |kind: FamilyKind, y: f64, eta: f64, extra: &[f64]| {
            let (family, seen) = (kind.family(), Observation { y, censored: false });
            family.local(seen, eta, extra).value + family.constant(seen, extra).value
        };
        let sum = |kind, eta, extra: &[f64], most: usize| -> f64 {
            (0..most).map(|y| log(kind, y as f64, eta, extra).exp()).sum()
        };
        assert!((sum(FamilyKind::Binomial, 0.7, &[], 2) - 1.0).abs() < 1e-12);
        assert!((sum(FamilyKind::Ordinal, 0.7, &[-1.0, 0.2, 2.0], 4) - 1.0).abs() < 1e-12);
        for eta in [-2.0, 0.5, 4.0] {
            assert!((sum(FamilyKind::Poisson, eta, &[], 400) - 1.0).abs() < 1e-11);
            for a in [-18.0, -3.0, 0.0] {
                assert!((sum(FamilyKind::NegativeBinomial, eta, &[a], 6000) - 1.0).abs() < 1e-10, "{eta} {a}");
            }
        }
        // Densities of times and sizes: over log y by the trapezoid rule.
        for (kind, a) in [(FamilyKind::Gamma, 0.4), (FamilyKind::Weibull, -0.5), (FamilyKind::Lognormal, 0.3)] {
            let at = |u: f64| log(kind, u.exp(), 0.6, &[a]).exp() * u.exp();
            let total: f64 = (-4000..=4000).map(|j| 0.01 * at(0.01 * f64::from(j))).sum();
            assert!((total - 1.0).abs() < 1e-9, "{kind:?} {total}");
        }
    }
}
