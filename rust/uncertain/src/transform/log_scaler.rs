//! Positive, skewed quantities on a logarithmic scale that is linear around zero, with their error bars:
//!
//!   g(x) = asinh(x / 2b),        s' = (g(x + s) - g(x - s)) / 2,        S' = D S D,  D = diag(s' / s)
//!
//! Far above the softening b this is ln(x / b), with s' = s / x, the relative error. Fluxes, periods and depths span
//! decades: no Gaussian is like their distribution, and a kernel's one width fits no part of it. Readings of them may
//! be zero or negative, for which a logarithm has no answer and this one has. The error bar is carried by its two ends:
//! where it is small beside the curvature this is the delta method, and where it is as large as the value it stays
//! finite and monotone. Source: R. H. Lupton, J. E. Gunn, A. S. Szalay, AJ 118 (1999) 1406 (asinh magnitudes).
//!
//! Rejected: the moments of a lognormal (they say what ln X is if X was drawn from the row's Gaussian; a reading is not
//! drawn, and its mean would move with its error bar); Box-Cox powers (not invertible for negative readings).

use serde::{Deserialize, Serialize};

use crate::control::Control;
use crate::data::covariance::{Diagonal, LowRank, Structure, packed_index, packed_len};
use crate::data::validate::{Rule, elements};
use crate::data::{Covariances, Dataset, GaussianArray, Incomplete, Rows, Unit};
use crate::error::{Error, Result};
use crate::readable::readable;
use crate::state::{About, Arrays, Fitted, Parameters, Parts, Predictor, Valid};

/// Rows that the rule looks at, of more.
const LOOKED_AT: usize = 20_000;
/// Of fewer known values nothing can be said of their tails.
const ENOUGH: usize = 20;
/// The least ratio of the quantiles at 95 and 5 % of a quantity that is taken as a logarithm: less than a decade is
/// nearly linear.
const DECADE: f64 = 10.0;
/// Below this part of value and softening an error bar is carried by the derivative, above by its ends.
const SMALL: f64 = 1e-4;

readable! {
    /// Takes some features as logarithms, softened around zero.
    #[derive(Debug, Clone, PartialEq)]
    pub struct GaussianLogScaler {
        /// b of every feature; 0 for those that stay as they are.
        softening: Vec<f64> => &[f64],
    }
}

/// Change of a feature.
#[derive(Clone, Copy)]
enum Way {
    Forward,
    Back,
}

impl GaussianLogScaler {
    /// With this softening for each feature: finite, >= 0, and 0 leaves a feature as it is.
    ///
    /// # Errors
    /// No features; a softening that cannot be used.
    pub fn new(softening: Vec<f64>) -> Result<Self> {
        if softening.is_empty() {
            return Err(Error::shape("softening", "a number for every feature", 0));
        }
        if let Some(j) = softening.iter().position(|b| !(*b == 0.0 || (b.is_normal() && *b > 0.0))) {
            return Err(Error::Data(format!(
                "softening: feature {j} has {:e}, which is neither positive nor 0, for a feature that stays as it is",
                softening[j]
            )));
        }
        Ok(Self { softening })
    }

