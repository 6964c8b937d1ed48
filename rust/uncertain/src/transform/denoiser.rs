//! From measurement to posterior: what a noisy row says about the true value behind it.
//!
//! A row x_i = z_i + e_i with known noise e_i ~ N(0, S_i) is one reading of an unknown z_i. The distribution of the z_i is
//! learned from all rows ([`deconvolution`](crate::deconvolution)), and every row becomes the Gaussian that x_i and that
//! distribution leave for z_i. For one component, with G_i = T (T + S_i)^{-1}:
//! ```text
//! m_i = mu + G_i (x_i - mu),    C_i = T - G_i T
//! ```
//! For several, the mean and covariance of the mixture of such posteriors. An exact point stays where it is; the
//! more noise, the nearer to the prior.
//!
//! A missing feature is one of infinite noise: with o the observed features of a row, and T_:o the columns of T that
//! belong to them, G_i = T_:o (T_oo + S_oo)^{-1}, m_i = mu + G_i (x_o - mu_o), C_i = T - G_i T_o:. Gaps must come here as
//! gaps: filled by a [`GaussianImputer`] first they would be readings, which contain the distribution already, and
//! it would count twice. A row of gaps alone becomes the distribution itself. With gaps, a single Gaussian's T is
//! divided by n - d - 1, as the imputer's.
//!
//! Few rows of many features, and rows whose matrices would take too long, get a T of few directions, F F' + diag(psi)
//! (`deconvolution::factor_analysis`); their posteriors are factors of as few columns and a diagonal.
//!
//! A limit is a reading of which only the side of a number is known: its mean and covariance, truncated, take the place of
//! the reading (`deconvolution::limited`).
//!
//! Kinds: zero stays zero; under one component a shared matrix stays shared, and
//! factors of few columns (at most a third of the features) stay factors of as many; all else needs a full matrix per row.

use ndarray::{Array1, Array2};

use crate::control::Control;
use crate::data::covariance::LowRank;
use crate::data::covariance::packed_len;
use crate::data::{Covariances, Dataset, GaussianArray, Incomplete, Rows, Weights};
use crate::deconvolution::{
    self, FactorAnalysis, Mixture, Observed, Params, Report, ReportHeader, ValidParams, log_sum,
};
use crate::error::{Error, Result};
use crate::readable::readable;
use crate::simd::mixture::Noise;
use crate::state::{About, Arrays, Fitted, OfMixtures, Parts, Predictor, RemoteRows, Valid};
use crate::transform::GaussianImputer;
use crate::transform::remote::fit_remote;

readable! {
    /// Replaces measurements by posteriors of the true values, under a mixture learned from all rows.
    #[derive(Debug, Clone, PartialEq)]
    pub struct GaussianDenoiser {
        /// The distribution of the true values.
        mixture: Mixture => &Mixture,
        /// How the fit went, where there was one.
        report: Option<Report> => Option<&Report>,
        /// The distribution in few directions, where it has no more.
        few: Option<FactorAnalysis>,
    }
}

/// Parameters of a [`GaussianDenoiser`]: those of EM.
///
/// ```
/// use uncertain::deconvolution;
/// use uncertain::ndarray::{arr1, arr2};
/// use uncertain::prelude::*;
///
/// # fn main() -> Result<()> {
/// let rows = GaussianArray::from_std(arr2(&[[0.0, 0.1], [1.0, 0.9], [2.0, 2.1], [3.0, 0.0]]), arr1(&[0.1; 4]))?;
/// let mut gaps = uncertain::ndarray::Array2::from_elem((4, 2), false);
/// gaps[[3, 1]] = true; // the second number of the last row was not measured
/// let data = Dataset::new(rows).with_gaps(&gaps)?;
/// let posterior = deconvolution::Params::new().denoiser().fit(&data)?.transform(&data)?;
/// assert!((posterior.means().at(3, 1) - 3.0).abs() < 0.5);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DenoiserParams(pub Params);

impl Params {
    /// With these a denoiser is fitted.
    pub fn denoiser(self) -> DenoiserParams {
        DenoiserParams(self)
    }
}

impl GaussianDenoiser {
    /// With a known distribution of the true values.
    #[must_use]
    pub fn new(mixture: Mixture) -> Self {
        Self { mixture, report: None, few: None }
    }

