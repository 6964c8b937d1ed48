//! Missing features become conditional Gaussians.
//!
//! The distribution of all features, N(mu, T) or a mixture, is learned by EM from what every row has: a missing
//! feature is one of infinite variance ([`deconvolution`](crate::deconvolution)). With o the observed features
//! of a row and m the missing ones, and M = T_oo + S_oo:
//! ```text
//! z_m | x_o ~ N( mu_m + T_mo M^{-1} (x_o - mu_o),   T_mm - T_mo M^{-1} T_om )
//! ```
//! Observed features keep x_o and S_oo, and have no covariance with the imputed ones: this fills gaps and does not
//! denoise (see [`GaussianDenoiser`](super::GaussianDenoiser)). A single Gaussian's T is divided by n - d - 1: what maximum
//! likelihood leaves out would be missing from the error bars.
//!
//! With labels there is a Gaussian per class. Rows are imputed without their label, each class counting by its
//! probability given the observed features, so that training rows know no more than new ones.

use crate::control::Control;
use crate::data::covariance::{Full, Layout, packed_len};
use crate::data::{Covariances, GaussianArray, Incomplete, Kind, Labels, Rows, Weights};
use crate::deconvolution::{Components, Fitted, Group, Mixture, Observed, Params, Task};
use crate::error::{Error, Result};
use crate::parallel;

/// Replaces missing features by what the others say about them.
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianImputer {
    mixture: Mixture,
}

impl GaussianImputer {
    /// With a known distribution of the features.
    #[must_use]
    pub fn new(mixture: Mixture) -> Self {
        Self { mixture }
    }

    /// Learn the distribution; `missing` (n x d) marks the gaps, whose numbers are not looked at.
    pub fn fit(
        params: &Params,
        data: &GaussianArray,
        missing: &[bool],
        weights: Option<&Weights>,
        labels: Option<&Labels>,
        control: &Control,
    ) -> Result<(Self, Fitted)> {
        params.check()?;
        let rows = Incomplete::new(data, missing)?;
        rows.check_with(weights)?;
        let fitted = match labels {
            None => params.fit_observed(data, Some(missing), weights, true, control)?,
            Some(labels) => per_class(params, data, missing, weights, labels, control)?,
        };
        Ok((Self::new(fitted.mixture.clone()), fitted))
    }

    /// The distribution of the features.
    #[must_use]
    pub fn mixture(&self) -> &Mixture {
        &self.mixture
    }

    /// The rows with their gaps filled: full covariances, or the data themselves where nothing is missing.
    pub fn transform(&self, data: &GaussianArray, missing: &[bool], control: &Control) -> Result<GaussianArray> {
        let (n, d) = (data.n_rows(), self.mixture.n_features());
        data.check_features(d)?;
        if Incomplete::new(data, missing)?.missing().is_none() {
            return Ok(data.clone());
        }
        let (means, packed) = Observed::new(data, Some(missing), None).posteriors(&self.mixture, true, control)?;
        let values = Rows::from_owned(packed, n, packed_len(d));
        let covariances = Covariances::Full(Full { values, layout: Layout::Packed });
        let full = GaussianArray::from_checked(Rows::from_owned(means, n, d), covariances);
        // One gap per row at most, among features without covariances: the matrices are diagonal.
        let single = missing.chunks_exact(d).all(|row| row.iter().filter(|m| **m).count() <= 1);
        let plain = matches!(data.covariances().kind(), Kind::Zero | Kind::Isotropic | Kind::Diagonal);
        if single && plain { full.collapse(crate::data::Collapse::Diagonal) } else { Ok(full) }
    }
}

fn per_class(
    params: &Params,
    data: &GaussianArray,
    missing: &[bool],
    weights: Option<&Weights>,
    labels: &Labels,
    control: &Control,
) -> Result<Fitted> {
    let Components::Fixed(k) = params.components else {
        return Err(Error::parameter("n_components", "auto", "a number, where every class has its own"));
    };
    labels.check_rows(data.n_rows())?;
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let total: f64 = (0..data.n_rows()).map(weight).sum();
    let (mut groups, mut shares) = (vec![], vec![]);
    for class in 0..labels.n_classes() {
        let rows: Vec<usize> =
            (0..labels.len()).filter(|&i| labels.codes()[i] as usize == class && weight(i) > 0.0).collect();
        let share = rows.iter().map(|&i| weight(i)).sum::<f64>() / total;
        shares.extend(vec![share; k]);
        groups.push(Group { rows: Some(rows), components: class * k..(class + 1) * k });
    }
    let task = Task { observed: Observed::new(data, Some(missing), weights), groups, tied: false, unbiased: true };
    let fitted = parallel::install(params.threads, || task.fit(params, control))??;
    let mixture = &fitted.mixture;
    let joint = mixture.weights().iter().zip(&shares).map(|(w, share)| w * share).collect();
    let (means, covariances) = (mixture.means().to_vec(), mixture.covariances().to_vec());
    let mixture = Mixture::new(joint, means, covariances, data.n_features())?;
    Ok(Fitted { mixture, ..fitted })
}
