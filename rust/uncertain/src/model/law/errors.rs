//! The covariance of the estimates, both stages counted.
//!
//! The density of true values, with parameters theta, comes from the readings alone; psi = (b, beta, a) from the targets
//! given the readings under that density. With s1 = d log p(x) / d theta, s2 = d log p(y | x) / d psi and
//! r = d log p(y | x) / d theta of every row, sums over rows, and H the information about psi:
//! ```text
//! V = H^-1 (I + C A^-1 C') H^-1,    A = sum s1 s1',   C = sum s2 r',   I = H without the penalty
//! ```
//! since the mean of d s2 / d theta is -s2 r' for a conditional density (Murphy, Topel 1985, doi 10.1080/07350015.1985.10509471).
//! With weights or groups it is the sandwich ([`clusters`]) of the rows' influences s2 - C A^-1 s1.
//!
//! Scores of the density by Fisher's identity: of component k, up to a linear map that cancels,
//! w (m - mu) and w [(m - mu)(m - mu)' + P - T] with the moments of the posterior, and w - pi; s1 has the posterior given x, r
//! that given (x, y) less that given x. Given y, m becomes m + P beta D_m and P becomes P + P beta (P beta)' D_mm, with the
//! derivatives D of log J.

use crate::control::Control;
use crate::data::covariance::{packed_index, packed_len};
use crate::data::weights::Worth;
use crate::deconvolution::Mixture;
use crate::error::Result;
use crate::linalg::{Eigh, Spd, add_outer};
use crate::model::clusters;
use crate::model::law::likelihood::{Likelihood, Place, Row};
use crate::model::law::newton::{Maximum, Problem, square};
use crate::model::law::scaled_noise::ScaledNoise;
use crate::parallel;
use crate::parallel::added;

/// Rows times squared parameters of the density that are few enough; beyond, evenly spaced rows stand for all.
const WORK: f64 = 1e10;
/// Directions of the density's parameters with less information, relative to the most of scaled ones, are not counted.
const RANK: f64 = 1e-9;

/// p x p, in the coordinates of the fit; NaN for a parameter at its bound, all NaN where the information is singular.
pub(in crate::model) fn covariance(
    problem: &Problem<'_>,
    mixture: Option<&Mixture>,
    maximum: &Maximum,
    free: &[usize],
    groups: Option<&[u32]>,
) -> Result<Vec<f64>> {
    let (likelihood, control) = (&problem.likelihood, problem.control);
    let penalised = &maximum.hessian;
    let mut information = penalised.clone();
    // Errors that rows share are draws, whose distribution is information.
    for (j, rho) in problem.ridges[..likelihood.truths.d].iter().enumerate() {
        let place = likelihood.first_coef() + j;
        information[packed_index(place, place)] -= rho;
    }
    let theta = likelihood.at(&maximum.theta);
    let (p, q) = (likelihood.p(), free.len());
    let mut all = vec![f64::NAN; p * p];
    let Some(factor) = Spd::new(square(penalised, free), q) else { return Ok(all) };
    let density = mixture.filter(|_| likelihood.truths.is_noisy());
    let sums = |mixture| match problem.remote {
        None => sums_of_stage(likelihood, mixture, &theta, control),
        Some(remote) => remote.stage(&maximum.theta),
    };
    let stage = |mixture| Stage::new(sums(mixture)?, p, dimension(likelihood, mixture));
    let stage = density.map(stage).transpose()?;
    let weighted = match problem.remote {
        None => Worth::from_weights(likelihood.weights.iter().copied()).unit.is_none(),
        Some(remote) => remote.line.worth.unit.is_none(),
    };
    let middle = if weighted || groups.is_some() {
        let mut middle = match problem.remote {
            None => influences(likelihood, mixture.zip(stage.as_ref()), &theta, groups, control)?,
            Some(remote) => {
                let mut squares = remote.squares(&maximum.theta, stage.as_ref().map_or(&[], |stage| &stage.gain))?;
                squares.iter_mut().for_each(|x| *x *= clusters::correction(remote.line.n));
                squares
            }
        };
        likelihood.modes().for_each(|place| middle[packed_index(place, place)] += 1.0);
        middle
    } else {
        let mut middle = information;
        stage.iter().for_each(|stage| stage.add_spread(p, &mut middle));
        middle
    };
    // H^-1 M H^-1: columns, then rows.
    let middle = square(&middle, free);
    let half: Vec<Vec<f64>> = (0..q).map(|i| factor.solve(middle[i * q..(i + 1) * q].to_vec())).collect();
    let whole: Vec<Vec<f64>> = (0..q).map(|i| factor.solve(half.iter().map(|row| row[i]).collect())).collect();
    for (i, &a) in free.iter().enumerate() {
        for (j, &b) in free.iter().enumerate() {
            all[a * p + b] = 0.5 * (whole[i][j] + whole[j][i]);
        }
    }
    Ok(all)
}

