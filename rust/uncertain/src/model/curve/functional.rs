//! Functional fits: the true values are parameters, too (orthogonal distance regression).
//!
//! ```text
//! min over theta, v    sum_i c_i ( |v_i|^2 + |r_i|^2 ) / 2,    r_i = W_i (y_i - f(x_i - L_i v_i; theta) - A_i v_i)
//! ```
//! is (x - z)'S^{-1}(x - z) + (y - f(z))'C^{-1}(y - f(z)) where both errors are independent. All unknowns take each step
//! together: with J = -dr/dtheta, K = -dr/dv, M = I + K'K, C = K'J and b = K'r - v of a row, its v moves by M^{-1} (b - C s) where
//! theta moves by s, so that what is left for theta has the gradient C'M^{-1} b - J'r and the Gauss-Newton matrix
//! J'J - C'M^{-1} C = J'(I + K K')^{-1} J (P. T. Boggs, R. H. Byrd, R. B. Schnabel, A stable and efficient algorithm for nonlinear
//! orthogonal distance regression, SIAM Journal on Scientific and Statistical Computing 8, 1987): one evaluation of the curve per step.
//! A step that goes up is tried once more with each row's own best v ([`settle`]). Exact x: weighted least squares.

use crate::error::Result;
use crate::linalg::{cholesky, cholesky_solve, dot};
use crate::solver::levenberg::{Expansion, Minimum, Objective};

use super::errors;
use super::evaluate::Evaluator;
use super::modes::{White, settle};
use super::readings::Reading;
use super::terms;

/// The sum of squares as a function of the parameters that are free. Numbers of all rows are in one list, by row.
pub(super) struct Functional<'a> {
    pub evaluator: Evaluator<'a>,
    pub readings: &'a [Reading],
    pub white: Vec<White>,
    /// All parameters, and the numbers of those that are free.
    pub parameters: Vec<f64>,
    pub free: Vec<usize>,
    /// The largest rank of a row; those of others are filled with zeros.
    k: usize,
    /// x, n x d.
    x: Vec<f64>,
    /// -L, n x d x k.
    roots: Vec<f64>,
    /// A, n x q x k; empty where all of them are 0.
    crossed: Vec<f64>,
    /// Where the next step starts.
    from: Option<Tangent>,
}

/// The unknowns at one point.
pub(super) struct Place {
    value: f64,
    /// v, n x k.
    v: Vec<f64>,
    /// f(z), n x q.
    f: Vec<f64>,
    /// r, n x q.
    pub residuals: Vec<f64>,
}

/// Where the true values go with the parameters.
struct Tangent {
    parameters: Vec<f64>,
    value: f64,
    v: Vec<f64>,
    /// M^{-1} b, n x k.
    ahead: Vec<f64>,
    /// M^{-1} K'J, n x k x p.
    along: Vec<f64>,
    slopes: Slopes,
}

/// First derivatives of all rows.
struct Slopes {
    /// J, n x q x p.
    by_parameters: Vec<f64>,
    /// K, n x q x k.
    by_v: Vec<f64>,
}

impl Tangent {
    fn at(&self, parameters: &[f64]) -> Vec<f64> {
        let p = parameters.len();
        let step: Vec<f64> = parameters.iter().zip(&self.parameters).map(|(new, old)| new - old).collect();
        let one = |at: usize| self.v[at] + self.ahead[at] - dot(&self.along[at * p..(at + 1) * p], &step);
        (0..self.v.len()).map(one).collect()
    }
}

impl<'a> Functional<'a> {
    pub(super) fn new(
        evaluator: Evaluator<'a>,
        readings: &'a [Reading],
        white: Vec<White>,
        parameters: Vec<f64>,
        free: Vec<usize>,
    ) -> Self {
        let k = readings.iter().map(|reading| reading.rank).max().unwrap_or(0);
        let filled = |matrix: fn(&Reading) -> &[f64], height: usize, sign: f64| -> Vec<f64> {
            let mut out = vec![0.0; readings.len() * height * k];
            for (own, reading) in out.chunks_exact_mut((height * k).max(1)).zip(readings) {
                for (to, from) in own.chunks_exact_mut(k).zip(matrix(reading).chunks_exact(reading.rank.max(1))) {
                    to.iter_mut().zip(from).for_each(|(to, from)| *to = sign * from);
                }
            }
            out
        };
        let roots = filled(|reading| &reading.root, evaluator.d, -1.0);
        let mut crossed = filled(|reading| &reading.crossed, evaluator.q, 1.0);
        if crossed.iter().all(|a| *a == 0.0) {
            crossed.clear();
        }
        let x = readings.iter().flat_map(|reading| reading.x.iter().copied()).collect();
        Self { evaluator, readings, white, parameters, free, k, x, roots, crossed, from: None }
    }

    pub(super) fn all(&self, free: &[f64]) -> Vec<f64> {
        let mut all = self.parameters.clone();
        self.free.iter().zip(free).for_each(|(&j, value)| all[j] = *value);
        all
    }

