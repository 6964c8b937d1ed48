//! Platt scaling: a sigmoid from scores to probabilities, fitted to scores N(m_i, s_i^2).
//!
//! Model: P(y = +1 | row) = E sigmoid(-(A f + B)), f ~ N(m, s^2), the average that is also used for
//! prediction. For exact rows (s = 0) this is Platt's sigmoid 1 / (1 + exp(A f + B)).
//!
//! Why the spread belongs into the fit: a sigmoid fitted to the means m_i alone already contains the
//! softening that the spreads cause. Averaging it once more over N(m, s^2) at prediction would
//! count every error bar twice, and all probabilities would be too close to 1/2.
//!
//! A row that is a mixture has the average of its components' probabilities, p = sum_c v_c p_c, at prediction as well as
//! here: the logarithm is taken behind the sum. A sigmoid fitted to the components as rows would see labels on both
//! sides of every row with two peaks, and count the spread between them twice.
//!
//! Method: targets with the prior correction t+ = (N+ + 1) / (N+ + 2), t- = 1 / (N- + 2); maximum
//! likelihood by Fisher scoring with halved steps. For s = 0 the information matrix is the Hessian and this
//! is the Newton method of Lin, Lin, Weng (Machine Learning 68, 2007, doi 10.1007/s10994-007-5018-6),
//! with their start and in their form without cancellation. Weights are normalised to mean 1 over the
//! rows of positive weight, so N+ and N- are sums of such weights, or to whole numbers of rows where they are multiples of
//! the smallest: weight 2 is a row twice. Scores are standardised
//! first, so that neither their unit nor their offset matters.
//!
//! Where labels follow the means although the error bars say otherwise, the likelihood grows with the slope
//! for ever: p tends to Phi(m / s), the steepest answer that N(m, s^2) allows. The slope therefore has
//! a limit, at which the sigmoid is a hundred times narrower than any error bar.

use std::ops::Range;

use crate::control::Control;
use crate::data::weights::Worth;
use crate::data::{RowTargets, Weights};
use crate::error::Result;
use crate::model::probability::{averaged_sigmoid, expected_sigmoid};
use crate::parallel;
use crate::state::{Arrays, Parts};

/// P(f) = 1 / (1 + exp(a f + b)); a < 0 when high scores mean the positive class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sigmoid {
    /// Slope, with Platt's sign.
    pub a: f64,
    /// Offset.
    pub b: f64,
}

impl Sigmoid {
    /// One probability for all rows.
    pub(in crate::model) fn constant(probability: f64) -> Self {
        Self { a: 0.0, b: (1.0 / probability - 1.0).ln() }
    }

    /// The array `platt`: a and b of each sigmoid, where there are any.
    pub(crate) fn write(sigmoids: Option<&[Self]>, arrays: &mut Arrays) {
        if let Some(sigmoids) = sigmoids {
            arrays.put("platt", &[sigmoids.len(), 2], sigmoids.iter().flat_map(|s| [s.a, s.b]).collect::<Vec<_>>());
        }
    }

    /// The sigmoids of `count` scores.
    pub(crate) fn read(count: usize, parts: &mut Parts<'_>) -> Result<Option<Vec<Self>>> {
        let values = parts.optional_shaped("platt", &[count, 2])?;
        Ok(values.map(|values| values.chunks_exact(2).map(|s| Self { a: s[0], b: s[1] }).collect()))
    }

    /// The probability of the positive class for a score N(mean, std^2).
    #[must_use]
    pub fn probability(&self, mean: f64, std: f64) -> f64 {
        expected_sigmoid(-(self.a * mean + self.b), (self.a * std).abs())
    }

