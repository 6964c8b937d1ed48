//! Degrees of freedom, which maximum likelihood overlooks: a fitted law takes p of n numbers. Without error bars it
//! gives s^2 = RSS / n, and with
//! ```text
//! (p / 2) log sum w_i / V_i,    V_i = s^2 + kappa t_i^2 + what errors of x leave
//! ```
//! added to minus the log-likelihood RSS / (n - p), for every n > p.

/// Sums over rows of w t^2k / V^(j + 1), k <= j <= 2.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Precisions(pub [f64; Self::LEN]);

impl Precisions {
    pub(super) const LEN: usize = 6;

    pub(super) fn from_slice(sums: &[f64]) -> Self {
        Self(std::array::from_fn(|at| sums[at]))
    }

    /// One more row of weight w, known variance t^2 and variance V.
    pub(super) fn add(&mut self, weight: f64, known: f64, variance: f64) {
        let (mut term, mut at) = (weight, 0);
        for j in 0..3 {
            term /= variance;
            let mut power = term;
            for _ in 0..=j {
                self.0[at] += power;
                power *= known;
                at += 1;
            }
        }
    }
}

/// The correction, and its derivatives by s^2 and kappa.
pub(super) struct Degrees {
    pub value: f64,
    pub gradient: [f64; 2],
    pub hessian: [[f64; 2]; 2],
}

impl Degrees {
    /// Of p = `taken`.
    pub(super) fn new(taken: f64, Precisions([total, first @ .., a, b, c]): &Precisions) -> Self {
        let second = [a, b, c];
        let slope = |a: usize| first[a] / total;
        let bend = |a: usize, b: usize| 0.5 * taken * (2.0 * second[a + b] / total - slope(a) * slope(b));
        Self {
            value: 0.5 * taken * total.ln(),
            gradient: [0, 1].map(|a| -0.5 * taken * slope(a)),
            hessian: [0, 1].map(|a| [0, 1].map(|b| bend(a, b))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_value() {
        let rows = [[1.0, 0.3, 0.2], [0.5, 0.0, 0.7], [2.0, 4.0, 0.1]];
        let at = |s: f64, kappa: f64| {
            let mut sums = Precisions::default();
            rows.iter().for_each(|[w, t, e]| sums.add(*w, *t, s + kappa * t + e));
            Degrees::new(3.0, &sums)
        };
        let (here, h) = (at(0.5, 1.4), 1e-5);
        for (a, [s, kappa]) in [[h, 0.0], [0.0, h]].into_iter().enumerate() {
            let (above, below) = (at(0.5 + s, 1.4 + kappa), at(0.5 - s, 1.4 - kappa));
            assert!(((above.value - below.value) / (2.0 * h) - here.gradient[a]).abs() < 1e-8);
            for b in 0..2 {
                let bend = (above.gradient[b] - below.gradient[b]) / (2.0 * h);
                assert!((bend - here.hessian[a][b]).abs() < 1e-8);
            }
        }
    }
}
