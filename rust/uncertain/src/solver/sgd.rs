//! Stochastic gradient descent of Pegasos type, the SVM-GSU paper's algorithm 1.
//!
//! ```text
//! w, b  <-  (w, b) - eta_t (alpha w + mean over a fresh random batch of the loss gradient),
//! eta_t = 1 / (alpha (t + offset))
//! ```
//!
//! A step costs O(k d) for a batch of k rows, whatever the number of rows. The paper has offset = 0:
//! its first steps are 1/alpha long and throw b far away, which a thousand steps later still shows;
//! the default offset 1/alpha makes the first step one long and the late ones the same. Batches are
//! drawn with replacement by a generator of our own (xoshiro256++), the same on every machine.
//! Source: Shalev-Shwartz et al., Math. Program. 127, 2011; Tzelepis et al. 2018.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Best, Options, Solution, Status, assess};
use crate::control::Control;
use crate::data::Rows;
use crate::data::covariance::{BlockVerbs, Field};
use crate::error::Result;
use crate::loss::{LossEval, Scores};
use crate::objective::LinearObjective;
use crate::simd::{self, Stored, of_type};
use crate::with_kind;

/// Steps between two looks at the stop flag.
const CHECK_EVERY: usize = 64;
/// Rows of a batch between two looks.
const CHECK_ROWS: usize = 1 << 14;
/// Rows of a batch whose losses are computed together, in the lanes of vectors.
const TOGETHER: usize = 64;
/// Reports of progress per run.
const REPORTS: usize = 20;

/// Bytes of a row that are asked for ahead; what lies behind them the machine guesses by itself.
const AHEAD: usize = 512;

/// Where a run stands: give it back to [`run`] to go on.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// (w, b), the last iterate.
    pub x: Vec<f64>,
    /// The average of the last half of the latest run's iterates.
    pub average: Vec<f64>,
    /// Steps taken in all runs.
    pub steps: u64,
}

impl State {
    /// Before the first step, at zero, for d features.
    pub fn new(d: usize) -> Self {
        Self { x: vec![0.0; d + 1], average: vec![0.0; d + 1], steps: 0 }
    }
}

/// A whole fit: the steps of `options`, then one pass for objective and gap.
pub(super) fn fit(
    objective: &LinearObjective<'_>,
    options: &Options,
    start: Option<&[f64]>,
    control: &Control,
) -> Result<Solution> {
    let mut state = State::new(objective.dim() - 1);
    if let Some(x) = start {
        state.x.copy_from_slice(x);
    }
    let steps = options.max_iter.unwrap_or(20_000);
    run(objective, &mut state, steps, options, control)?;
    let x = if options.averaging { &state.average } else { &state.x };
    let best = Best::new(x, &assess(objective, x, control)?);
    let status = if best.gap() <= options.tol { Status::Converged } else { Status::StepsDone };
    control.report(steps, best.objective, best.gap());
    Ok(best.solution(steps, status))
}

