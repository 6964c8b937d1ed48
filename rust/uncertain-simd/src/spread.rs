//! The pairs of support rows with diagonal spreads, many at a time: what
//! `kernel/probabilistic_rbf/distribution.rs` calls D_ij.

use crate::dispatch::kernel;

/// h'(I + Q)^{-1} h, and |I + Q_i + Q_j| / (|I + Q_i| |I + Q_j|), of the pairs of one row with those before it.
pub struct PairTerms {
    form: Vec<f64>,
    /// The ratio of determinants less 1, in (-1, 0]: exact where spreads are tiny.
    excess: Vec<f64>,
    /// The ratio itself: exact where spreads are wide.
    ratio: Vec<f64>,
}

impl PairTerms {
    /// Memory for m rows.
    pub fn new(m: usize) -> Self {
        Self { form: vec![0.0; m], excess: vec![0.0; m], ratio: vec![1.0; m] }
    }

    /// The pairs (i, j), j <= i; `q` and `h` are d lines of all rows, `g` is h'(I + Q)^{-1} h of each.
    pub fn fill(&mut self, i: usize, d: usize, q: &[f64], h: &[f64], g: &[f64]) {
        self.form[..=i].iter_mut().zip(g).for_each(|(form, other)| *form = -(g[i] + other));
        self.excess[..=i].fill(0.0);
        self.ratio[..=i].fill(1.0);
        add_features(i, d, q, h, self);
    }

    /// D_ij.
    pub fn exponent(&self, j: usize) -> f64 {
        let excess = self.excess[j];
        let logarithm = if excess > -0.5 { excess.ln_1p() } else { self.ratio[j].ln() };
        0.5 * (self.form[j] - logarithm)
    }
}

kernel! {
    /// Terms of the features of row i.
    fn add_features<const FMA: bool>(i: usize, d: usize, q: &[f64], h: &[f64], out: &mut PairTerms) {
        let m = out.form.len();
        for k in 0..d {
            let (q, h) = (&q[k * m..][..=i], &h[k * m..][..=i]);
            let (own_q, own_h) = (q[i], h[i]);
            let own_share = 1.0 / (1.0 + own_q);
            let (form, excess, ratio) = (&mut out.form[..=i], &mut out.excess[..=i], &mut out.ratio[..=i]);
            for j in 0..=i {
                let (sum, both) = (own_h + h[j], 1.0 + own_q + q[j]);
                let share = own_share / (1.0 + q[j]);
                let x = -(own_q * q[j]) * share;
                form[j] += sum * sum / both;
                excess[j] += x + excess[j] * x;
                ratio[j] *= both * share;
            }
        }
    }
}
