//! The likelihood of all targets, where it is largest, and the errors of what is found there.
//!
//! Working parameters: b, beta, s^2, kappa (where it is fitted), those of the noise, a. Minimised is
//! ```text
//! -sum c_i log p(y_i) + a'a / 2 + log |I + M'W M| / 2 + (p / 2) log sum c_i / V_i
//! ```
//! with W = f_i / v_i, v the narrow variance and f the weight of EM relative to it (1 for normal noise), and p = d + 1, whose
//! term counts degrees of freedom ([`Degrees`]). f, and in V what errors of x leave, are of the round before.

use crate::control::Control;
use crate::data::covariance::{packed_index, packed_len};
use crate::deconvolution::{Mixture, Report};
use crate::error::{Error, Result};
use crate::linalg::{add_outer, cholesky, dot, inverse_lower};
use crate::model::degrees::Degrees;
use crate::model::law::coordinates::Coordinates;
use crate::model::law::errors::{SecondStage, two_stages};
use crate::model::law::scaled_noise::ScaledNoise;
use crate::model::law::truths::Truths;
use crate::model::noise::{Noise, Part};
use crate::parallel;
use crate::parallel::added;
use crate::solver::levenberg::{Expansion, Minimum, Objective, minimise, movable};
use crate::special::quantile;

use super::LineFit;
use super::local::{Local, NUMBERS, Seen, local};
use super::profile::intervals;
use super::rows::LineRows;
use super::start::start;

/// Rounds with weights and variances of the one before.
const ROUNDS: usize = 8;
const MOST_STEPS: usize = 200;
/// Rows between two looks at `Control`.
const BETWEEN_LOOKS: usize = 256;

pub(super) struct Line<'a> {
    rows: &'a LineRows,
    noise: Noise,
    scaled: bool,
    control: &'a Control,
    /// f, and the further variance of the round before.
    weights: Vec<f64>,
    spread: Vec<f64>,
}

/// One row on its way, with memory.
pub(super) struct LineRow {
    parts: Vec<Part>,
    shares: Vec<f64>,
    pub at: Local,
    pub own: f64,
    pub other: f64,
    /// P beta less T A^{-1} c: the covariance of z and y given x.
    along: Vec<f64>,
    /// By all working parameters.
    gradient: Vec<f64>,
}

/// M'W M, packed, and of A = M'W M + I = L L' log |A| / 2 and L^{-1}, k x k.
struct Shared {
    sums: Vec<f64>,
    log_root: f64,
    inverse: Vec<f64>,
}

impl Shared {
    /// m'A^{-1} m.
    fn square(&self, m: &[f64]) -> f64 {
        let rows = self.inverse.chunks_exact(m.len()).enumerate();
        rows.map(|(a, row)| dot(&row[..=a], &m[..=a]).powi(2)).sum()
    }
}

/// Everything at one point.
pub(super) struct Point {
    log: f64,
    derivatives: Expansion,
}

