//! Features and target of a row as one Gaussian, the target last: u_i = (x_i, y_i) with the noise
//! ```text
//! C_i = [[S_i, c_i], [c_i', tau_i^2]]
//! ```
//! in the simplest kind that holds it.

use crate::data::covariance::{Structure, packed_index, packed_len};
use crate::data::{Covariances, GaussianArray, Incomplete, Names, Rows, Targets};
use crate::error::{Error, Result};

/// Rows in d + 1 dimensions, with the gaps and limits of both.
pub(crate) struct Joint<'a> {
    data: GaussianArray,
    missing: Option<Vec<bool>>,
    limits: Option<Vec<i8>>,
    parts: Option<&'a [u32]>,
}

impl<'a> Joint<'a> {
    pub(crate) fn new(rows: Incomplete<'a>, targets: &Targets) -> Result<Self> {
        let (features, n) = (rows.gaussians(), rows.gaussians().n_rows());
        targets.check_rows(n)?;
        let m = features.n_features() + 1;
        let mut means = Vec::with_capacity(n * m);
        for (i, y) in targets.values().iter().enumerate() {
            means.extend_from_slice(&features.means().row(i));
            means.push(*y);
        }
        let means = Rows::from_owned(means, n, m);
        let covariances = covariances(rows, targets);
        let data = if targets.feature_covariances().is_some() {
            let names =
                Names { covariances: "covariance of X and y (std of X, y_std, xy_cov)".into(), ..Names::default() };
            GaussianArray::new_named(means, covariances, &names)?
        } else {
            // Blocks that were checked by themselves.
            GaussianArray::from_checked(means, covariances)
        };
        let limited = rows.limits().is_some() || targets.limits().is_some();
        let of_target = |i: usize| targets.limits().map_or(0, |limits| limits[i]);
        if (0..n).all(|i| of_target(i) != 0 || targets.weight(i) == 0.0) && limited {
            return Err(Error::Data("every target is a limit, so nothing is known of their size".into()));
        }
        let limits = limited.then(|| {
            let own = |i| (0..m - 1).map(move |j| rows.limit(i, j)).chain([of_target(i)]);
            (0..n).flat_map(own).collect()
        });
        let missing = (limited || rows.missing().is_some()).then(|| {
            let own = |i| (0..m - 1).map(move |j| rows.is_missing(i, j)).chain([of_target(i) != 0]);
            (0..n).flat_map(own).collect()
        });
        Ok(Self { data, missing, limits, parts: rows.parts() })
    }

    /// The rows alone.
    pub(crate) fn into_parts(self) -> (GaussianArray, Option<Vec<bool>>) {
        (self.data, self.missing)
    }

    pub(crate) fn rows(&self) -> Incomplete<'_> {
        let rows = Incomplete::from_parts(&self.data, self.missing.as_deref(), self.limits.as_deref());
        self.parts.map_or(rows, |parts| rows.with_parts(parts))
    }
}

fn covariances(rows: Incomplete<'_>, targets: &Targets) -> Covariances {
    let (noise, n) = (rows.gaussians().covariances(), rows.gaussians().n_rows());
    let d = rows.gaussians().n_features();
    let variance = |i: usize| targets.variances().map_or(0.0, |v| v[i]);
    if targets.feature_covariances().is_some() {
        return triangles(rows, targets);
    }
    match noise.structure() {
        Structure::Zero if targets.variances().is_none() => Covariances::Zero,
        structure if structure.is_diagonal() => {
            let mut values = vec![0.0; n * (d + 1)];
            for (i, row) in values.chunks_exact_mut(d + 1).enumerate() {
                noise.variances(i, &mut row[..d]);
                row[d] = variance(i);
            }
            Covariances::from_var(Rows::from_owned(values, n, d + 1))
        }
        Structure::Factor(of) if of.diagonal.is_none() => {
            // One more column, for the target alone.
            let rank = of.rank + usize::from(targets.variances().is_some());
            let mut values = vec![0.0; n * (d + 1) * rank];
            for (i, own) in values.chunks_exact_mut((d + 1) * rank).enumerate() {
                for (to, from) in own.chunks_exact_mut(rank).zip(of.factor.row(i).chunks_exact(of.rank)) {
                    to[..of.rank].copy_from_slice(from);
                }
                if rank > of.rank {
                    own[d * rank + of.rank] = variance(i).sqrt();
                }
            }
            Covariances::factor_unchecked(Rows::from_owned(values, n, (d + 1) * rank), rank)
        }
        _ => match noise.common().filter(|_| (1..n).all(|i| variance(i) == variance(0))) {
            Some(common) if n > 0 => {
                let last = vec![0.0; d].into_iter().chain([variance(0)]);
                Covariances::triangle_unchecked(common.iter().copied().chain(last).collect())
            }
            _ => triangles(rows, targets),
        },
    }
}

/// A matrix per row; what is said about missing features is not looked at.
fn triangles(rows: Incomplete<'_>, targets: &Targets) -> Covariances {
    let (noise, n, d) = (rows.gaussians().covariances(), rows.gaussians().n_rows(), rows.gaussians().n_features());
    let len = packed_len(d + 1);
    let mut values = vec![0.0; n * len];
    for (i, own) in values.chunks_exact_mut(len).enumerate() {
        noise.triangle(i, d, &mut own[..packed_len(d)]);
        if let Some(crossed) = targets.feature_covariances() {
            own[packed_len(d)..len - 1].copy_from_slice(&crossed[i * d..(i + 1) * d]);
        }
        own[len - 1] = targets.variances().map_or(0.0, |v| v[i]);
        for j in (0..d).filter(|&j| rows.is_missing(i, j) && rows.limit(i, j) == 0) {
            (0..=d).for_each(|k| own[packed_index(j, k)] = 0.0);
        }
    }
    Covariances::triangles_unchecked(Rows::from_owned(values, n, len))
}
