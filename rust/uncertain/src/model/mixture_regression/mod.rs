//! Regression with errors in x and y: a mixture of Gaussians for the true values of features and target together.
//!
//! A row's features and target are one noisy reading of true values that come from a mixture, the target last:
//! ```text
//! (x_i, y_i) ~ sum_k pi_k N(mu_k, T_k + C_i),    C_i = [[S_i, c_i], [c_i', tau_i^2]]
//! ```
//! by extreme deconvolution ([`deconvolution`]). The prediction for a new row (x, S) is the density of its true target given
//! the reading, a mixture again ([`Densities`]), of which a missing feature has infinite noise.
//!
//! One component is a line between true values with errors in both variables (Fuller, Measurement Error Models, 1987,
//! <https://doi.org/10.1002/9780470316665>), fitted as every line is ([`super::line`]): its [`Law`] has scatter and standard
//! errors. More are a curve.

mod beside;
mod conditional;
mod law;
mod state;

use crate::control::Control;
use crate::data::covariance::{packed_index, packed_len};
use crate::data::{Incomplete, Targets};
use crate::deconvolution::with_target::Joint;
use crate::deconvolution::{self, Components, FittedMixture, Mixture, Observed, RemoteEm, Report};
use crate::density::Densities;
use crate::error::{Error, Result};
use crate::model::error_scale::read_with;
use crate::model::law::predictors;
use crate::model::law::truths::Truths;
use crate::model::line::{self, LineFit, SharedErrors};
use crate::params::Valid;
use crate::readable::readable;
use crate::state::RemoteRows;

pub use crate::model::line::Params;
pub use beside::Beside;
pub use law::{Errors, Law};

/// Parameters that have passed their check.
pub type ValidParams = Valid<Params>;

/// The least scatter of a mixture, as a part of what features explain: it is positive definite.
const TRIFLE: f64 = 1e-10;

readable! {
    /// A fitted regression.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Model {
        /// The distribution of the true features and the true target, the target last.
        mixture: Mixture => &Mixture,
        /// The line of a single component.
        law: Option<Law> => Option<&Law>,
        /// Results of a fit beside the line.
        beside: Option<Beside> => Option<&Beside>,
        /// Ends of the slopes' intervals by the profile of the likelihood (d x 2), where asked for.
        profile: Option<Vec<f64>> => Option<&[f64]>,
        /// Where the rows do not determine the slopes, a direction that they leave open: shares of the features, in units of
        /// their spread.
        undetermined: Option<Vec<f64>> => Option<&[f64]>,
        /// How the fit went, where there was one.
        report: Option<Report> => Option<&Report>,
    }
}

/// Fit to rows with the targets' variances and covariances with the features.
pub(crate) fn fit<'a>(
    params: &ValidParams,
    rows: impl Into<Incomplete<'a>>,
    targets: &Targets,
    shared: &SharedErrors,
    control: &Control,
) -> Result<Model> {
    let (rows, components) = (rows.into(), params.params().em.components);
    if components == Components::Fixed(1) {
        return Model::from_line(params.fit_line(rows, targets, shared, control)?);
    }
    params.params().check_single(shared)?;
    let parts;
    let (each, targets_of) = match rows.mixtures() {
        None => (rows, targets.clone()),
        Some(mixtures) => {
            parts = mixtures.row_numbers();
            (rows.components().with_parts(&parts), mixtures.targets(targets)?)
        }
    };
    let fitted = fit_joint(params, each, &targets_of, control)?;
    if fitted.mixture.n_components() > 1 {
        return Model::from_mixture(fitted);
    }
    // One component was chosen.
    let mut single = params.params().clone();
    single.em.components = Components::Fixed(1);
    let mut model = Model::from_line(Valid(single).fit_line(rows, targets, shared, control)?)?;
    let held_out = fitted.report().held_out;
    model.report.iter_mut().for_each(|report| report.held_out.clone_from(&held_out));
    Ok(model)
}

/// The mixture of rows whose last feature is the target.
fn fit_joint(
    params: &ValidParams,
    rows: Incomplete<'_>,
    targets: &Targets,
    control: &Control,
) -> Result<FittedMixture> {
    let em = params.params().em.clone().check()?;
    rows.check_with(targets.weights())?;
    targets.check_rows(rows.gaussians().n_rows())?;
    match Observed::with_target(rows, targets) {
        Some(observed) => em.fit_observed(observed, false, control),
        None => em.fit_rows(Joint::new(rows, targets)?.rows(), targets.weights(), false, control),
    }
}

