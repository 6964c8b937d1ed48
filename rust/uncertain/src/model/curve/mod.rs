//! A curve between true values, y = f(z; theta) + scatter, from readings with errors in x and y.
//!
//! [`Truth::Structural`]: z has a density, that of the deconvolved readings ([`deconvolution`]), and the
//! likelihood of y given the reading x is integrated over it (R. J. Carroll, D. Ruppert, L. A. Stefanski, C. M. Crainiceanu,
//! Measurement Error in Nonlinear Models, 2006, chapter 8). [`Truth::Functional`]: every z is a parameter; that is
//! orthogonal distance regression, which is biased by the curvature f'' times the variance of the errors of x.
//!
//! Rows become `terms`, in which both truths are one problem: what is unknown is a standard normal v, of which a
//! functional fit takes the most likely value and a structural one the integral.

mod errors;
mod evaluate;
mod functional;
mod integral;
mod levenberg;
mod modes;
mod quadrature;
mod readings;
mod structural;
mod terms;

use crate::control::Control;
use crate::data::GaussianArray;
use crate::deconvolution::{self, Components, Mixture};
use crate::error::{Error, Result};
use crate::named::named;
use crate::number;
use crate::params::{check_at_least_one, params};
use crate::solver::Status;

use errors::{FirstStage, SINGULAR};
use evaluate::Evaluator;
use functional::Functional;
use levenberg::{Minimum, Objective, minimise, movable};
use modes::White;
use readings::Reading;
use structural::Structural;

pub use evaluate::Curve;
pub use readings::Outputs;

/// What the true values are.
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
/// The least variance of the scatter where nothing else keeps a row from counting without bounds, as a part of that of y.
const LEAST: f64 = 1e-10;

params! {
    /// Those of a fit.
    pub struct Params {
        /// What the true values are.
        truth: Truth = Truth::Structural,
        /// Is the intrinsic scatter fitted? Only of structural fits.
        scatter: bool = true,
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
        self.density().check().map(drop)
    }

    fn density(&self) -> deconvolution::Params {
        let params = deconvolution::Params::new().components(self.components).reg(self.reg).seed(self.seed);
        params.threads(self.threads).tol(1e-10).max_iter(5000)
    }
}

/// Where the parameters start, and where they may go.
#[derive(Debug, Clone, PartialEq)]
pub struct InitialParameters {
    /// p numbers.
    pub values: Vec<f64>,
    /// Bounds, p each, infinite where there are none.
    pub lower: Vec<f64>,
    /// See `lower`.
    pub upper: Vec<f64>,
    /// Which parameters stay as they are.
    pub fixed: Vec<bool>,
    /// For errors.
    pub names: Vec<String>,
}

impl InitialParameters {
    /// All parameters free, without bounds, called theta\[0\], theta\[1\], ...
    #[must_use]
    pub fn new(values: Vec<f64>) -> Self {
        let p = values.len();
        Self {
            lower: vec![f64::NEG_INFINITY; p],
            upper: vec![f64::INFINITY; p],
            fixed: vec![false; p],
            names: (0..p).map(|j| format!("theta[{j}]")).collect(),
            values,
        }
    }

    fn check(&self) -> Result<()> {
        let p = self.values.len();
        if p == 0 {
            return Err(Error::parameter("p0", "[]", "at least one number"));
        }
        if [self.lower.len(), self.upper.len(), self.fixed.len(), self.names.len()] != [p; 4] {
            return Err(Error::shape("bounds and fixed parameters", p, self.lower.len().min(self.upper.len())));
        }
        for j in 0..p {
            let (name, value, lower, upper) = (&self.names[j], self.values[j], self.lower[j], self.upper[j]);
            if !value.is_finite() {
                return Err(Error::parameter(format!("p0: {name}"), value, "a finite number"));
            }
            if !(lower < upper) {
                return Err(Error::parameter(
                    format!("bounds: {name}"),
                    format!("({lower}, {upper})"),
                    "lower < upper",
                ));
            }
            if !(lower <= value && value <= upper) {
                return Err(Error::parameter(
                    format!("p0: {name}"),
                    value,
                    format!("within its bounds, {lower} to {upper}"),
                ));
            }
        }
        Ok(())
    }

    fn free(&self) -> Vec<usize> {
        (0..self.values.len()).filter(|&j| !self.fixed[j]).collect()
    }
}

