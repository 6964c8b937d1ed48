//! The likelihood of targets given readings, and its derivatives in theta = (b, beta, a, psi): intercept, coefficients, errors
//! that rows share, parameters of the response.
//!
//! ```text
//! log p(y_i | x_i) = log sum_k w_ik J_i(m, v; psi),    m = b + beta'm_ik + M_i a + o_i,    v = beta'P_ik beta
//! ```
//! J_i is the density of a target whose predictor is N(m, v), the [`Response`]. With d m = (1, m_ik, M_i), d v = 2 P_ik beta and
//! d^2 v = 2 P_ik the derivatives follow from those of J; of the sum over k, with q the share of k given y, too: gradient
//! g = sum q g_k, Hessian sum q (H_k + g_k g_k') - g g'.
//!
//! Coefficients may have a known part ([`Likelihood::base`]) that was taken off the targets before: theta is then a change, and
//! targets and changes keep the digits that large coefficients would take from them.

use crate::control::Control;
use crate::data::covariance::{packed_index, packed_len, unpack};
use crate::error::{Error, Result};
use crate::linalg::{Spd, add_outer, dot};
use crate::mixture::log_sum;
use crate::model::degrees::Precisions;
use crate::model::law::crossed::Crossed;
use crate::model::law::scaled_noise::ScaledNoise;
use crate::model::law::truths::{Reader, Truth, Truths};
use crate::parallel;
use crate::parallel::added;

/// Rows between two looks at `Control`.
const BETWEEN_LOOKS: usize = 64;
/// Parameters of the response that one row may depend on.
pub(in crate::model) const ACTIVE: usize = 4;

/// log J of a row and its derivatives by m, v and the row's active parameters of the response.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::model) struct Local {
    pub log: f64,
    /// By m and v.
    pub gradient: [f64; 2],
    /// By m and m, m and v, v and v.
    pub hessian: [f64; 3],
    /// Numbers of the active parameters.
    pub places: [Option<usize>; ACTIVE],
    pub extra: [f64; ACTIVE],
    /// By each of them and m, and by each of them and v.
    pub mixed: [[f64; 2]; ACTIVE],
    /// By two of them.
    pub second: [[f64; ACTIVE]; ACTIVE],
}

/// log J of a row whose predictor is N(m, v): row, m, v.
pub(in crate::model) type At<'s> = Box<dyn Fn(usize, f64, f64) -> Local + Sync + 's>;

/// The law of targets given their predictors.
pub(in crate::model) trait Response: Sync {
    /// With these parameters.
    fn at<'s>(&'s self, psi: &'s [f64]) -> At<'s>;

    /// Variance that is known of a target's error, where the first parameters are the scatter s^2 and a factor of it.
    fn known(&self, _row: usize) -> f64 {
        0.0
    }
}

/// How a line counts its degrees of freedom and integrates shared errors out.
#[derive(Clone, Copy)]
pub(in crate::model) struct Freedom<'a> {
    /// p, in rows of average weight.
    pub taken: f64,
    /// Is the second parameter of the response a factor of the known variances?
    pub scaled: bool,
    /// Coefficients of the round before, whose spread counts.
    pub before: &'a [f64],
    /// Weights of EM of the round before.
    pub shares: &'a [f64],
    /// Information of limits about the mean in the round before, as a part of a reading's; 1 of readings, none without limits.
    pub told: &'a [f64],
}

/// Likelihood of the targets given the readings: its data, and the layout of its parameters.
#[derive(Clone, Copy)]
pub(in crate::model) struct Likelihood<'a> {
    pub truths: &'a Truths<'a>,
    pub response: &'a dyn Response,
    pub weights: &'a [f64],
    /// o, where there is one.
    pub offsets: Option<&'a [f64]>,
    /// M, n x k.
    pub modes: &'a [f64],
    pub k: usize,
    /// Errors of features that go with those of the targets.
    pub crossed: Option<&'a Crossed>,
    /// The part of the coefficients that the targets have lost, d numbers or none.
    pub base: &'a [f64],
    pub intercept: bool,
    pub n_psi: usize,
    /// Errors of features whose factors were fitted, too.
    pub scaled: Option<&'a ScaledNoise>,
    /// Of lines.
    pub freedom: Option<Freedom<'a>>,
}

