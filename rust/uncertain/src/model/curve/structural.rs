//! Structural fits: the likelihood of y given x, integrated over the true x.
//!
//! With omega the masses of the nodes of a row ([`integral`](super::integral)), J = df/dtheta and r = y - f - g - G v there,
//! M = R + diag(sigma^2):
//! ```text
//! d log p / d theta     = sum omega J' M^{-1} r
//! d log p / d sigma_o^2 = sum omega ( (M^{-1} r)_o^2 - (M^{-1})_oo ) / 2
//! -d^2 log p            = sum omega (-d^2 log N) - Cov_omega(d log N)        (T. A. Louis, JRSS B 44, 1982)
//! ```
//! where the second derivatives of f are left out of the last line on the way; standard errors have them. Where the factor of the
//! errors of y is fitted, M has kappa R, and the derivatives by kappa have R where those by sigma_o^2 have a one at o.
//!
//! The noise of y may be a scale mixture ([`Noise`](crate::model::noise)): a row then has its integral for each part,
//! M = a_j (R + diag(sigma^2)) + V_j, with the parts' shares, so that every integrand stays what it is without outliers.
//!
//! Degrees of freedom are counted ([`Degrees`]), with V the variance of y about the curve as far as x tells it.

use crate::data::covariance::packed_len;
use crate::data::weights::Worth;
use crate::error::{Error, Result};
use crate::linalg::{Eigh, add_outer, dot};
use crate::model::degrees::{Degrees, Precisions};
use crate::model::noise::{Noise, Part};

use super::errors;
use super::evaluate::Evaluator;
use super::integral::{Integrals, Integrand};
use super::modes::White;
use super::readings::Reading;
use super::terms::Term;
use crate::solver::levenberg::{Expansion, Objective};

/// Steps of differences of df/dtheta, in standard errors, and a part of it below which its change is rounding.
const STEP: f64 = 5e-3;
const STRAIGHT: f64 = 1e-8;

/// Some rows with their nodes.
pub(super) struct Block<'a> {
    pub rows: std::ops::Range<usize>,
    pub parts: &'a [Part],
    pub white: &'a [White],
    pub parameters: &'a [f64],
    /// True values and f of all nodes.
    pub z: Vec<f64>,
    pub f: Vec<f64>,
}

/// Minus the log-likelihood as a function of the free parameters and the variances sigma^2.
pub(super) struct Structural<'a> {
    pub evaluator: &'a Evaluator<'a>,
    pub readings: &'a [Reading],
    pub terms: &'a [Term],
    pub parameters: &'a [f64],
    pub free: &'a [usize],
    /// Is the scatter fitted? Else sigma = 0.
    pub scatter: bool,
    /// Is the factor of the errors of y fitted? Its square stands behind the scatters.
    pub scaled: bool,
    /// Weights of sum n, or of the repeated rows that they count.
    pub weights: &'a [f64],
    /// n x q: the variances that errors of x leave in y.
    pub spread: Vec<f64>,
    pub noise: Noise,
    /// q: the variances in units of which bad data are wider.
    pub unit: &'a [f64],
    /// Has x errors, so that the true values have a density?
    pub noisy: bool,
    /// The last of the free parameters are errors that rows share.
    pub modes: usize,
    /// Degrees of freedom that they take.
    pub degrees_of_modes: f64,
    /// On the way to the solution: rules of low order, whose error is some 1e-3 of a standard error of the parameters.
    pub rough: bool,
}

/// Everything at one point.
pub(super) struct Point {
    pub loglikelihood: f64,
    pub disagreement: f64,
    /// Of every row, n x (free + scatters + noise), without weights.
    pub scores: Vec<f64>,
    /// Of every row, the shares of the noise's parts.
    pub shares: Vec<f64>,
    derivatives: Expansion,
}

