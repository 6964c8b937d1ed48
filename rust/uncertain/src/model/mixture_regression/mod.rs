//! Regression with errors in x and y: a mixture of Gaussians for the true values of features and target together.
//!
//! A row's features and target are one noisy reading of true values that come from a mixture, the target last:
//! ```text
//! (x_i, y_i) ~ sum_k pi_k N(mu_k, T_k + C_i),    C_i = [[S_i, c_i], [c_i', tau_i^2]]
//! ```
//! by extreme deconvolution ([`deconvolution`]). The prediction for a new row (x, S) is the density of its true target given
//! the reading, a mixture again ([`Densities`]), of which a missing feature has infinite noise.
//!
//! One component is the structural model of a line with errors in both variables (Fuller, Measurement Error Models,
//! 1987, <https://doi.org/10.1002/9780470316665>): its [`Law`] with scatter and standard errors. More are a curve.

mod beside;
mod conditional;
mod freedom;
mod information;
mod law;
mod newton;
mod profile;
mod readings;
mod root;
mod scores;
mod state;
mod undetermined;

use crate::control::Control;
use crate::data::{Incomplete, Targets, Weights};
use crate::deconvolution::RemoteEm;
use crate::deconvolution::with_target::{Joint, Residuals, Weight};
use crate::deconvolution::{self, Components, FittedMixture, Mixture, Report, ValidParams};
use crate::density::Densities;
use crate::error::{Error, Result};
use crate::model::error_scale::read_with;
use crate::model::least_squares::LeastSquares;
use crate::parallel;
use crate::params::Valid;
use crate::readable::readable;
use crate::special::quantile;
use crate::state::RemoteRows;

use readings::{LocalReadings, Readings, RemoteReadings, Total};
use scores::Scores;

pub use crate::deconvolution::Params;
pub use beside::Beside;
pub use law::{Errors, Law};

/// The rise of the log-likelihood per row that ends EM where it has the last word.
const PRECISE: f64 = 1e-10;

readable! {
    /// A fitted regression.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Model {
        /// The distribution of the true features and the true target, the target last.
        mixture: Mixture => &Mixture,
        /// The line of a single component.
        law: Option<Law> => Option<&Law>,
        /// What a fit to the targets given the readings knows beside it.
        beside: Option<Beside> => Option<&Beside>,
        /// Ends of the slopes' intervals by the profile of the likelihood (d x 2), where asked for.
        profile: Option<Vec<f64>> => Option<&[f64]>,
        /// Where the rows do not determine the slopes, a direction that they leave open: shares of the features, in units of
        /// their readings' spread.
        undetermined: Option<Vec<f64>> => Option<&[f64]>,
        /// How the fit went, where there was one.
        report: Option<Report> => Option<&Report>,
    }
}

/// Fit to rows with the targets' own variances and covariances with the features; the second part of the result tells how EM
/// went.
///
/// # Errors
/// Targets of other rows, errors of a row that are no covariance matrix together, and those of
/// [`ValidParams::fit`](crate::deconvolution::ValidParams).
pub fn fit<'a>(
    params: &ValidParams,
    rows: impl Into<Incomplete<'a>>,
    targets: &Targets,
    control: &Control,
) -> Result<(Model, FittedMixture)> {
    fit_grouped(params, rows, targets, None, control)
}

/// [`fit`] with standard errors of independent groups of rows; fewer than ten groups have none.
///
/// # Errors
/// Groups of other rows, and those of [`fit`].
pub fn fit_grouped<'a>(
    params: &ValidParams,
    rows: impl Into<Incomplete<'a>>,
    targets: &Targets,
    groups: Option<&[u32]>,
    control: &Control,
) -> Result<(Model, FittedMixture)> {
    let joint = Joint::new(rows.into(), targets)?;
    fit_joint(params, joint.rows(), targets.weights(), groups, None, control)
}