/// C A^-1 and C A^-1 C' of the density's parameters.
struct Stage {
    /// p x dim theta.
    gain: Vec<f64>,
    /// C, p x dim theta.
    crossed: Vec<f64>,
    dim: usize,
}

impl Stage {
    /// From [`sums_of_stage`].
    fn new(mut a: Vec<f64>, p: usize, dim: usize) -> Result<Self> {
        let crossed = a.split_off(packed_len(dim));
        // A scaled to ones on its diagonal, and its inverse where it has one.
        let sizes: Vec<f64> = (0..dim).map(|j| a[packed_index(j, j)].max(f64::MIN_POSITIVE).sqrt()).collect();
        for i in 0..dim {
            for j in 0..=i {
                a[packed_index(i, j)] /= sizes[i] * sizes[j];
            }
        }
        let mut eigh = Eigh::new(dim);
        eigh.packed(&a)?;
        let least = RANK * eigh.values.last().copied().unwrap_or(0.0);
        let mut gain = vec![0.0; p * dim];
        for (gain, crossed) in gain.chunks_exact_mut(dim).zip(crossed.chunks_exact(dim)) {
            for (value, vector) in eigh.values.iter().zip(eigh.vectors.chunks_exact(dim)).filter(|(v, _)| **v > least) {
                let along: f64 = (0..dim).map(|j| vector[j] * crossed[j] / sizes[j]).sum::<f64>() / value;
                (0..dim).for_each(|j| gain[j] += along * vector[j] / sizes[j]);
            }
        }
        Ok(Self { gain, crossed, dim })
    }

    /// M += C A^-1 C'
    fn add_spread(&self, p: usize, middle: &mut [f64]) {
        for i in 0..p {
            for j in 0..=i {
                let (gain, crossed) = (&self.gain[i * self.dim..], &self.crossed[j * self.dim..(j + 1) * self.dim]);
                middle[packed_index(i, j)] += crossed.iter().zip(gain).map(|(c, g)| c * g).sum::<f64>();
            }
        }
    }
}

/// The packed A, and C, p x dim.
pub(in crate::model) fn sums_of_stage(
    likelihood: &Likelihood<'_>,
    mixture: &Mixture,
    theta: &Place<'_>,
    control: &Control,
) -> Result<Vec<f64>> {
    let (p, n) = (likelihood.p(), likelihood.truths.n);
    let dim = dimension(likelihood, mixture);
    let most = ((WORK / (dim as f64).powi(2)) as usize).clamp(1, n);
    let parts = parallel::map_parts_at_most(most, 8, |part| -> Result<Vec<f64>> {
        let mut sums = vec![0.0; packed_len(dim) + p * dim];
        let (mut row, mut before, mut given) = (likelihood.row(), vec![0.0; dim], vec![0.0; dim]);
        for at in part {
            control.check()?;
            let i = at * n / most;
            scores(likelihood, mixture, i, theta, &mut row, &mut before, &mut given);
            let c = likelihood.weights[i] * n as f64 / most as f64;
            add_to_stage(c, (&before, &given, &row.gradient), &mut sums);
        }
        Ok(sums)
    })?;
    Ok(added(parts.into_iter().collect::<Result<_>>()?))
}

/// Adds c times the terms of A and C of a row with these scores: s1, r and s2.
fn add_to_stage(c: f64, (before, given, second): (&[f64], &[f64], &[f64]), sums: &mut [f64]) {
    let (a, crossed) = sums.split_at_mut(packed_len(before.len()));
    add_outer(c, before, a);
    for (crossed, s2) in crossed.chunks_exact_mut(before.len()).zip(second) {
        crossed.iter_mut().zip(given).for_each(|(sum, r)| *sum += c * s2 * r);
    }
}