impl Structural<'_> {
    pub(super) fn split(&self, at: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut all = self.parameters.to_vec();
        self.free.iter().zip(at).for_each(|(&j, value)| all[j] = *value);
        let q = self.evaluator.q;
        let first = self.free.len();
        (all, if self.scatter { at[first..first + q].to_vec() } else { vec![0.0; q] })
    }

    pub(super) fn width(&self) -> usize {
        self.first_of_noise() + self.noise.n()
    }

    /// The places of the scatters.
    pub(super) fn scatters(&self) -> std::ops::Range<usize> {
        self.free.len()..self.free.len() + if self.scatter { self.evaluator.q } else { 0 }
    }

    /// The place of the first parameter of the noise.
    pub(super) fn first_of_noise(&self) -> usize {
        self.scatters().end + usize::from(self.scaled)
    }

    /// The squared factor of the errors of y.
    pub(super) fn kappa(&self, at: &[f64]) -> f64 {
        if self.scaled { at[self.scatters().end] } else { 1.0 }
    }

    /// The parts of the noise.
    pub(super) fn parts(&self, at: &[f64]) -> Vec<Part> {
        self.noise.parts(&at[self.first_of_noise()..])
    }

    /// The variances that errors of x leave in y at some parameters: |W^{-1} dr/dv|^2 at v = 0, per output.
    pub(super) fn spread(&self, parameters: &[f64]) -> Result<Vec<f64>> {
        let q = self.evaluator.q;
        let mut spread = vec![0.0; self.readings.len() * q];
        for k in 1..=self.terms.iter().map(|term| term.rank).max().unwrap_or(0) {
            let own: Vec<&Term> = self.terms.iter().filter(|term| term.rank == k).collect();
            let (mut z, mut directions) = (vec![], vec![]);
            for term in &own {
                term.place(&vec![0.0; k], &mut z);
                directions.extend_from_slice(&term.root);
            }
            let values = self.evaluator.values(&z, parameters)?;
            let slopes = self.evaluator.along(&z, &directions, k, parameters, &values)?;
            for (term, slopes) in own.iter().zip(slopes.chunks_exact(q * k)) {
                for (o, slope) in slopes.chunks_exact(k).enumerate() {
                    let own: f64 = slope.iter().zip(&term.slope[o * k..]).map(|(f, g)| (f + g).powi(2)).sum();
                    spread[term.row * q + o] += term.log_weight.exp() * own;
                }
            }
        }
        Ok(spread)
    }

    /// The nodes of all rows, block by block, for `see`; `None` where the curve is not defined, or `see` has seen enough.
    pub(super) fn each_block(
        &self,
        at: &[f64],
        mut see: impl FnMut(&Block<'_>, Integrals) -> Result<bool>,
    ) -> Result<Option<()>> {
        let n = self.readings.len();
        let (parameters, variances) = self.split(at);
        let (kappa, parts) = (self.kappa(at), self.parts(at));
        let log_shares: Vec<f64> = parts.iter().map(|part| part.log_share).collect();
        let plus: Vec<Vec<f64>> =
            parts.iter().map(|part| self.unit.iter().map(|unit| part.plus * unit).collect()).collect();
        let mut white = Vec::with_capacity(n * parts.len());
        for reading in self.readings {
            for (part, plus) in parts.iter().zip(&plus) {
                white.push(White::wider(reading, kappa, &variances, part.times, plus)?);
            }
        }
        let integrand = Integrand {
            evaluator: self.evaluator,
            readings: self.readings,
            terms: self.terms,
            white: &white,
            shares: &log_shares,
            parameters: &parameters,
            rough: self.rough,
        };
        let rank = self.terms.iter().map(|term| term.rank).max().unwrap_or(0);
        let block = [20_000usize, 4_000, 300, 40][rank.min(3)].div_ceil(parts.len());
        let (mut first_row, mut first_term) = (0, 0);
        while first_row < n {
            let rows = first_row..(first_row + block).min(n);
            let after = self.terms[first_term..].iter().position(|term| term.row >= rows.end);
            let terms = first_term..after.map_or(self.terms.len(), |at| first_term + at);
            (first_row, first_term) = (rows.end, terms.end);
            let integrals = integrand.integrals(terms, rows.clone())?;
            if integrals.logs.iter().any(|log| !log.is_finite()) {
                return Ok(None);
            }
            let z = integrals.nodes.iter().flat_map(|node| node.z().iter().copied()).collect();
            let f = integrals.nodes.iter().flat_map(|node| node.f().iter().copied()).collect();
            let block = Block { rows, parts: &parts, white: &white, parameters: &parameters, z, f };
            if !see(&block, integrals)? {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    /// The likelihood with its derivatives; `None` where the curve is not defined.
    pub(super) fn point(&self, at: &[f64]) -> Result<Option<Point>> {
        let (q, p, width, n) = (self.evaluator.q, self.free.len(), self.width(), self.readings.len());
        let of_parts = self.parts(at).len();
        let bases = self.bases();
        let mut memory = Memory::default();
        let mut point = Point {
            loglikelihood: 0.0,
            disagreement: 0.0,
            scores: vec![0.0; n * width],
            shares: vec![0.0; n * of_parts],
            derivatives: Expansion {
                gradient: vec![0.0; width],
                hessian: vec![0.0; width * width],
                diagonal: vec![0.0; width],
                beside: 0.0,
            },
        };
        let seen = self.each_block(at, |block, integrals| {
            point.disagreement = point.disagreement.max(integrals.disagreement);
            let weighted = block.rows.clone().zip(&integrals.logs).map(|(i, log)| self.weights[i] * log);
            point.loglikelihood += weighted.sum::<f64>();
            let mut jacobian = self.evaluator.by_parameters(&block.z, block.parameters, &block.f, self.free)?;
            if jacobian.iter().any(|x| !x.is_finite()) {
                return Ok(false);
            }
            let none = &mut [][..];
            let mut own = jacobian.chunks_exact_mut((q * p).max(1));
            for node in &integrals.nodes {
                let case = node.row * of_parts + node.part;
                let (row, weight) = (&block.white[case], self.weights[node.row]);
                point.shares[case] += node.mass;
                let jacobian = own.next().unwrap_or(none);
                row.apply(jacobian, p);
                let part = &block.parts[node.part];
                let directions = self.directions(part, &self.readings[node.row], &bases);
                let add =
                    Addition { of: self, q, p, part, directions, jacobian, white: row, residual: node.residual() };
                let scores = &mut point.scores[node.row * width..(node.row + 1) * width];
                add.to(node.mass, weight, scores, &mut point.derivatives, &mut memory);
            }
            Ok(true)
        })?;
        if seen.is_none() {
            return Ok(None);
        }
        for (row, weight) in self.weights.iter().enumerate() {
            let s = &point.scores[row * width..(row + 1) * width];
            for a in 0..width {
                point.derivatives.gradient[a] -= weight * s[a];
                (0..width).for_each(|b| point.derivatives.hessian[a * width + b] += weight * s[a] * s[b]);
            }
        }
        for a in self.places_of_modes() {
            point.loglikelihood -= 0.5 * at[a] * at[a];
            point.derivatives.gradient[a] += at[a];
            point.derivatives.hessian[a * width + a] += 1.0;
            point.derivatives.diagonal[a] += 1.0;
        }
        Ok(Some(point))
    }

    pub(super) fn gradient(&self, at: &[f64]) -> Result<Option<Vec<f64>>> {
        Ok(self.point(at)?.map(|point| {
            let mut gradient = point.derivatives.gradient;
            gradient[self.free.len()..].iter_mut().zip(self.degrees(at).1).for_each(|(g, first)| *g += first);
            gradient
        }))
    }

    pub(super) fn places_of_modes(&self) -> std::ops::Range<usize> {
        self.free.len() - self.modes..self.free.len()
    }

    /// tr (I + G)^{-1} G with G = sum c M M' / V: as many coefficients as the errors that rows share are worth.
    pub(super) fn effective_modes(&self, at: &[f64]) -> Result<f64> {
        let (k, kappa, variance) = (self.modes, self.kappa(at), self.split(at).1[0]);
        let mut gram = vec![0.0; packed_len(k)];
        for (i, reading) in self.readings.iter().enumerate() {
            let row = &reading.x[reading.x.len() - k..];
            add_outer(self.weights[i] / (variance + kappa * reading.rest[0] + self.spread[i]), row, &mut gram);
        }
        let mut eigh = Eigh::new(k);
        eigh.packed(&gram)?;
        Ok(eigh.values.iter().map(|value| value / (1.0 + value)).sum())
    }

    /// The matrices e_o e_o' of the outputs, and the diagonal one of the units of bad data's variances.
    fn bases(&self) -> Vec<Vec<f64>> {
        let q = self.evaluator.q;
        let diagonal = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
            (0..q * q).map(|at| if at / q == at % q { of(at / q) } else { 0.0 }).collect()
        };
        let unit = |o: usize| diagonal(&|r| f64::from(u8::from(r == o)));
        (0..q).map(unit).chain([diagonal(&|o| self.unit[o])]).collect()
    }

    /// dM of a part of the noise at a row by each parameter of the variances: a factor and a matrix.
    fn directions<'m>(&self, part: &Part, reading: &'m Reading, bases: &'m [Vec<f64>]) -> Vec<(f64, &'m [f64])> {
        let scatters = bases[..self.scatters().len()].iter().map(|base| (part.times, &base[..]));
        let scale = self.scaled.then_some((part.times, &reading.rest[..]));
        let noise = (0..self.noise.n()).map(|e| (part.wider[e], &bases[self.evaluator.q][..]));
        scatters.chain(scale).chain(noise).collect()
    }

    /// Term of minus the log-likelihood for the degrees of freedom of the curve, with its gradient and Hessian by the
    /// squared scatters and kappa, as far as they are fitted.
    pub(super) fn degrees(&self, at: &[f64]) -> (f64, Vec<f64>, Vec<f64>) {
        let (q, kappa) = (self.evaluator.q, self.kappa(at));
        let (scatters, m) = (self.scatters().len(), self.first_of_noise() - self.free.len());
        let (mut value, mut gradient, mut hessian) = (0.0, vec![0.0; m], vec![0.0; m * m]);
        if m == 0 {
            return (value, gradient, hessian);
        }
        let variances = self.split(at).1;
        let (total, worth) = (self.weights.iter().sum::<f64>(), Worth::from_weights(self.weights.iter().copied()));
        let taken = ((self.free.len() - self.modes) as f64 + self.degrees_of_modes) * total / (worth.rows * q as f64);
        let taken = taken.min(total - 1.0);
        for o in 0..q {
            let mut sums = Precisions::default();
            for ((reading, weight), spread) in
                self.readings.iter().zip(self.weights).zip(self.spread[o..].iter().step_by(q))
            {
                let rest = reading.rest[o * q + o];
                sums.add(*weight, rest, variances[o] + kappa * rest + spread);
            }
            let degrees = Degrees::new(taken, &sums);
            value += degrees.value;
            // The place of a parameter of this output, and that of its derivatives.
            let places = [(o, 0), (scatters, 1)];
            let places = &places[usize::from(scatters == 0)..2 - usize::from(!self.scaled)];
            for &(a, i) in places {
                gradient[a] += degrees.gradient[i];
                places.iter().for_each(|&(b, j)| hessian[a * m + b] += degrees.hessian[i][j]);
            }
        }
        (value, gradient, hessian)
    }

    /// Is this a minimum along these parameters ([`errors::is_minimum`])? A cheap rule that doubts it is not believed.
    pub(super) fn is_minimum(
        &mut self,
        (at, some): (&[f64], &[usize]),
        inverse: &[f64],
        bounds: (&[f64], &[f64]),
    ) -> Result<bool> {
        let mut sound = false;
        for rough in [true, false].into_iter().skip(usize::from(!self.noisy)) {
            self.rough = rough;
            let own = &*self;
            let value = |at: &[f64]| -> Result<f64> {
                Ok(own.point(at)?.map_or(f64::INFINITY, |point| own.degrees(at).0 - point.loglikelihood))
            };
            let least = value(at)?;
            sound = sound || errors::is_minimum((at, some), inverse, 1.0, bounds, |there| Ok(value(there)? - least))?;
        }
        Ok(sound)
    }

    /// The second derivatives `hessian` with those of f, which the way to the solution does without: differences of its first
    /// derivatives at the nodes, a part of a standard error to both sides within the bounds. `None` where f is not defined there.
    pub(super) fn information(
        &self,
        at: &[f64],
        Expansion { hessian, diagonal, .. }: &Expansion,
        (lower, upper): (&[f64], &[f64]),
    ) -> Result<Option<Vec<f64>>> {
        let (q, p, width) = (self.evaluator.q, self.free.len(), self.width());
        let mut out = hessian.to_vec();
        let of_parts = self.parts(at).len();
        let seen = self.each_block(at, |block, integrals| {
            for b in 0..p - self.modes {
                // Between the error that is known so far and that which there would be if the true x were known.
                let known = hessian[b * width + b].max(1e-12 * diagonal[b]) * diagonal[b];
                let step = STEP / known.max(f64::MIN_POSITIVE).powf(0.25);
                let end = |to: f64| {
                    let mut moved = block.parameters.to_vec();
                    moved[self.free[b]] = to.clamp(lower[b], upper[b]);
                    let values = self.evaluator.values(&block.z, &moved)?;
                    let jacobian = self.evaluator.by_parameters(&block.z, &moved, &values, self.free)?;
                    Ok::<_, Error>((jacobian, moved[self.free[b]]))
                };
                let ((above, high), (below, low)) = (end(at[b] + step)?, end(at[b] - step)?);
                for (node, rows) in integrals.nodes.iter().zip((0..).step_by(q * p)) {
                    let (white, r) = (&block.white[node.row * of_parts + node.part], node.residual());
                    let share = node.mass * self.weights[node.row] / (high - low);
                    for (o, a) in (0..q).flat_map(|o| (0..p).map(move |a| (o, a))) {
                        let (above, below) = (above[rows + o * p + a], below[rows + o * p + a]);
                        if (above - below).abs() <= STRAIGHT * (above.abs() + below.abs()) {
                            continue;
                        }
                        let solved: f64 = (0..q).map(|i| white.w[i * q + o] * r[i]).sum();
                        // Half to each side of the diagonal.
                        let bent = 0.5 * share * (above - below) * solved;
                        out[a * width + b] -= bent;
                        out[b * width + a] -= bent;
                    }
                }
            }
            Ok(out.iter().all(|h| h.is_finite()))
        })?;
        Ok(seen.map(|()| out))
    }
}

/// Share of one node in the sums of its row and of all rows.
struct Addition<'a> {
    of: &'a Structural<'a>,
    q: usize,
    p: usize,
    part: &'a Part,
    /// dM by each parameter of the variances.
    directions: Vec<(f64, &'a [f64])>,
    /// W J, q x p.
    jacobian: &'a [f64],
    white: &'a White,
    /// W r.
    residual: &'a [f64],
}

/// Of one node after the other.
#[derive(Default)]
struct Memory {
    own: Vec<f64>,
    solved: Vec<f64>,
    inverse: Vec<f64>,
    turned: Vec<f64>,
    products: Vec<f64>,
}

impl Addition<'_> {
    fn to(&self, mass: f64, weight: f64, scores: &mut [f64], sums: &mut Expansion, memory: &mut Memory) {
        let Memory { own, solved, inverse, turned, products } = memory;
        let (q, p, width) = (self.q, self.p, scores.len());
        let w = |i: usize, j: usize| self.white.w[i * q + j];
        let along = |j: usize| (0..q).map(|o| self.jacobian[o * p + j] * self.residual[o]).sum::<f64>();
        own.clear();
        own.extend((0..p).map(along));
        let share = mass * weight;
        for (a, b) in (0..p).flat_map(|a| (0..p).map(move |b| (a, b))) {
            let square: f64 = (0..q).map(|o| self.jacobian[o * p + a] * self.jacobian[o * p + b]).sum();
            sums.hessian[a * width + b] += share * square;
            if a == b {
                sums.diagonal[a] += share * square;
            }
        }
        // M^{-1} r and M^{-1} from W.
        solved.clear();
        solved.extend((0..q).map(|o| (0..q).map(|i| w(i, o) * self.residual[i]).sum::<f64>()));
        inverse.clear();
        inverse.extend((0..q * q).map(|at| (0..q).map(|i| w(i, at / q) * w(i, at % q)).sum::<f64>()));
        for (place, (size, along)) in self.directions.iter().enumerate() {
            let at = p + place;
            // D M^{-1} r, and M^{-1} D.
            turned.clear();
            turned.extend((0..q).map(|o| size * (0..q).map(|r| along[o * q + r] * solved[r]).sum::<f64>()));
            let product =
                |i: usize, j: usize| size * (0..q).map(|k| inverse[i * q + k] * along[k * q + j]).sum::<f64>();
            products.clear();
            products.extend((0..q * q).map(|at| product(at / q, at % q)));
            let trace: f64 = (0..q).map(|o| products[o * (q + 1)]).sum();
            let by = 0.5 * (dot(solved, turned) - trace);
            own.push(by);
            for (other, (size, beside)) in self.directions.iter().enumerate() {
                let pairs = (0..q * q).map(|k| (k / q, k % q));
                let bent: f64 = pairs
                    .map(|(i, j)| {
                        let beside = |r: usize| size * beside[j * q + r];
                        let straight =
                            turned[i] * inverse[i * q + j] * (0..q).map(|r| beside(r) * solved[r]).sum::<f64>();
                        let whole = (0..q).map(|r| products[r * q + i] * inverse[i * q + j] * beside(r)).sum::<f64>();
                        straight - 0.5 * whole
                    })
                    .sum();
                sums.hessian[at * width + p + other] += share * bent;
            }
            let square: f64 = (0..q * q).map(|k| products[k] * products[k % q * q + k / q]).sum();
            sums.diagonal[at] += share * 0.5 * square;
            for a in 0..p {
                let crossed: f64 =
                    (0..q).map(|o| turned[o] * (0..q).map(|i| self.jacobian[i * p + a] * w(i, o)).sum::<f64>()).sum();
                sums.hessian[a * width + at] += share * crossed;
                sums.hessian[at * width + a] += share * crossed;
            }
            if let Some(e) = at.checked_sub(self.of.first_of_noise()) {
                // V is an exponential: its second derivative is its first.
                own[at] += self.part.share[e];
                sums.hessian[at * width + at] -= share * (by + self.part.share2[e]);
                sums.diagonal[at] += 0.1 * share;
            }
        }
        for a in 0..width {
            scores[a] += mass * own[a];
            (0..width).for_each(|b| sums.hessian[a * width + b] -= share * own[a] * own[b]);
        }
    }
}

