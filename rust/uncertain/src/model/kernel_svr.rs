//! Kernel support vector regression: epsilon-SVR on any kernel matrix.
//!
//! ```text
//! min  1/2 |w|^2 + sum_i C c_i max(0, |t_i - w'phi(x_i) - b| - epsilon),   c_i = weight of row i
//! ```
//! As in [`kernel_svc`](crate::kernel_svc), weights scale C, and the model knows its support rows by
//! their numbers only.

use ndarray::{Array1, ArrayView2};

use crate::control::Control;
use crate::error::{Error, Result};
use crate::gsu::FitReport;
use crate::solver::smo::{self, KernelRows, Options, Problem, Subset};

/// Parameters as the caller wishes them; [`check`](Self::check) makes them usable.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Params {
    /// Price of the loss.
    pub c: f64,
    /// Half the width of the tube without loss.
    pub epsilon: f64,
    /// What the solver is told.
    pub options: Options,
}

impl Default for Params {
    fn default() -> Self {
        Self { c: 1.0, epsilon: 0.1, options: Options::default() }
    }
}

impl Params {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Price of the loss, > 0 (default 1).
    pub fn c(self, c: f64) -> Self {
        Self { c, ..self }
    }

    /// Half the width of the tube without loss, >= 0 (default 0.1).
    pub fn epsilon(self, epsilon: f64) -> Self {
        Self { epsilon, ..self }
    }

    /// What the solver is told (default: [`Options::default`]).
    pub fn options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// Parameters that can fit, or the first one that is out of range.
    pub fn check(self) -> Result<ValidParams> {
        if !(self.c > 0.0 && self.c.is_finite()) {
            return Err(Error::parameter("C", self.c, "a finite number > 0"));
        }
        if !(self.epsilon >= 0.0 && self.epsilon.is_finite()) {
            return Err(Error::parameter("epsilon", self.epsilon, "a finite number >= 0"));
        }
        self.options.check()?;
        Ok(ValidParams(self))
    }
}

/// Parameters that have passed [`Params::check`].
#[derive(Debug, Clone, PartialEq)]
pub struct ValidParams(Params);

impl ValidParams {
    /// The parameters, to look at or to change.
    pub fn params(&self) -> &Params {
        &self.0
    }

    /// Fit a model on the kernel matrix of the rows; weights are >= 0 and not all zero.
    ///
    /// # Errors
    /// Sizes that do not fit, targets or weights out of range, those of `kernel`, [`Error::Interrupted`].
    pub fn fit(
        &self,
        kernel: &dyn KernelRows,
        targets: &[f64],
        weights: Option<&[f64]>,
        control: &Control,
    ) -> Result<Model> {
        let n = kernel.n_rows();
        for (what, got) in [("targets", targets.len()), ("sample_weight", weights.map_or(n, <[f64]>::len))] {
            if got != n {
                return Err(Error::shape(what, format!("{n}, one per row"), got));
            }
        }
        if let Some((row, w)) = (0..n).zip(weights.unwrap_or_default()).find(|(_, w)| !(w.is_finite() && **w >= 0.0)) {
            return Err(Error::Data(format!("sample_weight: row {row} is {w}; weights must be finite and >= 0")));
        }
        let weight = |row: u32| weights.map_or(1.0, |w| w[row as usize]);
        let rows: Vec<u32> = (0..n as u32).filter(|&row| weight(row) > 0.0).collect();
        if rows.is_empty() {
            return Err(Error::Data("there are no rows (of positive weight) to fit".into()));
        }
        let of_rows: Vec<f64> = rows.iter().map(|&row| targets[row as usize]).collect();
        let upper: Vec<f64> = rows.iter().map(|&row| self.0.c * weight(row)).collect();
        let lower: Vec<f64> = upper.iter().map(|c| -c).collect();
        let problem = Problem { targets: &of_rows, epsilon: self.0.epsilon, lower: &lower, upper: &upper };
        let solution = if rows.len() == n {
            smo::solve(kernel, &problem, &self.0.options, control)?
        } else {
            smo::solve(&Subset::new(kernel, rows.clone())?, &problem, &self.0.options, control)?
        };
        let smo::Solution { coef, intercept, objective, gap, iterations, status, .. } = solution;
        let (support, dual_coef) = rows.into_iter().zip(coef).filter(|(_, coef)| *coef != 0.0).unzip();
        Ok(Model { support, dual_coef, intercept, fit: FitReport { objective, gap, n_iter: iterations, status } })
    }
}