/// The packed sum of the squared influences of independent rows, as `gain` (p x dim) carries scores of the density over.
pub(in crate::model) fn sums_of_squares(
    likelihood: &Likelihood<'_>,
    mixture: &Mixture,
    gain: &[f64],
    theta: &Place<'_>,
    control: &Control,
) -> Result<Vec<f64>> {
    let dim = if gain.is_empty() { 0 } else { dimension(likelihood, mixture) };
    let stage = Stage { gain: gain.to_vec(), crossed: vec![], dim };
    let density = (dim > 0).then_some((mixture, &stage));
    let mut squares = influences(likelihood, density, theta, None, control)?;
    squares.iter_mut().for_each(|x| *x /= clusters::correction(likelihood.truths.n));
    Ok(squares)
}

/// Parameters of the density, and factors of errors beside them.
fn dimension(likelihood: &Likelihood<'_>, mixture: &Mixture) -> usize {
    n_scores(mixture) + likelihood.scaled.map_or(0, ScaledNoise::len)
}

/// Scores of rows that are all there: of the second stage, n x p, and of the m parameters of the density given x and what y adds
/// to them, n x m each.
pub(in crate::model) struct RowScores<'a> {
    pub p: usize,
    pub weights: &'a [f64],
    pub second: &'a [f64],
    pub stage: Option<(usize, &'a [f64], &'a [f64])>,
    /// By the sandwich of the rows' influences.
    pub robust: bool,
    pub groups: Option<Vec<u32>>,
    /// Parameters that are draws of a unit normal distribution.
    pub draws: std::ops::Range<usize>,
}

impl RowScores<'_> {
    /// The covariance of the estimates from `inverse`, that of the information of the second stage, 0 where a parameter is held.
    pub(in crate::model) fn covariance(self, inverse: &[f64]) -> Result<Vec<f64>> {
        let (p, dim) = (self.p, self.stage.map_or(0, |(m, ..)| m));
        let (before, given) = self.stage.map_or((&[][..], &[][..]), |(_, before, given)| (before, given));
        let mut sums = vec![0.0; packed_len(dim) + p * dim];
        for (i, c) in self.weights.iter().enumerate().filter(|_| dim > 0) {
            let (s1, s2) = (i * dim..(i + 1) * dim, i * p..(i + 1) * p);
            add_to_stage(*c, (&before[s1.clone()], &given[s1], &self.second[s2]), &mut sums);
        }
        let stage = if dim > 0 { Some(Stage::new(sums, p, dim)?) } else { None };
        let mut middle = vec![0.0; packed_len(p)];
        if self.robust {
            let mut rows = self.second.to_vec();
            for (i, (row, c)) in rows.chunks_exact_mut(p).zip(self.weights).enumerate() {
                for (a, s2) in row.iter_mut().enumerate() {
                    let gain = stage.as_ref().map_or(&[][..], |stage| &stage.gain[a * dim..(a + 1) * dim]);
                    *s2 = c * (*s2 - gain.iter().zip(&before[i * dim..]).map(|(g, s)| g * s).sum::<f64>());
                }
            }
            middle = clusters::middle(&rows, p, self.groups.as_deref());
            self.draws.for_each(|a| middle[packed_index(a, a)] += 1.0);
        } else {
            stage.iter().for_each(|stage| stage.add_spread(p, &mut middle));
        }
        let product = |at: usize, with: &dyn Fn(usize, usize) -> f64| -> f64 {
            (0..p).map(|k| inverse[at / p * p + k] * with(k, at % p)).sum()
        };
        let half: Vec<f64> = (0..p * p).map(|at| product(at, &|k, b| middle[packed_index(k, b)])).collect();
        // B M is half; B (B M)' = B M B.
        let own = |at: usize| if self.robust { 0.0 } else { inverse[at] };
        Ok((0..p * p).map(|at| own(at) + product(at, &|k, b| half[b * p + k])).collect())
    }
}

