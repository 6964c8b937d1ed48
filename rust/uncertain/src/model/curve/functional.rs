//! Functional fits: the true values are parameters, too (orthogonal distance regression).
//!
//! ```text
//! min over theta, v    sum_i c_i ( |v_i|^2 + |r_i|^2 ) / 2,    r_i = W_i (y_i - f(x_i - L_i v_i; theta) - A_i v_i)
//! ```
//! is (x - z)'S^{-1}(x - z) + (y - f(z))'C^{-1}(y - f(z)) where both errors are independent. All unknowns take each step
//! together: with J = -dr/dtheta, K = -dr/dv, M = I + K'K and b = K'r - v of a row, its v moves by M^{-1} (b - K'J s) where theta
//! moves by s, so that what is left for theta has the gradient -J'(r - K M^{-1} b) and the Gauss-Newton matrix
//! J'(I + K K')^{-1} J (P. T. Boggs, R. H. Byrd, R. B. Schnabel, A stable and efficient algorithm for nonlinear orthogonal
//! distance regression, SIAM Journal on Scientific and Statistical Computing 8, 1987): one evaluation of the curve per step. A step
//! that goes up is tried once more with each row's own best v ([`settle`]). Where rows have one noisy direction, the difference that
//! gives K also gives f'' along it, and M = 1 - r'Wf'' + K'K of rows that are near their best v: half as many steps. Exact x:
//! weighted least squares.

use crate::error::Result;
use crate::linalg::{cholesky, cholesky_solve};
use crate::solver::levenberg::{Expansion, Objective};

use super::evaluate::Evaluator;
use super::modes::{White, settle};
use super::readings::Reading;
use super::terms::{self, dot};

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
    /// -L, n x d x k.
    roots: Vec<f64>,
    /// A, n x q x k.
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
    /// J'(I + K K')^{-1} J.
    information: Vec<f64>,
}