/// A fitted kernel regression.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Model {
    /// Numbers of the support rows among the fitted rows, ascending.
    pub support: Vec<u32>,
    /// Their signed coefficients.
    pub dual_coef: Vec<f64>,
    /// The intercept.
    pub intercept: f64,
    /// How the solver ended.
    pub fit: FitReport,
}

impl Model {
    /// Predictions from the kernel between new rows and the support rows, n x (number of support rows).
    ///
    /// # Errors
    /// A number of columns other than that of support rows.
    pub fn predict(&self, kernel: ArrayView2<'_, f64>) -> Result<Vec<f64>> {
        if kernel.ncols() != self.support.len() {
            let expected = format!("{} columns, one per support row", self.support.len());
            return Err(Error::shape("kernel", expected, kernel.ncols()));
        }
        let coef = Array1::from_vec(self.dual_coef.clone());
        Ok(kernel.dot(&coef).iter().map(|score| score + self.intercept).collect())
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::solver::Status;
    use crate::solver::smo::Dense;
    use crate::testing::Numbers;

    fn line(n: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let mut numbers = Numbers::new(1);
        let x: Vec<f64> = (0..n).map(|i| 6.0 * i as f64 / n as f64).collect();
        let targets = x.iter().map(|x| x.sin() + 0.05 * numbers.normal()).collect();
        let kernel = x.iter().flat_map(|a| x.iter().map(move |b| (-(a - b).powi(2)).exp())).collect();
        (x, targets, kernel)
    }

    #[test]
    fn a_noisy_sine_is_found_within_the_tube() {
        let n = 80;
        let (x, targets, kernel) = line(n);
        let options = Options { tol: 1e-6, ..Options::default() };
        let params = Params::new().c(10.0).epsilon(0.1).options(options).check().unwrap();
        let model = params.fit(&Dense::new(&kernel, n).unwrap(), &targets, None, &Control::new()).unwrap();
        assert!(model.support.len() < n / 2 && model.fit.gap < 1e-5 && model.fit.status == Status::Converged);
        let columns =
            Array2::from_shape_fn((n, model.support.len()), |(i, s)| kernel[i * n + model.support[s] as usize]);
        for (x, fitted) in x.iter().zip(model.predict(columns.view()).unwrap()) {
            assert!((x.sin() - fitted).abs() < 0.2, "{x}: {fitted}");
        }
        assert!(model.predict(columns.slice(ndarray::s![.., 1..])).is_err());
    }

    #[test]
    fn rows_without_weight_are_absent() {
        let n = 40;
        let (_, targets, kernel) = line(n);
        let params = Params::new().options(Options { tol: 1e-8, ..Options::default() }).check().unwrap();
        let weights: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i >= 10))).collect();
        let all = Dense::new(&kernel, n).unwrap();
        let weighted = params.fit(&all, &targets, Some(&weights), &Control::new()).unwrap();
        let rest = Subset::new(&all, (10..40).collect()).unwrap();
        let alone = params.fit(&rest, &targets[10..], None, &Control::new()).unwrap();
        assert_eq!(weighted.dual_coef, alone.dual_coef);
        assert_eq!(weighted.support, alone.support.iter().map(|row| row + 10).collect::<Vec<_>>());
    }

    #[test]
    fn bad_input_is_refused() {
        assert!(Params::new().c(0.0).check().is_err() && Params::new().epsilon(f64::NAN).check().is_err());
        let params = Params::new().check().unwrap();
        let kernel = Dense::new(&[1.0, 0.0, 0.0, 1.0], 2).unwrap();
        let said = |targets: &[f64], weights: Option<&[f64]>| {
            params.fit(&kernel, targets, weights, &Control::new()).unwrap_err().to_string()
        };
        assert!(said(&[1.0], None).contains("one per row"));
        assert!(said(&[1.0, f64::INFINITY], None).contains("row 1"));
        assert!(said(&[1.0, 2.0], Some(&[1.0, -1.0])).contains("row 1 is -1"));
        assert!(said(&[1.0, 2.0], Some(&[0.0, 0.0])).contains("no rows"));
    }
}
