//! [`Curve`], and how a fit asks it: in batches, its answers checked, its derivatives by central differences where it
//! has none of its own.

use crate::control::Control;
use crate::error::{Error, Result};

/// y = f(x; theta) between true values, of any number of points at once.
///
/// A closure of one point and the parameters is a curve of one output. Derivatives that a curve does not have are
/// central differences, whose error is some 1e-10 of the scale on which the curve bends.
pub trait Curve: Sync {
    /// f at m points (m x d, row by row): m x q numbers.
    ///
    /// # Errors
    /// Whatever ends the fit; points where a curve is not defined are NaN.
    fn values(&self, x: &[f64], d: usize, parameters: &[f64]) -> Result<Vec<f64>>;

    /// df/dtheta at these points, m x q x p, where it is known.
    fn by_parameters(&self, _x: &[f64], _d: usize, _parameters: &[f64]) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }

    /// df/dx at these points, m x q x d, where it is known.
    fn by_x(&self, _x: &[f64], _d: usize, _parameters: &[f64]) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }
}

impl<F: Fn(&[f64], &[f64]) -> f64 + Sync> Curve for F {
    fn values(&self, x: &[f64], d: usize, parameters: &[f64]) -> Result<Vec<f64>> {
        Ok(x.chunks_exact(d).map(|x| self(x, parameters)).collect())
    }
}

/// The step of a central difference, as a part of the scale: the cube root of the rounding error.
const STEP: f64 = 6.055_454_452_393_343e-6;

/// A curve and the sizes that its answers must have.
pub(super) struct Evaluator<'a> {
    pub curve: &'a dyn Curve,
    pub control: &'a Control,
    /// Features, outputs.
    pub d: usize,
    pub q: usize,
    /// The last of the parameters are coefficients of the last of the features, errors that rows share.
    pub modes: usize,
    /// Per feature the scale on which steps are taken.
    pub scale: Vec<f64>,
    /// Per parameter the least size that it is taken for.
    pub typical: Vec<f64>,
    pub lower: &'a [f64],
    pub upper: &'a [f64],
}

