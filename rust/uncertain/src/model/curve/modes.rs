//! The most likely v of many terms at once, |v|^2 / 2 + |W (y - f - g - G v)|^2 / 2 at its minimum, by damped Gauss-Newton, with secants in one
//! dimension.
//!
//! W'W is the inverse of the variance of y ([`White`]). All terms that still move are asked for in one batch.

use crate::error::{Error, Result};
use crate::linalg::{cholesky, cholesky_solve, dot, inverse_lower};

use super::evaluate::Evaluator;
use super::readings::Reading;
use super::terms::Term;

/// Steps of Gauss-Newton at most.
const ROUNDS: usize = 100;

/// M = kappa R + diag(sigma^2) of a row, kappa the squared factor of the errors of y (1 where it is not fitted).
#[derive(Clone)]
pub(super) struct White {
    /// W = C^{-1} of M = C C', q x q, lower.
    pub w: Vec<f64>,
    /// log |2 pi M| / 2
    pub log_root: f64,
}

impl White {
    /// Of `times` M + diag(`plus`); an error where that is singular.
    pub(super) fn wider(reading: &Reading, kappa: f64, variances: &[f64], times: f64, plus: &[f64]) -> Result<Self> {
        let q = variances.len();
        let mut w: Vec<f64> = reading.rest.iter().map(|c| times * kappa * c).collect();
        (0..q).for_each(|o| w[o * q + o] += times * variances[o] + plus[o]);
        let fine = if q == 1 {
            w[0] = w[0].sqrt();
            w[0] > 0.0
        } else {
            cholesky(&mut w, q)
        };
        if !fine {
            return Err(Error::Data(format!(
                "row {}: the target's error is 0 (or its matrix is singular) and there is no scatter, so that the row \
                 would count without bounds; give its y_std, leave y_std out for equal errors, or fit the scatter",
                reading.number
            )));
        }
        let log_root = (0..q).map(|o| w[o * q + o].ln()).sum::<f64>() + q as f64 * crate::special::HALF_LOG_TAU;
        if q == 1 {
            w[0] = 1.0 / w[0];
        } else {
            w = inverse_lower(&w, q);
        }
        Ok(Self { w, log_root })
    }

    /// W times q x k, in place of it.
    pub(super) fn apply(&self, matrix: &mut [f64], k: usize) {
        if let [w] = self.w[..] {
            matrix.iter_mut().for_each(|m| *m *= w);
            return;
        }
        let q = matrix.len() / k.max(1);
        for i in (0..q).rev() {
            for c in 0..k {
                matrix[i * k + c] = (0..=i).map(|j| self.w[i * q + j] * matrix[j * k + c]).sum();
            }
        }
    }
}

/// A minimum, or the way to it.
#[derive(Clone)]
pub(super) struct Mode {
    /// Its term under a part of the noise, of which there may be one for all.
    pub term: usize,
    pub v: Vec<f64>,
    /// |v|^2 / 2 + |W r|^2 / 2; infinite where the curve is not defined.
    pub height: f64,
    /// f(z), q.
    pub f: Vec<f64>,
    /// W r, q.
    pub residual: Vec<f64>,
    /// -W dr/dv, q x k.
    pub slope: Vec<f64>,
    /// In one dimension the place before this one, and its gradient.
    last: Option<(f64, f64)>,
    lambda: f64,
    moves: bool,
    /// Steps that were taken although rounding hides what they gain.
    unseen: usize,
}

impl Mode {
    /// I + J'J, the curvature.
    pub(super) fn curvature(&self) -> Vec<f64> {
        let k = self.v.len();
        let q = self.residual.len();
        let mut h = vec![0.0; k * k];
        for (a, b) in (0..k).flat_map(|a| (0..k).map(move |b| (a, b))) {
            let product: f64 = (0..q).map(|o| self.slope[o * k + a] * self.slope[o * k + b]).sum();
            h[a * k + b] = product + f64::from(u8::from(a == b));
        }
        h
    }
}

