//! A line between true values by the likelihood of the target given the reading, perhaps with outliers, errors that rows share, or
//! error bars that are wrong by a factor.
//!
//! ```text
//! y_i = b + beta'z_i + M_i a + noise,    x_i = z_i + e_i,    a ~ N(0, I),    z ~ N(mu, T)
//! ```
//! The density of z comes from the readings alone. Given x_i the true z_i is N(m_i, P_i), so that y_i given x_i is the
//! law of its noise (`noise`) with the mean b + beta'm_i + M_i a and the further variance beta'P_i beta. Where
//! errors of features and target go together, g_i = S_i^{-1} c_i, both have beta - g_i, the mean has g_i'x_i, and the noise
//! has lost c_i'g_i (`rows`). The noise has s^2 + kappa t_i^2. Everything is closed: no nodes, any number of features.
//!
//! Errors that rows share are k coefficients with a unit normal distribution; they are integrated out by Laplace's
//! approximation, which for normal noise is exact, and Woodbury's formula in other words: of n x n there is nothing.
//! ```text
//! log p(y) = max over a of ( log p(y | a) - a'a / 2 ) - log |I + M'W M| / 2,    W = diag(1 / variance)
//! ```
//! with the weights of EM as W where the noise is not normal.

mod features;
mod fit;
mod remote;
mod response;
mod rows;
mod start;

use crate::control::Control;
use crate::data::{Incomplete, Modes, Targets};
use crate::deconvolution::{self, Components, Mixture, Report};
use crate::error::{Error, Result};
use crate::params::{Valid, builder};
use crate::solver::Status;
use crate::state::Parameters;
use crate::{number, parallel};

use super::clusters;
use super::error_scale::{check_features, check_target, fit_features};
use super::law::coordinates::Coordinates;
use super::law::density::refined;
use super::law::scaled_noise::ScaledNoise;
use super::noise::Noise;
use fit::Question;
use rows::{Counted, LineRows};

pub(crate) use remote::answer;
pub(super) use remote::fit_remote;

pub use super::error_scale::ErrorScale;
pub use super::least_squares::LeastSquares;
pub use super::noise::Outliers;

builder! {
    /// Parameters of a fit.
    pub struct Params {
        /// Outliers among readings of the target.
        outliers: Option<Outliers> = None,
        /// Degrees of freedom of Student's distribution, where they are known; >= 1.
        #[serde(with = "number::option")]
        degrees_of_freedom: Option<f64> = None,
        /// Which error bars are right up to a factor only?
        error_scale: Option<ErrorScale> = None,
        /// Probability of intervals by the profile of the likelihood, in (0, 1); `None`: none.
        #[serde(with = "number::option")]
        profile: Option<f64> = None,
        /// Everything about the density of true features, with one component.
        em: deconvolution::Params = deconvolution::Params::default(),
    }
}

impl Parameters for Params {
    fn check(self) -> Result<Valid<Self>> {
        Noise::new(self.outliers, self.degrees_of_freedom)?;
        self.em.clone().check()?;
        if let Some(level) = self.profile.filter(|level| !(*level > 0.0 && *level < 1.0)) {
            return Err(Error::parameter("profile", level, "a probability between 0 and 1"));
        }
        if self.outliers.is_some() || self.error_scale.is_some() {
            self.check_components()?;
        }
        Ok(Valid(self))
    }

    fn control_mut(&mut self) -> Option<&mut Control> {
        self.em.control_mut()
    }
}

impl Params {
    fn check_components(&self) -> Result<()> {
        if self.em.components == Components::Fixed(1) {
            return Ok(());
        }
        let why = "1 where outliers=, modes= or error_scale= are given: with more components the law is no line";
        Err(Error::parameter("n_components", self.em.components, why))
    }

