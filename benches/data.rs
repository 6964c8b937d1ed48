//! Two overlapping classes of Gaussian rows, with covariances of any kind.

use std::sync::Arc;

use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use uncertain::data::ElementType;
use uncertain::data::covariance::{Full, Isotropic, Layout, LowRank, Shared, packed_len};
use uncertain::data::{Covariances, Rows, Unit};
use uncertain::loss::ExpectedHinge;
use uncertain::objective::Problem;
use uncertain::{GaussianArray, Kind};

/// Rank of the low-rank covariances.
pub(crate) const RANK: usize = 4;
/// Strength of the penalty in all benches.
pub(crate) const ALPHA: f64 = 1e-3;

/// Rows with their classes.
pub(crate) struct Data {
    /// The rows.
    pub rows: GaussianArray,
    /// -1 or +1.
    pub targets: Vec<f64>,
}

impl Data {
    /// The problem of SVM-GSU on these rows.
    pub(crate) fn problem(&self) -> Problem<'_> {
        Problem {
            data: &self.rows,
            targets: (&self.targets).into(),
            weights: None,
            alpha: ALPHA,
            fit_intercept: true,
            loss: &ExpectedHinge,
        }
    }

    /// Bytes of means and covariances.
    pub(crate) fn bytes(&self) -> u64 {
        (self.rows.n_rows() * self.rows.row_bytes()) as u64
    }

    /// The same rows, rounded to float32.
    pub(crate) fn narrow(&self) -> Self {
        let rows = self.rows.stored_as(ElementType::F32).expect("small numbers");
        Self { rows, targets: self.targets.clone() }
    }
}

/// n rows in d dimensions whose classes differ by about one standard deviation along a random direction.
pub(crate) fn data(kind: Kind, layout: Layout, n: usize, d: usize) -> Data {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut normal =
        |count: usize| -> Vec<f64> { (0..count).map(|_| StandardNormal.sample(&mut rng)).map(|x: f64| x).collect() };
    let targets: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let direction = normal(d);
    let mut means = normal(n * d);
    for (row, y) in means.chunks_exact_mut(d).zip(&targets) {
        row.iter_mut().zip(&direction).for_each(|(x, u)| *x += y * u / (d as f64).sqrt());
    }
    let mut spreads = |count: usize| normal(count).into_iter().map(|z| 0.1 + 0.3 * z.abs()).collect::<Vec<f64>>();
    let covariances = match kind {
        Kind::Zero => Covariances::Zero,
        Kind::Isotropic => {
            Covariances::Isotropic(Isotropic { values: rows(spreads(n), 1), unit: Unit::StandardDeviation })
        }
        Kind::Diagonal => Covariances::from_std(rows(spreads(n * d), d)),
        Kind::LowRank => {
            Covariances::LowRank(LowRank { factor: rows(spreads(n * d * RANK), d * RANK), rank: RANK, diagonal: None })
        }
        Kind::Full => {
            // diag(s^2) + u u', written in the layout that is asked for.
            let mut values = vec![];
            for _ in 0..n {
                let (s, u) = (spreads(d), spreads(d));
                for i in 0..d {
                    let end = if layout == Layout::Square { d } else { i + 1 };
                    values.extend((0..end).map(|j| u[i] * u[j] + if i == j { s[i] * s[i] } else { 0.0 }));
                }
            }
            Covariances::Full(Full { values: rows(values, layout.width(d)), layout })
        }
        Kind::Shared => {
            let u = spreads(d);
            let packed: Vec<f64> = (0..d)
                .flat_map(|i| (0..=i).map(move |j| (i, j)))
                .map(|(i, j)| u[i] * u[j] + if i == j { 0.1 } else { 0.0 })
                .collect();
            debug_assert_eq!(packed.len(), packed_len(d));
            Covariances::Shared(Shared { packed: Arc::from(packed) })
        }
        other => unreachable!("no bench has rows of the kind {}", other.name()),
    };
    let rows = GaussianArray::new(rows(means, d), covariances).expect("valid by construction");
    Data { rows, targets }
}

fn rows(values: Vec<f64>, width: usize) -> Rows {
    Rows::from_vec(values, width).expect("whole rows")
}