/// Steps of v below the first, in units of its curvature, have second derivatives in theirs where 1 - r'Wf'' is positive by
/// itself; below the second, where M is: those few rows would otherwise go on by a half each time, and all others wait for them.
const NEAR: [f64; 2] = [0.1, 0.05];
/// Where 1 - r'Wf'', and M beside that without f'', is taken for 1 plus rounding, or for another minimum's.
const BENT: std::ops::Range<f64> = 0.05..20.0;

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
        let crossed = filled(|reading| &reading.crossed, evaluator.q, 1.0);
        Self { evaluator, readings, white, parameters, free, k, roots, crossed, from: None }
    }

    pub(super) fn all(&self, free: &[f64]) -> Vec<f64> {
        let mut all = self.parameters.clone();
        self.free.iter().zip(free).for_each(|(&j, value)| all[j] = *value);
        all
    }

    /// True values z = x - L v, n x d.
    fn true_values(&self, v: &[f64]) -> Vec<f64> {
        let (d, k) = (self.evaluator.d, self.k);
        let mut z = Vec::with_capacity(self.readings.len() * d);
        for (i, reading) in self.readings.iter().enumerate() {
            let own = &v[i * k..(i + 1) * k];
            z.extend(reading.x.iter().enumerate().map(|(j, x)| x + dot(&self.roots[(i * d + j) * k..][..k], own)));
        }
        z
    }

    /// What these unknowns are worth.
    fn place(&self, at: &[f64], v: Vec<f64>) -> Result<Place> {
        let (q, k) = (self.evaluator.q, self.k);
        let f = self.evaluator.values(&self.true_values(&v), &self.all(at))?;
        let (mut value, mut residuals) = (0.0, vec![0.0; f.len()]);
        for (i, reading) in self.readings.iter().enumerate() {
            let (v, own) = (&v[i * k..(i + 1) * k], i * q..(i + 1) * q);
            for (o, at) in own.clone().enumerate() {
                residuals[at] = reading.y[o] - f[at] - dot(&self.crossed[at * k..(at + 1) * k], v);
            }
            let residual = &mut residuals[own];
            self.white[i].apply(residual, 1);
            value += reading.weight * 0.5 * (dot(v, v) + dot(residual, residual));
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
    pub(super) fn information(&self) -> &[f64] {
        self.from.as_ref().map_or(&[], |from| &from.information)
    }

    /// J and K of all rows, n x q x p and n x q x k, and what W f'' adds to M where k = 1, -r'Wf''.
    fn slopes(&self, at: &[f64], place: &Place) -> Result<(Vec<f64>, Vec<f64>, Vec<f64>)> {
        let (q, k, p, all) = (self.evaluator.q, self.k, self.free.len(), self.all(at));
        let z = self.true_values(&place.v);
        let mut by_parameters = self.evaluator.by_parameters(&z, &all, &place.f, &self.free)?;
        let (mut by_v, mut second) = self.evaluator.along_twice(&z, &self.roots, k, &all, &place.f)?;
        by_v.iter_mut().zip(&self.crossed).for_each(|(f, a)| *f += a);
        for (white, own) in self.white.iter().zip(by_parameters.chunks_exact_mut((q * p).max(1))) {
            white.apply(own, p);
        }
        for (white, own) in self.white.iter().zip(by_v.chunks_exact_mut((q * k).max(1))) {
            white.apply(own, k);
        }
        if k != 1 {
            return Ok((by_parameters, by_v, vec![]));
        }
        for (white, own) in self.white.iter().zip(second.chunks_exact_mut(q)) {
            white.apply(own, 1);
        }
        let bent = second.chunks_exact(q).zip(place.residuals.chunks_exact(q)).map(|(f, r)| -dot(f, r)).collect();
        Ok((by_parameters, by_v, bent))
    }

    /// The gradient of each row, n x p.
    pub(super) fn gradients(&self, at: &[f64], place: &Place) -> Result<Vec<Vec<f64>>> {
        let (q, p) = (self.evaluator.q, self.free.len());
        let (slopes, _, _) = self.slopes(at, place)?;
        let one = |i: usize| {
            let along =
                |j: usize| (0..q).map(|o| slopes[(i * q + o) * p + j] * place.residuals[i * q + o]).sum::<f64>();
            (0..p).map(|j| -self.readings[i].weight * along(j)).collect()
        };
        Ok((0..self.readings.len()).map(one).collect())
    }
}

/// `times` a, added to `to`.
fn add(to: &mut [f64], times: f64, a: &[f64]) {
    to.iter_mut().zip(a).for_each(|(to, a)| *to += times * a);
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
        let (q, k, p, n) = (self.evaluator.q, self.k, self.free.len(), self.readings.len());
        let (by_parameters, by_v, bent) = self.slopes(at, place)?;
        let (mut gradient, mut hessian, mut beside) = (vec![0.0; p], vec![0.0; p * p], 0.0);
        let mut information = vec![0.0; p * p];
        let (mut ahead, mut along) = (vec![0.0; n * k], vec![0.0; n * k * p]);
        let (mut m, mut left, mut crossed, mut column) =
            (vec![0.0; k * k], vec![0.0; q], vec![0.0; k * p], vec![0.0; k]);
        for (i, reading) in self.readings.iter().enumerate() {
            let (jacobian, slope) = (&by_parameters[i * q * p..(i + 1) * q * p], &by_v[i * q * k..(i + 1) * q * k]);
            let (ahead, along) = (&mut ahead[i * k..(i + 1) * k], &mut along[i * k * p..(i + 1) * k * p]);
            let weight = reading.weight;
            left.copy_from_slice(&place.residuals[i * q..(i + 1) * q]);
            if k > 0 {
                ahead.iter_mut().zip(&place.v[i * k..]).for_each(|(b, v)| *b = -v);
                m.fill(0.0);
                crossed.fill(0.0);
                (0..k).for_each(|c| m[c * k + c] = 1.0);
                for o in 0..q {
                    let slope = &slope[o * k..(o + 1) * k];
                    add(ahead, left[o], slope);
                    for (c, s) in slope.iter().enumerate() {
                        add(&mut m[c * k..(c + 1) * k], *s, slope);
                        add(&mut crossed[c * p..(c + 1) * p], *s, &jacobian[o * p..(o + 1) * p]);
                    }
                }
                if !cholesky(&mut m, k) {
                    // Slopes that are no numbers: the step will be refused.
                    m.fill(f64::NAN);
                }
                let mut added = 0.0;
                if let ([m], [b], Some(bent)) = (&mut m[..], &ahead[..], bent.get(i)) {
                    let plain = *m * *m;
                    let (size, whole) = ((b / plain).abs(), 1.0 + bent / plain);
                    if (size < NEAR[0] && BENT.contains(&(1.0 + bent))) || (size < NEAR[1] && BENT.contains(&whole)) {
                        *m = (plain + bent).sqrt();
                        added = weight * (1.0 / (plain + bent) - 1.0 / plain);
                    }
                }
                for a in 0..if added == 0.0 { 0 } else { p } {
                    add(&mut information[a * p..(a + 1) * p], added * crossed[a], &crossed[..p]);
                }
                column.copy_from_slice(ahead);
                cholesky_solve(&m, k, ahead);
                beside += 0.5 * weight * dot(&column, ahead);
                for j in 0..p {
                    (0..k).for_each(|c| column[c] = crossed[c * p + j]);
                    cholesky_solve(&m, k, &mut column);
                    (0..k).for_each(|c| along[c * p + j] = column[c]);
                }
                (0..q).for_each(|o| left[o] -= dot(&slope[o * k..(o + 1) * k], ahead));
            }
            for o in 0..q {
                let row = &jacobian[o * p..(o + 1) * p];
                add(&mut gradient, -weight * left[o], row);
                (0..p).for_each(|a| add(&mut hessian[a * p..(a + 1) * p], weight * row[a], row));
            }
            for c in 0..k {
                let (crossed, along) = (&crossed[c * p..(c + 1) * p], &along[c * p..(c + 1) * p]);
                (0..p).for_each(|a| add(&mut hessian[a * p..(a + 1) * p], -weight * crossed[a], along));
            }
        }
        let diagonal = (0..p).map(|j| hessian[j * p + j]).collect();
        information.iter_mut().zip(&hessian).for_each(|(sum, h)| *sum += h);
        let (parameters, value, v) = (at.to_vec(), place.value, place.v.clone());
        self.from = Some(Tangent { parameters, value, v, ahead, along, information });
        Ok(Expansion { gradient, hessian, diagonal, beside })
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