impl Evaluator<'_> {
    /// f at m points, m x q.
    pub(super) fn values(&self, x: &[f64], parameters: &[f64]) -> Result<Vec<f64>> {
        self.control.check()?;
        if x.is_empty() {
            return Ok(vec![]);
        }
        let values = self.curve.values(x, self.d, parameters)?;
        self.sized("the curve", values, x, 1)
    }

    fn sized(&self, what: &str, values: Vec<f64>, x: &[f64], width: usize) -> Result<Vec<f64>> {
        let expected = x.len() / self.d * self.q * width;
        if values.len() == expected {
            return Ok(values);
        }
        Err(Error::shape(format!("{what} at {} points", x.len() / self.d), expected, values.len()))
    }

    /// df/dtheta of the `free` parameters, m x q x (number of them); `values` are f at the same points.
    pub(super) fn by_parameters(
        &self,
        x: &[f64],
        parameters: &[f64],
        values: &[f64],
        free: &[usize],
    ) -> Result<Vec<f64>> {
        let p = parameters.len();
        if x.is_empty() || free.is_empty() {
            return Ok(vec![]);
        }
        if let Some(all) = self.own_by_parameters(x, parameters)? {
            return Ok(all.chunks_exact(p).flat_map(|row| free.iter().map(|&j| row[j])).collect());
        }
        let (q, width) = (self.q, free.len());
        let mut out = vec![0.0; values.len() * width];
        for (column, &j) in free.iter().enumerate() {
            if let Some(mode) = (j + self.modes).checked_sub(p) {
                let feature = self.d - self.modes + mode;
                (0..values.len()).for_each(|at| out[at * width + column] = x[at / q * self.d + feature]);
                continue;
            }
            let step = STEP * parameters[j].abs().max(self.typical[j]);
            let end = |moved: f64| {
                let mut at = parameters.to_vec();
                at[j] = moved.clamp(self.lower[j], self.upper[j]);
                at
            };
            let (above, below) = (end(parameters[j] + step), end(parameters[j] - step));
            let ends = (self.values(x, &above)?, self.values(x, &below)?);
            let steps = (above[j] - parameters[j], parameters[j] - below[j]);
            for (at, f) in values.iter().enumerate() {
                out[at * width + column] = difference(*f, (ends.0[at], steps.0), (ends.1[at], steps.1));
            }
        }
        Ok(out)
    }

    /// Sizes below which a parameter counts as small: of those that start at 0, what changes f by a tenth of its spread.
    pub(super) fn sizes(&self, x: &[f64], start: &[f64], values: &[f64]) -> Result<Vec<f64>> {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let spread = (values.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / n).sqrt();
        let spread = if spread > 0.0 { spread } else { mean.abs().max(1.0) };
        let mut sizes: Vec<f64> = start.iter().map(|value| 1e-3 * value.abs()).collect();
        for j in (0..start.len()).filter(|&j| start[j] == 0.0) {
            let mut size = 1.0;
            for _ in 0..2 {
                let mut moved = start.to_vec();
                moved[j] = (STEP * size).min(self.upper[j]);
                let step = if moved[j] == 0.0 { self.lower[j].max(-STEP * size) } else { moved[j] };
                moved[j] = step;
                let change = self.values(x, &moved)?;
                let slope = change.iter().zip(values).map(|(c, f)| ((c - f) / step).powi(2)).sum::<f64>() / n;
                let typical = 0.1 * spread / slope.sqrt();
                size = if typical.is_finite() && typical > 0.0 { typical } else { size };
            }
            sizes[j] = size;
        }
        Ok(sizes)
    }

    /// The derivatives of f along k directions of each point (`directions`: m x d x k), m x q x k.
    pub(super) fn along(
        &self,
        x: &[f64],
        directions: &[f64],
        k: usize,
        parameters: &[f64],
        values: &[f64],
    ) -> Result<Vec<f64>> {
        let mut out = vec![0.0; values.len() * k];
        if out.is_empty() {
            return Ok(out);
        }
        if let Some(own) = self.by_x(x, parameters)? {
            self.project(&own, directions, k, &mut out);
            return Ok(out);
        }
        for c in 0..k {
            let (moved, steps) = self.moved(x, directions, k, c);
            let ends = self.values(&moved, parameters)?;
            let (above, below) = ends.split_at(values.len());
            for (at, f) in values.iter().enumerate() {
                let step = steps[at / self.q];
                out[at * k + c] = difference(*f, (above[at], step), (below[at], step));
            }
        }
        Ok(out)
    }

    /// The derivatives by the parameters that the curve itself knows, m x q x p.
    pub(super) fn own_by_parameters(&self, x: &[f64], parameters: &[f64]) -> Result<Option<Vec<f64>>> {
        let own = self.curve.by_parameters(x, self.d, parameters)?;
        own.map(|own| self.sized("the derivatives by the parameters", own, x, parameters.len())).transpose()
    }

    /// The derivatives by x that the curve itself knows, m x q x d.
    pub(super) fn by_x(&self, x: &[f64], parameters: &[f64]) -> Result<Option<Vec<f64>>> {
        let own = self.curve.by_x(x, self.d, parameters)?;
        own.map(|own| self.sized("the derivatives by x", own, x, self.d)).transpose()
    }

    /// Derivatives by x (m x q x d) along k directions of each point.
    fn project(&self, by_x: &[f64], directions: &[f64], k: usize, out: &mut [f64]) {
        let (d, q) = (self.d, self.q);
        for (point, directions) in directions.chunks_exact(d * k).enumerate() {
            for (o, c) in (0..q).flat_map(|o| (0..k).map(move |c| (o, c))) {
                let slope = &by_x[(point * q + o) * d..(point * q + o + 1) * d];
                out[(point * q + o) * k + c] = (0..d).map(|j| slope[j] * directions[j * k + c]).sum();
            }
        }
    }

    /// The points a step along their c-th direction, those a step back behind them, and the steps: the longest that no feature
    /// takes for more than its own.
    fn moved(&self, x: &[f64], directions: &[f64], k: usize, c: usize) -> (Vec<f64>, Vec<f64>) {
        let d = self.d;
        let fits = |directions: &[f64]| {
            let of_feature = |j: usize| self.scale[j] / directions[j * k + c].abs();
            STEP * (0..d).map(of_feature).fold(1e10, f64::min)
        };
        let steps: Vec<f64> = directions.chunks_exact(d * k).map(fits).collect();
        let to = |sign: f64| (0..x.len()).map(move |at| (at, sign));
        let moved = to(1.0).chain(to(-1.0)).map(|(at, sign)| x[at] + sign * steps[at / d] * directions[at * k + c]);
        (moved.collect(), steps)
    }
}

/// (f+ - f-) / (h+ + h-), from one side where the other is not defined.
fn difference(f: f64, (above, up): (f64, f64), (below, down): (f64, f64)) -> f64 {
    let central = (above - below) / (up + down);
    if central.is_finite() {
        return central;
    }
    if above.is_finite() { (above - f) / up } else { (f - below) / down }
}