/// Sums over the rows.
#[derive(Debug, Clone)]
pub(in crate::model) struct Evaluation {
    pub log: f64,
    pub gradient: Vec<f64>,
    /// A packed triangle.
    pub hessian: Vec<f64>,
    pub precisions: Precisions,
    /// log |I + M'W M| / 2 of shared errors that are integrated out.
    pub log_root: f64,
}

impl Evaluation {
    /// All numbers, to be added to those of other rows.
    pub(in crate::model) fn flat(self) -> Vec<f64> {
        [&[self.log][..], &self.gradient, &self.hessian, &self.precisions.0].concat()
    }

    /// Inverse of [`flat`](Self::flat), of p parameters.
    pub(in crate::model) fn from_flat(p: usize, flat: &[f64]) -> Result<Self> {
        let ends = [1, 1 + p, 1 + p + packed_len(p)];
        if flat.len() != ends[2] + Precisions::LEN {
            return Err(Error::shape("sums of the rows", ends[2] + Precisions::LEN, flat.len()));
        }
        Ok(Self {
            log: flat[0],
            gradient: flat[ends[0]..ends[1]].to_vec(),
            hessian: flat[ends[1]..ends[2]].to_vec(),
            precisions: Precisions::from_slice(&flat[ends[2]..]),
            log_root: 0.0,
        })
    }
}

/// One row on its way, with memory.
pub(in crate::model) struct Row<'t> {
    pub reader: Reader<'t>,
    pub gradient: Vec<f64>,
    /// A packed triangle.
    pub hessian: Vec<f64>,
    /// Shares of the components given the target.
    pub shares: Vec<f64>,
    /// Of each component: m and v, and log J there.
    pub laws: Vec<(f64, f64)>,
    pub locals: Vec<Local>,
    /// Covariance of true features and predictor, K x d: P beta, less T A^-1 c of errors that go together.
    pub along: Vec<f64>,
    logs: Vec<f64>,
    own: Vec<f64>,
    by_m: Vec<f64>,
}

/// One component of a row: its share, log J and its derivatives, P beta.
struct OfComponent<'s> {
    truth: Truth<'s>,
    c: usize,
    q: f64,
    at: &'s Local,
    along: &'s [f64],
}

/// The likelihood at one theta.
pub(in crate::model) struct Place<'s> {
    b: f64,
    /// Changes of the coefficients, and the whole of them.
    change: &'s [f64],
    pub beta: Vec<f64>,
    a: &'s [f64],
    psi: &'s [f64],
    local: At<'s>,
}

/// A = M'W M + I = L L' of errors that rows share: L^-1, k x k.
struct Shared {
    log_root: f64,
    inverse: Vec<f64>,
}

impl<'a> Likelihood<'a> {
    /// Number of parameters.
    pub(in crate::model) fn p(&self) -> usize {
        self.first_psi() + self.n_psi
    }

    pub(in crate::model) fn first_coef(&self) -> usize {
        usize::from(self.intercept)
    }

    pub(in crate::model) fn first_psi(&self) -> usize {
        self.modes().end
    }

    /// Places of the errors that rows share.
    pub(in crate::model) fn modes(&self) -> std::ops::Range<usize> {
        let first = self.first_coef() + self.truths.d;
        first..first + self.k
    }

