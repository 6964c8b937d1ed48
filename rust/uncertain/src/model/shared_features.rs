//! Errors that the features of rows share: x_i = z_i + N_i a + e_i, with a ~ N(0, I) of k numbers, N_i a d x k matrix.
//!
//! Given the density N(mu, T) of z and the coefficients beta of a law, this is a law whose targets alone have errors that rows
//! share. The readings say, with A_i = (T + S_i)^-1 and sums over rows (mu is estimated with a, and moves by -Q per unit of it),
//! ```text
//! a | x ~ N(a^, V),    V^-1 = I + sum N'A N - Q'(sum A) Q,    Q = (sum A)^-1 sum A N
//! ```
//! What a moves in the mean of the linear predictor given x is then
//! ```text
//! M_i a - beta'(T A_i N_i + (I - T A_i) Q) (a - a^)
//! ```
//! so that a fit to x - N a^ with the modes (M_i - beta'G_i) V^(1/2) of its targets knows all of it but for beta and T of the
//! round before. A few rounds settle these. Of a line this is exact but for T, which is that of readings whose shared errors are
//! taken off, and too small by a part of k / n; where targets are not normal, a is integrated out by Laplace's approximation.
//!
//! Source: G. K. Robinson, That BLUP is a good thing: the estimation of random effects, Statistical Science 6, 1991, doi
//! 10.1214/ss/1177011926.

use crate::data::covariance::{packed_index, packed_len, unpack};
use crate::data::{GaussianArray, Incomplete};
use crate::deconvolution::Mixture;
use crate::error::{Error, Result};
use crate::linalg::{Eigh, Spd, add_outer, dot};
use crate::parallel;
use crate::parallel::added;
use crate::rows::Rows;

/// Most rounds.
const ROUNDS: usize = 30;
/// A change of the coefficients, relative to their errors, that ends them.
const SETTLED: f64 = 1e-9;
/// Combinations of modes whose squares are smaller parts of the largest are not told apart.
pub(in crate::model) const COLLINEAR: f64 = 1e-12;

/// Errors that rows share.
pub(in crate::model) struct FeatureModes<'a> {
    pub rows: &'a GaussianArray,
    /// N, n x d x k.
    pub of_features: &'a [f64],
    /// M, n x k.
    pub of_targets: &'a [f64],
    pub k: usize,
    /// Weights of the rows, of mean 1.
    pub weights: Vec<f64>,
}

/// Results of a fit to targets with other shared errors.
pub(in crate::model) struct InnerFit<F> {
    pub fit: F,
    /// Coefficients and their standard errors.
    pub beta: Vec<f64>,
    pub std: Vec<f64>,
    /// The density of true features, one component.
    pub mixture: Mixture,
}

/// The rows of a round, and how its modes turn into a.
pub(in crate::model) struct Round {
    pub rows: GaussianArray,
    /// -M a^: what is added to each target, or taken off its linear predictor.
    pub shift: Vec<f64>,
    /// n x `k`, 0 of them where a does not move the targets.
    pub modes: Vec<f64>,
    pub k: usize,
    /// a^.
    mean: Vec<f64>,
    /// V^(1/2), lower.
    root: Vec<f64>,
    /// Directions of a that move the targets, `k` of all.
    kept: Vec<f64>,
}

/// Estimates of a, their covariance, and that with the `p` numbers of a law.
pub(in crate::model) struct Estimated {
    pub modes: Vec<f64>,
    pub covariance: Vec<f64>,
    pub with_law: Vec<f64>,
}

impl<'a> FeatureModes<'a> {
    /// Refuses rows with gaps or limits, and modes that are 0 or combinations of one another.
    pub(in crate::model) fn new(
        rows: Incomplete<'a>,
        of_features: &'a [f64],
        of_targets: &'a [f64],
        k: usize,
        weight: impl Fn(usize) -> f64,
    ) -> Result<Self> {
        let (n, d) = (rows.n_rows(), rows.gaussians().n_features());
        if of_features.len() != n * d * k || of_targets.len() != n * k || k == 0 {
            let expected = format!("{n} rows of {d} x {k}");
            return Err(Error::shape("modes of features", expected, of_features.len()));
        }
        if rows.mixtures().is_some()
            || rows.limits().is_some()
            || rows.missing().is_some_and(|gaps| gaps.contains(&true))
        {
            return Err(Error::Data(
                "modes of features: errors that their readings share are for complete rows of one Gaussian each, without limits; \
                 leave the others out"
                    .into(),
            ));
        }
        let both = (0..n).flat_map(|i| [&of_features[i * d * k..(i + 1) * d * k], &of_targets[i * k..(i + 1) * k]]);
        check(&both.flatten().copied().collect::<Vec<f64>>(), k)?;
        let total: f64 = (0..n).map(&weight).sum();
        let weights = (0..n).map(|i| weight(i) * n as f64 / total).collect();
        Ok(Self { rows: rows.gaussians(), of_features, of_targets, k, weights })
    }