impl Line<'_> {
    fn d(&self) -> usize {
        self.rows.truths.d
    }

    fn place_of_noise(&self) -> usize {
        self.d() + 2 + usize::from(self.scaled)
    }

    fn first_mode(&self) -> usize {
        self.place_of_noise() + self.noise.n()
    }

    fn width(&self) -> usize {
        self.first_mode() + self.rows.k
    }

    fn parts(&self, theta: &[f64]) -> Vec<Part> {
        self.noise.parts(&theta[self.place_of_noise()..self.first_mode()])
    }

    fn memory(&self, theta: &[f64]) -> LineRow {
        LineRow {
            parts: self.parts(theta),
            shares: vec![],
            at: Local::default(),
            own: 0.0,
            other: 0.0,
            along: vec![0.0; self.d()],
            gradient: vec![0.0; self.width()],
        }
    }

    /// log p of a row and its derivatives.
    fn visit(&self, i: usize, theta: &[f64], row: &mut LineRow) {
        let (d, rows) = (self.d(), self.rows);
        let beta = &theta[1..=d];
        let m = rows.truths.mean_under(0, i);
        let mut mean = theta[0] + dot(m, beta) + dot(rows.modes(i), &theta[self.first_mode()..]);
        row.along.fill(0.0);
        let mut other = 0.0;
        if let Some(p) = rows.truths.covariance_under(0, i) {
            for a in 0..d {
                row.along[a] = (0..d).map(|b| p[packed_index(a.max(b), a.min(b))] * beta[b]).sum();
            }
            other = dot(&row.along, beta).max(0.0);
        }
        if let Some(crossed) = &rows.crossed {
            let turn = &crossed.turn[i * d..(i + 1) * d];
            mean += crossed.shift[i];
            other += crossed.square[i] - 2.0 * dot(turn, beta);
            row.along.iter_mut().zip(turn).for_each(|(a, t)| *a -= t);
        }
        let kappa = if self.scaled { theta[d + 2] } else { 1.0 };
        (row.own, row.other) = (theta[d + 1] + kappa * rows.known[i], other);
        // A square, but for rounding.
        row.other = row.other.max(0.0);
        let seen = Seen { y: rows.y[i], limit: rows.limit(i), mean, own: row.own, other: row.other };
        row.at = local(&seen, &row.parts, &mut row.shares);
    }

    /// The derivatives of mu, u and e by working parameter j of a row but for the modes.
    fn slopes(&self, i: usize, row: &LineRow, out: &mut [[f64; NUMBERS]]) {
        let d = self.d();
        let m = self.rows.truths.mean_under(0, i);
        out[0][0] = 1.0;
        for j in 0..d {
            out[1 + j][0] = m[j];
            out[1 + j][2] = 2.0 * row.along[j];
        }
        out[d + 1][1] = 1.0;
        if self.scaled {
            out[d + 2][1] = self.rows.known[i];
        }
        (0..self.noise.n()).for_each(|e| out[self.place_of_noise() + e][3 + e] = 1.0);
    }

    /// Of the errors that rows share.
    fn shared(&self, theta: &[f64]) -> Result<Option<Shared>> {
        let k = self.rows.k;
        if k == 0 {
            return Ok(None);
        }
        let parts = parallel::map_parts(self.rows.n(), |part| {
            let (mut sums, mut row) = (vec![0.0; packed_len(k)], self.memory(theta));
            for i in part {
                let w = self.rows.weights[i] * self.weights[i] / self.narrow(i, theta, &mut row);
                add_outer(w, self.rows.modes(i), &mut sums);
            }
            sums
        })?;
        let sums = added(parts);
        let mut factor: Vec<f64> = (0..k * k)
            .map(|at| (at / k, at % k))
            .map(|(a, b)| sums[packed_index(a.max(b), a.min(b))] + f64::from(u8::from(a == b)))
            .collect();
        if !cholesky(&mut factor, k) {
            return Err(Error::Data("modes: their sizes are beyond what a number can hold; scale them".into()));
        }
        let log_root = (0..k).map(|a| factor[a * k + a].ln()).sum();
        Ok(Some(Shared { sums, log_root, inverse: inverse_lower(&factor, k) }))
    }

    /// u + e of a row.
    fn narrow(&self, i: usize, theta: &[f64], row: &mut LineRow) -> f64 {
        let (d, rows) = (self.d(), self.rows);
        let beta = &theta[1..=d];
        let kappa = if self.scaled { theta[d + 2] } else { 1.0 };
        let own = theta[d + 1] + kappa * rows.known[i];
        let Some(p) = rows.truths.covariance_under(0, i) else { return own };
        let mut other = 0.0;
        for a in 0..d {
            row.along[a] = (0..d).map(|b| p[packed_index(a.max(b), a.min(b))] * beta[b]).sum();
            other += row.along[a] * beta[a];
        }
        if let Some(crossed) = &rows.crossed {
            other += crossed.square[i] - 2.0 * dot(&crossed.turn[i * d..(i + 1) * d], beta);
        }
        own + other.max(0.0)
    }

    /// The degrees of freedom that count: none where s cannot be told by them.
    fn degrees(&self) -> f64 {
        if self.rows.limits.is_some() { 0.0 } else { (self.d() as f64 + 1.0).min(self.rows.n() as f64 / 2.0) }
    }

    fn point(&self, theta: &[f64]) -> Result<Option<Point>> {
        let (d, width, first, k) = (self.d(), self.width(), self.first_mode(), self.rows.k);
        let shared = self.shared(theta)?;
        // The modes' own block of the second derivatives is M'W M where every row has one normal part.
        let summed = self.noise == Noise::Normal && self.rows.limits.is_none();
        let kappa = if self.scaled { theta[d + 2] } else { 1.0 };
        let v = |i: usize| theta[d + 1] + kappa * self.rows.known[i] + self.spread[i];
        let own = (0..self.rows.n()).map(|i| [self.rows.weights[i], self.rows.known[i], v(i)]);
        let degrees = Degrees::new(self.degrees(), own);
        let len = packed_len(width);
        let parts = parallel::map_parts(self.rows.n(), |part| -> Result<Vec<f64>> {
            let mut out = vec![0.0; 1 + width + len + width];
            let mut row = self.memory(theta);
            let mut slopes = vec![[0.0; NUMBERS]; first];
            let mut turned = vec![[0.0; NUMBERS]; first];
            for i in part {
                if i % BETWEEN_LOOKS == 0 {
                    self.control.check()?;
                }
                self.visit(i, theta, &mut row);
                self.slopes(i, &row, &mut slopes);
                let (c, modes) = (self.rows.weights[i], self.rows.modes(i));
                let mut at = row.at;
                out[0] += c * at.log;
                // log |I + M'W M| / 2 by v, which u and e are parts of.
                if let Some(shared) = &shared {
                    let (f, v) = (self.weights[i], row.own + row.other);
                    let leverage = f * shared.square(modes) / v;
                    let (by, bend) = (0.5 * leverage / v, -leverage / (v * v));
                    for a in 1..3 {
                        at.gradient[a] += by;
                        (1..3).for_each(|b| at.hessian[a][b] += bend);
                    }
                }
                let (gradient, rest) = out[1..].split_at_mut(width);
                let (hessian, diagonal) = rest.split_at_mut(len);
                for (a, slope) in slopes.iter().enumerate() {
                    gradient[a] -= c * along(slope, &at.gradient);
                    turned[a] = std::array::from_fn(|r| along(slope, &at.hessian[r]));
                    for (b, other) in slopes[..=a].iter().enumerate() {
                        hessian[packed_index(a, b)] -= c * along(&turned[a], other);
                    }
                    diagonal[a] += c * slope[0] * slope[0] * row.at.weight;
                }
                if let Some(p) = self.rows.truths.covariance_under(0, i) {
                    for a in 0..d {
                        for b in 0..=a {
                            hessian[packed_index(1 + a, 1 + b)] -= 2.0 * c * at.gradient[2] * p[packed_index(a, b)];
                        }
                    }
                }
                let w = row.at.weight;
                diagonal[d + 1] += 0.5 * c * w * w;
                if self.scaled {
                    diagonal[d + 2] += 0.5 * c * (w * self.rows.known[i]).powi(2);
                }
                (self.place_of_noise()..first).for_each(|a| diagonal[a] += 0.1 * c);
                for (m, size) in modes.iter().enumerate() {
                    gradient[first + m] -= c * at.gradient[0] * size;
                    diagonal[first + m] += c * size * size * w;
                    let (crossed, own) = hessian[packed_index(first + m, 0)..].split_at_mut(first);
                    crossed.iter_mut().zip(&turned).for_each(|(h, turned)| *h -= c * turned[0] * size);
                    if !summed {
                        let factor = c * at.hessian[0][0] * size;
                        own.iter_mut().zip(&modes[..=m]).for_each(|(h, other)| *h -= factor * other);
                    }
                }
            }
            Ok(out)
        })?;
        let mut all = added(parts.into_iter().collect::<Result<_>>()?);
        let mut diagonal = all.split_off(1 + width + len);
        let mut packed = all.split_off(1 + width);
        if let (Some(shared), true) = (&shared, summed) {
            for m in 0..k {
                packed[packed_index(first + m, first)..][..=m]
                    .copy_from_slice(&shared.sums[packed_index(m, 0)..][..=m]);
            }
        }
        let mut gradient = all.split_off(1);
        let mut hessian: Vec<f64> = (0..width * width)
            .map(|at| (at / width, at % width))
            .map(|(a, b)| packed[packed_index(a.max(b), a.min(b))])
            .collect();
        let mut log = all[0];
        for (m, a) in theta[first..].iter().enumerate() {
            log -= 0.5 * a * a;
            gradient[first + m] += a;
            hessian[(first + m) * width + first + m] += 1.0;
            diagonal[first + m] += 1.0;
        }
        log -= shared.map_or(0.0, |shared| shared.log_root);
        for a in 0..1 + usize::from(self.scaled) {
            gradient[d + 1 + a] += degrees.gradient[a];
            for b in 0..1 + usize::from(self.scaled) {
                hessian[(d + 1 + a) * width + d + 1 + b] += degrees.hessian[a][b];
            }
        }
        if !log.is_finite() {
            return Ok(None);
        }
        // `log` is the likelihood; what is minimised counts the degrees of freedom, too.
        Ok(Some(Point {
            log: log - degrees.value,
            derivatives: Expansion { gradient, hessian, diagonal, beside: 0.0 },
        }))
    }

    /// f and the further variances at some point; how much they changed.
    fn refresh(&mut self, theta: &[f64]) -> f64 {
        let mut row = self.memory(theta);
        let mut change = 0.0f64;
        let shared = self.rows.k > 0 && self.noise != Noise::Normal;
        for i in 0..self.rows.n() {
            self.visit(i, theta, &mut row);
            let v = row.own + row.other;
            change = change.max((row.other - self.spread[i]).abs() / v);
            self.spread[i] = row.other;
            if shared {
                let f = (row.at.weight * v).min(1.0);
                change = change.max((f - self.weights[i]).abs());
                self.weights[i] = f;
            }
        }
        change
    }
}