/// A fitted curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// theta, p numbers.
    pub parameters: Vec<f64>,
    /// p x p: 0 where fixed, NaN where a bound holds.
    pub covariance: Vec<f64>,
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
    /// Steps.
    pub n_iter: usize,
    /// How it ended.
    pub status: Status,
}

/// Fit a curve to readings of x and y.
///
/// ```
/// use uncertain::curve::{self, Outputs, Params, InitialParameters};
/// use uncertain::{Control, GaussianArray, Rows};
///
/// # fn main() -> uncertain::Result<()> {
/// let x = vec![0.0, 1.0, 2.0, 3.0, 4.0];
/// let y = x.iter().map(|x| 2.0 * f64::exp(-0.5 * x)).collect();
/// let rows = GaussianArray::points(Rows::from_vec(x, 1)?)?;
/// let outputs = Outputs { values: y, n_outputs: 1, ..Outputs::default() };
/// let decay = |x: &[f64], p: &[f64]| p[0] * f64::exp(-p[1] * x[0]);
/// let fit = curve::fit(&Params::new().check()?, &decay, &InitialParameters::new(vec![1.0, 1.0]), &rows, &outputs, &Control::new())?;
/// assert!((fit.parameters[0] - 2.0).abs() < 1e-6 && (fit.parameters[1] - 0.5).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Sizes that do not fit, a start outside its bounds, errors that are no covariance matrix together, more than three noisy
/// features in a row of a structural fit, a curve that is not defined at the start or at likely true values, parameters
/// that the data do not determine (with their names), and what the curve itself raises.
pub fn fit(
    params: &ValidParams,
    curve: &dyn Curve,
    start: &InitialParameters,
    data: &GaussianArray,
    outputs: &Outputs,
    control: &Control,
) -> Result<Fit> {
    let params = params.params();
    start.check()?;
    let readings = readings::readings(data, outputs)?;
    let mut evaluator = evaluator(curve, start, &readings, (data.n_features(), outputs.n_outputs), control);
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
        Truth::Structural => fit_structural(params, &evaluator, start, (data, &readings), outputs),
    }
}

fn evaluator<'a>(
    curve: &'a dyn Curve,
    start: &'a InitialParameters,
    readings: &[Reading],
    (d, q): (usize, usize),
    control: &'a Control,
) -> Evaluator<'a> {
    let n = readings.len() as f64;
    let scale = |j: usize| {
        let mean = readings.iter().map(|r| r.x[j]).sum::<f64>() / n;
        let std = (readings.iter().map(|r| (r.x[j] - mean).powi(2)).sum::<f64>() / n).sqrt();
        if std > 0.0 {
            std
        } else if mean != 0.0 {
            mean.abs()
        } else {
            1.0
        }
    };
    let scale = (0..d).map(scale).collect();
    Evaluator { curve, control, d, q, scale, typical: start.values.clone(), lower: &start.lower, upper: &start.upper }
}

/// The sizes of the parameters, where the curve is defined at all rows.
fn check_start(evaluator: &Evaluator<'_>, start: &InitialParameters, readings: &[Reading]) -> Result<Vec<f64>> {
    let x: Vec<f64> = readings.iter().flat_map(|reading| reading.x.iter().copied()).collect();
    let values = evaluator.values(&x, &start.values)?;
    match values.iter().position(|f| !f.is_finite()) {
        None => evaluator.sizes(&x, &start.values, &values),
        Some(at) => {
            let reading = &readings[at / evaluator.q];
            Err(Error::Data(format!(
                "curve: it returned {} for row {} (x = {:?}) at p0 = {:?}; it must be finite there",
                values[at], reading.number, reading.x, start.values
            )))
        }
    }
}

/// A fit by least squares of what is known at each row.
fn least_squares<'a>(
    params: &Params,
    evaluator: Evaluator<'a>,
    start: &InitialParameters,
    readings: &'a [Reading],
    terms: Vec<terms::Term>,
    variances: &[f64],
) -> Result<(Functional<'a>, Minimum<Vec<modes::Mode>>)> {
    let free = start.free();
    let white = readings.iter().map(|reading| White::new(reading, variances)).collect::<Result<_>>()?;
    let before = terms.iter().map(|term| vec![0.0; term.rank]).collect();
    let mut objective =
        Functional { evaluator, readings, terms, white, parameters: start.values.clone(), free, before };
    let (at, lower, upper) = restricted(start, &objective.free);
    let first = objective.value(&at)?.ok_or_else(|| Error::Internal("no value at the start".into()))?;
    let minimum = minimise(&mut objective, at, first, (&lower, &upper), params.max_iter)?;
    Ok((objective, minimum))
}

