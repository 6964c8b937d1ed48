//! Gradients of the rows' log-likelihoods: for standard errors of groups of rows, and for those where some numbers are
//! limits, or rows are mixtures. There the information is the sum over rows of the squared
//! gradients of their log-likelihoods (Berndt, Hall, Hall, Hausman, "Estimation and inference in nonlinear structural
//! models", Annals of Economic and Social Measurement 3, 1974), for which moments of truncated numbers are enough. The
//! gradient of a mixture is the average of its parts', with the weights that these have given the reading.

use crate::control::Control;
use crate::data::Incomplete;
use crate::data::covariance::{packed_index, packed_len};
use crate::deconvolution::with_target::Weight;
use crate::deconvolution::{Expected, Mixture, log_sum};
use crate::error::Result;
use crate::linalg::gemm_tn_lower;
use crate::model::clusters::{LEAST, correction, places};
use crate::model::mixture_regression::information::{Information, errors};
use crate::model::mixture_regression::law::{Errors, Law};
use crate::model::mixture_regression::readings::MOST_FEATURES;
use crate::parallel;

/// Rows per product.
const BLOCK: usize = 64;
const PARTS: usize = 4;

/// Rows whose component is `joint`, and their gradients.
pub(super) struct Scores<'a> {
    joint: &'a Mixture,
    rows: Incomplete<'a>,
    weight: Weight<'a>,
    /// Rows that count, the parts of a mixture together.
    counted: Vec<usize>,
    starts: Vec<usize>,
    /// The group of each, where they have some.
    groups: Option<(Vec<usize>, usize)>,
    /// Weights are brought to a sum of as many rows as they are worth.
    unit: f64,
}

impl<'a> Scores<'a> {
    pub(super) fn new(joint: &'a Mixture, rows: Incomplete<'a>, weight: Weight<'a>, groups: Option<&[u32]>) -> Self {
        let counted: Vec<usize> = (0..rows.gaussians().n_rows()).filter(|&i| weight(i) > 0.0).collect();
        let together = |a: &usize, b: &usize| rows.parts().is_some_and(|parts| parts[*a] == parts[*b]);
        let mut starts = vec![0];
        counted.chunk_by(together).for_each(|row| starts.push(starts[starts.len() - 1] + row.len()));
        let own = starts.windows(2).map(|ends| counted[ends[0]..ends[1]].iter().map(|&i| weight(i)).sum::<f64>());
        let (total, squares) = own.fold((0.0, 0.0), |(t, s), c| (t + c, s + c * c));
        let of_rows = |groups: &[u32]| {
            places(&starts[..starts.len() - 1].iter().map(|&at| groups[counted[at]]).collect::<Vec<u32>>())
        };
        // A mixture is a group of its parts without being told.
        let alone = |found: &(Vec<usize>, usize)| rows.parts().is_some() && found.1 == found.0.len();
        let groups = groups.map(of_rows).filter(|found| !alone(found));
        Self { joint, rows, weight, counted, starts, groups, unit: total / squares }
    }