    fn modes_of(&self, i: usize) -> &'a [f64] {
        &self.modes[i * self.k..(i + 1) * self.k]
    }

    pub(in crate::model) fn weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    pub(in crate::model) fn at<'s>(&'s self, theta: &'s [f64]) -> Place<'s> {
        let (change, rest) = theta[self.first_coef()..].split_at(self.truths.d);
        let (a, psi) = rest.split_at(self.k);
        let mut beta = change.to_vec();
        beta.iter_mut().zip(self.base).for_each(|(b, base)| *b += base);
        Place { b: if self.intercept { theta[0] } else { 0.0 }, change, beta, a, psi, local: self.response.at(psi) }
    }

    pub(in crate::model) fn row(&self) -> Row<'a> {
        let (p, k, d) = (self.p(), self.truths.most(), self.truths.d);
        Row {
            reader: self.truths.reader(),
            gradient: vec![0.0; p],
            hessian: vec![0.0; packed_len(p)],
            shares: vec![0.0; k],
            laws: vec![(0.0, 0.0); k],
            locals: vec![Local::default(); k],
            along: vec![0.0; k * d],
            logs: vec![0.0; k],
            own: vec![0.0; p],
            by_m: vec![0.0; self.first_psi()],
        }
    }

    pub(in crate::model) fn evaluate(&self, theta: &[f64], control: &Control) -> Result<Evaluation> {
        let (p, place, shared) = (self.p(), self.at(theta), self.shared(theta)?);
        let parts = parallel::map_parts(self.weights.len(), |part| -> Result<Vec<f64>> {
            let (mut row, mut precisions) = (self.row(), Precisions::default());
            let mut sums = vec![0.0; 1 + p + packed_len(p)];
            for i in part {
                if i % BETWEEN_LOOKS == 0 {
                    control.check()?;
                }
                let c = self.weights[i];
                if c == 0.0 {
                    continue;
                }
                sums[0] += c * self.look(i, &place, shared.as_ref(), &mut row);
                let (gradient, hessian) = sums[1..].split_at_mut(p);
                gradient.iter_mut().zip(&row.gradient).for_each(|(sum, x)| *sum += c * x);
                hessian.iter_mut().zip(&row.hessian).for_each(|(sum, x)| *sum += c * x);
                if let Some(freedom) = &self.freedom {
                    let spread = self.spread(i, row.reader.at(i), freedom.before);
                    let variance = self.variance(i, place.psi, spread);
                    let told = freedom.told.get(i).unwrap_or(&1.0);
                    precisions.add(c * told, self.response.known(i), variance);
                }
            }
            sums.extend(precisions.0);
            Ok(sums)
        })?;
        let sums = added(parts.into_iter().collect::<Result<_>>()?);
        let log_root = shared.map_or(0.0, |shared| shared.log_root);
        Ok(Evaluation { log_root, ..Evaluation::from_flat(p, &sums)? })
    }

    /// s^2 + kappa t^2 + the variance that errors of features leave.
    pub(in crate::model) fn variance(&self, i: usize, psi: &[f64], spread: f64) -> f64 {
        let kappa = if self.freedom.is_some_and(|freedom| freedom.scaled) { psi[1] } else { 1.0 };
        psi[0] + kappa * self.response.known(i) + spread
    }

    /// The variance of the predictor given a row's reading, with these coefficients.
    pub(in crate::model) fn spread(&self, i: usize, truth: Truth<'_>, beta: &[f64]) -> f64 {
        let mut along = vec![0.0; beta.len()];
        let first = truth.mean_under(0);
        let (mut total, mut mean, mut square) = (0.0, 0.0, 0.0);
        for (c, log) in truth.logs().iter().enumerate() {
            let (share, m) = (log.exp(), truth.mean_under(c));
            let away: f64 = m.iter().zip(first).zip(beta).map(|((m, first), b)| (m - first) * b).sum();
            total += share * truth.covariance_under(c).map_or(0.0, |p| product(p, beta, &mut along));
            mean += share * away;
            square += share * away * away;
        }
        if let Some(crossed) = self.crossed {
            total += crossed.square[i] - 2.0 * dot(crossed.turn(i), beta);
        }
        // A square, but for rounding.
        (total + square - mean * mean).max(0.0)
    }

    /// Of the errors that rows share, where they are integrated out on the way.
    fn shared(&self, theta: &[f64]) -> Result<Option<Shared>> {
        let (k, Some(freedom)) = (self.k, &self.freedom) else { return Ok(None) };
        if k == 0 {
            return Ok(None);
        }
        let place = self.at(theta);
        let parts = parallel::map_parts(self.weights.len(), |part| {
            let (mut sums, mut reader) = (vec![0.0; packed_len(k)], self.truths.reader());
            for i in part {
                let variance = self.variance(i, place.psi, self.spread(i, reader.at(i), &place.beta));
                add_outer(self.weights[i] * freedom.shares[i] / variance, self.modes_of(i), &mut sums);
            }
            sums
        })?;
        let sums = added(parts);
        let mut precision = unpack(&sums, k);
        (0..k).for_each(|a| precision[a * k + a] += 1.0);
        let beyond = || Error::Data("modes: their sizes are beyond what a number can hold; scale them".into());
        let precision = Spd::new(precision, k).ok_or_else(beyond)?;
        Ok(Some(Shared { log_root: precision.log_root(), inverse: precision.inverse_root() }))
    }

    /// log p of a row; its derivatives are in `row`.
    pub(in crate::model) fn see(&self, i: usize, place: &Place<'_>, row: &mut Row<'_>) -> f64 {
        self.look(i, place, None, row)
    }

    fn look(&self, i: usize, place: &Place<'_>, shared: Option<&Shared>, row: &mut Row<'_>) -> f64 {
        let d = self.truths.d;
        let fixed = place.b + self.offsets.map_or(0.0, |o| o[i]) + dot(self.modes_of(i), place.a);
        let Row { reader, gradient, hessian, shares, laws, locals, along: all_along, logs, own, by_m } = row;
        let truth = reader.at(i);
        let first = truth.mean_under(0);
        for (c, log_share) in truth.logs().iter().enumerate() {
            let mean = truth.mean_under(c);
            let mut m = fixed + dot(mean, place.change);
            if c > 0 {
                m += mean.iter().zip(first).zip(self.base).map(|((m, first), b)| (m - first) * b).sum::<f64>();
            }
            let along = &mut all_along[c * d..(c + 1) * d];
            along.fill(0.0);
            let mut v = truth.covariance_under(c).map_or(0.0, |p| product(p, &place.beta, along));
            if let Some(crossed) = self.crossed {
                let turn = crossed.turn(i);
                v = (v + crossed.square[i] - 2.0 * dot(turn, &place.beta)).max(0.0);
                along.iter_mut().zip(turn).for_each(|(a, t)| *a -= t);
            }
            laws[c] = (m, v);
            locals[c] = (place.local)(i, m, v);
            if let (Some(shared), Some(freedom)) = (shared, &self.freedom) {
                let variance = self.variance(i, place.psi, v);
                let leverage = freedom.shares[i] * shared.square(self.modes_of(i)) / variance;
                locals[c].add_leverage(leverage, variance, self.known_by(i));
            }
            logs[c] = log_share + locals[c].log;
        }
        let count = truth.logs().len();
        let log = log_sum(&logs[..count]);
        shares.iter_mut().zip(logs.iter()).for_each(|(share, own)| *share = (own - log).exp());
        gradient.fill(0.0);
        hessian.fill(0.0);
        for c in 0..count {
            let of = OfComponent { truth, c, q: shares[c], at: &locals[c], along: &all_along[c * d..(c + 1) * d] };
            self.add_component(i, &of, (gradient, hessian), (own, by_m));
        }
        if count > 1 {
            add_outer(-1.0, gradient, hessian);
        }
        log
    }

    /// The derivatives of the variance by s^2 and by its factor, where that is fitted.
    fn known_by(&self, i: usize) -> [f64; 2] {
        let scaled = self.freedom.is_some_and(|freedom| freedom.scaled);
        [1.0, if scaled { self.response.known(i) } else { 0.0 }]
    }

    /// q g_k and q (H_k + g_k g_k'), or H_k of a single component.
    fn add_component(
        &self,
        i: usize,
        of: &OfComponent<'_>,
        (gradient, hessian): (&mut [f64], &mut [f64]),
        (own, by_m): (&mut [f64], &mut [f64]),
    ) {
        let (d, first, head) = (self.truths.d, self.first_coef(), self.first_psi());
        let &OfComponent { truth, c, q, at, along } = of;
        let [mm, mv, vv] = at.hessian;
        by_m[..first].fill(1.0);
        by_m[first..first + d].copy_from_slice(truth.mean_under(c));
        by_m[first + d..].copy_from_slice(self.modes_of(i));
        own.fill(0.0);
        own.iter_mut().zip(by_m.iter()).for_each(|(g, m)| *g = at.gradient[0] * m);
        add_outer(q * mm, by_m, &mut hessian[..packed_len(head)]);
        if along.iter().any(|a| *a != 0.0) {
            for (j, by_v) in (first..).zip(along.iter().map(|a| 2.0 * a)) {
                own[j] += at.gradient[1] * by_v;
                for (l, by_m) in by_m.iter().enumerate() {
                    // An element of the diagonal has both orders.
                    let both = if l == j { 2.0 } else { 1.0 };
                    hessian[packed_index(j, l)] += both * q * mv * by_v * by_m;
                }
                (first..=j).for_each(|l| hessian[packed_index(j, l)] += q * vv * by_v * 2.0 * along[l - first]);
            }
        }
        if let Some(triangle) = truth.covariance_under(c) {
            for a in 0..d {
                let line = &mut hessian[packed_index(first + a, first)..][..=a];
                let p = &triangle[packed_index(a, 0)..];
                line.iter_mut().zip(p).for_each(|(h, p)| *h += 2.0 * q * at.gradient[1] * p);
            }
        }
        for (e, place) in at.places.iter().enumerate().filter_map(|(e, place)| Some((e, head + (*place)?))) {
            own[place] = at.extra[e];
            let line = &mut hessian[packed_index(place, 0)..][..=place];
            line.iter_mut().zip(by_m.iter()).for_each(|(h, m)| *h += q * at.mixed[e][0] * m);
            line[first..].iter_mut().zip(along).for_each(|(h, a)| *h += q * at.mixed[e][1] * 2.0 * a);
            for (f, other) in at.places.iter().enumerate().filter_map(|(f, place)| Some((f, head + (*place)?))) {
                if other <= place {
                    line[other] += q * at.second[e][f];
                }
            }
        }
        gradient.iter_mut().zip(own.iter()).for_each(|(g, own)| *g += q * own);
        if truth.logs().len() > 1 {
            add_outer(q, own, hessian);
        }
    }
}