    /// Fit to scores `N(means[i], stds[i]^2)` of rows with targets +-1, from a model that has not seen these rows.
    ///
    /// All slices have one length; `control` is looked at once per iteration.
    pub fn fit<'a>(
        means: &[f64],
        stds: &[f64],
        targets: impl Into<RowTargets<'a>>,
        weights: Option<&Weights>,
        control: &Control,
    ) -> Result<Self> {
        Self::fit_rows(means, stds, targets.into(), weights, None, control)
    }

    /// The sigmoid for scores of components of rows that are mixtures; `parts`: the row of each, those of one row
    /// one after the other. Weights are those of the row times the components'.
    pub(crate) fn fit_rows(
        means: &[f64],
        stds: &[f64],
        targets: RowTargets<'_>,
        weights: Option<&Weights>,
        parts: Option<&[u32]>,
        control: &Control,
    ) -> Result<Self> {
        let likelihood = Likelihood::new(means, stds, targets, weights, parts);
        let mut at = likelihood.start();
        let mut now = likelihood.evaluate(at, control)?;
        for _ in 0..MAX_ITERATIONS {
            let at_limit = at[0].abs() >= likelihood.steepest && at[0] * now.gradient[0] <= 0.0;
            let Some(step) = now.direction(at_limit) else { break };
            if -now.slope_along(step) <= TOLERANCE * (1.0 + now.loss) {
                // Too small a gain for the loss to show it, and the whole step is the best one.
                at = likelihood.moved(at, step, 1.0);
                break;
            }
            let Some(better) = likelihood.descend(at, &now, step, control)? else { break };
            (at, now) = better;
        }
        Ok(likelihood.sigmoid(at))
    }
}

const MAX_ITERATIONS: usize = 100;
/// Newton decrement relative to the loss at which one last step is taken: it leaves the square of 1e-6.
const TOLERANCE: f64 = 1e-12;
/// Slope times the narrowest error bar at most, and the spread (of standardised scores) below which rows count as exact.
const STEEPEST: f64 = 100.0;
const EXACT: f64 = 1e-6;
/// Sufficient decrease, and the smallest step tried (both from Lin, Lin, Weng).
const DECREASE: f64 = 1e-4;
const SMALLEST_STEP: f64 = 1e-10;

/// The negative log-likelihood as a function of (slope, offset) of the standardised scores.
struct Likelihood<'a> {
    means: &'a [f64],
    stds: &'a [f64],
    targets: RowTargets<'a>,
    weights: Option<&'a Weights>,
    /// Where the components of every row begin, where rows are mixtures.
    offsets: Option<Vec<usize>>,
    /// Factor that makes the positive weights 1 on average.
    weight_scale: f64,
    positives: f64,
    negatives: f64,
    center: f64,
    scale: f64,
    /// Largest slope of the standardised scores; infinite when all rows are exact.
    steepest: f64,
}

/// Value and derivatives at one point; `information` is the packed 2 x 2 triangle.
struct Evaluation {
    loss: f64,
    gradient: [f64; 2],
    information: [f64; 3],
}

/// A point with what is known there.
type Place = ([f64; 2], Evaluation);

