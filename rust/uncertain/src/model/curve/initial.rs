//! [`InitialParameters`]: where a fit starts, and what it may change.

use crate::control::Control;
use crate::error::{Error, Result};

use super::evaluate::{Curve, Evaluator};
use super::readings::Reading;

/// Where the parameters start, and where they may go.
#[derive(Debug, Clone, PartialEq)]
pub struct InitialParameters {
    /// p numbers.
    pub values: Vec<f64>,
    /// Bounds, p each, infinite where there are none.
    pub lower: Vec<f64>,
    /// Upper bounds, p.
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

    pub(super) fn check(&self) -> Result<()> {
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

    pub(super) fn free(&self) -> Vec<usize> {
        (0..self.values.len()).filter(|&j| !self.fixed[j]).collect()
    }

    /// Values and bounds of the free parameters.
    pub(super) fn restricted(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let free = self.free();
        let pick = |values: &[f64]| free.iter().map(|&j| values[j]).collect();
        (pick(&self.values), pick(&self.lower), pick(&self.upper))
    }

    pub(super) fn free_names(&self) -> Vec<String> {
        self.free().iter().map(|&j| self.names[j].clone()).collect()
    }
}

/// The curve with the scales of these readings.
pub(super) fn evaluator<'a>(
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
    Evaluator {
        curve,
        control,
        d,
        q,
        modes: 0,
        scale,
        typical: start.values.clone(),
        lower: &start.lower,
        upper: &start.upper,
    }
}

/// The sizes of the parameters, where the curve is defined at all rows.
pub(super) fn check_start(
    evaluator: &Evaluator<'_>,
    start: &InitialParameters,
    readings: &[Reading],
) -> Result<Vec<f64>> {
    let x: Vec<f64> = readings.iter().flat_map(|reading| reading.x.iter().copied()).collect();
    let values = evaluator.values(&x, &start.values)?;
    let finite = |what: &str, numbers: &[f64]| match numbers.iter().position(|f| !f.is_finite()) {
        None => Ok(()),
        Some(at) => {
            let reading = &readings[at * readings.len() / numbers.len()];
            Err(Error::Data(format!(
                "{what} it returned {} for row {} (x = {:?}) at p0 = {:?}; it must be finite there",
                numbers[at], reading.number, reading.x, start.values
            )))
        }
    };
    finite("curve:", &values)?;
    let by_parameters = evaluator.own_by_parameters(&x, &start.values)?;
    by_parameters.map_or(Ok(()), |own| finite("jac: derivatives by the parameters:", &own))?;
    evaluator.by_x(&x, &start.values)?.map_or(Ok(()), |own| finite("jac: derivatives by x:", &own))?;
    evaluator.sizes(&x, &start.values, &values)
}