impl Objective for Line<'_> {
    type State = Point;

    fn value(&mut self, at: &[f64]) -> Result<Option<(f64, Point)>> {
        Ok(self.point(at)?.map(|point| (-point.log, point)))
    }

    fn derivatives(&mut self, _: &[f64], point: &Point) -> Result<Expansion> {
        Ok(point.derivatives.clone())
    }

    fn negligible(&self, _: f64) -> f64 {
        // Steps of Newton's method beyond the last that the value can tell cost nothing.
        1e-22
    }

    fn noise(&self, value: f64) -> f64 {
        1e-14 * (value.abs() + self.rows.n() as f64)
    }

    fn report(&self, iteration: usize, value: f64) {
        self.control.report(iteration, value, f64::NAN);
    }
}

impl SecondStage for Line<'_> {
    type Row = LineRow;

    fn truths(&self) -> &Truths {
        &self.rows.truths
    }

    fn p(&self) -> usize {
        self.width()
    }

    fn weight_of(&self, row: usize) -> f64 {
        self.rows.weights[row]
    }

    fn memory_for(&self, theta: &[f64]) -> LineRow {
        self.memory(theta)
    }

    fn look_at(&self, i: usize, theta: &[f64], row: &mut LineRow) {
        self.visit(i, theta, row);
        let first = self.first_mode();
        let mut slopes = vec![[0.0; NUMBERS]; first];
        self.slopes(i, row, &mut slopes);
        for (g, slope) in row.gradient.iter_mut().zip(&slopes) {
            *g = along(slope, &row.at.gradient);
        }
        for (g, size) in row.gradient[first..].iter_mut().zip(self.rows.modes(i)) {
            *g = row.at.gradient[0] * size;
        }
    }

    fn gradient<'r>(&self, row: &'r LineRow) -> &'r [f64] {
        &row.gradient
    }

    fn add_prior(&self, middle: &mut [f64]) {
        (self.first_mode()..self.width()).for_each(|a| middle[packed_index(a, a)] += 1.0);
    }

    fn scaled_noise(&self) -> Option<(&ScaledNoise, usize)> {
        self.rows.scaled.as_ref().map(|noise| (noise, 1))
    }

    fn under<'r>(&self, _: usize, row: &'r LineRow) -> (f64, &'r [f64], f64, f64) {
        (1.0, &row.along, row.at.gradient[0], row.at.hessian[0][0])
    }
}

