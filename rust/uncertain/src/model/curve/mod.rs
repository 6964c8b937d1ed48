//! A curve between true values, y = f(z; theta) + scatter, from readings with errors in x and y.
//!
//! [`Truth::Structural`]: z has a density, that of the deconvolved readings ([`deconvolution`]), and the
//! likelihood of y given the reading x is integrated over it (R. J. Carroll, D. Ruppert, L. A. Stefanski, C. M. Crainiceanu,
//! Measurement Error in Nonlinear Models, 2006, chapter 8). [`Truth::Functional`]: every z is a parameter; that is
//! orthogonal distance regression, which is biased by the curvature f'' times the variance of the errors of x.
//!
//! Rows become `terms`, in which both truths are one problem: what is unknown is a standard normal v, of which a
//! functional fit takes the most likely value and a structural one the integral.

mod density_scores;
mod errors;
mod evaluate;
mod functional;
mod initial;
mod integral;
mod least_squares;
mod likelihood;
mod modes;
mod moments;
mod quadrature;
mod readings;
mod shared;
mod structural;
mod terms;

use crate::control::Control;
use crate::data::Incomplete;
use crate::deconvolution::{self, Components, Mixture};
use crate::error::{Error, Result};
use crate::model::error_scale::{check_features, check_target, read_with};
use crate::model::noise::Noise;
use crate::named::named;
use crate::number;
use crate::params::{check_at_least_one, check_positive, params};
use crate::solver::Status;

use initial::{check_start, evaluator};
use least_squares::fit_functional;
use likelihood::fit_structural;

pub use crate::model::error_scale::ErrorScale;
pub use crate::model::noise::Outliers;
pub use evaluate::Curve;
pub use initial::InitialParameters;
pub use readings::Outputs;

/// Model of the true values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Truth {
    /// Draws from a density that is estimated, too; the likelihood is integrated over them.
    #[default]
    Structural,
    /// Parameters, one set per row: orthogonal distance regression.
    Functional,
}

named!(Truth, "truth");

/// So many noisy features of a row can be integrated over.
const MOST_NOISY: usize = 3;

params! {
    /// Parameters of a fit.
    pub struct Params {
        /// Model of the true values.
        truth: Truth = Truth::Structural,
        /// Is the intrinsic scatter fitted? Only of structural fits.
        scatter: bool = true,
        /// Outliers among readings of y; only of structural fits.
        outliers: Option<Outliers> = None,
        /// Degrees of freedom of Student's distribution, where they are known; >= 1.
        #[serde(with = "number::option")]
        degrees_of_freedom: Option<f64> = None,
        /// Which error bars are right up to a factor only? Only of structural fits.
        error_scale: Option<ErrorScale> = None,
        /// Half the width of intervals by the profile of the likelihood, in standard errors, > 0; `None`: none.
        #[serde(with = "number::option")]
        profile: Option<f64> = None,
        /// Components of the density of true values.
        #[serde(rename = "n_components")]
        components: Components = Components::Fixed(1),
        /// The density's variances are at least this part of the features' scale, in (0, 1).
        #[serde(rename = "reg_covar", with = "number")]
        reg: f64 = 1e-6,
        /// Steps at most, >= 1.
        max_iter: usize = 200,
        /// Seed of the density.
        seed: u64 = 0,
    }
}

impl Params {
    fn ranges(&self) -> Result<()> {
        check_at_least_one("max_iter", self.max_iter)?;
        check_positive("profile", self.profile.unwrap_or(1.0))?;
        Noise::new(self.outliers, self.degrees_of_freedom)?;
        if let (Truth::Functional, Some(outliers)) = (self.truth, self.outliers) {
            let why = "None where truth=\"functional\": least squares has no law of the noise that outliers could depart from";
            return Err(Error::parameter("outliers", format!("{:?}", outliers.name()), why));
        }
        if let Some(scale) = self.error_scale {
            if self.truth == Truth::Functional {
                let why = "None where truth=\"functional\": its residual variance is the square of one factor of all error bars";
                return Err(Error::parameter("error_scale", format!("{:?}", scale.name()), why));
            }
            if scale.scales_features() && self.components != Components::Fixed(1) {
                let why = "1 where error_scale= of features is given: a spread of true values tells factors only if it is one";
                return Err(Error::parameter("n_components", self.components, why));
            }
        }
        self.density().check().map(drop)
    }

    fn density(&self) -> deconvolution::Params {
        let params = deconvolution::Params::new().components(self.components).reg(self.reg).seed(self.seed);
        params.tol(1e-10).max_iter(5000)
    }
}