impl<'a> Likelihood<'a> {
    fn new(
        means: &'a [f64],
        stds: &'a [f64],
        targets: RowTargets<'a>,
        weights: Option<&'a Weights>,
        parts: Option<&[u32]>,
    ) -> Self {
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let offsets = parts.map(|parts| {
            let begins = |i: &usize| *i == 0 || parts.get(*i) != parts.get(*i - 1);
            (0..=parts.len()).filter(begins).collect::<Vec<usize>>()
        });
        let (mut total, mut positive, mut sum, mut magnitude) = (0.0, 0.0, 0.0, 0.0_f64);
        for i in 0..means.len() {
            let c = weight(i);
            if c > 0.0 {
                total += c;
                positive += if targets.at(i) > 0.0 { c } else { 0.0 };
                sum += c * means[i];
                magnitude = magnitude.max(means[i].abs()).max(stds[i]);
            }
        }
        let whole: Vec<f64> = match &offsets {
            Some(offsets) => offsets.windows(2).map(|pair| (pair[0]..pair[1]).map(weight).sum()).collect(),
            None => (0..means.len()).map(weight).collect(),
        };
        let center = if total > 0.0 { sum / total } else { 0.0 };
        // Divided by the largest score before squaring: no overflow for scores of any size.
        let unit = if magnitude > 0.0 { magnitude } else { 1.0 };
        let spread: f64 = (0..means.len())
            .map(|i| weight(i) * (((means[i] - center) / unit).powi(2) + (stds[i] / unit).powi(2)))
            .sum();
        let scale = if spread > 0.0 { unit * (spread / total).sqrt() } else { 1.0 };
        let present = whole.into_iter().filter(|w| *w > 0.0);
        let weight_scale = Worth::from_weights(present.clone()).share(present.count(), total);
        let counted = weight_scale * total;
        let positives = positive * weight_scale;
        let bars = (0..means.len()).filter(|&i| weight(i) > 0.0).map(|i| stds[i] / scale).filter(|&s| s > EXACT);
        let narrowest = bars.fold(f64::INFINITY, f64::min);
        let steepest = if narrowest.is_finite() { STEEPEST / narrowest } else { f64::INFINITY };
        let negatives = counted - positives;
        Self { means, stds, targets, weights, offsets, weight_scale, positives, negatives, center, scale, steepest }
    }

    fn start(&self) -> [f64; 2] {
        [0.0, ((self.positives + 1.0) / (self.negatives + 1.0)).ln()]
    }

    /// Back to the caller's scores, and to Platt's sign.
    fn sigmoid(&self, [slope, offset]: [f64; 2]) -> Sigmoid {
        let a = -slope / self.scale;
        Sigmoid { a, b: -offset - a * self.center }
    }

    /// A step, cut at the largest slope.
    fn moved(&self, at: [f64; 2], direction: [f64; 2], step: f64) -> [f64; 2] {
        let slope = at[0] + step * direction[0];
        [slope.clamp(-self.steepest, self.steepest), at[1] + step * direction[1]]
    }

    fn evaluate(&self, at: [f64; 2], control: &Control) -> Result<Evaluation> {
        let n_rows = self.offsets.as_ref().map_or(self.means.len(), |offsets| offsets.len() - 1);
        let parts = parallel::map_parts(n_rows, |rows| {
            control.check()?;
            Ok(self.evaluate_rows(at, rows))
        })?;
        let mut sum = Evaluation { loss: 0.0, gradient: [0.0; 2], information: [0.0; 3] };
        for part in parts {
            let part = part?;
            sum.loss += part.loss;
            sum.gradient.iter_mut().zip(part.gradient).for_each(|(s, p)| *s += p);
            sum.information.iter_mut().zip(part.information).for_each(|(s, p)| *s += p);
        }
        Ok(sum)
    }

    fn evaluate_rows(&self, [slope, offset]: [f64; 2], rows: Range<usize>) -> Evaluation {
        let mut sum = Evaluation { loss: 0.0, gradient: [0.0; 2], information: [0.0; 3] };
        let high = (self.positives + 1.0) / (self.positives + 2.0);
        let low = 1.0 / (self.negatives + 2.0);
        for row in rows {
            let own = self.offsets.as_ref().map_or(row..row + 1, |offsets| offsets[row]..offsets[row + 1]);
            if own.len() > 1 {
                self.add_mixture([slope, offset], own, [low, high], &mut sum);
                continue;
            }
            let i = own.start;
            let c = self.weights.map_or(1.0, |w| w[i]) * self.weight_scale;
            if c == 0.0 {
                continue;
            }
            let (m, s) = ((self.means[i] - self.center) / self.scale, self.stds[i] / self.scale);
            let t = if self.targets.at(i) > 0.0 { high } else { low };
            let x = slope * m + offset;
            if s == 0.0 {
                // log(1 + exp(-|x|)) never cancels; p (1 - p) is both slope and information.
                let e = (-x.abs()).exp();
                let p = if x >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
                let surplus = if x >= 0.0 { (1.0 - t) * x } else { -t * x };
                sum.loss += c * (surplus + e.ln_1p());
                sum.add(c * (p - t), c * e / (1.0 + e).powi(2), [m, 1.0]);
            } else {
                let r = averaged_sigmoid(x, slope.abs() * s);
                let (p, q) = (r.p.max(f64::MIN_POSITIVE), r.q.max(f64::MIN_POSITIVE));
                sum.loss -= c * (t * p.ln() + (1.0 - t) * q.ln());
                let along = [r.d_a * m + r.d_b * s * slope.signum(), r.d_a];
                sum.add(c * ((1.0 - t) / q - t / p), c / p / q, along);
            }
        }
        sum
    }