/// What was found, in the coordinates of the fit.
pub(super) struct Found {
    minimum: Minimum<Point>,
    covariance: Vec<f64>,
    outlying: Vec<f64>,
    lower: Vec<f64>,
    profile: Vec<f64>,
    log_likelihood: f64,
    n_iter: usize,
    scaled: bool,
    d: usize,
}

/// The fit, with intervals of the probability `profile` where asked for.
pub(super) fn fit(
    rows: &LineRows,
    noise: Noise,
    scaled: bool,
    density: &Mixture,
    profile: Option<f64>,
    control: &Control,
) -> Result<Found> {
    let n = rows.n();
    let (mut at, lower, upper) = start(rows, noise, scaled)?;
    let mut line = Line { rows, noise, scaled, control, weights: vec![1.0; n], spread: vec![0.0; n] };
    line.refresh(&at);
    let mut n_iter = 0;
    let mut round = 0;
    let minimum = loop {
        let none =
            || Error::Data("the likelihood is not finite at the start; scale the features and the target".into());
        let first = line.value(&at)?.ok_or_else(none)?;
        let minimum = minimise(&mut line, at, first, (&lower, &upper), MOST_STEPS)?;
        n_iter += minimum.n_iter;
        round += 1;
        if line.refresh(&minimum.at) < 1e-7 || round == ROUNDS {
            break minimum;
        }
        at = minimum.at;
    };
    let width = line.width();
    let free = movable(&minimum.at, &minimum.derivatives.gradient, &lower, &upper);
    let packed: Vec<f64> = (0..width)
        .flat_map(|a| (0..=a).map(move |b| (a, b)))
        .map(|(a, b)| minimum.derivatives.hessian[a * width + b])
        .collect();
    let groups = rows.groups.as_deref();
    let errors =
        |free: &[usize]| two_stages(&line, Some(density), &minimum.at, (&packed, &packed), free, groups, control);
    let mut covariance = errors(&free)?;
    if noise.n() > 0 && covariance[0].is_nan() {
        // Of clean data the law of outliers is not determined, and does not matter.
        let of_noise = line.place_of_noise()..line.first_mode();
        covariance = errors(&free.iter().copied().filter(|at| !of_noise.contains(at)).collect::<Vec<_>>())?;
    }
    let profile = match profile {
        Some(level) => {
            let (d, z) = (line.d(), quantile(0.5 + 0.5 * level));
            intervals(&mut line, d, &minimum, &free, &covariance, (&lower, &upper), z, control)?
        }
        None => vec![],
    };
    let mut row = line.memory(&minimum.at);
    let mut outlying = vec![];
    if noise != Noise::Normal {
        for i in 0..n {
            line.visit(i, &minimum.at, &mut row);
            outlying.push(noise.outlying(&row.parts, &row.shares));
        }
    }
    let d = line.d();
    let mut total = 0.0;
    for i in 0..n {
        let kappa = if scaled { minimum.at[d + 2] } else { 1.0 };
        total += rows.weights[i] / (minimum.at[d + 1] + kappa * rows.known[i] + line.spread[i]);
    }
    let log_likelihood = 0.5 * line.degrees() * total.ln() - minimum.value;
    Ok(Found { minimum, covariance, outlying, lower, profile, log_likelihood, n_iter, scaled, d })
}