    /// Learn the distribution; the second part of the result tells how that went.
    pub(crate) fn fit<'a>(
        params: &ValidParams,
        rows: impl Into<Incomplete<'a>>,
        weights: Option<&Weights>,
        control: &Control,
    ) -> Result<(Self, deconvolution::FittedMixture)> {
        let rows = rows.into();
        if let Some((few, fitted)) = params.fit_few_directions(rows, weights, control)? {
            let report = Some(fitted.report());
            return Ok((Self { mixture: fitted.mixture.clone(), report, few: Some(few) }, fitted));
        }
        // Where features are missing the posterior is little else than T, as for the imputer.
        let unbiased = rows.missing().is_some();
        let fitted = params.fit_rows(rows, weights, unbiased, control)?;
        let report = Some(fitted.report());
        Ok((Self { mixture: fitted.mixture.clone(), report, few: None }, fitted))
    }

    /// The posterior of every row's true value. `Err(Interrupted)` soon after `control` is stopped.
    pub(crate) fn transform<'a>(&self, rows: impl Into<Incomplete<'a>>, control: &Control) -> Result<GaussianArray> {
        Ok(self.posteriors(rows.into(), control)?.0)
    }

    /// Posteriors, and the log density of every row where it is known by the way.
    fn posteriors(&self, rows: Incomplete<'_>, control: &Control) -> Result<(GaussianArray, Option<Vec<f64>>)> {
        let (data, d) = (rows.gaussians(), self.mixture.n_features());
        data.check_features(d)?;
        let n = data.n_rows();
        if let Some((few, observed)) = self.in_few_directions(rows) {
            let r = few.rank();
            let numbers = few.posteriors(&observed, control)?;
            let columns = |from: usize, width: usize| {
                numbers.chunks_exact(d * (2 + r)).flat_map(|row| &row[from..][..width]).copied().collect::<Vec<f64>>()
            };
            let factor = Rows::from_owned(columns(2 * d, d * r), n, d * r);
            let diagonal = Some(Rows::from_owned(columns(d, d), n, d));
            let covariances = LowRank { factor, rank: r, diagonal }.into();
            return Ok((GaussianArray::from_checked(Rows::from_owned(columns(0, d), n, d), covariances), None));
        }
        if rows.missing().is_some() {
            if matches!(data.covariances(), Covariances::Zero) && rows.limits().is_none() {
                // Exact values stay to the last bit.
                return Ok((GaussianImputer::new(self.mixture.clone()).transform(rows, control)?, None));
            }
            return self.full(rows, control);
        }
        let covariances = data.covariances();
        if matches!(covariances, Covariances::Zero) {
            return Ok((data.clone(), None));
        }
        let observed = Observed::new(data, None, None);
        let single = self.mixture.n_components() == 1;
        if single && n > 0 && covariances.common().is_some() {
            let found = observed.posteriors(&self.mixture, false, control)?;
            let covariances = Covariances::triangle_unchecked(found.covariances[..packed_len(d)].to_vec());
            let moved = GaussianArray::from_checked(Rows::from_owned(found.means, n, d), covariances);
            return Ok((moved, Some(found.logs)));
        }
        if let (Noise::Factor(rank), true) = (observed.noise(), single) {
            let (means, factors) = observed.posterior_factors(&self.mixture, rank, control)?;
            let covariances = Covariances::factor_unchecked(Rows::from_owned(factors, n, d * rank), rank);
            return Ok((GaussianArray::from_checked(Rows::from_owned(means, n, d), covariances), None));
        }
        self.full(rows, control)
    }

    /// The distribution in few directions, where that saves a matrix per row.
    fn in_few_directions<'a>(&self, rows: Incomplete<'a>) -> Option<(&FactorAnalysis, Observed<'a>)> {
        let few = self.few.as_ref().filter(|_| rows.limits().is_none() && rows.mixtures().is_none())?;
        let observed = Observed::from_rows(rows, None);
        let noisy = !matches!(rows.gaussians().covariances(), Covariances::Zero);
        (noisy && observed.noise() == Noise::Diagonal).then_some((few, observed))
    }

    /// A full covariance per row.
    fn full(&self, rows: Incomplete<'_>, control: &Control) -> Result<(GaussianArray, Option<Vec<f64>>)> {
        let (n, d) = (rows.gaussians().n_rows(), self.mixture.n_features());
        let found = Observed::from_rows(rows, None).posteriors(&self.mixture, false, control)?;
        let covariances = Covariances::triangles_unchecked(Rows::from_owned(found.covariances, n, packed_len(d)));
        Ok((GaussianArray::from_checked(Rows::from_owned(found.means, n, d), covariances), Some(found.logs)))
    }

    /// log p(x_i) of every row, of what is there: the density of N(mu_k, T_k + S_i) summed over the components.
    ///
    /// # Errors
    /// Another number of features than that of the fit.
    pub fn log_likelihood<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<Array1<f64>> {
        Ok(self.log_densities(rows.into(), &Control::new())?.into())
    }

    fn log_densities(&self, rows: Incomplete<'_>, control: &Control) -> Result<Vec<f64>> {
        rows.gaussians().check_features(self.mixture.n_features())?;
        if let Some((few, observed)) = self.in_few_directions(rows) {
            return few.log_densities(&observed, control);
        }
        let logs = Observed::from_rows(rows, None).log_densities(None, &self.mixture, control)?;
        Ok(logs.chunks_exact(self.mixture.n_components()).map(log_sum).collect())
    }
}