    /// By the rule of [`Params::softening`].
    pub(crate) fn fit<'a>(rows: impl Into<Incomplete<'a>>) -> Result<Self> {
        let rows = rows.into();
        let data = rows.gaussians();
        let n = data.n_rows();
        if n == 0 {
            return Err(Error::Data("no rows to fit a logarithmic scale on".into()));
        }
        let step = n.div_ceil(LOOKED_AT);
        let softening = (0..data.n_features()).map(|j| {
            let known = (0..n).step_by(step).filter(|&i| !rows.is_missing(i, j));
            softening(known.map(|i| data.means().at(i, j)).collect())
        });
        Self::new(softening.collect())
    }

    /// The rows with those features as logarithms. Kinds are kept, but isotropic and shared covariances become those of
    /// each row: diagonal and full.
    pub(crate) fn transform(&self, data: &GaussianArray, control: &Control) -> Result<GaussianArray> {
        self.moved(data, Way::Forward, control)
    }

    /// Back to the quantities, with error bars from their two ends.
    pub(crate) fn inverse_transform(&self, data: &GaussianArray) -> Result<GaussianArray> {
        self.moved(data, Way::Back, &Control::new())
    }

    fn moved(&self, data: &GaussianArray, way: Way, control: &Control) -> Result<GaussianArray> {
        let d = self.softening.len();
        data.check_features(d)?;
        if self.softening.iter().all(|b| *b == 0.0) {
            return Ok(data.clone());
        }
        let means = data.means().mapped(d, |x, out| {
            out.iter_mut().zip(x).zip(&self.softening).for_each(|((out, x), b)| *out = way.point(*x, *b));
        })?;
        elements(&means, "values on a logarithmic scale", Rule::Finite)?;
        let covariances = self.covariances(data, way, control)?;
        for field in covariances.fields() {
            elements(&field.values, "covariances on a logarithmic scale", field.rule)?;
        }
        Ok(GaussianArray::from_checked(means, covariances))
    }

    /// D S D, D = diag(factor) of each row.
    fn covariances(&self, data: &GaussianArray, way: Way, control: &Control) -> Result<Covariances> {
        let (covariances, n, d) = (data.covariances(), data.n_rows(), data.n_features());
        let workspace = || (vec![0.0; d], vec![0.0; d]);
        let factors = |(variances, factors): &mut (Vec<f64>, Vec<f64>), row: usize| -> Result<()> {
            control.check()?;
            covariances.variances(row, variances);
            let x = data.means().row(row);
            for j in 0..d {
                factors[j] = way.factor(x[j], variances[j].sqrt(), self.softening[j]);
            }
            Ok(())
        };
        Ok(match covariances.structure() {
            Structure::Zero => Covariances::Zero,
            Structure::Isotropic | Structure::Diagonal => {
                let values = Rows::written_with(n, d, workspace, |work, row, out| {
                    factors(work, row)?;
                    (0..d).for_each(|j| out[j] = work.1[j].powi(2) * work.0[j]);
                    Ok(())
                })?;
                Diagonal { values, unit: Unit::Variance }.into()
            }
            Structure::Factor(low) => {
                let factor = Rows::written_with(n, d * low.rank, workspace, |work, row, out| {
                    factors(work, row)?;
                    let own = low.factor.row(row);
                    let lines = out.chunks_exact_mut(low.rank).zip(own.chunks_exact(low.rank));
                    for ((out, line), by) in lines.zip(&work.1) {
                        out.iter_mut().zip(line).for_each(|(out, f)| *out = by * f);
                    }
                    Ok(())
                })?;
                let diagonal = low.diagonal.map(|own| {
                    Rows::written_with(n, d, workspace, |work, row, out| {
                        factors(work, row)?;
                        let own = own.row(row);
                        (0..d).for_each(|j| out[j] = work.1[j].powi(2) * own[j]);
                        Ok(())
                    })
                });
                LowRank { factor, rank: low.rank, diagonal: diagonal.transpose()? }.into()
            }
            Structure::Dense => {
                let triangles = Rows::written_with(n, packed_len(d), workspace, |work, row, out| {
                    factors(work, row)?;
                    covariances.triangle(row, d, out);
                    for j in 0..d {
                        (0..=j).for_each(|k| out[packed_index(j, k)] *= work.1[j] * work.1[k]);
                    }
                    Ok(())
                })?;
                Covariances::triangles_unchecked(triangles)
            }
        })
    }
}

impl Way {
    /// g(x), or its inverse.
    fn point(self, x: f64, b: f64) -> f64 {
        if b == 0.0 {
            return x;
        }
        match self {
            Self::Forward => (x / (2.0 * b)).asinh(),
            Self::Back => 2.0 * b * x.sinh(),
        }
    }

    /// s' / s.
    fn factor(self, x: f64, s: f64, b: f64) -> f64 {
        if b == 0.0 {
            return 1.0;
        }
        match self {
            // g(x + s) - g(x - s) loses its digits where both are nearly the same.
            Self::Forward if s <= SMALL * (x.abs() + 2.0 * b) => 1.0 / x.hypot(2.0 * b),
            Self::Forward => (self.point(x + s, b) - self.point(x - s, b)) / (2.0 * s),
            // sinh(x + s) - sinh(x - s) = 2 cosh(x) sinh(s)
            Self::Back => 2.0 * b * x.cosh() * if s > 0.0 { s.sinh() / s } else { 1.0 },
        }
    }
}