    /// sum c log p(y | x), the density of features and target over that of features.
    pub(super) fn log_likelihood(&self, control: &Control) -> Result<f64> {
        let (n, m) = (self.rows.gaussians().n_rows(), self.joint.n_features());
        let places = || (0..n).flat_map(|i| (0..m).map(move |j| (i, j)));
        let missing: Vec<bool> = places().map(|(i, j)| j + 1 == m || self.rows.is_missing(i, j)).collect();
        let limits: Option<Vec<i8>> = self
            .rows
            .limits()
            .map(|_| places().map(|(i, j)| if j + 1 == m { 0 } else { self.rows.limit(i, j) }).collect());
        let features = Incomplete::from_parts(self.rows.gaussians(), Some(&missing), limits.as_deref());
        let parts = parallel::map_parts(self.starts.len() - 1, |part| -> Result<f64> {
            let (mut expected, mut sum) = (Expected::new(m), 0.0);
            for row in part {
                control.check()?;
                let own = &self.counted[self.starts[row]..self.starts[row + 1]];
                let mut log = |rows: Incomplete<'_>| -> Result<f64> {
                    let logs = own.iter().map(|&i| {
                        expected.update(self.joint, 0, rows, i)?;
                        Ok((self.weight)(i).ln() + expected.log_density)
                    });
                    Ok(log_sum(&logs.collect::<Result<Vec<f64>>>()?))
                };
                let weight: f64 = own.iter().map(|&i| (self.weight)(i)).sum();
                sum += weight * (log(self.rows)? - log(features)?);
            }
            Ok(sum)
        })?;
        parts.into_iter().sum()
    }

    /// Information from squared gradients; `None` where there are too many features.
    pub(super) fn information(&self, control: &Control) -> Result<Option<Information>> {
        let (m, coef) = (self.joint.n_features(), Law::from_joint(self.joint)?.coef);
        if coef.len() > MOST_FEATURES {
            return Ok(None);
        }
        let rows: Vec<usize> = (0..self.starts.len() - 1).collect();
        let h = self.squares(&coef, &rows, &|c| (c * self.unit).sqrt(), control)?;
        Ok(Some(Information::new(h, m + packed_len(m))))
    }

    /// Standard errors, those of groups where there are any: the sandwich of [`clusters`](crate::model::clusters). `None` where
    /// the rows do not determine all parameters, or the groups are too few.
    pub(super) fn errors(&self, law: &Law, information: &Information, control: &Control) -> Result<Option<Errors>> {
        let Some((groups, count)) = &self.groups else { return Ok(errors(law, self.joint, information, None)) };
        if *count < LEAST {
            return Ok(None);
        }
        let mut middle = self.squares(&law.coef, groups, &|c| c * self.unit, control)?;
        middle.iter_mut().for_each(|x| *x *= correction(*count));
        Ok(errors(law, self.joint, information, Some(&middle)))
    }

    /// The sum over groups of the squares of their rows' sums of weight times gradient, q x q.
    fn squares(
        &self,
        coef: &[f64],
        groups: &[usize],
        weighted: &(dyn Fn(f64) -> f64 + Sync),
        control: &Control,
    ) -> Result<Vec<f64>> {
        let m = self.joint.n_features();
        let q = m + packed_len(m);
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_by_key(|&row| groups[row]);
        let whole: Vec<&[usize]> = order.chunk_by(|a, b| groups[*a] == groups[*b]).collect();
        let parts = parallel::map_parts_at_most(whole.len(), PARTS, |part| -> Result<Vec<f64>> {
            let mut expected = Expected::new(m);
            let (mut gradients, mut sum) = (vec![0.0; BLOCK * q], vec![0.0; q * q]);
            let mut found: Vec<(f64, Vec<f64>)> = vec![];
            for block in whole[part].chunks(BLOCK) {
                control.check()?;
                for (group, out) in block.iter().zip(gradients.chunks_exact_mut(q)) {
                    out.fill(0.0);
                    for &row in *group {
                        let row = &self.counted[self.starts[row]..self.starts[row + 1]];
                        found.resize(row.len(), (0.0, vec![0.0; q]));
                        let mut own = 0.0;
                        for (&i, (log, gradient)) in row.iter().zip(&mut found) {
                            expected.update(self.joint, 0, self.rows, i)?;
                            gradient_of_row(coef, self.joint, &expected, gradient);
                            *log = (self.weight)(i).ln() + expected.log_density;
                            own += (self.weight)(i);
                        }
                        let all = log_sum(&found.iter().map(|(log, _)| *log).collect::<Vec<_>>());
                        for (log, gradient) in &found {
                            let share = weighted(own) * (log - all).exp();
                            out.iter_mut().zip(gradient).for_each(|(sum, x)| *sum += share * x);
                        }
                    }
                }
                gemm_tn_lower(&gradients, &gradients, block.len(), q, &mut sum);
            }
            Ok(sum)
        })?;
        let mut h = vec![0.0; q * q];
        for part in parts {
            h.iter_mut().zip(&part?).for_each(|(h, x)| *h += x);
        }
        for i in 0..q {
            (0..i).for_each(|j| h[j * q + i] = h[i * q + j]);
        }
        Ok(h)
    }
}

/// By beta (d), alpha at the mean of x, s^2, mu_x (d), T_xx, as in [`Information`]: in the coordinates y - beta'x.
fn gradient_of_row(coef: &[f64], joint: &Mixture, expected: &Expected, out: &mut [f64]) {
    let (d, t) = (coef.len(), joint.covariance(0));
    let (a, g) = (&expected.a, |j: usize, k: usize| expected.g[packed_index(j, k)]);
    let last = g(d, d);
    let with_target = |j: usize| g(d, j) + coef[j] * last;
    for j in 0..d {
        out[j] = (0..d).map(|k| t[packed_index(j, k)] * with_target(k)).sum();
        out[d + 2 + j] = a[j] + coef[j] * a[d];
        for k in 0..=j {
            let own = g(j, k) + coef[j] * g(d, k) + g(d, j) * coef[k] + coef[j] * coef[k] * last;
            out[2 * d + 2 + packed_index(j, k)] = if j == k { 0.5 * own } else { own };
        }
    }
    (out[d], out[d + 1]) = (a[d], 0.5 * last);
}
