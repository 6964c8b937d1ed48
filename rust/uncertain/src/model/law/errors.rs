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
use crate::deconvolution::Mixture;
use crate::error::Result;
use crate::linalg::{Eigh, add_outer, cholesky, cholesky_solve};
use crate::model::clusters;
use crate::model::law::likelihood::{Likelihood, Row};
use crate::model::law::newton::{Maximum, square};
use crate::model::law::scaled_noise::ScaledNoise;
use crate::model::law::truths::Truths;
use crate::parallel;
use crate::parallel::added;

/// Rows times squared parameters of the density that are few enough; beyond, evenly spaced rows stand for all.
const WORK: f64 = 1e10;
/// Directions of the density's parameters with less information, relative to the most of scaled ones, are not counted.
const RANK: f64 = 1e-9;

/// A likelihood of targets given readings, by whose density its errors are to be judged, too.
pub(in crate::model) trait SecondStage: Sync {
    /// One row on its way, with memory.
    type Row;

    fn truths(&self) -> &Truths;

    /// Number of parameters.
    fn p(&self) -> usize;

    fn weight_of(&self, row: usize) -> f64;

    fn memory_for(&self, theta: &[f64]) -> Self::Row;

    /// Everything about row i.
    fn look_at(&self, i: usize, theta: &[f64], row: &mut Self::Row);

    /// s2 of the row that was looked at.
    fn gradient<'r>(&self, row: &'r Self::Row) -> &'r [f64];

    /// The information of parameters that are draws themselves, such as errors that rows share, for a sandwich.
    fn add_prior(&self, _middle: &mut [f64]) {}

    /// Errors of features whose factors were fitted with a density of one component, and the place of the first coefficient.
    fn scaled_noise(&self) -> Option<(&ScaledNoise, usize)>;

    /// Of a component its share given y, the covariance of z and eta given x, D_m and D_mm.
    fn under<'r>(&self, component: usize, row: &'r Self::Row) -> (f64, &'r [f64], f64, f64);
}

impl SecondStage for Likelihood<'_> {
    type Row = Row;

    fn truths(&self) -> &Truths {
        self.truths
    }

    fn p(&self) -> usize {
        Likelihood::p(self)
    }

    fn weight_of(&self, row: usize) -> f64 {
        self.rows[row].weight
    }

    fn memory_for(&self, _: &[f64]) -> Row {
        self.row()
    }

    fn look_at(&self, i: usize, theta: &[f64], row: &mut Row) {
        self.look(i, theta, row);
    }

    fn gradient<'r>(&self, row: &'r Row) -> &'r [f64] {
        &row.gradient
    }

    fn add_prior(&self, middle: &mut [f64]) {
        self.modes().for_each(|place| middle[packed_index(place, place)] += 1.0);
    }

    fn scaled_noise(&self) -> Option<(&ScaledNoise, usize)> {
        self.scaled.map(|noise| (noise, self.first_coef()))
    }

    fn under<'r>(&self, component: usize, row: &'r Row) -> (f64, &'r [f64], f64, f64) {
        let d = self.truths.d;
        let (along, at) = (&row.along[component * d..(component + 1) * d], &row.integrals[component]);
        (row.shares[component], along, at.gradient[0], at.hessian[0][0])
    }
}

/// p x p, in the coordinates of the rows; NaN for a parameter at its bound, all NaN where the information is singular.
pub(super) fn covariance(
    likelihood: Likelihood<'_>,
    mixture: Option<&Mixture>,
    maximum: &Maximum,
    alphas: &[f64],
    groups: Option<&[u32]>,
    control: &Control,
) -> Result<Vec<f64>> {
    let mut information: Vec<f64> = maximum.at.hessian.iter().map(|h| -h).collect();
    let mut penalised = information.clone();
    for (j, alpha) in alphas.iter().enumerate() {
        let place = likelihood.first_coef() + j;
        penalised[packed_index(place, place)] += alpha * likelihood.weight();
    }
    // Errors that rows share are draws, whose distribution is information.
    likelihood.add_prior(&mut information);
    two_stages(&likelihood, mixture, &maximum.theta, (&information, &penalised), &maximum.free, groups, control)
}