/// [`fit`] to rows whose last feature is the target, perhaps with intervals of the probability `profile`.
fn fit_joint(
    params: &ValidParams,
    rows: Incomplete<'_>,
    weights: Option<&Weights>,
    groups: Option<&[u32]>,
    profile: Option<f64>,
    control: &Control,
) -> Result<(Model, FittedMixture)> {
    let n = rows.gaussians().n_rows();
    if let Some(groups) = groups.filter(|groups| groups.len() != n) {
        return Err(Error::shape("groups", format!("{n}, one per row of data"), groups.len()));
    }
    if profile.is_some() && (rows.limits().is_some() || rows.parts().is_some()) {
        return Err(Error::Data(
            "method=\"profile\": a line with limits, or of rows that are mixtures, is fitted by EM alone, which is too slow for \
             so many fits; use \"wald\""
                .into(),
        ));
    }
    let alone = params.params().components == Components::Fixed(1);
    let precise = rows.parts().is_some() && alone && params.params().tol.is_none();
    // No Newton steps follow a fit to mixtures.
    let params = if precise { &Valid(params.params().clone().tol(PRECISE)) } else { params };
    let fitted = params.fit_rows(rows, weights, false, control)?;
    let mut model = Model { report: Some(fitted.report()), ..Model::new(fitted.mixture.clone())? };
    if fitted.mixture.n_components() == 1 {
        let weight = |i: usize| weights.map_or(1.0, |c| c[i]);
        if rows.limits().is_some() || rows.parts().is_some() {
            let law = Law::from_joint(&fitted.mixture)?;
            let look = || -> Result<Option<Errors>> {
                let scores = Scores::new(&fitted.mixture, rows, &weight, groups);
                let Some(information) = scores.information(control)? else { return Ok(None) };
                scores.errors(&law, &information, control)
            };
            let known = || Scores::new(&fitted.mixture, rows, &weight, None).log_likelihood(control);
            let (errors, log) = parallel::install(params.params().threads, || Ok((look()?, known()?)))??;
            model.law = Some(Law { errors, ..law });
            model.beside = Some(beside(log, &fitted.mixture, rows, &weight)?);
            model.look_for_directions(rows, &weight, params.params().reg.unwrap_or(0.0))?;
            return Ok((model, fitted));
        }
        let finish = || -> Result<()> {
            model.finished(
                &LocalReadings::new(rows, &weight),
                groups.map(|g| (rows, &weight as Weight<'_>, g)),
                control,
            )?;
            let log = Residuals::new(&model.mixture, rows, &weight, control)?.log_likelihood(&weight)?;
            model.beside = Some(beside(log, &model.mixture, rows, &weight)?);
            model.look_for_directions(rows, &weight, params.params().reg.unwrap_or(0.0))?;
            if let (Some(level), Some(law)) = (profile, &model.law) {
                let z = quantile(0.5 + 0.5 * level);
                model.profile = Some(profile::intervals(law, &model.mixture, rows, &weight, z, control)?);
            }
            Ok(())
        };
        parallel::install(params.params().threads, finish)??;
    }
    Ok((model, fitted))
}

/// The likelihood, and least squares where rows are Gaussians.
fn beside(log_likelihood: f64, joint: &Mixture, rows: Incomplete<'_>, weight: Weight<'_>) -> Result<Beside> {
    let mut beside = Beside { log_likelihood: Some(log_likelihood).filter(|log| log.is_finite()), ..Beside::default() };
    if rows.parts().is_none() {
        let m = joint.n_features();
        let line = LeastSquares::fit(rows.gaussians().n_rows(), joint.mean(0), |i, u| {
            u.copy_from_slice(&rows.gaussians().means().row(i));
            if (0..m).any(|j| rows.is_missing(i, j)) { 0.0 } else { weight(i) }
        })?;
        (beside.naive, beside.naive_std) = line.map_or_else(Default::default, |line| (line.values, line.std));
    }
    Ok(beside)
}

/// [`fit`] by passes over rows held by other processes, whose last feature is the target; those of the sample are apart.
fn fit_remote(params: &ValidParams, remote: &RemoteRows<'_>, control: &Control) -> Result<Model> {
    let targets = remote.sample.targets()?;
    let joint = Joint::new(remote.sample.rows, targets)?;
    let (sample, weights) = (joint.rows(), targets.weights());
    let rows = RemoteEm::new(params.params(), "the rows", remote.rows, sample, weights, vec![None], control)?;
    let fitted = deconvolution::fit_remote(params.params(), &rows, false, false, control)?;
    let mut model = Model { report: Some(fitted.report()), ..Model::new(fitted.mixture.clone())? };
    if fitted.mixture.n_components() == 1 {
        let weight = |i: usize| targets.weight(i);
        let total = Total { rows: rows.n_rows(0), weight: rows.weight(0), squares: rows.squares(0) };
        let least = law::least_variance(&fitted.mixture);
        let readings = RemoteReadings::new(remote.rows, LocalReadings::new(sample, &weight), total, least);
        model.finished(&readings, None, control)?;
        if remote.sample.groups.is_some() {
            // Those of independent rows would be too small.
            model.law.iter_mut().for_each(|law| law.errors = None);
        }
    }
    Ok(model)
}

impl Model {
    /// A law without standard errors may have slopes that the rows do not determine.
    fn look_for_directions(&mut self, rows: Incomplete<'_>, weight: Weight<'_>, floor: f64) -> Result<()> {
        if self.law.as_ref().is_some_and(|law| law.errors.is_none()) {
            self.undetermined = undetermined::direction(&self.mixture, rows, weight, floor)?;
        }
        Ok(())
    }

    /// From where EM has ended to the law, its scatter and standard errors.
    fn finished(
        &mut self,
        readings: &dyn Readings,
        grouped: Option<(Incomplete<'_>, Weight<'_>, &[u32])>,
        control: &Control,
    ) -> Result<()> {
        let (mixture, _) = law::with_best_scatter(&self.mixture, readings, 0, control)?;
        let (mixture, way) = newton::climbed(mixture, readings, newton::Goal::Likelihood, control)?;
        let degrees = mixture.n_features();
        let (mixture, exact) = law::with_best_scatter(&mixture, readings, degrees, control)?;
        let mut law = Law::from_joint(&mixture)?;
        if exact {
            law.scatter = 0.0;
        }
        if let Some(information) = information::information(&law, &mixture, readings, control)? {
            law.errors = match grouped {
                None => information::errors(&law, &mixture, &information, None),
                Some((rows, weight, groups)) => {
                    Scores::new(&mixture, rows, weight, Some(groups)).errors(&law, &information, control)?
                }
            };
        }
        (self.mixture, self.law) = (mixture, Some(law));
        if let Some(report) = &mut self.report {
            way.add_to(report);
        }
        Ok(())
    }
}

impl Model {
    /// From a known distribution of features and target, the target last.
    ///
    /// # Errors
    /// Fewer than two dimensions.
    pub fn new(mixture: Mixture) -> Result<Self> {
        if mixture.n_features() < 2 {
            return Err(Error::shape(
                "a mixture of features and target",
                "at least 2 dimensions",
                mixture.n_features(),
            ));
        }
        let law = if mixture.n_components() == 1 { Some(Law::from_joint(&mixture)?) } else { None };
        Ok(Self { mixture, law, beside: None, profile: None, undetermined: None, report: None })
    }

    /// Number of features, without the target.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.mixture.n_features() - 1
    }

    /// The density of every row's true target, its own errors and gaps known.
    ///
    /// # Errors
    /// Another number of features, [`Error::Interrupted`].
    pub fn densities<'a>(&self, rows: impl Into<Incomplete<'a>>, control: &Control) -> Result<Densities> {
        self.scaled(rows.into(), |rows| conditional::densities(&self.mixture, rows, control))
    }

    /// What is said about rows whose error bars have the factors of the fit.
    fn scaled<T>(&self, rows: Incomplete<'_>, say: impl FnOnce(Incomplete<'_>) -> Result<T>) -> Result<T> {
        let factors = self.beside.as_ref().map_or(&[][..], |beside| &beside.feature_error_scale);
        read_with(rows, factors, say)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Covariances, GaussianArray, Rows};
    use crate::testing::Numbers;

    const N: usize = 200;

    /// y = 2 z - 1 with scatter 0.3, noise 0.5 on z, 0.2 on y, and 0.05 their covariance, the same for all rows.
    fn problem() -> (GaussianArray, Targets) {
        let mut numbers = Numbers::new(3);
        let (mut x, mut y) = (vec![], vec![]);
        for _ in 0..N {
            let (z, e) = (numbers.normal(), numbers.normal());
            x.push(z + 0.5 * e);
            y.push(2.0 * z - 1.0 + 0.3 * numbers.normal() + 0.1 * e + 0.03f64.sqrt() * numbers.normal());
        }
        let noise = Covariances::from_std(Rows::from_vec(vec![0.5; N], 1).unwrap());
        let targets = Targets::new(y).unwrap().with_variances(vec![0.04; N]).unwrap();
        let targets = targets.with_feature_covariances(vec![0.05; N], 1).unwrap();
        (GaussianArray::new(Rows::from_vec(x, 1).unwrap(), noise).unwrap(), targets)
    }

    fn moments(x: &[f64], y: &[f64]) -> (f64, f64, f64) {
        let mean = |v: &[f64]| v.iter().sum::<f64>() / N as f64;
        let (a, b) = (mean(x), mean(y));
        let product = |u: &[f64], c: f64, v: &[f64], d: f64| {
            u.iter().zip(v).map(|(u, v)| (u - c) * (v - d)).sum::<f64>() / N as f64
        };
        (product(x, a, x, a), product(x, a, y, b), product(y, b, y, b))
    }

    #[test]
    fn equal_noise_is_taken_off_the_moments() {
        let (data, targets) = problem();
        let (model, fitted) = fit(&Params::new().check().unwrap(), &data, &targets, &Control::new()).unwrap();
        let x: Vec<f64> = (0..N).map(|i| data.means().at(i, 0)).collect();
        let (xx, xy, yy) = moments(&x, targets.values());
        let law = model.law().unwrap();
        let slope = (xy - 0.05) / (xx - 0.25);
        assert!((law.coef[0] / slope - 1.0).abs() < 1e-9);
        // The residual variance of the reading of y given that of x, over n - 2.
        let scatter = (yy - xy * xy / xx) * N as f64 / (N - 2) as f64 - (yy - xy * xy / xx);
        let without = yy - 0.04 - slope * (xy - 0.05);
        assert!((law.scatter.powi(2) - without - scatter).abs() < 1e-9);
        assert!(law.errors.as_ref().unwrap().scatter.is_some());
        assert!(model.report().unwrap().history.windows(2).all(|h| h[1] >= h[0]));
        assert!(fitted.mixture.n_components() == 1);
    }

    #[test]
    fn predictions_shrink_readings_first() {
        let (data, targets) = problem();
        let (model, _) = fit(&Params::new().check().unwrap(), &data, &targets, &Control::new()).unwrap();
        let (t, mean) = (model.mixture().covariance(0), model.mixture().mean(0));
        let (centre, std) = model.densities(&data, &Control::new()).unwrap().moments();
        let gain = t[1] / (t[0] + 0.25);
        for i in 0..N {
            assert!((centre[i] - mean[1] - gain * (data.means().at(i, 0) - mean[0])).abs() < 1e-12);
            assert!((std[i].powi(2) - t[2] + gain * t[1]).abs() < 1e-12);
        }
    }

    #[test]
    fn errors_that_are_no_matrix_together_are_refused() {
        let (data, targets) = problem();
        let targets = targets.with_feature_covariances(vec![0.11; N], 1).unwrap();
        let refused = fit(&Params::new().check().unwrap(), &data, &targets, &Control::new()).unwrap_err().to_string();
        assert!(refused.contains("X and y") && refused.contains("row 0"), "{refused}");
        let (_, targets) = problem();
        assert!(targets.clone().with_feature_covariances(vec![0.0; 3], 1).is_err());
        let bad = targets.with_feature_covariances([vec![0.0; 5], vec![f64::NAN], vec![0.0; N - 6]].concat(), 1);
        assert!(bad.unwrap_err().to_string().contains("row 5"));
        assert!(Model::new(Mixture::new(vec![1.0], vec![0.0], vec![1.0], 1).unwrap()).is_err());
    }
}