    /// The last of the rounds of `fit`, which is given their rows; `None`: those of the readings.
    pub(in crate::model) fn settled<F>(
        &self,
        mut fit: impl FnMut(Option<&Round>) -> Result<InnerFit<F>>,
    ) -> Result<(InnerFit<F>, Round)> {
        let mut last = fit(None)?;
        let mut round = self.round(&last.mixture, &last.beta)?;
        for _ in 0..ROUNDS {
            let next = fit(Some(&round))?;
            let change = next.beta.iter().zip(&last.beta).zip(&next.std);
            let moved = change.fold(0.0_f64, |most, ((new, old), std)| most.max((new - old).abs() / std));
            last = next;
            if !(moved > SETTLED) {
                break;
            }
            round = self.round(&last.mixture, &last.beta)?;
        }
        Ok((last, round))
    }

    fn round(&self, mixture: &Mixture, beta: &[f64]) -> Result<Round> {
        let (n, d, k) = (self.rows.n_rows(), mixture.n_features(), self.k);
        let t = mixture.covariance(0);
        let inverse = |i: usize, triangle: &mut [f64]| -> Result<Vec<f64>> {
            self.rows.covariances().triangle(i, d, triangle);
            triangle.iter_mut().zip(t).for_each(|(s, t)| *s += t);
            let singular = || Error::Data(format!("row {i}: the covariance of its reading is singular"));
            Ok(Spd::new(unpack(triangle, d), d).ok_or_else(singular)?.inverse())
        };
        // A, A N, N'A N, A x, N'A x.
        let ends = [d * d, d * k, k * k, d, k];
        let parts = parallel::map_parts(n, |part| -> Result<Vec<f64>> {
            let (mut sums, mut triangle) = (vec![0.0; ends.iter().sum()], vec![0.0; packed_len(d)]);
            for i in part {
                let (a, own, x) =
                    (inverse(i, &mut triangle)?, &self.of_features[i * d * k..], self.rows.means().row(i));
                let an: Vec<f64> =
                    (0..d * k).map(|at| (0..d).map(|c| a[at / k * d + c] * own[c * k + at % k]).sum()).collect();
                let nan = (0..k * k).map(|at| (0..d).map(|c| own[c * k + at / k] * an[c * k + at % k]).sum::<f64>());
                let ax = (0..d).map(|r| (0..d).map(|c| a[r * d + c] * x[c]).sum::<f64>());
                let nax = (0..k).map(|m| (0..d).map(|c| an[c * k + m] * x[c]).sum::<f64>());
                let all = a.iter().copied().chain(an.iter().copied()).chain(nan).chain(ax).chain(nax);
                sums.iter_mut().zip(all).for_each(|(sum, x)| *sum += self.weights[i] * x);
            }
            Ok(sums)
        })?;
        let sums = added(parts.into_iter().collect::<Result<_>>()?);
        let (whole, sums) = sums.split_at(d * d);
        let (crossed, sums) = sums.split_at(d * k);
        let (squares, sums) = sums.split_at(k * k);
        let (ax, nax) = sums.split_at(d);
        let singular =
            || Error::Data("modes of features: their sizes are beyond what a number can hold; scale them".into());
        let whole = Spd::new(whole.to_vec(), d).ok_or_else(singular)?;
        let centre = whole.solve(ax.to_vec());
        // Q by columns.
        let q: Vec<Vec<f64>> = (0..k).map(|m| whole.solve((0..d).map(|c| crossed[c * k + m]).collect())).collect();
        let precision = |a: usize, b: usize| {
            let less: f64 = (0..d).map(|c| crossed[c * k + a] * q[b][c]).sum();
            f64::from(u8::from(a == b)) + squares[a * k + b] - less
        };
        let precision = (0..k * k).map(|at| precision((at / k).max(at % k), (at / k).min(at % k))).collect();
        let precision = Spd::new(precision, k).ok_or_else(singular)?;
        let left = |m: usize| nax[m] - (0..d).map(|c| crossed[c * k + m] * centre[c]).sum::<f64>();
        let mean = precision.solve((0..k).map(left).collect());
        let root = Spd::new(precision.inverse(), k).ok_or_else(singular)?.lower();

        // (M - beta'G) V^(1/2), with beta'T A = (A T beta)'.
        let turned: Vec<f64> = (0..d).map(|a| (0..d).map(|b| t[packed_index(a, b)] * beta[b]).sum()).collect();
        let mut triangle = vec![0.0; packed_len(d)];
        let (mut by, mut shift, mut means) = (vec![0.0; n * k], vec![0.0; n], vec![0.0; n * d]);
        for i in 0..n {
            let a = inverse(i, &mut triangle)?;
            let gain: Vec<f64> = a.chunks_exact(d).map(|row| dot(row, &turned)).collect();
            let (own, target) = (&self.of_features[i * d * k..(i + 1) * d * k], &self.of_targets[i * k..(i + 1) * k]);
            let moved = |m: usize| {
                let of_row = |c: usize| gain[c] * (own[c * k + m] - q[m][c]) + beta[c] * q[m][c];
                target[m] - (0..d).map(of_row).sum::<f64>()
            };
            let whole: Vec<f64> = (0..k).map(moved).collect();
            (0..k).for_each(|m| by[i * k + m] = (m..k).map(|c| whole[c] * root[c * k + m]).sum());
            shift[i] = -dot(target, &mean);
            for (c, x) in self.rows.means().row(i).iter().enumerate() {
                means[i * d + c] = x - (0..k).map(|m| own[c * k + m] * mean[m]).sum::<f64>();
            }
        }
        // Directions of a that do not move the targets stay as they are.
        let mut gram = vec![0.0; packed_len(k)];
        by.chunks_exact(k).for_each(|row| add_outer(1.0, row, &mut gram));
        let mut eigh = Eigh::new(k);
        eigh.packed(&gram)?;
        let least = COLLINEAR * k as f64 * eigh.values[k - 1].max(f64::MIN_POSITIVE);
        let kept: Vec<f64> = (eigh.values.iter().zip(eigh.vectors.chunks_exact(k)))
            .filter(|(value, _)| **value > least)
            .flat_map(|(_, vector)| vector.to_vec())
            .collect();
        let modes = by.chunks_exact(k).flat_map(|row| kept.chunks_exact(k).map(move |v| dot(row, v))).collect();
        let rows = GaussianArray::new(Rows::from_vec(means, d)?, self.rows.covariances().clone())?;
        Ok(Round { rows, shift, modes, k: kept.len() / k, mean, root, kept })
    }
}

