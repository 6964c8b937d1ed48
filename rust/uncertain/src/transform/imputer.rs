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
//! probability given the observed features, so that data rows know no more than new ones.

use crate::control::Control;
use crate::data::covariance::packed_len;
use crate::data::{Covariances, Dataset, GaussianArray, Incomplete, Labels, Rows, Weights};
use crate::deconvolution::{self, Mixture, Observed, Params, PerClass, Report, ReportHeader, ValidParams};
use crate::error::{Error, Result};
use crate::readable::readable;
use crate::state::{About, Arrays, Fitted, OfMixtures, Parts, Predictor, RemoteRows, Valid};
use crate::transform::remote::fit_remote;

readable! {
    /// Replaces missing features by what the others say about them.
    #[derive(Debug, Clone, PartialEq)]
    pub struct GaussianImputer {
        /// The distribution of the features.
        mixture: Mixture => &Mixture,
        /// How the fit went, where there was one.
        report: Option<Report> => Option<&Report>,
    }
}

/// Parameters of a [`GaussianImputer`]: those of EM.
#[derive(Debug, Clone, PartialEq)]
pub struct ImputerParams(pub Params);

impl Params {
    /// With these an imputer is fitted; to data with classes, a distribution for each.
    pub fn imputer(self) -> ImputerParams {
        ImputerParams(self)
    }
}

impl GaussianImputer {
    /// With a known distribution of the features.
    #[must_use]
    pub fn new(mixture: Mixture) -> Self {
        Self { mixture, report: None }
    }

    /// Learn the distribution; the second part of the result tells how that went.
    pub(crate) fn fit<'a>(
        params: &ValidParams,
        rows: impl Into<Incomplete<'a>>,
        weights: Option<&Weights>,
        control: &Control,
    ) -> Result<(Self, deconvolution::FittedMixture)> {
        let fitted = params.fit_rows(rows.into(), weights, true, control)?;
        let report = Some(fitted.report());
        Ok((Self { mixture: fitted.mixture.clone(), report }, fitted))
    }

    /// Learn a distribution per class; rows to impute need no label.
    pub(crate) fn fit_classes<'a>(
        params: &ValidParams,
        rows: impl Into<Incomplete<'a>>,
        labels: &Labels,
        control: &Control,
    ) -> Result<(Self, deconvolution::FittedMixture)> {
        let rows = rows.into();
        labels.check_rows(rows.gaussians().n_rows())?;
        rows.check_with(labels.weights())?;
        let per_class = PerClass { shares: &labels.shares(), tied: false, unbiased: true };
        let fitted = params.fit_classes(rows, labels, per_class, control)?;
        let report = Some(fitted.report());
        Ok((Self { mixture: fitted.mixture.clone(), report }, fitted))
    }

    /// The rows with their gaps filled: full covariances, or the data themselves where nothing is missing.
    pub(crate) fn transform<'a>(&self, rows: impl Into<Incomplete<'a>>, control: &Control) -> Result<GaussianArray> {
        let rows = rows.into();
        rows.unlimited()?;
        let (data, d) = (rows.gaussians(), self.mixture.n_features());
        data.check_features(d)?;
        let n = data.n_rows();
        let Some(missing) = rows.missing() else { return Ok(data.clone()) };
        let found = Observed::from_rows(rows, None).posteriors(&self.mixture, true, control)?;
        let covariances = Covariances::triangles_unchecked(Rows::from_owned(found.covariances, n, packed_len(d)));
        let full = GaussianArray::from_checked(Rows::from_owned(found.means, n, d), covariances);
        // One gap per row at most, among features without covariances: the matrices are diagonal.
        let single = missing.chunks_exact(d).all(|row| row.iter().filter(|m| **m).count() <= 1);
        let plain = data.covariances().structure().is_diagonal();
        if single && plain { full.collapse(crate::data::Collapse::Diagonal) } else { Ok(full) }
    }
}

impl Fitted for GaussianImputer {
    type Params = Params;
    type Header = Option<ReportHeader>;
    const OF_MIXTURES: OfMixtures = OfMixtures::Likelihood;

    fn fit(params: &Valid<Params>, data: &Dataset, control: &Control) -> Result<Self> {
        data.rows().unlimited()?;
        Ok(match &data.labels {
            Some(labels) => Self::fit_classes(params, data.rows(), labels, control)?.0,
            None => Self::fit(params, data.rows(), data.weights.as_ref(), control)?.0,
        })
    }

    fn fit_remote(params: &Valid<Params>, remote: &RemoteRows<'_>, control: &Control) -> Result<Self> {
        remote.sample.rows().unlimited()?;
        if remote.sample.labels.is_some() {
            return Err(Error::Data("per_class needs all rows in one memory; leave it out, or fit to a sample".into()));
        }
        let fitted = fit_remote(params.params(), remote, |_| true, control)?;
        Ok(Self { report: Some(fitted.report()), mixture: fitted.mixture })
    }

    fn write(&self, _: &Valid<Params>, arrays: &mut Arrays) -> Option<ReportHeader> {
        self.mixture.write(arrays);
        self.report.as_ref().map(|report| report.write(arrays))
    }

    fn read(progress: Option<ReportHeader>, _: &Valid<Params>, parts: &mut Parts<'_>) -> Result<Self> {
        let mixture = Mixture::read(parts)?;
        Ok(Self { mixture, report: progress.map(|progress| progress.read(parts)).transpose()? })
    }
}

impl Predictor for GaussianImputer {
    fn about(&self) -> About {
        About::transform(self.mixture.n_features()).with_gaps()
    }

    /// Of a mixture the gaps of every component are filled; readings stay as they are, and so do the weights.
    fn transform(&self, rows: Incomplete<'_>, control: &Control) -> Result<GaussianArray> {
        self.transform(rows, control)
    }
}