impl Found {
    /// In the caller's units and rows.
    pub(super) fn restored(
        self,
        coordinates: &Coordinates,
        noise: Noise,
        mixture: Mixture,
        report: Report,
        n: usize,
        rows: &LineRows,
    ) -> LineFit {
        let (d, at, width) = (self.d, &self.minimum.at, self.minimum.at.len());
        let element = |a: usize, b: usize| self.covariance[a * width + b];
        let std = |a: usize| element(a, a).sqrt();
        let place = d + 2 + usize::from(self.scaled);
        let first = place + noise.n();
        let k = width - first;
        // b and beta turn as in every law, and with them what they share with the modes, which stay as they are.
        let (head, kept) = (1 + d, (0..=d).chain(first..width).collect::<Vec<usize>>());
        let m = kept.len();
        let square: Vec<f64> = (0..m * m).map(|at| element(kept[at / m], kept[at % m])).collect();
        let known = square.iter().all(|x| x.is_finite());
        let values: Vec<f64> = kept.iter().map(|&a| at[a]).collect();
        let modes: Vec<(f64, f64)> = at[first..].iter().map(|&a| (a, 1.0)).collect();
        let turned = coordinates.restored(&values, &square, &modes, true);
        let whole = if known { turned.covariance() } else { &square };
        let block = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| -> Vec<f64> {
            rows.flat_map(|a| columns.clone().map(move |b| whole[a * m + b])).collect()
        };
        let law = turned.values()[..head].to_vec();
        let variance = at[d + 1];
        let floor = self.lower[d + 1];
        let scatter = if variance > floor * (1.0 + 1e-6) { variance.sqrt() } else { 0.0 };
        let error_scale = self.scaled.then(|| {
            let root = at[d + 2].sqrt();
            (root, std(d + 2) / (2.0 * root))
        });
        let natural = noise.natural(&at[place..place + noise.n()]);
        let noise_std = |(e, (value, slope)): (usize, (f64, f64))| {
            (value, if noise.n() > 0 { slope * std(place + e) } else { f64::NAN })
        };
        let mut outlier_probability = if self.outlying.is_empty() { vec![] } else { vec![0.0; n] };
        self.outlying.iter().zip(&rows.numbers).for_each(|(p, &i)| outlier_probability[i] = *p);
        LineFit {
            law,
            covariance: block(0..head, 0..head),
            profile: self.profile.iter().enumerate().map(|(at, end)| end / coordinates.scale[at / 2]).collect(),
            scatter,
            scatter_std: if scatter > 0.0 { std(d + 1) / (2.0 * scatter) } else { f64::NAN },
            error_scale,
            feature_error_scale: vec![],
            noise: natural.into_iter().enumerate().map(noise_std).collect(),
            outlier_probability,
            modes: at[first..].to_vec(),
            modes_covariance: block(head..head + k, head..head + k),
            modes_law_covariance: block(head..head + k, 0..head),
            naive: None,
            log_likelihood: self.log_likelihood,
            mixture,
            report,
            n_iter: self.n_iter,
            status: self.minimum.status,
        }
    }
}

fn along(a: &[f64; NUMBERS], b: &[f64; NUMBERS]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
