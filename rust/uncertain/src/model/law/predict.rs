//! Predictions of a law for new readings.

use ndarray::Array2;

use crate::control::Control;
use crate::data::Incomplete;
use crate::density::{ABSENT, Densities, NUMBERS};
use crate::error::{Error, Result};
use crate::linalg::dot;
use crate::model::error_scale::read_with;
use crate::model::law::family::{Family, Observation};
use crate::model::law::integral::integral;
use crate::model::law::truths::{Truth, Truths};
use crate::model::law::{FamilyKind, Model};
use crate::parallel;

/// Most steps to a median; Newton's method takes about five.
const STEPS: usize = 60;
/// A step of Newton's method that is shorter, in units of the bracket's first width, is the last one: the error left is
/// about its square.
const LAST: f64 = 1e-7;

/// The density of every row's intercept + coef'z + N(0, variance).
pub(in crate::model) fn predictors(
    truths: &Truths<'_>,
    intercept: f64,
    coef: &[f64],
    variance: f64,
) -> Result<Densities> {
    let k = truths.most();
    let values = parallel::new_rows_with(
        truths.n,
        k * NUMBERS,
        || truths.reader(),
        |reader, i, out| {
            let truth = reader.at(i);
            for (c, out) in out.chunks_exact_mut(NUMBERS).enumerate() {
                if c >= truth.logs().len() {
                    out.copy_from_slice(&ABSENT);
                    continue;
                }
                let m = intercept + dot(truth.mean_under(c), coef);
                let v = variance_along(truth, c, coef);
                out.copy_from_slice(&[truth.logs()[c].exp(), m, (v + variance).sqrt()]);
                if out.iter().any(|x| !x.is_finite()) {
                    return Err(Error::Data(format!("row {i}: its linear predictor is more than a number can hold")));
                }
            }
            Ok(())
        },
    )?;
    Ok(Densities::new(k, values))
}

/// b'P b under a component of a row.
pub(in crate::model) fn variance_along(truth: Truth<'_>, component: usize, b: &[f64]) -> f64 {
    let square = |p: &[f64]| {
        let at = |i: usize, j: usize| p[i * (i + 1) / 2 + j];
        let below = |i: usize| (0..i).map(|j| at(i, j) * b[j]).sum::<f64>();
        (0..b.len()).map(|i| b[i] * (at(i, i) * b[i] + 2.0 * below(i))).sum::<f64>()
    };
    truth.covariance_under(component).map_or(0.0, square).max(0.0)
}

impl Model {
    /// The density of every row's linear predictor, without offset.
    pub(crate) fn predictors<'a>(&self, rows: impl Into<Incomplete<'a>>, control: &Control) -> Result<Densities> {
        let factors: Vec<f64> = self.feature_error_scale.iter().map(|(factor, _)| *factor).collect();
        read_with(rows.into(), &factors, |rows| {
            let truths = Truths::passing(rows, &self.mixture, control)?;
            predictors(&truths, self.intercept(), self.coef(), 0.0)
        })
    }

    /// P(class | reading), n x classes.
    pub(crate) fn probabilities<'a>(&self, rows: impl Into<Incomplete<'a>>, control: &Control) -> Result<Array2<f64>> {
        if !self.family.is_classifier() {
            return Err(Error::Data(format!("the family {:?} has no classes", self.family.name())));
        }
        let predictors = self.predictors(rows, control)?;
        let (family, extra, n) = (self.family.family(), self.own_extra(), predictors.n_rows());
        let values = parallel::new_rows(n, self.n_classes, |i, out| {
            control.check()?;
            for (class, p) in out.iter_mut().enumerate() {
                *p = likelihood(family, Observation { y: class as f64, censored: false }, &extra, &predictors, i);
            }
            let sum: f64 = out.iter().sum();
            out.iter_mut().for_each(|p| *p /= sum);
            Ok(())
        })?;
        Array2::from_shape_vec((n, self.n_classes), values).map_err(|e| Error::Internal(format!("sizes: {e}")))
    }

    /// Mean and standard deviation of every row's target; of times the median, and no deviation (0).
    pub(crate) fn targets<'a>(
        &self,
        rows: impl Into<Incomplete<'a>>,
        control: &Control,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let predictors = self.predictors(rows, control)?;
        let (family, extra) = (self.family.family(), self.own_extra());
        let values = parallel::new_rows(predictors.n_rows(), 2, |i, out| {
            control.check()?;
            let moments = if self.family.is_survival() {
                (median(family, &extra, &predictors, i), 0.0)
            } else {
                moments(family, &extra, &predictors, i)
                    .ok_or_else(|| Error::Internal("a family without moments".into()))?
            };
            if !moments.0.is_finite() || !moments.1.is_finite() {
                let what = "its target is more than a number can hold";
                return Err(Error::Data(format!("row {i}: {what}; look at the sizes of its features")));
            }
            out.copy_from_slice(&[moments.0, moments.1]);
            Ok(())
        })?;
        Ok(values.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip())
    }

    /// The further parameters as the family knows them.
    fn own_extra(&self) -> Vec<f64> {
        self.family.family().working_values(self.extra())
    }

    pub(super) fn family(&self) -> FamilyKind {
        self.family
    }

    pub(super) fn n_classes(&self) -> usize {
        self.n_classes
    }
}