    /// True values z = x - L v, n x d.
    fn true_values(&self, v: &[f64]) -> Vec<f64> {
        let mut z = self.x.clone();
        add_products(&mut z, 1.0, &self.roots, v, self.k);
        z
    }

    /// The sum of squares at these unknowns.
    fn place(&self, at: &[f64], v: Vec<f64>) -> Result<Place> {
        let (q, k) = (self.evaluator.q, self.k);
        let f = self.evaluator.values(&self.true_values(&v), &self.all(at))?;
        let mut residuals: Vec<f64> = f.iter().map(|f| -f).collect();
        add_products(&mut residuals, -1.0, &self.crossed, &v, k);
        let mut value = 0.0;
        for (i, (reading, residual)) in self.readings.iter().zip(residuals.chunks_exact_mut(q)).enumerate() {
            add(residual, 1.0, &reading.y);
            self.white[i].apply(residual, 1);
            let own = &v[i * k..(i + 1) * k];
            value += reading.weight * 0.5 * (dot(own, own) + dot(residual, residual));
        }
        Ok(Place { value, v, f, residuals })
    }

    /// The place where every row has its own best v, from some others.
    fn settled(&self, at: &[f64], from: &[f64]) -> Result<Place> {
        let terms = terms::functional(self.readings);
        let mut v = vec![0.0; from.len()];
        // One batch per rank: rows with as many noisy features.
        for rank in 1..=self.k {
            let own = (0..terms.len()).filter(|&i| terms[i].rank == rank);
            let starts = own.map(|i| (i, from[i * self.k..][..rank].to_vec())).collect();
            for mode in settle(&self.evaluator, (self.readings, &terms, &self.white), &self.all(at), starts, true)? {
                v[mode.term * self.k..][..rank].copy_from_slice(&mode.v);
            }
        }
        self.place(at, v)
    }

    /// Is this a minimum along these parameters ([`errors::is_minimum`])?
    pub(super) fn is_minimum(
        &self,
        minimum: &Minimum<Place>,
        some: &[usize],
        inverse: &[f64],
        bounds: (&[f64], &[f64]),
    ) -> Result<bool> {
        let Some(from) = &self.from else { return Ok(true) };
        let mut square = 0.0;
        for (reading, white) in self.readings.iter().zip(&self.white) {
            let mut y = reading.y.clone();
            white.apply(&mut y, 1);
            square += reading.weight * dot(&y, &y);
        }
        // A residual's square, but above what rounding of y alone makes of the sum.
        let numbers = minimum.state.residuals.len() as f64;
        let unit = (2.0 * minimum.value / numbers).max(1e6 * f64::EPSILON.powi(2) * square);
        errors::is_minimum((&minimum.at, some), inverse, unit, bounds, |at| {
            // Where the curve does not change, what moves true values is rounding.
            let moved = if self.k > 0 { self.place(at, from.at(at))?.value } else { f64::INFINITY };
            Ok(self.place(at, minimum.state.v.clone())?.value.min(moved) - minimum.value)
        })
    }

    fn slopes(&self, at: &[f64], place: &Place) -> Result<Slopes> {
        let (z, all) = (self.true_values(&place.v), self.all(at));
        let mut by_parameters = self.evaluator.by_parameters(&z, &all, &place.f, &self.free)?;
        let mut by_v = self.evaluator.along(&z, &self.roots, self.k, &all, &place.f)?;
        by_v.iter_mut().zip(&self.crossed).for_each(|(f, a)| *f += a);
        self.whiten(&mut by_parameters, self.free.len());
        self.whiten(&mut by_v, self.k);
        Ok(Slopes { by_parameters, by_v })
    }

    /// W times the matrices q x `width` of all rows.
    fn whiten(&self, matrices: &mut [f64], width: usize) {
        let each = (self.evaluator.q * width).max(1);
        self.white.iter().zip(matrices.chunks_exact_mut(each)).for_each(|(white, own)| white.apply(own, width));
    }

    /// The gradient of each row, n x p, at the last place that was kept.
    pub(super) fn gradients(&self, place: &Place) -> Vec<Vec<f64>> {
        let (q, p) = (self.evaluator.q, self.free.len());
        let Some(from) = &self.from else { return vec![] };
        let one = |i: usize| {
            let slope = |o: usize, j: usize| from.slopes.by_parameters[(i * q + o) * p + j];
            let along = |j: usize| (0..q).map(|o| slope(o, j) * place.residuals[i * q + o]).sum::<f64>();
            (0..p).map(|j| -self.readings[i].weight * along(j)).collect()
        };
        (0..self.readings.len()).map(one).collect()
    }