impl Shared {
    /// m'A^{-1} m.
    fn square(&self, m: &[f64]) -> f64 {
        let rows = self.inverse.chunks_exact(m.len()).enumerate();
        rows.map(|(a, row)| dot(&row[..=a], &m[..=a]).powi(2)).sum()
    }
}

impl Local {
    /// -log |I + M'W M| / 2 by the variance v, which these parts make up: to first order in M'W M.
    fn add_leverage(&mut self, leverage: f64, variance: f64, by: [f64; 2]) {
        let (first, bend) = (0.5 * leverage / variance, -leverage / (variance * variance));
        self.gradient[1] += first;
        self.hessian[2] += bend;
        for e in 0..2 {
            self.extra[e] += first * by[e];
            self.mixed[e][1] += bend * by[e];
            (0..2).for_each(|f| self.second[e][f] += bend * by[e] * by[f]);
        }
    }
}

/// `out` = P b; returns b'P b >= 0.
fn product(triangle: &[f64], b: &[f64], out: &mut [f64]) -> f64 {
    out.fill(0.0);
    let mut at = 0;
    for i in 0..b.len() {
        for j in 0..i {
            out[i] += triangle[at] * b[j];
            out[j] += triangle[at] * b[i];
            at += 1;
        }
        out[i] += triangle[at] * b[i];
        at += 1;
    }
    out.iter().zip(b).map(|(a, b)| a * b).sum::<f64>().max(0.0)
}