/// p(y | reading)
fn likelihood(family: &dyn Family, seen: Observation, extra: &[f64], predictors: &Densities, i: usize) -> f64 {
    let of = |m: f64, std: f64| integral(family, seen, (m, std * std), extra).log.exp();
    predictors.row(i).map(|part| part.weight * of(part.mean, part.std)).sum()
}

fn moments(family: &dyn Family, extra: &[f64], predictors: &Densities, i: usize) -> Option<(f64, f64)> {
    let (mut mean, mut square) = (0.0, 0.0);
    for part in predictors.row(i) {
        let (m, v) = family.moments(part.mean, part.std * part.std, extra)?;
        mean += part.weight * m;
        square += part.weight * (v + m * m);
    }
    Some((mean, (square - mean * mean).max(0.0).sqrt()))
}

/// The time that is not reached with probability one half: Newton's method on log t, in a bracket.
///
/// Families of times know log t - eta alone, so the derivative of P(T > t) by log t is minus that by m.
fn median(family: &dyn Family, extra: &[f64], predictors: &Densities, i: usize) -> f64 {
    let late = |log: f64| {
        let seen = Observation { y: log.exp(), censored: true };
        predictors.row(i).fold((0.0, 0.0), |(p, slope), part| {
            let likelihood = integral(family, seen, (part.mean, part.std * part.std), extra);
            let own = part.weight * likelihood.log.exp();
            (p + own, slope - own * likelihood.gradient[0])
        })
    };
    let centre = predictors.row(i).map(|part| part.weight * part.mean).sum::<f64>();
    let spread = predictors.row(i).map(|part| part.std + (part.mean - centre).abs()).sum::<f64>();
    let mut by = spread + extra.first().map_or(1.0, |a| a.exp());
    let (mut low, mut high) = (centre, centre);
    while late(low).0 < 0.5 && low.exp() > 0.0 {
        low -= by;
        by *= 2.0;
    }
    while late(high).0 > 0.5 && high.exp().is_finite() {
        high += by;
        by *= 2.0;
    }
    let (width, mut log) = (high - low, 0.5 * (low + high));
    for _ in 0..STEPS {
        let (p, slope) = late(log);
        if p > 0.5 {
            low = log
        } else {
            high = log
        }
        let newton = log - (p - 0.5) / slope;
        let inside = newton >= low && newton <= high;
        let last = inside && (newton - log).abs() <= LAST * width;
        log = if inside { newton } else { 0.5 * (low + high) };
        if last {
            break;
        }
    }
    log.exp()
}