/// The directions of a model file, which must be those of its mixture.
fn few_directions(loadings: &Array2<f64>, mixture: &Mixture, parts: &mut Parts<'_>) -> Result<FactorAnalysis> {
    let specific = parts.shaped("specific", &[mixture.n_features()])?;
    let few = FactorAnalysis::new(mixture.mean(0).to_vec(), loadings.iter().copied().collect(), specific);
    few.filter(|few| loadings.nrows() == mixture.n_features() && few.equals(mixture))
        .ok_or_else(|| Error::ModelFile("the directions of a denoiser are not those of its covariance matrix".into()))
}

impl Fitted for GaussianDenoiser {
    type Params = Params;
    type Header = Option<ReportHeader>;
    const OF_MIXTURES: OfMixtures = OfMixtures::Likelihood;

    fn fit(params: &Valid<Params>, data: &Dataset, control: &Control) -> Result<Self> {
        Ok(Self::fit(params, data.rows(), data.weights.as_ref(), control)?.0)
    }

    fn fit_remote(params: &Valid<Params>, remote: &RemoteRows<'_>, control: &Control) -> Result<Self> {
        // Where features are missing the posterior is little else than T: see `fit`.
        let fitted = fit_remote(params.params(), remote, |gaps| gaps, control)?;
        Ok(Self { report: Some(fitted.report()), mixture: fitted.mixture, few: None })
    }

    fn write(&self, _: &Valid<Params>, arrays: &mut Arrays) -> Option<ReportHeader> {
        self.mixture.write(arrays);
        if let Some(few) = &self.few {
            arrays.put("loadings", &[self.mixture.n_features(), few.rank()], few.loadings());
            arrays.vector("specific", few.specific());
        }
        self.report.as_ref().map(|report| report.write(arrays))
    }

    fn read(progress: Option<ReportHeader>, _: &Valid<Params>, parts: &mut Parts<'_>) -> Result<Self> {
        let mixture = Mixture::read(parts)?;
        let few = parts.optional_matrix("loadings")?.map(|f| few_directions(&f, &mixture, parts)).transpose()?;
        Ok(Self { mixture, few, report: progress.map(|progress| progress.read(parts)).transpose()? })
    }
}

impl Predictor for GaussianDenoiser {
    fn about(&self) -> About {
        About::transform(self.mixture.n_features()).with_limits().with_mixtures(OfMixtures::Likelihood)
    }

    fn transform(&self, rows: Incomplete<'_>, control: &Control) -> Result<GaussianArray> {
        self.transform(rows, control)
    }

    fn transform_with_likelihood(&self, rows: Incomplete<'_>, control: &Control) -> Result<(GaussianArray, Vec<f64>)> {
        let (moved, logs) = self.posteriors(rows, control)?;
        Ok((moved, logs.map_or_else(|| self.log_densities(rows, control), Ok)?))
    }

    fn log_likelihood(&self, rows: Incomplete<'_>, control: &Control) -> Result<Vec<f64>> {
        self.log_densities(rows, control)
    }
}
