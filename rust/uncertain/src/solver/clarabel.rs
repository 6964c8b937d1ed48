//! Clarabel, a general interior-point method for cone programs, as a second opinion on hinges of d + r s.
//!
//! It gets the program as the paper has it (Yang and Gunn, equation 11), one second-order cone per row with
//! any factor F_i F_i' = S_i, a half line for rows without spread or radius:
//!
//! ```text
//! min 1/2 |w|^2 + sum (c_i / alpha) xi_i    s.t.  xi_i >= 0,    (y_i (w'x_i + b) - 1 + xi_i,  r_i F_i'w) in the cone
//! ```
//!
//! Nothing it says is taken on trust: J is computed at its point as everywhere else, and the lower bound by
//! the module [`crate::objective`]'s formula from its multipliers, made feasible: p in [0, c], and the part along F_i'w
//! no longer than p. So the gap is a certificate whatever Clarabel calls its state.
//!
//! A stop is heard once per iteration, not inside a factorisation. The program and its factor need memory
//! like n d^2 for matrices per row: this is the reference for thousands of rows, not the fast way.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ::clarabel::algebra::CscMatrix;
use ::clarabel::solver::{DefaultInfo, DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

use super::{Best, Options, Solution, Status, assess};
use crate::control::Control;
use crate::data::GaussianArray;
use crate::data::covariance::Structure;
use crate::error::{Error, Result};
use crate::loss::Dual;
use crate::objective::{ClassSums, LinearObjective, Problem};

/// Its tolerances, or a thousandth of `tol` where that is finer. They are not all relative, ours is: its own default,
/// 1e-8, has left a gap of 1.5e-6.
const TOL: f64 = 1e-9;
/// Elements of a program up to which it is our last resort: about two seconds.
const SMALL: usize = 1_000_000;
/// The finest that double precision lets it reach.
const FINEST: f64 = 1e-13;

/// Fit w and b with Clarabel, for losses max(0, d + r s): [`Hinge`](crate::loss::Hinge) and
/// [`WorstCaseHinge`](crate::loss::WorstCaseHinge).
///
/// The status is [`Status::Converged`] where the certified gap is at most `tol`, and else
/// [`Status::MaxIterations`] or [`Status::NoProgress`] (whatever it calls its trouble).
///
/// # Errors
/// Those of [`fit_linear`](super::fit_linear); another loss; [`Error::Internal`] should it panic.
pub fn fit_clarabel(problem: &Problem<'_>, options: &Options, control: &Control) -> Result<Solution> {
    options.check()?;
    minimize(&problem.check()?, options, control)
}

/// Is the program small enough to be tried where our own methods end early, and one of hinges of d + r s?
pub(super) fn is_small(objective: &LinearObjective<'_>) -> bool {
    let Problem { data, loss, .. } = *objective.problem();
    let lines = match data.covariances().structure() {
        Structure::Zero => 1,
        Structure::Factor(factor) if factor.diagonal.is_none() => 1 + factor.rank,
        _ => 1 + data.n_features(),
    };
    let elements = data.n_rows().saturating_mul(lines).saturating_mul(data.n_features());
    objective.source().is_none() && matches!(loss.dual(0), Some(Dual::Radius(_))) && elements <= SMALL
}

/// [`fit_clarabel`] of a checked problem.
pub(super) fn minimize(objective: &LinearObjective<'_>, options: &Options, control: &Control) -> Result<Solution> {
    control.check()?;
    let program = Program::new(objective, control)?;
    let settings = settings(options);
    let (listener, alpha) = (control.clone(), objective.problem().alpha);
    let solve = AssertUnwindSafe(|| {
        let Program { quadratic, linear, matrix, right, cones, .. } = &program;
        let mut solver = DefaultSolver::new(quadratic, linear, matrix, right, cones, settings)
            .map_err(|e| Error::Internal(format!("a cone program that Clarabel refuses: {e}")))?;
        solver.set_termination_callback(move |info: &DefaultInfo<f64>| {
            listener.report(info.iterations as usize, alpha * info.cost_primal, f64::NAN);
            listener.should_stop()
        });
        solver.solve();
        Ok(solver.solution)
    });
    let found = catch_unwind(solve).map_err(|_| Error::Internal("Clarabel panicked".into()))??;
    if found.status == SolverStatus::CallbackTerminated {
        return Err(Error::Interrupted);
    }
    let mut x = found.x[..program.columns].to_vec();
    x.resize(objective.dim(), 0.0);
    if x.iter().any(|x| !x.is_finite()) {
        x.fill(0.0);
    }
    let mut best = Best::new(&x, &assess(objective, &x, control)?);
    best.bound = best.bound.max(program.bound(objective, &found.z));
    let status = match found.status {
        _ if best.gap() <= options.tol => Status::Converged,
        SolverStatus::MaxIterations => Status::MaxIterations,
        _ => Status::NoProgress,
    };
    Ok(best.solution(found.iterations as usize, status))
}

fn settings(options: &Options) -> DefaultSettings<f64> {
    let tol = (1e-3 * options.tol).clamp(FINEST, TOL);
    DefaultSettings {
        verbose: false,
        max_iter: u32::try_from(options.iterations()).unwrap_or(u32::MAX),
        tol_gap_abs: tol,
        tol_gap_rel: tol,
        tol_feas: tol,
        ..DefaultSettings::default()
    }
}

/// min 1/2 z'Pz + q'z  s.t.  right - A z in the cones, for z = (w, b, xi); without an intercept b is left out.
struct Program {
    quadratic: CscMatrix<f64>,
    linear: Vec<f64>,
    matrix: CscMatrix<f64>,
    right: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
    /// Elements of (w, b).
    columns: usize,
    rows: Vec<ConicRow>,
}

/// A row with weight c and target y, and where its cone is.
struct ConicRow {
    y: f64,
    c: f64,
    lines: Range<usize>,
}

impl Program {
    fn new(objective: &LinearObjective<'_>, control: &Control) -> Result<Self> {
        let problem = *objective.problem();
        let (data, d) = (problem.data, problem.data.n_features());
        let kept: Vec<usize> = (0..data.n_rows()).filter(|&i| objective.weight(i) > 0.0).collect();
        let (count, columns) = (kept.len(), if problem.fit_intercept { d + 1 } else { d });
        let mut entries: Vec<Vec<(usize, f64)>> = vec![vec![]; columns];
        let (mut rows, mut cones) = (Vec::with_capacity(count), Vec::with_capacity(count + 1));
        cones.push(SupportedConeT::NonnegativeConeT(count));
        let mut line = count;
        for &i in &kept {
            control.check()?;
            let Some(Dual::Radius(r)) = problem.loss.dual(i) else {
                return Err(Error::parameter("solver", "clarabel", "another one for this loss: it solves hinges"));
            };
            let (y, first) = (problem.targets.at(i), line);
            data.means().row(i).iter().enumerate().for_each(|(j, x)| entries[j].push((line, -y * x)));
            if problem.fit_intercept {
                entries[d].push((line, -y));
            }
            line += 1;
            if r > 0.0 {
                for factor in factor(data, i)? {
                    factor.iter().for_each(|&(j, f)| entries[j].push((line, -r * f)));
                    line += 1;
                }
            }
            cones.push(match line - first {
                1 => SupportedConeT::NonnegativeConeT(1),
                width => SupportedConeT::SecondOrderConeT(width),
            });
            rows.push(ConicRow { y, c: objective.weight(i), lines: first..line });
        }
        let slack = rows.iter().enumerate().map(|(k, row)| vec![(k, -1.0), (row.lines.start, -1.0)]);
        let matrix = compressed(line, entries.into_iter().chain(slack));
        let mut right = vec![0.0; line];
        rows.iter().for_each(|row| right[row.lines.start] = -1.0);
        let mut linear = vec![0.0; columns];
        linear.extend(rows.iter().map(|row| row.c / problem.alpha));
        let identity = (0..columns + count).map(|j| if j < d { vec![(j, 1.0)] } else { vec![] });
        Ok(Self { quadratic: compressed(columns + count, identity), linear, matrix, right, cones, columns, rows })
    }

    /// The lower bound on J that multipliers z of the cones give.
    fn bound(&self, objective: &LinearObjective<'_>, z: &[f64]) -> f64 {
        let alpha = objective.problem().alpha;
        // c (p, h) of the rows of either class, 0 elsewhere.
        let mut slopes = [vec![0.0; z.len()], vec![0.0; z.len()]];
        for ConicRow { y, c, lines } in &self.rows {
            let own = &mut slopes[usize::from(*y > 0.0)][lines.clone()];
            own.iter_mut().zip(&z[lines.clone()]).for_each(|(s, z)| *s = alpha * z);
            let p = own[0].clamp(0.0, *c);
            own[0] = p;
            let length = own[1..].iter().map(|h| h * h).sum::<f64>().sqrt();
            if length > p {
                own[1..].iter_mut().for_each(|h| *h *= p / length);
            }
        }
        let d = objective.problem().data.n_features();
        let CscMatrix { colptr, rowval, nzval, .. } = &self.matrix;
        let [minus, plus] = slopes.map(|slopes| {
            let column = |j: usize| (colptr[j]..colptr[j + 1]).map(|k| nzval[k] * slopes[rowval[k]]).sum();
            let of_class = |row: &&ConicRow| slopes[row.lines.start] > 0.0;
            let p = |row: &ConicRow| slopes[row.lines.start];
            let bias = self.rows.iter().filter(of_class).map(|row| -row.y * p(row)).sum();
            let constant = self.rows.iter().filter(of_class).map(p).sum();
            ClassSums { gradient: (0..d).map(column).collect(), bias, constant }
        });
        objective.bound(&minus, &plus)
    }
}

/// A matrix from the (line, value) of its columns, lines ascending.
fn compressed(lines: usize, columns: impl Iterator<Item = Vec<(usize, f64)>>) -> CscMatrix<f64> {
    let (mut starts, mut at, mut values) = (vec![0], vec![], vec![]);
    for column in columns {
        at.extend(column.iter().map(|(line, _)| *line));
        values.extend(column.iter().map(|(_, value)| *value));
        starts.push(at.len());
    }
    CscMatrix::new(lines, starts.len() - 1, starts, at, values)
}

/// The columns of a factor F of a row's covariance F F', as the (feature, value) that are not zero.
fn factor(data: &GaussianArray, row: usize) -> Result<Vec<Vec<(usize, f64)>>> {
    let (covariances, d) = (data.covariances(), data.n_features());
    let diagonal = |variances: &[f64]| -> Vec<Vec<(usize, f64)>> {
        variances.iter().enumerate().filter(|(_, v)| **v > 0.0).map(|(j, v)| vec![(j, v.sqrt())]).collect()
    };
    let filled = |column: Vec<(usize, f64)>| column.into_iter().filter(|(_, f)| *f != 0.0).collect::<Vec<_>>();
    let mut columns = match covariances.structure() {
        Structure::Zero => vec![],
        Structure::Isotropic | Structure::Diagonal => {
            let mut variances = vec![0.0; d];
            covariances.variances(row, &mut variances);
            diagonal(&variances)
        }
        Structure::Factor(kind) => {
            let f = kind.factor.row(row);
            let column = |k| filled((0..d).map(|j| (j, f[j * kind.rank + k])).collect());
            let beside = kind.diagonal.as_ref().map_or_else(Vec::new, |v| diagonal(&v.row(row)));
            (0..kind.rank).map(column).chain(beside).collect()
        }
        Structure::Dense => {
            let root = covariances.sqrt(row, d)?;
            root.chunks_exact(d).map(|line| filled(line.iter().copied().enumerate().collect())).collect()
        }
    };
    columns.retain(|column| !column.is_empty());
    Ok(columns)
}