    /// A row of several components, whose probability is the mean of theirs.
    fn add_mixture(&self, [slope, offset]: [f64; 2], own: Range<usize>, [low, high]: [f64; 2], sum: &mut Evaluation) {
        let weight = |i: usize| self.weights.map_or(1.0, |w| w[i]);
        let total: f64 = own.clone().map(weight).sum();
        if total == 0.0 {
            return;
        }
        let t = if self.targets.at(own.start) > 0.0 { high } else { low };
        let (mut p, mut q, mut along) = (0.0, 0.0, [0.0; 2]);
        for i in own {
            let (m, s) = ((self.means[i] - self.center) / self.scale, self.stds[i] / self.scale);
            let (r, share) = (averaged_sigmoid(slope * m + offset, slope.abs() * s), weight(i) / total);
            p += share * r.p;
            q += share * r.q;
            along[0] += share * (r.d_a * m + r.d_b * s * slope.signum());
            along[1] += share * r.d_a;
        }
        let (c, p, q) = (total * self.weight_scale, p.max(f64::MIN_POSITIVE), q.max(f64::MIN_POSITIVE));
        sum.loss -= c * (t * p.ln() + (1.0 - t) * q.ln());
        sum.add(c * ((1.0 - t) / q - t / p), c / p / q, along);
    }

    /// Halve the step until the loss decreases enough; `None` when rounding is all that is left.
    fn descend(&self, at: [f64; 2], now: &Evaluation, direction: [f64; 2], control: &Control) -> Result<Option<Place>> {
        let mut step = 1.0;
        while step >= SMALLEST_STEP {
            let next = self.moved(at, direction, step);
            let promised = now.slope_along([next[0] - at[0], next[1] - at[1]]);
            if promised < 0.0 {
                let there = self.evaluate(next, control)?;
                if there.loss < now.loss + DECREASE * promised {
                    return Ok(Some((next, there)));
                }
            }
            step /= 2.0;
        }
        Ok(None)
    }
}

impl Evaluation {
    fn add(&mut self, force: f64, weight: f64, along: [f64; 2]) {
        self.gradient[0] += force * along[0];
        self.gradient[1] += force * along[1];
        self.information[0] += weight * along[0] * along[0];
        self.information[1] += weight * along[0] * along[1];
        self.information[2] += weight * along[1] * along[1];
    }

    fn slope_along(&self, step: [f64; 2]) -> f64 {
        self.gradient[0] * step[0] + self.gradient[1] * step[1]
    }

    /// -(information)^-1 gradient, with a ridge that only matters for a singular matrix (one score for
    /// all rows); for the offset alone when the slope is at its limit.
    fn direction(&self, at_limit: bool) -> Option<[f64; 2]> {
        let [h00, h01, h11] = self.information;
        let ridge = 1e-12 * (h00 + h11) + f64::MIN_POSITIVE;
        let (h00, h11) = (h00 + ridge, h11 + ridge);
        let determinant = h00 * h11 - h01 * h01;
        let [g0, g1] = self.gradient;
        let step = if at_limit {
            [0.0, -g1 / h11]
        } else {
            [(h01 * g1 - h11 * g0) / determinant, (h01 * g0 - h00 * g1) / determinant]
        };
        (step[0].is_finite() && step[1].is_finite()).then_some(step)
    }
}