    /// Refuse what belongs to one component where there may be more.
    pub(super) fn check_single(&self, shared: &SharedErrors) -> Result<()> {
        if self.profile.is_some() {
            return Err(Error::Data("method=\"profile\": a line belongs to one component".into()));
        }
        if shared.modes.k > 0 { self.check_components() } else { Ok(()) }
    }
}

/// Errors that rows share, and groups.
#[derive(Debug, Clone, Default)]
pub struct SharedErrors {
    /// Errors of targets and features.
    pub modes: Modes,
    /// Rows that belong together, for standard errors.
    pub groups: Option<Vec<u32>>,
}

/// A fitted line.
#[derive(Debug, Clone, PartialEq)]
pub struct LineFit {
    /// Intercept, then coefficients.
    pub law: Vec<f64>,
    /// Their covariance, (1 + d) x (1 + d).
    pub covariance: Vec<f64>,
    /// Ends of the coefficients' intervals by the profile of the likelihood (d x 2), where asked for.
    pub profile: Vec<f64>,
    /// s.
    pub scatter: f64,
    /// Its standard error; NaN where s = 0.
    pub scatter_std: f64,
    /// The root of kappa, and its standard error, where it was asked for.
    pub error_scale: Option<(f64, f64)>,
    /// Factor of the errors of every feature, and its standard error; empty where it was not asked for.
    pub feature_error_scale: Vec<(f64, f64)>,
    /// Degrees of freedom, or share and width of bad data, with standard errors (NaN at a bound or where given).
    pub noise: Vec<(f64, f64)>,
    /// P(outlier | y, x) of every row; 0 of rows without weight. Empty without a law of outliers.
    pub outlier_probability: Vec<f64>,
    /// Errors that rows share, a, k numbers.
    pub modes: Vec<f64>,
    /// Covariance of `modes`, k x k.
    pub modes_covariance: Vec<f64>,
    /// Covariance of a with intercept and coefficients, k x (1 + d).
    pub modes_law_covariance: Vec<f64>,
    /// Least squares of the readings, where they determine a line.
    pub naive: Option<LeastSquares>,
    /// Where the rows do not determine the coefficients, a direction that they leave open: shares of the features, in units of
    /// their spread.
    pub undetermined: Option<Vec<f64>>,
    /// log p(y | x), a integrated out.
    pub log_likelihood: f64,
    /// The density of true features.
    pub mixture: Mixture,
    /// How its fit went.
    pub report: Report,
    /// Steps.
    pub n_iter: usize,
    /// How they ended.
    pub status: Status,
}