/// A fitted curve.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveFit {
    /// theta, p numbers.
    pub parameters: Vec<f64>,
    /// p x p: 0 where fixed, NaN where a bound holds.
    pub covariance: Vec<f64>,
    /// Ends of the parameters' intervals by the profile, p x 2, infinite where there is none; empty where not asked for.
    pub profile: Vec<f64>,
    /// sigma, one per output; of a functional fit 0.
    pub scatter: Vec<f64>,
    /// Its standard error, NaN at 0.
    pub scatter_std: Vec<f64>,
    /// Of y given the readings x (structural); minus half the sum of squares, with its constants (functional).
    pub loglikelihood: f64,
    /// The sum of squares over n - p (functional).
    pub residual_variance: Option<f64>,
    /// n - p, where the errors of y were estimated from the residuals (functional).
    pub degrees: Option<usize>,
    /// The density of true values (structural, where x has errors).
    pub mixture: Option<Mixture>,
    /// The largest difference of two rules of integration in a row's log-likelihood.
    pub integration_error: f64,
    /// Degrees of freedom, or share and width of bad data (of the first output), with standard errors; NaN where not known.
    pub noise: Vec<(f64, f64)>,
    /// The factor of the errors of y, and its standard error (NaN at a bound), where it was asked for.
    pub error_scale: Option<(f64, f64)>,
    /// Factor of the errors of every feature, and its standard error; empty where it was not asked for.
    pub feature_error_scale: Vec<(f64, f64)>,
    /// Errors that rows share, a, k numbers.
    pub modes: Vec<f64>,
    /// Covariance of `modes`, k x k.
    pub modes_covariance: Vec<f64>,
    /// P(outlier | y, x) of every row of the table; empty without a law of outliers.
    pub outlier_probability: Vec<f64>,
    /// Steps.
    pub n_iter: usize,
    /// How it ended.
    pub status: Status,
}

/// Fit a curve to readings of x and y.
///
/// ```
/// use uncertain::Control;
/// use uncertain::curve::{self, InitialParameters, Outputs, Params};
/// use uncertain::ndarray::arr1;
/// use uncertain::prelude::*;
///
/// # fn main() -> Result<()> {
/// let x = arr1(&[0.0, 1.0, 2.0, 3.0, 4.0]);
/// let values = x.iter().map(|x| 2.0 * f64::exp(-0.5 * x)).collect();
/// let outputs = Outputs { values, n_outputs: 1, ..Outputs::default() };
/// let decay = |x: &[f64], p: &[f64]| p[0] * f64::exp(-p[1] * x[0]);
/// let (rows, start) = (GaussianArray::exact(x)?, InitialParameters::new(vec![1.0, 1.0]));
/// let fit = curve::fit(&Params::new().check()?, &decay, &start, &rows, &outputs, &Control::new())?;
/// assert!((fit.parameters[0] - 2.0).abs() < 1e-6 && (fit.parameters[1] - 0.5).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Sizes that do not fit, a start outside its bounds, errors that are no covariance matrix together, missing features, more
/// than three noisy ones in a row of a structural fit, rows that are mixtures in a functional one, a curve that is not defined at the start or at likely true values, parameters
/// that the data do not determine (with their names), and what the curve itself raises.
pub fn fit<'a>(
    params: &ValidParams,
    curve: &dyn Curve,
    start: &InitialParameters,
    rows: impl Into<Incomplete<'a>>,
    outputs: &Outputs,
    control: &Control,
) -> Result<CurveFit> {
    let (params, rows) = (params.params(), rows.into());
    let fitted = |start: &InitialParameters, control: &Control| fit_from(params, curve, start, rows, outputs, control);
    let mut best = fitted(start, control)?;
    if let Some(z) = params.profile {
        best.profile = errors::profile(&best, start, z, |start| fitted(start, &control.quiet()))?;
    }
    Ok(best)
}