impl Objective for Structural<'_> {
    type State = Point;

    fn value(&mut self, at: &[f64]) -> Result<Option<(f64, Point)>> {
        let value = |point: Point| (self.degrees(at).0 - point.loglikelihood, point);
        Ok(self.point(at)?.map(value))
    }

    fn derivatives(&mut self, at: &[f64], point: &Point) -> Result<Expansion> {
        let (p, width) = (self.free.len(), self.width());
        let mut derivatives = point.derivatives.clone();
        let (_, first, second) = self.degrees(at);
        let m = first.len();
        derivatives.gradient[p..].iter_mut().zip(first).for_each(|(g, first)| *g += first);
        second.iter().enumerate().for_each(|(k, h)| derivatives.hessian[(p + k / m) * width + p + k % m] += h);
        Ok(derivatives)
    }

    fn negligible(&self, _: f64) -> f64 {
        // Parameters within some 1e-6 of their standard errors; of rough integrals, a hundredth. Without integrals the last steps
        // cost nothing.
        let exact = self.terms.iter().all(|term| term.rank == 0);
        if exact {
            1e-22
        } else if self.rough {
            1e-4
        } else {
            1e-12
        }
    }

    fn noise(&self, value: f64) -> f64 {
        1e-13 * value.abs() + 1e-11 * self.readings.len() as f64
    }

    fn report(&self, iteration: usize, value: f64) {
        self.evaluator.control.report(iteration, value, f64::NAN);
    }
}