impl Valid<Params> {
    /// Fit a line.
    ///
    /// # Errors
    /// Modes of another size or that are combinations of one another, an error scale that the rows do not determine,
    /// features of which they do not tell, and those of the density's fit.
    #[doc(hidden)]
    pub fn fit_line(
        &self,
        rows: Incomplete<'_>,
        targets: &Targets,
        shared: &SharedErrors,
        control: &Control,
    ) -> Result<LineFit> {
        let params = self.params();
        let (noise, scaled) = (
            Noise::new(params.outliers, params.degrees_of_freedom)?,
            params.error_scale.is_some_and(ErrorScale::scales_target),
        );
        let em = params.em.clone().check()?;
        let n = rows.n_rows();
        targets.check_rows(n)?;
        if scaled {
            if targets.feature_covariances().is_some() {
                return Err(Error::Data(
                    "error_scale=\"fit\" is not for errors that go with those of features (xy_cov=)".into(),
                ));
            }
            check_target(targets.variances().map(|v| v.iter().copied()), true)?;
        }
        let features_scaled = params.error_scale.is_some_and(ErrorScale::scales_features);
        if features_scaled {
            if targets.feature_covariances().is_some() || shared.modes.k > 0 {
                return Err(Error::Data(
                    "error_scale= of features is not for errors that go with those of the target (xy_cov=), nor beside errors that \
                     rows share (modes=, y_cov=)"
                        .into(),
                ));
            }
            check_features(rows, |i| targets.weight(i))?;
        }
        if let Some(groups) = shared.groups.as_ref().filter(|groups| groups.len() != n) {
            return Err(Error::shape("groups", format!("{n}, one per row of data"), groups.len()));
        }
        shared.modes.check(n, rows.gaussians().n_features())?;
        if !shared.modes.of_features.is_empty() {
            return parallel::install(control.threads(), || features::fit(self, rows, targets, shared, control))?;
        }
        // A plain line is of use for predictions where its coefficients are not known each.
        let plain = noise == Noise::Normal && params.error_scale.is_none() && shared.modes.k == 0;
        if !plain && rows.mixtures().is_some() {
            return Err(Error::Data(
                "outliers=, modes=, y_cov= and error_scale= are not for rows that are mixtures of several Gaussians: \
                 collapse(\"gaussian\") makes one of each row"
                    .into(),
            ));
        }
        // Of few groups a plain line has no standard errors.
        let few = plain && clusters::check(shared.groups.as_deref()).is_err();
        let alone;
        let shared = if few {
            alone = SharedErrors { groups: None, ..shared.clone() };
            &alone
        } else {
            shared
        };
        parallel::install(control.threads(), || {
            let mut fitted = em.fit_rows(rows, targets.weights(), false, &control.with_task("density"))?;
            fitted.mixture = refined(&fitted.mixture, rows, targets.weights(), control)?;
            let scale = if features_scaled {
                let control = control.with_task("error bars");
                let scale = fit_features(rows, |i| targets.weight(i), &fitted.mixture, &control)?;
                fitted.mixture = scale.mixture.clone();
                Some(scale)
            } else {
                None
            };
            let (factors, rows) = match &scale {
                Some(scale) => (scale.factors.clone(), Incomplete::from_parts(&scale.data, rows.missing(), None)),
                None => (vec![], rows),
            };
            let control = &control.with_task("law");
            let counted = Counted::new(rows, targets)?;
            let mut prepared = LineRows::new(&counted, targets, shared, &fitted.mixture, control)?;
            let (coordinates, direction) = Coordinates::surveyed(&prepared.truths, |i| prepared.weights[i])?;
            if let Some(direction) = direction.as_ref().filter(|_| !plain) {
                return Err(Coordinates::undetermined(direction, "leave out a feature"));
            }
            prepared.rescale(&coordinates);
            let density = coordinates.mixture(&fitted.mixture);
            if features_scaled {
                prepared.scaled = Some(ScaledNoise::new(rows, &prepared.numbers, &coordinates.scale, &density)?);
            }
            let open = direction.is_some();
            let asked = Question { noise, scaled, open, profile: params.profile, density: &density };
            let report = fitted.report();
            let naive = naive(rows, targets, &fitted.mixture)?;
            let fit = fit::fit(&prepared, &asked, None, control)?;
            let mut fit = fit.restored(&coordinates, &asked, (fitted.mixture, report), n, &prepared);
            if few {
                fit.covariance.fill(f64::NAN);
                fit.profile.fill(f64::NAN);
            }
            Ok(LineFit { naive, undetermined: direction, feature_error_scale: factors, ..fit })
        })?
    }
}

fn naive(rows: Incomplete<'_>, targets: &Targets, density: &Mixture) -> Result<Option<LeastSquares>> {
    let (n, d) = (rows.n_rows(), density.n_features());
    if rows.mixtures().is_some() {
        return Ok(None);
    }
    let centre = [density.mean(0), &[targets.values().iter().sum::<f64>() / n as f64]].concat();
    LeastSquares::fit(n, &centre, |i, u| {
        u[..d].copy_from_slice(&rows.gaussians().means().row(i));
        u[d] = targets.values()[i];
        let limited = targets.limits().is_some_and(|limits| limits[i] != 0);
        if limited || (0..d).any(|j| rows.is_missing(i, j)) { 0.0 } else { targets.weight(i) }
    })
}