/// Take `steps` steps from `state`.
pub fn run(
    objective: &LinearObjective<'_>,
    state: &mut State,
    steps: usize,
    options: &Options,
    control: &Control,
) -> Result<()> {
    let problem = objective.problem();
    let (data, alpha) = (problem.data, problem.alpha);
    let (n, d) = (data.n_rows(), data.n_features());
    let loss = problem.loss;
    let offset = options.step_offset.unwrap_or(1.0 / alpha);
    let ball = 1.0 / alpha.sqrt();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(options.seed ^ state.steps.rotate_left(32));
    let fields = data.covariances().fields();
    let table = InMemory::new(data.means(), &fields);
    let (mut gradient, mut rows) = (vec![0.0; d], Vec::with_capacity(TOGETHER));
    let ([mut y, mut m, mut v], mut eval) = ([[0.0; TOGETHER]; 3], [LossEval::default(); TOGETHER]);
    let half = steps / 2;
    let mut averaged = 0.0;
    with_kind!(data.covariances(), kind => {
        let width = kind.memo_width(d);
        let mut memo = vec![0.0; width * TOGETHER];
        for step in 0..steps {
            if step % CHECK_EVERY == 0 {
                control.check()?;
            }
            let (w, b) = (&state.x[..d], state.x[d]);
            let along = data.covariances().along(w);
            gradient.fill(0.0);
            let mut bias = 0.0;
            for drawn in (0..options.batch_size).step_by(TOGETHER) {
                if drawn > 0 && drawn % CHECK_ROWS == 0 {
                    control.check()?;
                }
                rows.clear();
                rows.extend((drawn..options.batch_size).take(TOGETHER).map(|_| rng.random_range(0..n)));
                rows.iter().for_each(|&i| table.ask_for(i));
                for (k, &i) in rows.iter().enumerate() {
                    y[k] = problem.targets.at(i);
                    m[k] = data.means().row(i).iter().zip(w).map(|(x, w)| x * w).sum::<f64>() + b;
                    kind.quads(i, &along, &mut memo[k * width..][..width], &mut v[k..=k]);
                }
                let own = loss.take_rows(&rows);
                let count = rows.len();
                let scores = Scores { first: 0, y: &y[..count], m: &m[..count], v: &v[..count], width: 0.0 };
                own.as_deref().unwrap_or(loss).eval(&scores, &mut eval[..count]);
                for (k, &i) in rows.iter().enumerate() {
                    let c = objective.weight(i) * n as f64;
                    let dm = c * eval[k].dm;
                    if dm != 0.0 {
                        gradient.iter_mut().zip(&*data.means().row(i)).for_each(|(g, x)| *g += dm * x);
                        bias += dm;
                    }
                    if v[k] > 0.0 && eval[k].ds != 0.0 {
                        let coef = [c * eval[k].ds / v[k].sqrt()];
                        kind.add_images(i, &[0], &coef, &along, &memo[k * width..][..width], &mut gradient);
                    }
                }
            }
            let k = options.batch_size as f64;
            let eta = 1.0 / (alpha * ((state.steps + 1) as f64 + offset));
            for j in 0..d {
                state.x[j] -= eta * (alpha * state.x[j] + gradient[j] / k);
            }
            if problem.fit_intercept {
                state.x[d] -= eta * bias / k;
            }
            if options.projection {
                let norm = state.x[..d].iter().map(|w| w * w).sum::<f64>().sqrt();
                if norm > ball {
                    state.x[..d].iter_mut().for_each(|w| *w *= ball / norm);
                }
            }
            state.steps += 1;
            if step >= half {
                averaged += 1.0;
                for j in 0..=d {
                    state.average[j] += (state.x[j] - state.average[j]) / averaged;
                }
            }
            if (step + 1) % (steps / REPORTS).max(1) == 0 {
                control.report(step + 1, f64::NAN, f64::NAN);
            }
        }
    });
    Ok(())
}

/// Means and covariances as they lie in memory, as far as each is in one piece: random rows of a large table are not in
/// the cache, and those of a batch can be fetched side by side.
struct InMemory<'a>(Vec<(Stored<'a>, usize)>);

impl<'a> InMemory<'a> {
    fn new(means: &'a Rows, fields: &'a [Field]) -> Self {
        let of_rows = fields.iter().filter(|field| !field.shared).map(|field| &field.values);
        let pieces = std::iter::once(means).chain(of_rows);
        Self(pieces.filter_map(|rows| Some((rows.as_stored()?, rows.width()))).collect())
    }

