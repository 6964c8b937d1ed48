//! The matrix of a Newton system from some of the rows, where computed rows are many.
//!
//! Forming sum theta_i z_i z_i' costs n D^2, everything else of an iteration n D. But D unknowns do not need n rows
//! for a good direction: row i is taken with probability q_i = min(1, theta_i / tau) and then counts theta_i / q_i,
//! which leaves the matrix right on average, rows that matter always in, and errs by sqrt(D / rows taken) (Roosta,
//! Mahoney, Math. Program. 174, 2019). Gradient, bound and the rows' own equations stay exact, so the certificate does;
//! with 30 rows per unknown the interior-point method takes the same number of iterations as with all.
//! Which rows are taken depends on their numbers and the iteration alone.

use super::row::RowTerms;

/// Rows from which tau is found; with more, every so many.
const LOOKED_AT: usize = 1 << 16;

/// Which rows the matrix is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sketch {
    tau: f64,
    round: u64,
}

impl Sketch {
    /// About `wanted` rows; `None` where these are all.
    pub(super) fn new(terms: &[RowTerms], wanted: usize, round: usize) -> Option<Self> {
        let active = terms.iter().filter(|t| t.theta > 0.0).count();
        if wanted >= active {
            return None;
        }
        let stride = terms.len().div_ceil(LOOKED_AT);
        let share = wanted as f64 / stride as f64;
        let expected = |tau: f64| terms.iter().step_by(stride).map(|t| (t.theta / tau).min(1.0)).sum::<f64>();
        // The exponent of tau, by bisection: theta is a weight (at most 1) over a stiffness.
        let (mut low, mut high) = (-300.0f64, 300.0f64);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if expected(middle.exp2()) > share { low = middle } else { high = middle }
        }
        Some(Self { tau: high.exp2(), round: round as u64 })
    }

    /// The theta that a row counts with: 0 when it is left out.
    pub(super) fn theta(&self, row: usize, theta: f64) -> f64 {
        let q = theta / self.tau;
        if q >= 1.0 {
            theta
        } else if uniform(row as u64, self.round) < q {
            self.tau
        } else {
            0.0
        }
    }
}

/// A number in [0, 1) that depends on both (the finaliser of splitmix64).
fn uniform(row: u64, round: u64) -> f64 {
    let mut x = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ round.wrapping_mul(0xd1b5_4a32_d192_ed03);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) as f64 / 2f64.powi(64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Numbers;

    #[test]
    fn as_many_rows_as_wanted_and_right_on_average() {
        let mut numbers = Numbers::new(3);
        let terms: Vec<RowTerms> = (0..100_000)
            .map(|i| RowTerms {
                theta: if i % 5 == 0 { 0.0 } else { (2.0 * numbers.normal()).exp() },
                ..RowTerms::default()
            })
            .collect();
        // Of some function of the row: a matrix has many elements.
        let value = |row: usize| 1.0 + (row as f64).sin();
        let total: f64 = terms.iter().enumerate().map(|(row, t)| value(row) * t.theta).sum();
        let mut means = vec![];
        for round in 0..20 {
            let sketch = Sketch::new(&terms, 3000, round).unwrap();
            let (mut taken, mut sum) = (0, 0.0);
            for (row, t) in terms.iter().enumerate() {
                let theta = sketch.theta(row, t.theta);
                assert!(theta == 0.0 || theta >= t.theta);
                taken += usize::from(theta > 0.0);
                sum += value(row) * theta;
            }
            assert!((2700..3300).contains(&taken), "{taken}");
            means.push(sum / total);
        }
        let mean = means.iter().sum::<f64>() / 20.0;
        assert!((mean - 1.0).abs() < 0.015, "{mean}");
        assert!(means.iter().all(|m| (m - 1.0).abs() < 0.12), "{means:?}");
        assert!(means[0] != means[1]);
        assert!(Sketch::new(&terms, 80_000, 0).is_none() && Sketch::new(&terms, 79_999, 0).is_some());
    }
}