/// The same from the information without and with penalties, packed triangles.
pub(in crate::model) fn two_stages<S: SecondStage>(
    likelihood: &S,
    mixture: Option<&Mixture>,
    theta: &[f64],
    (information, penalised): (&[f64], &[f64]),
    free: &[usize],
    groups: Option<&[u32]>,
    control: &Control,
) -> Result<Vec<f64>> {
    let (p, n) = (likelihood.p(), likelihood.truths().n);
    let q = free.len();
    let mut all = vec![f64::NAN; p * p];
    let mut factor = square(penalised, free);
    if factor.iter().any(|x| !x.is_finite()) || !cholesky(&mut factor, q) {
        return Ok(all);
    }
    let density = mixture.filter(|_| likelihood.truths().covariance_under(0, 0).is_some());
    let stage = density.map(|mixture| Stage::new(likelihood, mixture, theta, control)).transpose()?;
    let weighted = (1..n).any(|i| likelihood.weight_of(i) != likelihood.weight_of(0));
    let middle = if weighted || groups.is_some() {
        let mut middle = influences(likelihood, mixture.zip(stage.as_ref()), theta, groups, control)?;
        likelihood.add_prior(&mut middle);
        middle
    } else {
        let mut middle = information.to_vec();
        stage.iter().for_each(|stage| stage.add_spread(p, &mut middle));
        middle
    };
    // H^-1 M H^-1: columns, then rows.
    let middle = square(&middle, free);
    let solve = |columns: Vec<Vec<f64>>| -> Vec<Vec<f64>> {
        let solved = columns.into_iter().map(|mut column| {
            cholesky_solve(&factor, q, &mut column);
            column
        });
        solved.collect()
    };
    let half = solve((0..q).map(|i| middle[i * q..(i + 1) * q].to_vec()).collect());
    let whole = solve((0..q).map(|i| half.iter().map(|row| row[i]).collect()).collect());
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
    fn new<S: SecondStage>(likelihood: &S, mixture: &Mixture, theta: &[f64], control: &Control) -> Result<Self> {
        let (p, n) = (likelihood.p(), likelihood.truths().n);
        let dim = n_scores(mixture) + likelihood.scaled_noise().map_or(0, |(noise, _)| noise.len());
        let most = ((WORK / (dim as f64).powi(2)) as usize).clamp(1, n);
        let parts = parallel::map_parts_at_most(most, 8, |part| -> Result<Vec<f64>> {
            let mut sums = vec![0.0; packed_len(dim) + p * dim];
            let (mut row, mut before, mut given) = (likelihood.memory_for(theta), vec![0.0; dim], vec![0.0; dim]);
            for at in part {
                control.check()?;
                let i = at * n / most;
                scores(likelihood, mixture, i, theta, &mut row, &mut before, &mut given);
                let c = likelihood.weight_of(i) * n as f64 / most as f64;
                let (a, crossed) = sums.split_at_mut(packed_len(dim));
                add_outer(c, &before, a);
                for (crossed, s2) in crossed.chunks_exact_mut(dim).zip(likelihood.gradient(&row)) {
                    crossed.iter_mut().zip(&given).for_each(|(sum, r)| *sum += c * s2 * r);
                }
            }
            Ok(sums)
        })?;
        let mut a = added(parts.into_iter().collect::<Result<_>>()?);
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

/// Sum of the squared influences of all groups, a packed triangle.
fn influences<S: SecondStage>(
    likelihood: &S,
    density: Option<(&Mixture, &Stage)>,
    theta: &[f64],
    groups: Option<&[u32]>,
    control: &Control,
) -> Result<Vec<f64>> {
    let (p, n) = (likelihood.p(), likelihood.truths().n);
    let rows = parallel::map_parts(n, |part| -> Result<Vec<f64>> {
        let mut row = likelihood.memory_for(theta);
        let dim = density.map_or(0, |(_, stage)| stage.dim);
        let (mut before, mut given) = (vec![0.0; dim], vec![0.0; dim]);
        let mut out = Vec::with_capacity(part.len() * p);
        for i in part {
            control.check()?;
            let Some((mixture, stage)) = density else {
                likelihood.look_at(i, theta, &mut row);
                out.extend(likelihood.gradient(&row).iter().map(|g| likelihood.weight_of(i) * g));
                continue;
            };
            scores(likelihood, mixture, i, theta, &mut row, &mut before, &mut given);
            for (g, gain) in likelihood.gradient(&row).iter().zip(stage.gain.chunks_exact(dim)) {
                let carried: f64 = gain.iter().zip(&before).map(|(a, s)| a * s).sum();
                out.push(likelihood.weight_of(i) * (g - carried));
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
fn scores<S: SecondStage>(
    likelihood: &S,
    mixture: &Mixture,
    i: usize,
    theta: &[f64],
    row: &mut S::Row,
    before: &mut [f64],
    given: &mut [f64],
) {
    likelihood.look_at(i, theta, row);
    let (truths, d, k) = (likelihood.truths(), mixture.n_features(), mixture.n_components());
    before.fill(0.0);
    given.fill(0.0);
    let mut first = 0;
    for of in 0..k {
        for c in truths.under_density(of, i) {
            let mut at = first;
            let mut add = |x: f64, y: f64| {
                before[at] += x;
                given[at] += y - x;
                at += 1;
            };
            let (q, along, d_m, d_mm) = likelihood.under(c, row);
            let (w, mean) = (truths.logs(i)[c].exp(), truths.mean_under(c, i));
            let covariance = truths.covariance_under(c, i).unwrap_or(&[]);
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
    if let Some((noise, place)) = likelihood.scaled_noise() {
        let (_, along, d_m, d_mm) = likelihood.under(0, row);
        let ((density, before), given) = (before.split_at_mut(first), &mut given[first..]);
        // The score by mu_a stands in front of those by T_ab.
        let to: Vec<f64> = (0..d).map(|a| density[packed_len(a) + a]).collect();
        let turned: Vec<f64> =
            (0..d).flat_map(|a| &density[packed_len(a) + a + 1..=packed_len(a) + 2 * a + 1]).copied().collect();
        noise.scores(i, (&turned, &to), (&theta[place..place + d], along), (d_m, d_mm), before, given);
    }
}
