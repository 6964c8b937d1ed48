//! The density of a row's true target: a mixture with one Gaussian per component.
//!
//! Under a component k, y is a line in the true features, y = mu_y + b'(z - mu) + N(0, s^2) ([`Law`]), and these are N(m, P) given
//! the reading ([`Truths`]):
//! ```text
//! weight    pi_k N(x_o; mu_k,o, T_k,oo + S_oo), normalised     (o: the features that a row has)
//! mean      mu_k,y + b_k'(m_k - mu_k)
//! variance  s_k^2 + b_k'P_k b_k
//! ```

use crate::control::Control;
use crate::data::Incomplete;
use crate::data::covariance::packed_len;
use crate::deconvolution::{Mixture, Observed};
use crate::density::{Densities, NUMBERS, normalise};
use crate::error::{Error, Result};
use crate::model::law::truths::Truths;
use crate::model::law::variance_along;
use crate::parallel;

use super::law::Law;

/// Of every row, under the mixture of features and target.
pub(super) fn densities(joint: &Mixture, rows: Incomplete<'_>, control: &Control) -> Result<Densities> {
    parts(joint, rows, control, normalise)
}

/// Conditional with log p(part, row) in the place of the shares.
pub(super) fn joint_densities(joint: &Mixture, rows: Incomplete<'_>, control: &Control) -> Result<Densities> {
    parts(joint, rows, control, |_| Some(()))
}

/// The result of `finish` with log p(part, row) in the place of the shares.
fn parts(
    joint: &Mixture,
    rows: Incomplete<'_>,
    control: &Control,
    finish: impl Fn(&mut [f64]) -> Option<()> + Sync,
) -> Result<Densities> {
    let (features, k) = (feature_marginal(joint)?, joint.n_components());
    let truths = Truths::passing(rows, &features, control)?;
    let logs = Observed::from_rows(rows, None).log_densities(None, &features, control)?;
    let laws = (0..k).map(|component| Law::from_joint(joint, component)).collect::<Result<Vec<Law>>>()?;
    let values = parallel::new_rows_with(
        truths.n,
        k * NUMBERS,
        || truths.reader(),
        |reader, i, out| {
            control.check()?;
            let truth = reader.at(i);
            for (component, (law, out)) in laws.iter().zip(out.chunks_exact_mut(NUMBERS)).enumerate() {
                // Exact rows are the same point under all of them.
                let own = if truths.is_noisy() { component } else { 0 };
                let (mean, m) = (joint.mean(component), truth.mean_under(own));
                let moved: f64 = law.coef.iter().zip(m).zip(mean).map(|((b, m), mean)| b * (m - mean)).sum();
                let variance = variance_along(truth, own, &law.coef) + law.scatter.powi(2);
                out.copy_from_slice(&[logs[i * k + component], mean[truths.d] + moved, variance.sqrt()]);
            }
            let usable =
                out.chunks_exact(NUMBERS).all(|part| part[1].is_finite() && part[2] > 0.0 && part[2].is_finite());
            let why = || "the density of its target cannot be computed; scale the features, or raise reg_covar".into();
            finish(out).filter(|()| usable).ok_or_else(|| Error::Row { row: i, why: why() })
        },
    )?;
    Ok(Densities::new(k, values))
}

/// The distribution of the features alone.
pub(super) fn feature_marginal(joint: &Mixture) -> Result<Mixture> {
    let d = joint.n_features() - 1;
    let components = 0..joint.n_components();
    let means = components.clone().flat_map(|k| &joint.mean(k)[..d]).copied().collect();
    let covariances = components.flat_map(|k| &joint.covariance(k)[..packed_len(d)]).copied().collect();
    Mixture::from_packed(joint.weights().to_vec(), means, covariances, d)
}