    fn ask_for(&self, row: usize) {
        for &(values, width) in &self.0 {
            let values = values.part(row * width..(row + 1) * width);
            of_type!(values, values => simd::prefetch(&values[..width.min(AHEAD / size_of_val(&values[0]))]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::covariance::{packed_index, packed_len};
    use crate::data::{Covariances, GaussianArray, Names, Weights};
    use crate::loss::{EllipsoidHinge, ExpectedHinge, Loss};
    use crate::objective::Problem;
    use crate::testing::Numbers;

    const N: usize = 90;
    const D: usize = 3;

    /// Step by step and row by row, with square matrices.
    fn reference(problem: &Problem<'_>, steps: usize, options: &Options) -> Vec<f64> {
        let (data, alpha) = (problem.data, problem.alpha);
        let total: f64 = problem.weights.map_or(N as f64, |weights| weights.iter().sum());
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(options.seed);
        let mut x = vec![0.0; D + 1];
        for step in 0..steps {
            let mut gradient = [0.0; D + 1];
            for _ in 0..options.batch_size {
                let i = rng.random_range(0..N);
                let mut triangle = vec![0.0; packed_len(D)];
                data.covariances().triangle(i, D, &mut triangle);
                let element = |a: usize, b: usize| triangle[packed_index(a, b)];
                let image: Vec<f64> = (0..D).map(|a| (0..D).map(|b| element(a, b) * x[b]).sum()).collect();
                let (m, v) =
                    (0..D).fold((x[D], 0.0), |(m, v), j| (m + data.means().at(i, j) * x[j], v + image[j] * x[j]));
                let mut eval = [LossEval::default()];
                problem
                    .loss
                    .eval(&Scores { first: i, y: &[problem.targets.at(i)], m: &[m], v: &[v], width: 0.0 }, &mut eval);
                let c = problem.weights.map_or(1.0, |weights| weights[i]) * N as f64 / total;
                for j in 0..D {
                    let along = if v > 0.0 { eval[0].ds * image[j] / v.sqrt() } else { 0.0 };
                    gradient[j] += c * (eval[0].dm * data.means().at(i, j) + along);
                }
                gradient[D] += c * eval[0].dm;
            }
            let eta = 1.0 / (alpha * ((step + 1) as f64 + 1.0 / alpha));
            for j in 0..=D {
                let decay = if j < D { alpha * x[j] } else { 0.0 };
                x[j] -= eta * (decay + gradient[j] / options.batch_size as f64);
            }
        }
        x
    }

    #[test]
    fn steps_are_those_of_single_rows() {
        let mut numbers = Numbers::new(3);
        let mut normals = |n: usize| (0..n).map(|_| numbers.normal()).collect::<Vec<f64>>();
        let means = normals(N * D);
        let y: Vec<f64> = normals(N).into_iter().map(f64::signum).collect();
        let weights = Weights::new(normals(N).into_iter().map(f64::abs).collect()).unwrap();
        let radii: Vec<f64> = normals(N).into_iter().map(f64::abs).collect();
        let rows = |values: Vec<f64>, width: usize| Rows::from_vec(values, width).unwrap();
        let positive = |values: Vec<f64>| values.into_iter().map(|x| 0.1 + x.abs()).collect::<Vec<f64>>();
        let roots = normals(N * D * D);
        let full = (0..N * D * D).map(|at| {
            let (i, a, b) = (at / (D * D), at / D % D, at % D);
            (0..D).map(|k| roots[(i * D + a) * D + k] * roots[(i * D + b) * D + k]).sum()
        });
        let kinds = [
            Covariances::Zero,
            Covariances::from_std(rows(positive(normals(N)), 1)),
            Covariances::from_std(rows(positive(normals(N * D)), D)),
            Covariances::from_cov(rows(full.collect(), D * D), &Names::default()).unwrap(),
        ];
        for covariances in kinds {
            let data = GaussianArray::new(rows(means.clone(), D), covariances).unwrap();
            for loss in [Box::new(ExpectedHinge) as Box<dyn Loss>, Box::new(EllipsoidHinge::worst(&radii))] {
                for batch_size in [1, 64, 100] {
                    let problem = Problem {
                        data: &data,
                        targets: y.as_slice().into(),
                        weights: Some(&weights),
                        alpha: 0.1,
                        fit_intercept: true,
                        loss: &*loss,
                    };
                    let options = Options { batch_size, projection: false, ..Options::default() };
                    let mut state = State::new(D);
                    run(&problem.check().unwrap(), &mut state, 30, &options, &Control::new()).unwrap();
                    let expected = reference(&problem, 30, &options);
                    for (found, expected) in state.x.iter().zip(&expected) {
                        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
                    }
                }
            }
        }
    }
}