/// The minima that are reached from these places (term, v), all of one rank, with as many `white` for a row as cases for a
/// term; `exactly`: as far as rounding allows.
pub(super) fn settle(
    evaluator: &Evaluator<'_>,
    (readings, terms, white): (&[Reading], &[Term], &[White]),
    parameters: &[f64],
    starts: Vec<(usize, Vec<f64>)>,
    exactly: bool,
) -> Result<Vec<Mode>> {
    let q = evaluator.q;
    let parts = white.len() / readings.len().max(1);
    let context = Context { parts, evaluator, readings, terms, white, parameters };
    let mut modes: Vec<Mode> = starts
        .into_iter()
        .map(|(term, v)| Mode {
            term,
            moves: !v.is_empty(),
            v,
            height: f64::INFINITY,
            f: vec![0.0; q],
            residual: vec![0.0; q],
            slope: vec![],
            last: None,
            lambda: 0.0,
            unseen: 0,
        })
        .collect();
    let Some(k) = modes.first().map(|mode| mode.v.len()) else { return Ok(modes) };
    let all: Vec<usize> = (0..modes.len()).collect();
    let places: Vec<Vec<f64>> = modes.iter().map(|mode| mode.v.clone()).collect();
    let own: Vec<usize> = modes.iter().map(|mode| mode.term).collect();
    for (mode, tried) in modes.iter_mut().zip(context.tried(&own, &places)?) {
        (mode.height, mode.f, mode.residual) = tried;
    }
    let tolerance = if exactly { 1e-22 } else { 1e-8 };
    let mut turned: Vec<usize> = all.iter().copied().filter(|&m| modes[m].height.is_finite()).collect();
    for round in 0..ROUNDS {
        context.turn(&mut modes, &turned, k)?;
        let moving: Vec<usize> = (0..modes.len()).filter(|&m| modes[m].moves && modes[m].height.is_finite()).collect();
        if moving.is_empty() || k == 0 || round + 1 == ROUNDS {
            break;
        }
        let (mut places, mut hidden) = (vec![], vec![]);
        for &m in &moving {
            let mode = &mut modes[m];
            let mut l = mode.curvature();
            let gradient: Vec<f64> = (0..k)
                .map(|c| mode.v[c] - (0..q).map(|o| mode.slope[o * k + c] * mode.residual[o]).sum::<f64>())
                .collect();
            if let ([v], [g]) = (&mode.v[..], &gradient[..]) {
                // What Gauss and Newton leave out, f'' r, by the gradients of two places: superlinear.
                if let Some((v0, g0)) = mode.last.replace((*v, *g)) {
                    let bent = (g - g0) / (v - v0);
                    if bent > 0.2 * l[0] && bent < 5.0 * l[0] {
                        l[0] = bent;
                    }
                }
            }
            (0..k).for_each(|c| l[c * k + c] *= 1.0 + mode.lambda);
            let mut step: Vec<f64> = gradient.iter().map(|g| -g).collect();
            if cholesky(&mut l, k) {
                cholesky_solve(&l, k, &mut step);
            }
            let gain = -dot(&gradient, &step);
            mode.moves = gain > tolerance * if exactly { 1.0 + mode.height } else { 1.0 };
            hidden.push(gain <= 1e-12 * (1.0 + mode.height) && mode.unseen < 3);
            places.push(mode.v.iter().zip(&step).map(|(v, s)| v + s).collect::<Vec<f64>>());
        }
        turned.clear();
        let own: Vec<usize> = moving.iter().map(|&m| modes[m].term).collect();
        let tried = context.tried(&own, &places)?;
        for (((&m, v), hidden), (height, f, residual)) in moving.iter().zip(places).zip(hidden).zip(tried) {
            let mode = &mut modes[m];
            if height < mode.height || (hidden && height.is_finite()) {
                mode.unseen += usize::from(height >= mode.height);
                (mode.v, mode.height, mode.f, mode.residual) = (v, height, f, residual);
                mode.lambda = if mode.lambda > 1e-6 { mode.lambda / 8.0 } else { 0.0 };
                turned.push(m);
            } else if mode.moves {
                mode.lambda = (8.0 * mode.lambda).max(1e-3);
                mode.moves = mode.lambda < 1e12;
            }
        }
    }
    Ok(modes)
}

/// Height, f and W r.
type Tried = (f64, Vec<f64>, Vec<f64>);

struct Context<'a> {
    /// Parts of the noise.
    parts: usize,
    evaluator: &'a Evaluator<'a>,
    readings: &'a [Reading],
    terms: &'a [Term],
    white: &'a [White],
    parameters: &'a [f64],
}

impl Context<'_> {
    fn term(&self, case: usize) -> &Term {
        &self.terms[case / self.parts]
    }

    fn white(&self, case: usize) -> &White {
        &self.white[self.term(case).row * self.parts + case % self.parts]
    }

    /// Height, f and W r of these terms at some places.
    fn tried(&self, terms: &[usize], places: &[Vec<f64>]) -> Result<Vec<Tried>> {
        let (q, mut z) = (self.evaluator.q, vec![]);
        terms.iter().zip(places).for_each(|(&t, v)| self.term(t).place(v, &mut z));
        let values = self.evaluator.values(&z, self.parameters)?;
        let one = |((&t, v), f): ((&usize, &Vec<f64>), &[f64])| {
            let term = self.term(t);
            let mut residual = vec![0.0; q];
            term.residual(&self.readings[term.row].y, f, v, &mut residual);
            self.white(t).apply(&mut residual, 1);
            let height = 0.5 * (dot(v, v) + dot(&residual, &residual));
            (if height.is_finite() { height } else { f64::INFINITY }, f.to_vec(), residual)
        };
        Ok(terms.iter().zip(places).zip(values.chunks_exact(q)).map(one).collect())
    }

    /// The slopes of some modes where they are.
    fn turn(&self, modes: &mut [Mode], some: &[usize], k: usize) -> Result<()> {
        let (q, mut z, mut directions, mut values) = (self.evaluator.q, vec![], vec![], vec![]);
        if k == 0 {
            return Ok(());
        }
        for &m in some {
            let (mode, term) = (&modes[m], self.term(modes[m].term));
            term.place(&mode.v, &mut z);
            directions.extend_from_slice(&term.root);
            values.extend_from_slice(&mode.f);
        }
        let slopes = self.evaluator.along(&z, &directions, k, self.parameters, &values)?;
        for (&m, slope) in some.iter().zip(slopes.chunks_exact(q * k)) {
            let term = self.term(modes[m].term);
            let mut slope: Vec<f64> = slope.iter().zip(&term.slope).map(|(f, g)| f + g).collect();
            self.white(modes[m].term).apply(&mut slope, k);
            modes[m].slope = slope;
        }
        Ok(())
    }
}
