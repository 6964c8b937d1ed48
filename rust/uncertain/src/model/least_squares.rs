//! [`LeastSquares`]: a line through readings as if they were exact, to show beside a law what their noise would do to it.
//!
//! ```text
//! (a, b) minimises sum c (y - a - b'x)^2,    variance s^2 (sum c u u')^{-1},    u = (1, x),    s^2 = RSS / (n - d - 1)
//! ```
//! over the rows without gaps and limits. With weights n is the number of rows that they are worth, (sum c)^2 / sum c^2.

use crate::data::covariance::{packed_index, packed_len};
use crate::error::Result;
use crate::linalg::{Spd, add_outer};
use crate::parallel;
use crate::parallel::added;

/// Intercept, then slopes.
#[derive(Debug, Clone, PartialEq)]
pub struct LeastSquares {
    /// The estimates.
    pub values: Vec<f64>,
    /// Their standard errors.
    pub std: Vec<f64>,
}

impl LeastSquares {
    /// Of n rows: `read` fills in features and target and tells the weight, 0 of a row that does not count; `centre` is near
    /// their means. `None` where the rows determine no line.
    pub(super) fn fit(
        n: usize,
        centre: &[f64],
        read: impl Fn(usize, &mut [f64]) -> f64 + Sync,
    ) -> Result<Option<Self>> {
        let d = centre.len() - 1;
        let (m, len) = (d + 2, packed_len(d + 2));
        let parts = parallel::map_parts(n, |part| {
            let (mut sums, mut u) = (vec![0.0; len + 1], vec![1.0; m]);
            for i in part {
                let c = read(i, &mut u[1..]);
                if c > 0.0 {
                    u[1..].iter_mut().zip(centre).for_each(|(x, mean)| *x -= mean);
                    add_outer(c, &u, &mut sums[..len]);
                    sums[len] += c * c;
                }
            }
            sums
        })?;
        let sums = added(parts);
        let g = |a: usize, b: usize| sums[packed_index(a, b)];
        let (p, total) = (d + 1, g(0, 0));
        let rows = total * total / sums[len];
        let unit: Vec<f64> = (0..p).map(|a| g(a, a).sqrt()).collect();
        let scaled = (0..p * p).map(|at| g(at / p, at % p) / unit[at / p] / unit[at % p]).collect();
        let Some(scaled) = Spd::new(scaled, p).filter(|_| rows > p as f64) else { return Ok(None) };
        let solve = |right: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let x = scaled.solve((0..p).map(|a| right(a) / unit[a]).collect());
            x.iter().zip(&unit).map(|(x, unit)| x / unit).collect()
        };
        let mut values = solve(&|a| g(a, p));
        let rest = g(p, p) - (0..p).map(|a| values[a] * g(a, p)).sum::<f64>();
        let variance = (rest / (rows - p as f64)).max(0.0);
        // The intercept belongs to x = 0, which is -centre here.
        values[0] += centre[d] - values[1..].iter().zip(centre).map(|(b, mean)| b * mean).sum::<f64>();
        let std = (0..p).map(|a| {
            let along = |j: usize| {
                if a > 0 {
                    f64::from(u8::from(j == a))
                } else if j == 0 {
                    1.0
                } else {
                    -centre[j - 1]
                }
            };
            let square: f64 = solve(&along).iter().enumerate().map(|(j, x)| along(j) * x).sum();
            (variance * square).sqrt()
        });
        Ok(Some(Self { std: std.collect(), values }))
    }
}