/// Start and bounds of the free parameters.
fn restricted(start: &InitialParameters, free: &[usize]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let pick = |values: &[f64]| free.iter().map(|&j| values[j]).collect();
    (pick(&start.values), pick(&start.lower), pick(&start.upper))
}

fn fit_functional(
    params: &Params,
    evaluator: Evaluator<'_>,
    start: &InitialParameters,
    readings: &[Reading],
    outputs: &Outputs,
) -> Result<Fit> {
    let q = outputs.n_outputs;
    let known = outputs.covariances.is_some();
    if let Some(noisy) = readings.iter().find(|reading| reading.rank > 0 && !known) {
        return Err(Error::Data(format!(
            "truth=\"functional\" weighs the errors of x (row {} has some) against those of y: give y_std, too",
            noisy.number
        )));
    }
    let terms = terms::functional(readings);
    let variances = vec![if known { 0.0 } else { 1.0 }; q];
    let (objective, minimum) = least_squares(params, evaluator, start, readings, terms, &variances)?;
    let (free, p) = (&objective.free, start.values.len());
    let (_, lower, upper) = restricted(start, free);
    let squares = 2.0 * minimum.value;
    let degrees = readings.len() * q - free.len();
    let residual_variance = if degrees > 0 { squares / degrees as f64 } else { f64::NAN };
    let some = movable(&minimum.at, &minimum.derivatives.gradient, &lower, &upper);
    let own: Vec<String> = free.iter().map(|&j| start.names[j].clone()).collect();
    let bread = errors::inverse(&minimum.derivatives.hessian, &some, &own, SINGULAR[0])?;
    let covariance = if outputs.groups.is_some() {
        let rows: Vec<Vec<f64>> =
            objective.rows(&minimum.at, &minimum.state)?.into_iter().map(|(gradient, _)| gradient).collect();
        errors::sandwich(&bread, &rows, readings)
    } else {
        bread.iter().map(|c| c * if known { 1.0 } else { residual_variance }).collect()
    };
    let log_roots: f64 = objective.white.iter().zip(readings).map(|(w, r)| r.weight * w.log_root).sum();
    let total: f64 = readings.iter().map(|reading| reading.weight).sum::<f64>() * q as f64;
    // Without y_std the variance of y is the one that is most likely.
    let scale = squares / total;
    let loglikelihood = if known { -minimum.value - log_roots } else { -log_roots - 0.5 * total * (scale.ln() + 1.0) };
    Ok(Fit {
        parameters: objective.all(&minimum.at),
        covariance: spread_out(&covariance, free, &some, p),
        scatter: vec![0.0; q],
        scatter_std: vec![f64::NAN; q],
        loglikelihood,
        residual_variance: Some(residual_variance),
        degrees: (!known && degrees > 0).then_some(degrees),
        mixture: None,
        integration_error: 0.0,
        n_iter: minimum.n_iter,
        status: minimum.status,
    })
}

/// The covariance of all parameters from that of the free ones: 0 where fixed, NaN where a bound holds.
fn spread_out(covariance: &[f64], free: &[usize], some: &[usize], p: usize) -> Vec<f64> {
    let width = (covariance.len() as f64).sqrt() as usize;
    let mut out = vec![0.0; p * p];
    for (a, &i) in free.iter().enumerate() {
        for (b, &j) in free.iter().enumerate() {
            let held = !some.contains(&a) || !some.contains(&b);
            out[i * p + j] = if held { f64::NAN } else { covariance[a * width + b] };
        }
    }
    out
}

