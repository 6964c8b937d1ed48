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
//! A step that goes up is tried once more with each row's own best v ([`settle`]). Where rows have one noisy direction, the
//! difference that gives K also gives f'' along it, and one more the change of J: rows that are near their best v then have
//! Newton's M = 1 - r'Wf'' + K'K and C = K'J - r'W d(df/dtheta)/dv, which is a third as many steps. Exact x: weighted least squares.

use crate::error::Result;
use crate::linalg::{cholesky, cholesky_solve, dot};
use crate::solver::levenberg::{Expansion, Minimum, Objective};

use super::evaluate::{Beyond, Evaluator};
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
    /// W of one output.
    scales: Vec<f64>,
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

/// First derivatives of all rows, and those of the second order that their steps use.
struct Slopes {
    /// J, n x q x p.
    by_parameters: Vec<f64>,
    /// K, n x q x k.
    by_v: Vec<f64>,
    /// Of k = 1: -r'Wf'' of every row; its step of v takes it where the row is near its best v.
    bent: Vec<f64>,
    /// Of the rows that are near, in this order: -r'W d(df/dtheta)/dv, p each.
    near: Vec<usize>,
    twisted: Vec<f64>,
}

/// Steps of v below the first, in units of its curvature, have second derivatives in theirs where 1 - r'Wf'' is positive by
/// itself; below the second, where M is: those few rows would otherwise go on by a half each time, and all others wait for them.
const NEAR: [f64; 2] = [0.1, 0.05];
/// Where 1 - r'Wf'', and M beside that without f'', is taken for 1 plus rounding, or for another minimum's.
const BENT: std::ops::Range<f64> = 0.05..20.0;

