//! Scores of the density of true values, given the readings of x alone and given those of y, too, for standard errors that count
//! both stages: by Fisher's identity the means of (z - mu), (z - mu)(z - mu)' - T and the component less its share, up to a linear
//! map that cancels; by log f_j, f_j the factor of the errors e = x - z of feature j, of e_j (S^+ e)_j - 1.

use crate::data::covariance::packed_len;
use crate::deconvolution::Mixture;
use crate::error::Result;
use crate::linalg::{cholesky, cholesky_solve, dot};

use super::readings::Reading;
use super::structural::Structural;

/// Scores of all rows, n x m each.
pub(super) struct DensityScores {
    /// Given x.
    pub before: Vec<f64>,
    /// Given x and y, less those.
    pub given: Vec<f64>,
    /// Parameters of the density and factors.
    pub m: usize,
}

impl DensityScores {
    /// At a solution; `None` where the curve is not defined. `factors` of features' errors were fitted with the density.
    pub(super) fn new(
        objective: &Structural<'_>,
        mixture: &Mixture,
        factors: usize,
        at: &[f64],
    ) -> Result<Option<Self>> {
        let (k, d) = (mixture.n_components(), mixture.n_features());
        let m = k * (d + packed_len(d)) + k - 1 + factors;
        let n = objective.readings.len();
        let scores = Scores { mixture, factors };
        let (mut before, mut after) = (vec![0.0; n * m], vec![0.0; n * m]);
        for term in objective.terms {
            let (row, share, rank) = (term.row, term.log_weight.exp(), term.rank);
            let out = &mut before[row * m..(row + 1) * m];
            let spread = |a: usize, b: usize| -> f64 {
                dot(&term.root[a * rank..(a + 1) * rank], &term.root[b * rank..(b + 1) * rank])
            };
            let shares: Vec<f64> = match &term.shares[..] {
                [] => (0..k).map(|own| f64::from(u8::from(own == term.component))).collect(),
                own => own.to_vec(),
            };
            scores.add(share, &term.centre[..d], &shares, &spread, out);
            scores.add_factors(share, &objective.readings[row], &term.centre, &spread, out);
        }
        let seen = objective.each_block(at, |_, integrals| {
            for node in &integrals.nodes {
                let term = &objective.terms[node.term];
                let out = &mut after[node.row * m..(node.row + 1) * m];
                let shares: Vec<f64> = match &term.shares[..] {
                    [] => (0..k).map(|own| f64::from(u8::from(own == term.component))).collect(),
                    own => own.to_vec(),
                };
                scores.add(node.mass, &node.z()[..d], &shares, &|_, _| 0.0, out);
                scores.add_factors(node.mass, &objective.readings[node.row], node.z(), &|_, _| 0.0, out);
            }
            Ok(true)
        })?;
        let given = after.iter().zip(&before).map(|(after, before)| after - before).collect();
        Ok(seen.map(|()| Self { before, given, m }))
    }
}

struct Scores<'a> {
    mixture: &'a Mixture,
    factors: usize,
}

impl Scores<'_> {
    /// `share` times the scores where z has this mean and covariance, and the components these shares.
    fn add(&self, share: f64, z: &[f64], shares: &[f64], covariance: &dyn Fn(usize, usize) -> f64, out: &mut [f64]) {
        let (k, d) = (self.mixture.n_components(), z.len());
        let each = d + packed_len(d);
        for (component, own) in shares.iter().enumerate() {
            let (mu, t, q) = (self.mixture.mean(component), self.mixture.covariance(component), share * own);
            let mut at = component * each;
            for a in 0..d {
                out[at] += q * (z[a] - mu[a]);
                at += 1;
                for b in 0..=a {
                    let square = (z[a] - mu[a]) * (z[b] - mu[b]) + covariance(a, b);
                    out[at] += q * (square - t[packed_len(a) + b]);
                    at += 1;
                }
            }
            if component + 1 < k {
                out[k * each + component] += q - share * self.mixture.weights()[component];
            }
        }
    }

    fn add_factors(
        &self,
        share: f64,
        reading: &Reading,
        z: &[f64],
        covariance: &dyn Fn(usize, usize) -> f64,
        out: &mut [f64],
    ) {
        let (d, rank, first) = (self.factors, reading.rank, out.len() - self.factors);
        if d == 0 || rank == 0 {
            return;
        }
        let root = |j: usize| &reading.root[j * rank..(j + 1) * rank];
        let mut inner: Vec<f64> =
            (0..rank * rank).map(|at| (0..d).map(|j| root(j)[at / rank] * root(j)[at % rank]).sum()).collect();
        // Columns of a root are independent.
        let _positive = cholesky(&mut inner, rank);
        // S^+ e = L (L'L)^-2 L'e.
        let solved = |e: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let mut u: Vec<f64> = (0..rank).map(|c| (0..d).map(|j| root(j)[c] * e(j)).sum()).collect();
            (0..2).for_each(|_| cholesky_solve(&inner, rank, &mut u));
            (0..d).map(|j| dot(root(j), &u)).collect()
        };
        let e: Vec<f64> = (0..d).map(|j| reading.x[j] - z[j]).collect();
        let along = solved(&|j| e[j]);
        for j in (0..d).filter(|&j| root(j).iter().any(|l| *l != 0.0)) {
            let spread = solved(&|a| covariance(a, j))[j];
            out[first + j] += share * (e[j] * along[j] + spread - 1.0);
        }
    }
}