fn fit_structural(
    params: &Params,
    evaluator: &Evaluator<'_>,
    start: &InitialParameters,
    (data, readings): (&GaussianArray, &[Reading]),
    outputs: &Outputs,
) -> Result<Fit> {
    let (q, p, n) = (outputs.n_outputs, start.values.len(), readings.len());
    if let Some(reading) = readings.iter().find(|reading| reading.rank > MOST_NOISY) {
        return Err(Error::Data(format!(
            "row {} has {} features with errors, and a curve can be integrated over {MOST_NOISY} at most: call others exact, or \
             take truth=\"functional\"",
            reading.number, reading.rank
        )));
    }
    let noisy = readings.iter().any(|reading| reading.rank > 0);
    let mixture = noisy
        .then(|| {
            let fitted =
                params.density().check()?.fit_rows(data.into(), outputs.weights.as_ref(), false, evaluator.control)?;
            Ok::<_, Error>(fitted.mixture)
        })
        .transpose()?;
    let terms = match &mixture {
        Some(mixture) => terms::structural(readings, mixture)?.0,
        None => terms::functional(readings),
    };
    let free = start.free();
    let total: f64 = readings.iter().map(|reading| reading.weight).sum();
    let weights: Vec<f64> = readings.iter().map(|reading| reading.weight * n as f64 / total).collect();
    let (naive, residual) = naive(params, evaluator, start, readings)?;
    let fixed_start = InitialParameters { values: naive, ..start.clone() };
    let (mut at, mut lower, mut upper) = restricted(&fixed_start, &free);
    if params.scatter {
        for o in 0..q {
            let mean = (0..n).map(|i| weights[i] * readings[i].y[o]).sum::<f64>() / n as f64;
            let variance = (0..n).map(|i| weights[i] * (readings[i].y[o] - mean).powi(2)).sum::<f64>() / n as f64;
            let known = readings.iter().map(|reading| reading.rest[o * q + o]).fold(f64::INFINITY, f64::min);
            // Without a floor a row without error would count without bounds.
            let floor = LEAST * variance;
            lower.push(if known > floor { 0.0 } else { floor.max(f64::MIN_POSITIVE) });
            upper.push(f64::INFINITY);
            let mean_known = readings.iter().map(|reading| reading.rest[o * q + o]).sum::<f64>() / n as f64;
            at.push((residual[o] - mean_known).max(0.1 * residual[o]).max(lower[free.len() + o]));
        }
    }
    let mut objective = Structural {
        evaluator,
        readings,
        terms: &terms,
        parameters: &start.values,
        free: &free,
        scatter: params.scatter,
        weights: &weights,
        spread: vec![0.0; n * q],
    };
    objective.spread = objective.spread(&fixed_start.values)?;
    let mut n_iter = 0;
    let mut minimum;
    // Once more with the variances that x leaves at the solution.
    let mut round = 0;
    loop {
        let undefined = || {
            Error::Data(format!(
                "curve: the likelihood is not finite at the start, parameters {:?}; choose another p0",
                fixed_start.values
            ))
        };
        let first = objective.value(&at)?.ok_or_else(undefined)?;
        minimum = minimise(&mut objective, at, first, (&lower, &upper), params.max_iter)?;
        n_iter += minimum.n_iter;
        at = minimum.at.clone();
        round += 1;
        let spread = objective.spread(&objective.split(&at).0)?;
        let moved = spread.iter().zip(&objective.spread).any(|(new, old)| (new - old).abs() > 1e-6 * (new + old));
        if !params.scatter || !noisy || !moved || round == 4 {
            break;
        }
        objective.spread = spread;
    }
    let some = movable(&at, &minimum.derivatives.gradient, &lower, &upper);
    let width = objective.width();
    let names: Vec<String> = free
        .iter()
        .map(|&j| start.names[j].clone())
        .chain((0..width - free.len()).map(|o| format!("the squared scatter of output {o}")))
        .collect();
    let unknown = || Error::Data("the curve is not defined near the solution; set bounds= there".into());
    // At a bound the other side is not looked at.
    let information = errors::information(&objective, &at, &minimum.derivatives.diagonal, (&lower, &upper))?;
    let mut covariance = errors::inverse(&information.ok_or_else(unknown)?, &some, &names, SINGULAR[1])?;
    let unequal = readings.iter().any(|reading| reading.weight != readings[0].weight);
    let first_stage = mixture.as_ref().map(|mixture| FirstStage::new(&objective, mixture, &at)).transpose()?.flatten();
    if outputs.groups.is_some() || unequal {
        let scores = &minimum.state.scores;
        let mut rows: Vec<Vec<f64>> =
            (0..n).map(|i| scores[i * width..(i + 1) * width].iter().map(|s| s * weights[i]).collect()).collect();
        first_stage.iter().for_each(|stage| stage.add_to(&mut rows, &weights));
        covariance = errors::sandwich(&covariance, &rows, readings);
    } else if let Some(stage) = first_stage {
        let spread = stage.spread(width);
        let product = |a: &[f64], b: &[f64]| -> Vec<f64> {
            let element = |at: usize| (0..width).map(|k| a[at / width * width + k] * b[k * width + at % width]).sum();
            (0..width * width).map(element).collect()
        };
        let added = product(&product(&covariance, &spread), &covariance);
        covariance.iter_mut().zip(added).for_each(|(c, added)| *c += added);
    }
    let (parameters, variances) = objective.split(&at);
    let (mut scatter, mut scatter_std) = (vec![0.0; q], vec![f64::NAN; q]);
    for o in (0..q).filter(|_| params.scatter) {
        let place = free.len() + o;
        if variances[o] > lower[place] {
            scatter[o] = variances[o].sqrt();
            scatter_std[o] = covariance[place * width + place].sqrt() / (2.0 * scatter[o]);
        }
    }
    Ok(Fit {
        parameters,
        covariance: spread_out(&covariance, &free, &some, p),
        scatter,
        scatter_std,
        loglikelihood: minimum.state.loglikelihood,
        residual_variance: None,
        degrees: None,
        mixture,
        integration_error: minimum.state.disagreement,
        n_iter,
        status: minimum.status,
    })
}