impl Round {
    /// a from the modes of a fit of this round (k' numbers, k' x k', k' x p).
    pub(in crate::model) fn restored(
        &self,
        modes: &[f64],
        covariance: &[f64],
        with_law: &[f64],
        p: usize,
    ) -> Estimated {
        let (k, few) = (self.mean.len(), self.k);
        // V^(1/2) times the kept directions, k x k'.
        let turn: Vec<f64> = (0..k * few)
            .map(|at| (at / few, at % few))
            .map(|(a, m)| (0..=a).map(|c| self.root[a * k + c] * self.kept[m * k + c]).sum())
            .collect();
        let row = |a: usize| &turn[a * few..(a + 1) * few];
        // V less what the fit knows better: V^(1/2) (I - kept kept') V^(1/2)' + turn C turn'.
        let element = |a: usize, b: usize| {
            let v: f64 = (0..=a.min(b)).map(|c| self.root[a * k + c] * self.root[b * k + c]).sum();
            let own = |m: usize, l: usize| covariance[m * few + l] - f64::from(u8::from(m == l));
            v + (0..few)
                .flat_map(|m| (0..few).map(move |l| (m, l)))
                .map(|(m, l)| row(a)[m] * own(m, l) * row(b)[l])
                .sum::<f64>()
        };
        Estimated {
            modes: (0..k).map(|a| self.mean[a] + dot(row(a), modes)).collect(),
            covariance: (0..k * k).map(|at| element(at / k, at % k)).collect(),
            with_law: (0..k * p).map(|at| (0..few).map(|m| row(at / p)[m] * with_law[m * p + at % p]).sum()).collect(),
        }
    }
}

/// Modes that are zero, or combinations of one another, have no size.
pub(in crate::model) fn check(modes: &[f64], k: usize) -> Result<()> {
    if k == 0 {
        return Ok(());
    }
    let mut gram = vec![0.0; k * k];
    for row in modes.chunks_exact(k) {
        for (a, b) in (0..k).flat_map(|a| (0..=a).map(move |b| (a, b))) {
            gram[a * k + b] += row[a] * row[b];
        }
    }
    if let Some(zero) = (0..k).find(|&a| !(gram[a * k + a] > 0.0)) {
        return Err(Error::Data(format!("modes: column {zero} is 0 in every row; leave it out")));
    }
    let unit: Vec<f64> = (0..k).map(|a| gram[a * k + a].sqrt()).collect();
    for a in 0..k {
        for b in 0..=a {
            gram[a * k + b] /= unit[a] * unit[b];
            gram[b * k + a] = gram[a * k + b];
        }
    }
    let mut eigh = Eigh::new(k);
    eigh.decompose(|i| &gram[i * k..(i + 1) * k])?;
    if eigh.values[0] > COLLINEAR * k as f64 {
        return Ok(());
    }
    let parts: Vec<String> = (0..k)
        .filter(|&a| eigh.vectors[a].abs() > 0.05)
        .map(|a| format!("{:+.2} of column {a}", eigh.vectors[a]))
        .collect();
    Err(Error::Data(format!(
        "modes: columns are combinations of one another: {} is 0 in every row; leave one of them out",
        parts.join(" ")
    )))
}
