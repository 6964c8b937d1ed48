//! [`Term`]: what the readings of a row leave open, as standard normal numbers v.
//!
//! ```text
//! z = a + B v,    y ~ N(f(z) + g + G v, R + diag(sigma^2)),    v ~ N(0, I_k)
//! ```
//! For a functional fit a = x, B = -L, g = 0, G = A ([`readings`](super::readings)): the errors are what is unknown. For a
//! structural fit a row has one term per component of the density of true values, whose posterior given x is v: with
//! u = L^+ (x - z), Lambda = I + L' T^{-1} L, u ~ N(Lambda^{-1} L' T^{-1} (x - mu), Lambda^{-1}), weight pi N(x; mu, T + S).
//! S^{-1} never appears, and an exact x has k = 0.

use crate::deconvolution::{Mixture, log_sum};
use crate::error::Result;
use crate::linalg::{cholesky, cholesky_solve, dot, inverse_lower};

use super::readings::Reading;

/// Components of smaller shares in a row, as logarithms, are left out.
const NOTHING: f64 = -40.0;

pub(super) struct Term {
    /// The place of its reading.
    pub row: usize,
    /// Of the terms of a row the weights sum to 1.
    pub log_weight: f64,
    /// Component of the density; of an exact row that is one term for all components, their shares in it.
    pub component: usize,
    pub shares: Vec<f64>,
    pub rank: usize,
    /// a, d.
    pub centre: Vec<f64>,
    /// B, d x k.
    pub root: Vec<f64>,
    /// g, q.
    pub shift: Vec<f64>,
    /// G, q x k.
    pub slope: Vec<f64>,
}

impl Term {
    /// z at some v.
    pub(super) fn place(&self, v: &[f64], out: &mut Vec<f64>) {
        let k = self.rank;
        out.extend(self.centre.iter().enumerate().map(|(j, a)| a + dot(&self.root[j * k..(j + 1) * k], v)));
    }

    /// y - f - g - G v.
    pub(super) fn residual(&self, y: &[f64], f: &[f64], v: &[f64], out: &mut [f64]) {
        let k = self.rank;
        for o in 0..y.len() {
            out[o] = y[o] - f[o] - self.shift[o] - dot(&self.slope[o * k..(o + 1) * k], v);
        }
    }
}

/// One term per row, whose unknown is the error of x itself; of a mixture that of its mean and covariance.
pub(super) fn functional(readings: &[Reading]) -> Vec<Term> {
    let term = |(row, reading): (usize, &Reading)| Term {
        row,
        log_weight: 0.0,
        component: 0,
        shares: vec![],
        rank: reading.rank,
        centre: reading.x.clone(),
        root: reading.root.iter().map(|l| -l).collect(),
        shift: vec![0.0; reading.y.len()],
        slope: match &reading.crossed[..] {
            [] => vec![0.0; reading.y.len() * reading.rank],
            crossed => crossed.to_vec(),
        },
    };
    readings.iter().enumerate().map(term).collect()
}

/// One term per row, component of its own that may be true, and component of the density that matters there.
pub(super) fn structural(readings: &[Reading], mixture: &Mixture) -> Result<Vec<Term>> {
    let d = mixture.n_features();
    let components = (0..mixture.n_components())
        .map(|k| {
            let factor = mixture.root(k)?;
            let log_root: f64 = (0..d).map(|j| factor[j * d + j].ln()).sum();
            Ok((factor, log_root))
        })
        .collect::<Result<Vec<_>>>()?;
    let mut terms = vec![];
    for (row, reading) in readings.iter().enumerate() {
        let mut own = vec![];
        for (log_share, part) in reading.alternatives() {
            let first = own.len();
            for (k, (factor, log_root)) in components.iter().enumerate() {
                let (mut term, log) = under(part, mixture.mean(k), factor, *log_root);
                (term.row, term.component) = (row, k);
                term.log_weight = log_share + mixture.weights()[k].ln() + log;
                own.push(term);
            }
            if part.rank == 0 {
                // Whatever the components say, z = x.
                let total = log_sum_of(&own[first..]);
                own[first].shares = own[first..].iter().map(|term| (term.log_weight - total).exp()).collect();
                own[first].log_weight = total;
                own.truncate(first + 1);
            }
        }
        let total = log_sum_of(&own);
        own.iter_mut().for_each(|term| term.log_weight -= total);
        terms.extend(own.into_iter().filter(|term| term.log_weight > NOTHING));
    }
    Ok(terms)
}

fn log_sum_of(terms: &[Term]) -> f64 {
    log_sum(&terms.iter().map(|term| term.log_weight).collect::<Vec<_>>())
}

/// The term of a reading under N(mu, T), T = K K', and log N(x; mu, T + S) without its constant.
fn under(reading: &Reading, mean: &[f64], factor: &[f64], log_root: f64) -> (Term, f64) {
    // Features beyond those of the density are exact, and independent of them.
    let (d, k, q) = (mean.len(), reading.rank, reading.y.len());
    let away: Vec<f64> = reading.x.iter().zip(mean).map(|(x, m)| x - m).collect();
    let solve = |b: Vec<f64>| {
        let mut b = b;
        cholesky_solve(factor, d, &mut b);
        b
    };
    let columns: Vec<Vec<f64>> = (0..k).map(|c| solve((0..d).map(|j| reading.root[j * k + c]).collect())).collect();
    let mut lambda = vec![0.0; k * k];
    for (a, b) in (0..k).flat_map(|a| (0..k).map(move |b| (a, b))) {
        let product: f64 = (0..d).map(|j| reading.root[j * k + a] * columns[b][j]).sum();
        lambda[a * k + b] = product + f64::from(u8::from(a == b));
    }
    let mut u: Vec<f64> = (0..k).map(|c| dot(&columns[c], &away)).collect();
    // I + something positive: never singular.
    let _positive = k == 0 || cholesky(&mut lambda, k);
    if k > 0 {
        cholesky_solve(&lambda, k, &mut u);
    }
    // u = mean of u + C^{-T} v, Lambda = C C'.
    let inverse = inverse_lower(&lambda, k);
    let mut centre = reading.x.clone();
    let mut root = vec![0.0; reading.x.len() * k];
    for j in 0..d {
        let line = &reading.root[j * k..(j + 1) * k];
        centre[j] -= dot(line, &u);
        for c in 0..k {
            root[j * k + c] = -(0..k).map(|a| line[a] * inverse[c * k + a]).sum::<f64>();
        }
    }
    let (mut shift, mut slope) = (vec![0.0; q], vec![0.0; q * k]);
    for (o, line) in reading.crossed.chunks_exact(k.max(1)).enumerate() {
        shift[o] = dot(line, &u);
        for c in 0..k {
            slope[o * k + c] = (0..k).map(|a| line[a] * inverse[c * k + a]).sum();
        }
    }
    // |u|^2 + (z - mu)'T^{-1}(z - mu) at the most likely u has no cancellation.
    let left: Vec<f64> = centre.iter().zip(mean).map(|(z, m)| z - m).collect();
    let square = dot(&left, &solve(left.clone())) + dot(&u, &u);
    let log_lambda: f64 = (0..k).map(|c| lambda[c * k + c].ln()).sum();
    let term = Term { row: 0, log_weight: 0.0, component: 0, shares: vec![], rank: k, centre, root, shift, slope };
    (term, -0.5 * square - log_root - log_lambda)
}
