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
use crate::data::covariance::BlockVerbs;
use crate::error::Result;
use crate::loss::{LossEval, Scores};
use crate::objective::LinearObjective;
use crate::with_kind;

/// Steps between two looks at the stop flag.
const CHECK_EVERY: usize = 64;
/// Rows of a batch between two looks.
const CHECK_ROWS: usize = 1 << 14;
/// Reports of progress per run.
const REPORTS: usize = 20;

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
    #[must_use]
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
    let mut gradient = vec![0.0; d];
    let half = steps / 2;
    let mut averaged = 0.0;
    with_kind!(data.covariances(), kind => {
        let mut memo = vec![0.0; kind.memo_width(d)];
        for step in 0..steps {
            if step % CHECK_EVERY == 0 {
                control.check()?;
            }
            let (w, b) = (&state.x[..d], state.x[d]);
            let along = data.covariances().along(w);
            gradient.fill(0.0);
            let mut bias = 0.0;
            for drawn in 1..=options.batch_size {
                if drawn % CHECK_ROWS == 0 {
                    control.check()?;
                }
                let i = rng.random_range(0..n);
                let c = objective.weight(i) * n as f64;
                let row = data.means().row(i);
                let m = row.iter().zip(w).map(|(x, w)| x * w).sum::<f64>() + b;
                let (mut v, mut eval) = ([0.0], [LossEval::default()]);
                kind.quads(i, &along, &mut memo, &mut v);
                let scores = Scores { first: i, y: &[problem.targets.at(i)], m: &[m], v: &v, width: 0.0 };
                loss.eval(&scores, &mut eval);
                let dm = c * eval[0].dm;
                if dm != 0.0 {
                    gradient.iter_mut().zip(&*row).for_each(|(g, x)| *g += dm * x);
                    bias += dm;
                }
                if v[0] > 0.0 && eval[0].ds != 0.0 {
                    kind.add_images(i, &[0], &[c * eval[0].ds / v[0].sqrt()], &along, &memo, &mut gradient);
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
