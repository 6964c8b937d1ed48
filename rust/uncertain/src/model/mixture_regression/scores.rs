//! Standard errors where some numbers are limits, or rows are mixtures: the information is the sum over rows of the squared
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
use crate::model::mixture_regression::information::{Information, errors};
use crate::model::mixture_regression::law::{Errors, Law};
use crate::model::mixture_regression::readings::MOST_FEATURES;
use crate::parallel;

/// Rows per product.
const BLOCK: usize = 64;
const PARTS: usize = 4;

/// Of one component; `None` where the rows do not determine all parameters, or there are too many features.
pub(super) fn standard_errors(
    joint: &Mixture,
    rows: Incomplete<'_>,
    weight: Weight<'_>,
    control: &Control,
) -> Result<Option<Errors>> {
    let law = Law::from_joint(joint)?;
    let (d, m) = (law.coef.len(), joint.n_features());
    if d > MOST_FEATURES {
        return Ok(None);
    }
    let q = m + packed_len(m);
    let counted: Vec<usize> = (0..rows.gaussians().n_rows()).filter(|&i| weight(i) > 0.0).collect();
    let together = |a: &usize, b: &usize| rows.parts().is_some_and(|parts| parts[*a] == parts[*b]);
    let whole: Vec<&[usize]> = counted.chunk_by(together).collect();
    let own = |parts: &[usize]| parts.iter().map(|&i| weight(i)).sum::<f64>();
    let (total, squares) = whole.iter().fold((0.0, 0.0), |(t, s), row| (t + own(row), s + own(row).powi(2)));
    let parts = parallel::map_parts_at_most(whole.len(), PARTS, |part| -> Result<Vec<f64>> {
        let mut expected = Expected::new(m);
        let (mut gradients, mut sum) = (vec![0.0; BLOCK * q], vec![0.0; q * q]);
        let mut found: Vec<(f64, Vec<f64>)> = vec![];
        for block in whole[part].chunks(BLOCK) {
            control.check()?;
            for (&row, out) in block.iter().zip(gradients.chunks_exact_mut(q)) {
                found.resize(row.len(), (0.0, vec![0.0; q]));
                for (&i, (log, gradient)) in row.iter().zip(&mut found) {
                    expected.update(joint, 0, rows, i)?;
                    gradient_of_row(&law.coef, joint, &expected, gradient);
                    *log = weight(i).ln() + expected.log_density;
                }
                let all = log_sum(&found.iter().map(|(log, _)| *log).collect::<Vec<_>>());
                // Weights are brought to a sum of as many rows as they are worth.
                let root = (own(row) * total / squares).sqrt();
                out.fill(0.0);
                for (log, gradient) in &found {
                    let share = root * (log - all).exp();
                    out.iter_mut().zip(gradient).for_each(|(sum, x)| *sum += share * x);
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
    Ok(errors(&law, joint, &Information::new(h, q)))
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