/// Least squares on the readings as if x were exact and all y equally good: its parameters, and the variance about it.
fn naive(
    params: &Params,
    evaluator: &Evaluator<'_>,
    start: &InitialParameters,
    readings: &[Reading],
) -> Result<(Vec<f64>, Vec<f64>)> {
    let q = evaluator.q;
    let points: Vec<Reading> = readings
        .iter()
        .map(|reading| Reading {
            number: reading.number,
            x: reading.x.clone(),
            y: reading.y.clone(),
            root: vec![],
            crossed: vec![],
            rest: vec![0.0; q * q],
            rank: 0,
            weight: reading.weight,
            group: None,
        })
        .collect();
    let copy = Evaluator { scale: evaluator.scale.clone(), typical: evaluator.typical.clone(), ..*evaluator };
    let terms = terms::functional(&points);
    let (objective, minimum) = least_squares(params, copy, start, &points, terms, &vec![1.0; q])?;
    if minimum.status == Status::Converged {
        // What least squares cannot tell apart, the likelihood would follow to infinity.
        let (_, lower, upper) = restricted(start, &objective.free);
        let some = movable(&minimum.at, &minimum.derivatives.gradient, &lower, &upper);
        let names: Vec<String> = objective.free.iter().map(|&j| start.names[j].clone()).collect();
        errors::inverse(&minimum.derivatives.hessian, &some, &names, SINGULAR[0])?;
    }
    let n = readings.len() as f64;
    let variance = |o: usize| minimum.state.iter().map(|mode| mode.residual[o].powi(2)).sum::<f64>() / n;
    Ok((objective.all(&minimum.at), (0..q).map(variance).collect()))
}

/// Mean and standard deviation (n x q each) of f(z; theta), as far as the reading of x tells: of a structural fit under the
/// density of true values, else of the readings with their errors as they are.
///
/// # Errors
/// Another number of features than the density's, more than three noisy ones in a row, a curve that is not defined.
pub fn moments(
    curve: &dyn Curve,
    parameters: &[f64],
    n_outputs: usize,
    data: &GaussianArray,
    mixture: Option<&Mixture>,
    control: &Control,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let outputs = Outputs { values: vec![0.0; data.n_rows() * n_outputs], n_outputs, ..Outputs::default() };
    let start = InitialParameters::new(parameters.to_vec());
    let readings = readings::readings(data, &outputs)?;
    if let Some(mixture) = mixture {
        data.check_features(mixture.n_features())?;
    }
    if let Some(reading) = readings.iter().find(|reading| reading.rank > MOST_NOISY && mixture.is_some()) {
        return Err(Error::Data(format!(
            "row {} has {} features with errors; a curve can be integrated over {MOST_NOISY} at most",
            reading.number, reading.rank
        )));
    }
    let evaluator = evaluator(curve, &start, &readings, (data.n_features(), n_outputs), control);
    match mixture {
        Some(mixture) => {
            integral::moments(&evaluator, &terms::structural(&readings, mixture)?.0, readings.len(), parameters)
        }
        None => integral::straight(&evaluator, &terms::functional(&readings), readings.len(), parameters),
    }
}