/// A step in standard errors, and the part of the rise that second derivatives promise which a minimum has.
const SMALL: f64 = 0.1;
const LEAST_RISE: f64 = 0.1;

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
        let scales = if evaluator.q == 1 { white.iter().map(|white| white.w[0]).collect() } else { vec![] };
        Self { evaluator, readings, white, parameters, free, k, x, roots, crossed, scales, from: None }
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

    /// What these unknowns are worth.
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

    /// J'(I + K K')^{-1} J, the Gauss-Newton matrix of the parameters, at the last place that was kept.
    pub(super) fn information(&self) -> Vec<f64> {
        let (q, k, p) = (self.evaluator.q, self.k, self.free.len());
        let mut sum = vec![0.0; p * p];
        let Some(from) = &self.from else { return sum };
        let (mut inner, mut solved) = (vec![0.0; q * q], vec![0.0; q]);
        for (i, reading) in self.readings.iter().enumerate() {
            let jacobian = &from.slopes.by_parameters[i * q * p..(i + 1) * q * p];
            let slope = &from.slopes.by_v[i * q * k..(i + 1) * q * k];
            for (a, b) in (0..q).flat_map(|a| (0..q).map(move |b| (a, b))) {
                let product = dot(&slope[a * k..(a + 1) * k], &slope[b * k..(b + 1) * k]);
                inner[a * q + b] = product + f64::from(u8::from(a == b));
            }
            // I + something positive: never singular.
            let _positive = cholesky(&mut inner, q);
            for j in 0..p {
                (0..q).for_each(|o| solved[o] = jacobian[o * p + j]);
                cholesky_solve(&inner, q, &mut solved);
                for (o, own) in solved.iter().enumerate() {
                    add(&mut sum[j * p..(j + 1) * p], reading.weight * own, &jacobian[o * p..(o + 1) * p]);
                }
            }
        }
        sum
    }

    /// Does the sum of squares rise as its second derivatives promise, a small step along each of these parameters? It does not
    /// where it is flat, nor where derivatives are rounding. The others follow by `inverse`, that of the information (p x p).
    pub(super) fn is_minimum(
        &self,
        minimum: &Minimum<Place>,
        some: &[usize],
        inverse: &[f64],
        (lower, upper): (&[f64], &[f64]),
    ) -> Result<bool> {
        let (p, numbers) = (self.free.len(), minimum.state.residuals.len() as f64);
        let Some(from) = &self.from else { return Ok(true) };
        let mut square = 0.0;
        for (reading, white) in self.readings.iter().zip(&self.white) {
            let mut y = reading.y.clone();
            white.apply(&mut y, 1);
            square += reading.weight * dot(&y, &y);
        }
        // A residual's square, but above what rounding of y alone makes of the sum.
        let unit = (2.0 * minimum.value / numbers).max(1e6 * f64::EPSILON.powi(2) * square);
        for (&j, sign) in some.iter().flat_map(|j| [(j, -1.0), (j, 1.0)]) {
            let step = sign * SMALL * (unit / inverse[j * p + j]).sqrt();
            let at: Vec<f64> = (0..p).map(|k| minimum.at[k] + step * inverse[k * p + j]).collect();
            if (0..p).all(|k| (lower[k]..=upper[k]).contains(&at[k])) {
                // Where the curve does not change, what moves true values is rounding.
                let moved = if self.k > 0 { self.place(&at, from.at(&at))?.value } else { f64::INFINITY };
                let rise = self.place(&at, minimum.state.v.clone())?.value.min(moved) - minimum.value;
                if rise < LEAST_RISE * 0.5 * SMALL * SMALL * unit {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn slopes(&self, at: &[f64], place: &Place) -> Result<Slopes> {
        let (q, k, p, all) = (self.evaluator.q, self.k, self.free.len(), self.all(at));
        let z = self.true_values(&place.v);
        if k != 1 {
            let mut by_parameters = self.evaluator.by_parameters(&z, &all, &place.f, &self.free)?;
            let by_v = self.evaluator.along(&z, &self.roots, k, &all, &place.f)?;
            self.whiten(&mut by_parameters, p);
            let by_v = self.whole_slopes(by_v);
            return Ok(Slopes { by_parameters, by_v, bent: vec![], near: vec![], twisted: vec![] });
        }
        let ray = self.evaluator.along_twice(&z, &self.roots, &all, &place.f)?;
        let by_v = self.whole_slopes(ray.slopes);
        let mut second = ray.second;
        self.whiten(&mut second, 1);
        let rows = second.chunks_exact(q).zip(place.residuals.chunks_exact(q));
        let bent: Vec<f64> = rows.map(|(f, r)| -dot(f, r)).collect();
        let one = |i: usize| {
            let (own, r) = (&by_v[i * q..(i + 1) * q], &place.residuals[i * q..(i + 1) * q]);
            is_near(dot(own, r) - place.v[i], 1.0 + dot(own, own), bent[i])
        };
        let near: Vec<usize> = (0..bent.len()).filter(|&i| one(i)).collect();
        // The derivatives of rows that are near also a step further.
        let d = self.evaluator.d;
        let (mut points, mut values) = (Vec::with_capacity(near.len() * d), Vec::with_capacity(near.len() * q));
        for &i in &near {
            points.extend_from_slice(&ray.points[i * d..(i + 1) * d]);
            values.extend_from_slice(&ray.values[i * q..(i + 1) * q]);
        }
        let beyond = Beyond { rows: &near, of_all: &ray.points, points: &points, values: &values };
        let (mut by_parameters, mut changes) =
            self.evaluator.by_parameters_and_beyond(&z, &all, &place.f, &self.free, &beyond)?;
        let mut twisted = vec![0.0; near.len() * p];
        let each = (q * p).max(1);
        for ((&i, change), twisted) in
            near.iter().zip(changes.chunks_exact_mut(each)).zip(twisted.chunks_exact_mut(p.max(1)))
        {
            change.iter_mut().for_each(|c| *c /= ray.steps[i]);
            self.white[i].apply(change, p);
            for (r, change) in place.residuals[i * q..(i + 1) * q].iter().zip(change.chunks_exact(p)) {
                add(twisted, -r, change);
            }
        }
        self.whiten(&mut by_parameters, p);
        Ok(Slopes { by_parameters, by_v, bent, near, twisted })
    }

    /// W times the matrices q x `width` of all rows.
    fn whiten(&self, matrices: &mut [f64], width: usize) {
        let each = (self.evaluator.q * width).max(1);
        if !self.scales.is_empty() {
            let rows = matrices.chunks_exact_mut(each).zip(&self.scales);
            rows.for_each(|(own, scale)| own.iter_mut().for_each(|m| *m *= scale));
            return;
        }
        self.white.iter().zip(matrices.chunks_exact_mut(each)).for_each(|(white, own)| white.apply(own, width));
    }

    /// K from the derivatives of f by v.
    fn whole_slopes(&self, mut by_v: Vec<f64>) -> Vec<f64> {
        by_v.iter_mut().zip(&self.crossed).for_each(|(f, a)| *f += a);
        self.whiten(&mut by_v, self.k);
        by_v
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

    /// Sums over rows with one noisy direction.
    fn add_one_direction(
        &self,
        place: &Place,
        slopes: &Slopes,
        sums: &mut Expansion,
        ahead: &mut [f64],
        along: &mut [f64],
    ) {
        let (q, p) = (self.evaluator.q, self.free.len());
        let Expansion { gradient, hessian, diagonal, beside } = sums;
        let mut crossed = vec![0.0; p];
        let mut near = slopes.near.iter().enumerate().peekable();
        for (i, reading) in self.readings.iter().enumerate() {
            let weight = reading.weight;
            let (mut plain, mut b) = (1.0, -place.v[i]);
            crossed.fill(0.0);
            for o in i * q..(i + 1) * q {
                let (slope, residual) = (slopes.by_v[o], place.residuals[o]);
                let row = &slopes.by_parameters[o * p..(o + 1) * p];
                plain += slope * slope;
                b += slope * residual;
                for (j, own) in row.iter().enumerate() {
                    crossed[j] += slope * own;
                    gradient[j] -= weight * residual * own;
                    diagonal[j] += weight * own * own;
                    add(&mut hessian[j * p..=j * p + j], weight * own, row);
                }
            }
            diagonal.iter_mut().zip(&crossed).for_each(|(d, c)| *d -= weight * c * c / plain);
            let mut m = plain;
            if let Some((at, _)) = near.next_if(|(_, row)| **row == i) {
                m += slopes.bent[i];
                add(&mut crossed, 1.0, &slopes.twisted[at * p..(at + 1) * p]);
            }
            ahead[i] = b / m;
            *beside += 0.5 * weight * b * ahead[i];
            let along = &mut along[i * p..(i + 1) * p];
            for (j, own) in crossed.iter().enumerate() {
                along[j] = own / m;
                gradient[j] += weight * ahead[i] * own;
                add(&mut hessian[j * p..=j * p + j], -weight * own, &along[..=j]);
            }
        }
    }

    /// The same with any number of them.
    fn add_directions(
        &self,
        place: &Place,
        slopes: &Slopes,
        sums: &mut Expansion,
        ahead: &mut [f64],
        along: &mut [f64],
    ) {
        let (q, k, p) = (self.evaluator.q, self.k, self.free.len());
        let (mut m, mut crossed, mut column) = (vec![0.0; k * k], vec![0.0; k * p], vec![0.0; k]);
        for (i, reading) in self.readings.iter().enumerate() {
            let jacobian = &slopes.by_parameters[i * q * p..(i + 1) * q * p];
            let slope = &slopes.by_v[i * q * k..(i + 1) * q * k];
            let residuals = &place.residuals[i * q..(i + 1) * q];
            let (ahead, along) = (&mut ahead[i * k..(i + 1) * k], &mut along[i * k * p..(i + 1) * k * p]);
            let weight = reading.weight;
            for (r, row) in residuals.iter().zip(jacobian.chunks_exact(p.max(1))) {
                add(&mut sums.gradient, -weight * r, row);
                add_outer(&mut sums.hessian, weight, row, row);
                sums.diagonal.iter_mut().zip(row).for_each(|(d, j)| *d += weight * j * j);
            }
            if k == 0 {
                continue;
            }
            crossed.fill(0.0);
            for (slope, row) in slope.chunks_exact(k).zip(jacobian.chunks_exact(p.max(1))) {
                crossed.chunks_exact_mut(p.max(1)).zip(slope).for_each(|(crossed, s)| add(crossed, *s, row));
            }
            (0..k).for_each(|c| ahead[c] = -place.v[i * k + c]);
            m.fill(0.0);
            (0..k).for_each(|c| m[c * k + c] = 1.0);
            for (slope, r) in slope.chunks_exact(k).zip(residuals) {
                add(ahead, *r, slope);
                (0..k).for_each(|c| add(&mut m[c * k..(c + 1) * k], slope[c], slope));
            }
            if !cholesky(&mut m, k) {
                // Slopes that are no numbers: the step will be refused.
                m.fill(f64::NAN);
            }
            column.copy_from_slice(ahead);
            cholesky_solve(&m, k, ahead);
            sums.beside += 0.5 * weight * dot(&column, ahead);
            for j in 0..p {
                (0..k).for_each(|c| column[c] = crossed[c * p + j]);
                cholesky_solve(&m, k, &mut column);
                (0..k).for_each(|c| along[c * p + j] = column[c]);
                sums.diagonal[j] -= weight * (0..k).map(|c| crossed[c * p + j] * column[c]).sum::<f64>();
            }
            for (c, ahead) in ahead.iter().enumerate() {
                let crossed = &crossed[c * p..(c + 1) * p];
                add(&mut sums.gradient, weight * ahead, crossed);
                add_outer(&mut sums.hessian, -weight, crossed, &along[c * p..(c + 1) * p]);
            }
        }
    }
}

/// May a row with this b, M without f'' and -r'Wf'' take second derivatives?
fn is_near(b: f64, plain: f64, bent: f64) -> bool {
    let (size, whole) = ((b / plain).abs(), 1.0 + bent / plain);
    (size < NEAR[0] && BENT.contains(&(1.0 + bent))) || (size < NEAR[1] && BENT.contains(&whole))
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

/// `times` a b', added to the lower triangle of `to`.
fn add_outer(to: &mut [f64], times: f64, a: &[f64], b: &[f64]) {
    for (j, a) in a.iter().enumerate() {
        add(&mut to[j * b.len()..j * b.len() + j + 1], times * a, b);
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
        if k == 1 {
            self.add_one_direction(place, &slopes, &mut sums, &mut ahead, &mut along);
        } else {
            self.add_directions(place, &slopes, &mut sums, &mut ahead, &mut along);
        }
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