/// [`fit`] by passes over rows held by other processes; of several components their last feature is the target.
fn fit_remote(params: &ValidParams, remote: &RemoteRows<'_>, control: &Control) -> Result<Model> {
    let (em, targets) = (&params.params().em, remote.sample.targets()?);
    if em.components == Components::Fixed(1) {
        return Model::from_line(line::fit_remote(params, remote, control)?);
    }
    let joint = Joint::new(remote.sample.rows(), targets)?;
    let (sample, weights) = (joint.rows(), targets.weights());
    let rows = RemoteEm::new(em, "the rows", remote.rows, sample, weights, vec![None], control)?;
    Model::from_mixture(deconvolution::fit_remote(em, &rows, false, false, control)?)
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
        let law = if mixture.n_components() == 1 { Some(Law::from_joint(&mixture, 0)?) } else { None };
        Ok(Self { mixture, law, beside: None, profile: None, undetermined: None, report: None })
    }

    fn from_mixture(fitted: FittedMixture) -> Result<Self> {
        let report = Some(fitted.report());
        Ok(Self { report, ..Self::new(fitted.mixture)? })
    }

    /// A line and the density of true features as one component of both.
    fn from_line(fit: LineFit) -> Result<Self> {
        let (d, t, mean) = (fit.mixture.n_features(), fit.mixture.covariance(0), fit.mixture.mean(0));
        let (intercept, coef) = (fit.law[0], &fit.law[1..]);
        let element = |a: usize, b: usize| t[packed_index(a, b)];
        let crossed: Vec<f64> = (0..d).map(|a| (0..d).map(|b| element(a, b) * coef[b]).sum()).collect();
        let along = |a: &[f64]| a.iter().zip(coef).map(|(a, b)| a * b).sum::<f64>();
        let explained = along(&crossed);
        let variance = explained + fit.scatter.powi(2).max(TRIFLE * explained).max(f64::MIN_POSITIVE);
        let means = [mean, &[intercept + along(mean)]].concat();
        let covariances = [&t[..packed_len(d)], &crossed, &[variance]].concat();
        let mixture = Mixture::from_packed(vec![1.0], means, covariances, d + 1)?;
        let mut report = fit.report.clone();
        report.n_iter += fit.n_iter;
        if fit.status != crate::solver::Status::Converged {
            report.status = fit.status;
        }
        Ok(Self {
            mixture,
            law: Some(Law::from_line(&fit)),
            profile: (!fit.profile.is_empty()).then(|| fit.profile.clone()),
            undetermined: fit.undetermined.clone(),
            report: Some(report),
            beside: Some(Beside::from_line(fit)),
        })
    }

    /// Number of features, without the target.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.mixture.n_features() - 1
    }

    /// The density of every row's true target, given its errors and gaps.
    ///
    /// # Errors
    /// Another number of features, [`Error::Interrupted`].
    pub fn densities<'a>(&self, rows: impl Into<Incomplete<'a>>, control: &Control) -> Result<Densities> {
        self.scaled(rows.into(), |rows| match &self.law {
            Some(law) => {
                // Of the line itself: what a mixture holds has lost a scatter that is small beside what features explain.
                let truths = Truths::passing(rows, &conditional::feature_marginal(&self.mixture)?, control)?;
                predictors(&truths, law.intercept, &law.coef, law.scatter.powi(2))
            }
            None => conditional::densities(&self.mixture, rows, control),
        })
    }

    /// Factors of the fit for the error bars of rows.
    fn scaled<T>(&self, rows: Incomplete<'_>, say: impl FnOnce(Incomplete<'_>) -> Result<T>) -> Result<T> {
        let factors = self.beside.as_ref().map_or(&[][..], |beside| &beside.feature_error_scale);
        read_with(rows, factors, say)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Covariances, GaussianArray, Rows};
    use crate::state::Parameters as _;
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

    fn fitted(data: &GaussianArray, targets: &Targets) -> Model {
        fit(&Params::new().check().unwrap(), data, targets, &SharedErrors::default(), &Control::new()).unwrap()
    }

    #[test]
    fn equal_noise_is_taken_off_the_moments() {
        let (data, targets) = problem();
        let model = fitted(&data, &targets);
        let x: Vec<f64> = (0..N).map(|i| data.means().at(i, 0)).collect();
        let (xx, xy, yy) = moments(&x, targets.values());
        let law = model.law().unwrap();
        let slope = (xy - 0.05) / (xx - 0.25);
        // But for the degrees of freedom, terms of 1/n.
        assert!((law.coef[0] / slope - 1.0).abs() < 1.0 / N as f64);
        // The residual variance of the reading of y given that of x, over n - 2.
        let scatter = (yy - xy * xy / xx) * N as f64 / (N - 2) as f64 - (yy - xy * xy / xx);
        let without = yy - 0.04 - slope * (xy - 0.05);
        assert!((0.0..2.0 * scatter).contains(&(law.scatter.powi(2) - without)));
        assert!(law.errors.as_ref().unwrap().scatter.is_some());
        assert!(model.report().unwrap().history.windows(2).all(|h| h[1] >= h[0]));
        assert!(model.mixture().n_components() == 1);
    }

    #[test]
    fn predictions_shrink_readings_first() {
        let (data, targets) = problem();
        let model = fitted(&data, &targets);
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
        let params = Params::new().check().unwrap();
        let refused = fit(&params, &data, &targets, &SharedErrors::default(), &Control::new());
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("X, y_std and xy_cov") && refused.contains("row 0"), "{refused}");
        let (_, targets) = problem();
        assert!(targets.clone().with_feature_covariances(vec![0.0; 3], 1).is_err());
        let bad = targets.with_feature_covariances([vec![0.0; 5], vec![f64::NAN], vec![0.0; N - 6]].concat(), 1);
        assert!(bad.unwrap_err().to_string().contains("row 5"));
        assert!(Model::new(Mixture::from_packed(vec![1.0], vec![0.0], vec![1.0], 1).unwrap()).is_err());
    }
}