/// b of the values of one feature; 0 if it is no quantity for logarithms.
fn softening(mut known: Vec<f64>) -> f64 {
    if known.len() < ENOUGH {
        return 0.0;
    }
    known.sort_unstable_by(f64::total_cmp);
    let quantile = |q: f64| known[(q * (known.len() - 1) as f64).round() as usize];
    let (least, three) = (quantile(0.01), [0.05, 0.5, 0.95].map(quantile));
    let skewness = |[low, middle, high]: [f64; 3]| ((high - middle) - (middle - low)) / (high - low);
    let decades = least.is_normal() && least > 0.0 && three[2] / three[0] >= DECADE;
    if decades && skewness(three).abs() > skewness(three.map(f64::ln)).abs() { least } else { 0.0 }
}

/// Parameters of a fit.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// b of every feature, 0 for those that stay as they are. If left out: a feature is taken as a logarithm if its quantile
    /// at 1 % is positive, those at 5 and 95 % are a decade apart, and the logarithms of the three quantiles at 5, 50 and
    /// 95 % are less skewed than they are; its softening is the quantile at 1 %. Gaps do not count; with fewer than 20
    /// values it stays as it is.
    pub softening: Option<Vec<f64>>,
}

impl Parameters for Params {}

impl Fitted for GaussianLogScaler {
    type Params = Params;
    type Header = ();

    fn fit(params: &Valid<Params>, data: &Dataset, _: &Control) -> Result<Self> {
        let d = data.rows().gaussians().n_features();
        match &params.params().softening {
            None => Self::fit(data.rows()),
            Some(softening) if softening.len() == d => Self::new(softening.clone()),
            Some(softening) => Err(Error::shape("softening", d, softening.len())),
        }
    }

    fn write(&self, _: &Valid<Params>, arrays: &mut Arrays) {
        arrays.vector("softening", &self.softening);
    }

    fn read((): (), _: &Valid<Params>, parts: &mut Parts<'_>) -> Result<Self> {
        Self::new(parts.vector("softening")?)
    }
}

impl Predictor for GaussianLogScaler {
    fn about(&self) -> About {
        About::transform(self.softening.len()).keeping_gaps()
    }

    fn transform(&self, rows: Incomplete<'_>, control: &Control) -> Result<GaussianArray> {
        self.transform(&*rows.without_fillers()?, control)
    }

    fn inverse_transform(&self, rows: &GaussianArray) -> Result<GaussianArray> {
        self.inverse_transform(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(x: f64, s: f64, b: f64) -> (f64, f64) {
        let g = |x: f64| (x / (2.0 * b)).asinh();
        (g(x), (g(x + s) - g(x - s)) / 2.0)
    }

    #[test]
    fn small_errors_are_the_derivative_and_both_ways_meet() {
        for s in [1e-9, 1e-5, 1e-3] {
            let slope = 1.0 / 12f64.hypot(1.0);
            assert!((Way::Forward.factor(12.0, s, 0.5) / slope - 1.0).abs() < 1e-6);
            let there = Way::Forward.point(12.0, 0.5);
            assert!((Way::Back.point(there, 0.5) / 12.0 - 1.0).abs() < 1e-14);
            assert!((Way::Back.factor(there, s * slope, 0.5) * slope - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn far_above_the_softening_it_is_the_logarithm_and_the_relative_error() {
        let (g, s) = ends(1e6, 1e4, 0.5);
        assert!((g - (1e6f64 / 0.5).ln()).abs() < 1e-12 && (s / 0.01 - 1.0).abs() < 1e-4);
    }

    #[test]
    fn decades_are_logarithms_and_symmetric_or_signed_values_are_not() {
        let spaced = |f: &dyn Fn(f64) -> f64| (0..1001).map(|i| f(f64::from(i) / 1000.0)).collect::<Vec<_>>();
        let b = softening(spaced(&|u| 10f64.powf(4.0 * u)));
        assert!((b / 10f64.powf(0.04) - 1.0).abs() < 1e-12);
        assert_eq!(softening(spaced(&|u| 20.0 + 3.0 * u)), 0.0);
        assert_eq!(softening(spaced(&|u| 10f64.powf(4.0 * u) - 10.0)), 0.0);
        assert_eq!(softening(spaced(&|u| 1.0 + 20.0 * u)), 0.0);
        assert_eq!(softening(vec![]), 0.0);
    }

    #[test]
    fn a_softening_that_cannot_be_used_is_refused() {
        for softening in [vec![], vec![-1.0], vec![f64::NAN], vec![1e-320]] {
            assert!(GaussianLogScaler::new(softening).is_err());
        }
    }
}