/// Sum of the squared influences of all groups, a packed triangle.
fn influences(
    likelihood: &Likelihood<'_>,
    density: Option<(&Mixture, &Stage)>,
    theta: &Place<'_>,
    groups: Option<&[u32]>,
    control: &Control,
) -> Result<Vec<f64>> {
    let (p, n) = (likelihood.p(), likelihood.truths.n);
    let rows = parallel::map_parts(n, |part| -> Result<Vec<f64>> {
        let mut row = likelihood.row();
        let dim = density.map_or(0, |(_, stage)| stage.dim);
        let (mut before, mut given) = (vec![0.0; dim], vec![0.0; dim]);
        let mut out = Vec::with_capacity(part.len() * p);
        for i in part {
            control.check()?;
            let Some((mixture, stage)) = density else {
                likelihood.see(i, theta, &mut row);
                out.extend(row.gradient.iter().map(|g| likelihood.weights[i] * g));
                continue;
            };
            scores(likelihood, mixture, i, theta, &mut row, &mut before, &mut given);
            for (g, gain) in row.gradient.iter().zip(stage.gain.chunks_exact(dim)) {
                let carried: f64 = gain.iter().zip(&before).map(|(a, s)| a * s).sum();
                out.push(likelihood.weights[i] * (g - carried));
            }
        }
        Ok(out)
    })?;
    let rows: Vec<Vec<f64>> = rows.into_iter().collect::<Result<_>>()?;
    let rows = rows.concat();
    Ok(clusters::middle(&rows, p, groups))
}

/// Parameters of the density.
fn n_scores(mixture: &Mixture) -> usize {
    let (k, d) = (mixture.n_components(), mixture.n_features());
    k * (d + packed_len(d)) + k - 1
}

/// s1 in `before` and r in `given`; s2 is the gradient of the row.
fn scores(
    likelihood: &Likelihood<'_>,
    mixture: &Mixture,
    i: usize,
    theta: &Place<'_>,
    row: &mut Row<'_>,
    before: &mut [f64],
    given: &mut [f64],
) {
    likelihood.see(i, theta, row);
    let (d, k) = (mixture.n_features(), mixture.n_components());
    let truth = row.reader.at(i);
    before.fill(0.0);
    given.fill(0.0);
    let mut first = 0;
    for of in 0..k {
        for c in truth.under_density(of) {
            let mut at = first;
            let mut add = |x: f64, y: f64| {
                before[at] += x;
                given[at] += y - x;
                at += 1;
            };
            let (q, along, local) = (row.shares[c], &row.along[c * d..(c + 1) * d], &row.locals[c]);
            let (d_m, d_mm) = (local.gradient[0], local.hessian[0]);
            let (w, mean) = (truth.logs()[c].exp(), truth.mean_under(c));
            let covariance = truth.covariance_under(c).unwrap_or(&[]);
            let (mu, t) = (mixture.mean(of), mixture.covariance(of));
            let to = |j: usize| mean[j] - mu[j];
            let with = |j: usize| mean[j] + along[j] * d_m - mu[j];
            for a in 0..d {
                add(w * to(a), q * with(a));
                for b in 0..=a {
                    let rest = covariance[packed_index(a, b)] - t[packed_index(a, b)];
                    add(w * (to(a) * to(b) + rest), q * (with(a) * with(b) + rest + along[a] * along[b] * d_mm));
                }
            }
            if of + 1 < k {
                add(w, q);
            }
        }
        first += d + packed_len(d);
        if of + 1 < k {
            before[first] -= mixture.weights()[of];
            first += 1;
        }
    }
    if let Some(noise) = likelihood.scaled {
        let (along, local) = (&row.along[..d], &row.locals[0]);
        let ((density, before), given) = (before.split_at_mut(first), &mut given[first..]);
        // The score by mu_a stands in front of those by T_ab.
        let to: Vec<f64> = (0..d).map(|a| density[packed_len(a) + a]).collect();
        let turned: Vec<f64> =
            (0..d).flat_map(|a| &density[packed_len(a) + a + 1..=packed_len(a) + 2 * a + 1]).copied().collect();
        let by = (local.gradient[0], local.hessian[0]);
        noise.scores(i, (&turned, &to), (&theta.beta, along), by, before, given);
    }
}