fn fit_from(
    params: &Params,
    curve: &dyn Curve,
    start: &InitialParameters,
    rows: Incomplete<'_>,
    outputs: &Outputs,
    control: &Control,
) -> Result<CurveFit> {
    start.check()?;
    if params.truth == Truth::Functional && rows.mixtures().is_some() {
        return Err(Error::Data(
            "truth=\"functional\" takes no rows that are mixtures of several Gaussians, whose errors have no square: take \
             truth=\"structural\", or collapse(\"gaussian\") the rows"
                .into(),
        ));
    }
    if let Some(scale) = params.error_scale {
        check_scale(scale, params.scatter, rows, outputs)?;
    }
    let (d, k) = (rows.gaussians().n_features(), outputs.modes.k);
    shared::check(&outputs.modes, rows.n_rows(), d, outputs.n_outputs, params.truth == Truth::Functional)?;
    let mut readings = readings::readings(rows, outputs)?;
    shared::extend(&mut readings, &outputs.modes);
    let (with_modes, extended) = (shared::WithModes { curve, k }, start.with_modes(k));
    let (curve, start): (&dyn Curve, _) = if k > 0 { (&with_modes, &extended) } else { (curve, start) };
    let mut evaluator = evaluator(curve, start, &readings, (d + k, outputs.n_outputs), control);
    evaluator.modes = k;
    evaluator.typical = check_start(&evaluator, start, &readings)?;
    let (free, numbers) = (start.free(), readings.len() * outputs.n_outputs);
    if numbers < free.len() {
        return Err(Error::Data(format!(
            "{numbers} samples of y do not determine {} parameters; fix some (fixed=), or give more rows",
            free.len()
        )));
    }
    match params.truth {
        Truth::Functional => fit_functional(params, evaluator, start, &readings, outputs),
        Truth::Structural => fit_structural(params, &evaluator, start, (rows, readings), outputs),
    }
}

/// Do the rows tell these factors?
fn check_scale(scale: ErrorScale, scatter: bool, rows: Incomplete<'_>, outputs: &Outputs) -> Result<()> {
    if outputs.crossed.is_some() {
        let why = "error_scale= is not for errors of features that go with those of the target (xy_cov=)";
        return Err(Error::Data(why.into()));
    }
    let q = outputs.n_outputs;
    let counts = |i: &usize| outputs.weights.as_ref().is_none_or(|weights| weights[*i] > 0.0);
    if scale.scales_target() {
        // One output with errors of different sizes is enough.
        let output = |o: usize| {
            let of = |c: &'_ Vec<f64>| -> Vec<f64> {
                (0..rows.n_rows()).filter(counts).map(|i| c[(i * q + o) * q + o]).collect()
            };
            check_target(outputs.covariances.as_ref().map(of).map(Vec::into_iter), scatter)
        };
        let checks: Vec<Result<()>> = (0..q).map(output).collect();
        if checks.iter().all(Result::is_err) {
            return checks.into_iter().next().unwrap_or(Ok(()));
        }
    }
    if scale.scales_features() {
        check_features(rows, |i| outputs.weights.as_ref().map_or(1.0, |weights| weights[i]))?;
    }
    Ok(())
}

/// Mean and standard deviation (n x q each) of f(z; theta), as far as the reading of x tells: of a structural fit under the
/// density of true values, else of the readings with their errors as they are, or times their `factors` where there are some.
///
/// # Errors
/// Another number of features than the density's, more than three noisy ones in a row, a curve that is not defined.
pub fn moments<'a>(
    curve: &dyn Curve,
    parameters: &[f64],
    n_outputs: usize,
    rows: impl Into<Incomplete<'a>>,
    mixture: Option<&Mixture>,
    factors: &[f64],
    control: &Control,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let say = |rows: Incomplete<'_>| moments_of_rows(curve, parameters, n_outputs, rows, mixture, control);
    read_with(rows.into(), factors, say)
}

fn moments_of_rows(
    curve: &dyn Curve,
    parameters: &[f64],
    n_outputs: usize,
    rows: Incomplete<'_>,
    mixture: Option<&Mixture>,
    control: &Control,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let data = rows.gaussians();
    let outputs = Outputs { values: vec![0.0; rows.n_rows() * n_outputs], n_outputs, ..Outputs::default() };
    let start = InitialParameters::new(parameters.to_vec());
    let readings = readings::readings(rows, &outputs)?;
    if let Some(mixture) = mixture {
        data.check_features(mixture.n_features())?;
    }
    if let Some(reading) = readings.iter().find(|reading| reading.noisy() > MOST_NOISY && mixture.is_some()) {
        return Err(Error::Data(format!(
            "row {} has {} features with errors; a curve can be integrated over {MOST_NOISY} at most",
            reading.number,
            reading.noisy()
        )));
    }
    let evaluator = evaluator(curve, &start, &readings, (data.n_features(), n_outputs), control);
    match mixture {
        Some(mixture) => {
            moments::over_terms(&evaluator, &terms::structural(&readings, mixture)?, readings.len(), parameters)
        }
        None => moments::straight(&evaluator, &terms::functional(&readings), readings.len(), parameters),
    }
}