    /// Sums over rows.
    fn add_rows(&self, place: &Place, slopes: &Slopes, sums: &mut Expansion, ahead: &mut [f64], along: &mut [f64]) {
        let (q, k, p) = (self.evaluator.q, self.k, self.free.len());
        let (mut m, mut inner, mut solved, mut b) = (vec![0.0; k * k], vec![0.0; q * q], vec![0.0; q], vec![0.0; k]);
        for (i, reading) in self.readings.iter().enumerate() {
            let jacobian = &slopes.by_parameters[i * q * p..(i + 1) * q * p];
            let slope = |o: usize, c: usize| slopes.by_v[(i * q + o) * k + c];
            let residuals = &place.residuals[i * q..(i + 1) * q];
            let (ahead, along) = (&mut ahead[i * k..(i + 1) * k], &mut along[i * k * p..(i + 1) * k * p]);
            let unit = |a: usize, b: usize| f64::from(u8::from(a == b));
            for (c, l) in (0..k).flat_map(|c| (0..k).map(move |l| (c, l))) {
                m[c * k + l] = unit(c, l) + (0..q).map(|o| slope(o, c) * slope(o, l)).sum::<f64>();
            }
            for (o, r) in (0..q).flat_map(|o| (0..q).map(move |r| (o, r))) {
                inner[o * q + r] = unit(o, r) + (0..k).map(|c| slope(o, c) * slope(r, c)).sum::<f64>();
            }
            // I + something positive: not singular but for slopes that are no numbers, and such a step is refused.
            if !((k == 0 || cholesky(&mut m, k)) && cholesky(&mut inner, q)) {
                m.fill(f64::NAN);
                inner.fill(f64::NAN);
            }
            (0..k).for_each(|c| b[c] = (0..q).map(|o| slope(o, c) * residuals[o]).sum::<f64>() - place.v[i * k + c]);
            ahead.copy_from_slice(&b);
            if k > 0 {
                cholesky_solve(&m, k, ahead);
            }
            sums.beside += 0.5 * reading.weight * dot(&b, ahead);
            for j in 0..p {
                (0..q).for_each(|o| solved[o] = jacobian[o * p + j]);
                cholesky_solve(&inner, q, &mut solved);
                let mut gradient = 0.0;
                for c in 0..k {
                    along[c * p + j] = (0..q).map(|o| slope(o, c) * solved[o]).sum();
                    gradient += b[c] * along[c * p + j];
                }
                for (o, own) in solved.iter().enumerate() {
                    let row = &jacobian[o * p..(o + 1) * p];
                    gradient -= row[j] * residuals[o];
                    sums.diagonal[j] += reading.weight * own * row[j];
                    add(&mut sums.hessian[j * p..=j * p + j], reading.weight * own, row);
                }
                sums.gradient[j] += reading.weight * gradient;
            }
        }
    }
}

/// `times` a, added to `to`.
fn add(to: &mut [f64], times: f64, a: &[f64]) {
    to.iter_mut().zip(a).for_each(|(to, a)| *to += times * a);
}

/// `times` the products of the matrices (n x h x k, or none) with v (n x k), added to `to` (n x h).
fn add_products(to: &mut [f64], times: f64, matrices: &[f64], v: &[f64], k: usize) {
    if k == 0 || matrices.is_empty() {
        return;
    }
    let h = to.len() / (v.len() / k).max(1);
    for ((to, matrix), v) in to.chunks_exact_mut(h).zip(matrices.chunks_exact(h * k)).zip(v.chunks_exact(k)) {
        to.iter_mut().zip(matrix.chunks_exact(k)).for_each(|(to, row)| *to += times * dot(row, v));
    }
}

impl Objective for Functional<'_> {
    type State = Place;

    fn value(&mut self, at: &[f64]) -> Result<Option<(f64, Place)>> {
        let place = match &self.from {
            None => self.place(at, vec![0.0; self.readings.len() * self.k])?,
            Some(from) => {
                let place = self.place(at, from.at(at))?;
                let lower = place.value < from.value + self.noise(from.value);
                if lower || self.k == 0 { place } else { self.settled(at, &from.v)? }
            }
        };
        Ok(place.value.is_finite().then_some((place.value, place)))
    }

    fn derivatives(&mut self, at: &[f64], place: &Place) -> Result<Expansion> {
        let (k, p, n) = (self.k, self.free.len(), self.readings.len());
        let slopes = self.slopes(at, place)?;
        let (gradient, hessian, diagonal) = (vec![0.0; p], vec![0.0; p * p], vec![0.0; p]);
        let mut sums = Expansion { gradient, hessian, diagonal, beside: 0.0 };
        let (mut ahead, mut along) = (vec![0.0; n * k], vec![0.0; n * k * p]);
        self.add_rows(place, &slopes, &mut sums, &mut ahead, &mut along);
        for (a, b) in (0..p).flat_map(|a| (0..a).map(move |b| (a, b))) {
            sums.hessian[b * p + a] = sums.hessian[a * p + b];
        }
        let (parameters, value, v) = (at.to_vec(), place.value, place.v.clone());
        self.from = Some(Tangent { parameters, value, v, ahead, along, slopes });
        Ok(sums)
    }

    fn negligible(&self, value: f64) -> f64 {
        // With errors in x the way is longer; parameters are then within some 1e-6 of their standard errors.
        let certain = if self.k > 0 { 1e-12 } else { f64::MIN_POSITIVE };
        1e-18 * value.abs() + certain
    }

    fn noise(&self, value: f64) -> f64 {
        1e-13 * value.abs()
    }

    fn report(&self, iteration: usize, value: f64) {
        self.evaluator.control.report(iteration, value, f64::NAN);
    }
}
