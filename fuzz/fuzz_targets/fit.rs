//! Any small problem of a linear score: refused with a sentence, or a point whose certificate is true.
//!
//! Numbers are small steps of a grid, so that rows repeat, lie on lines and are told apart, with a magnitude of their own
//! for means, error bars, targets and weights. What is checked is known from elsewhere: J is summed again from dense
//! matrices, and every solver's interval [(1 - gap) J, J] holds the one minimum, so no two of them are disjoint.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use uncertain::loss::{LossEval, LossKind, Scores, TargetKind};
use uncertain::objective::Problem;
use uncertain::solver::{Options, Solution, SolverKind, Status, fit_linear};
use uncertain::data::{Covariances, Rows, Weights};
use uncertain::{Control, GaussianArray};

#[derive(Arbitrary, Debug)]
enum Bars {
    None,
    OneStdPerRow,
    Std,
    Cov,
    Shared,
    Factor { rank: u8, diagonal: bool },
}

#[derive(Arbitrary, Debug)]
struct Given {
    d: u8,
    bars: Bars,
    loss: u8,
    /// Powers of ten of means, error bars, targets, weights, penalty and the loss's parameter.
    powers: [i8; 6],
    fit_intercept: bool,
    weighted: bool,
    noisy_targets: bool,
    numbers: Vec<i8>,
}

/// Numbers of the grid, again and again from their beginning.
struct Grid<'a> {
    numbers: &'a [i8],
    at: usize,
}

impl Grid<'_> {
    fn take(&mut self, len: usize, power: i8) -> Vec<f64> {
        let scale = 10_f64.powi(i32::from(power % 4));
        let mut next = || {
            self.at += 1;
            f64::from(self.numbers[(self.at - 1) % self.numbers.len()]) / 16.0 * scale
        };
        (0..len).map(|_| next()).collect()
    }

    fn sizes(&mut self, len: usize, power: i8) -> Vec<f64> {
        self.take(len, power).into_iter().map(f64::abs).collect()
    }
}

/// A A' of each matrix.
fn squares(values: &[f64], d: usize) -> Vec<f64> {
    let one = |a: &[f64]| {
        let dot = |i: usize, j: usize| (0..d).map(|k| a[i * d + k] * a[j * d + k]).sum::<f64>();
        (0..d * d).map(|k| dot(k / d, k % d)).collect::<Vec<f64>>()
    };
    values.chunks_exact(d * d).flat_map(one).collect()
}

fn covariances(given: &Given, grid: &mut Grid<'_>, n: usize, d: usize) -> uncertain::Result<Covariances> {
    let (power, names) = (given.powers[1], Default::default());
    let mut rows = |width: usize| Rows::from_vec(grid.sizes(n * width, power), width);
    Ok(match given.bars {
        Bars::None => Covariances::Zero,
        Bars::OneStdPerRow => Covariances::from_std(rows(1)?),
        Bars::Std => Covariances::from_std(rows(d)?),
        Bars::Cov => {
            let values = squares(&grid.take(n * d * d, power), d);
            Covariances::from_cov(Rows::from_vec(values, d * d)?, &names)?
        }
        Bars::Shared => Covariances::shared(&squares(&grid.take(d * d, power), d), &names)?,
        Bars::Factor { rank, diagonal } => {
            let rank = usize::from(rank % 3) + 1;
            let variances = if diagonal { Some(rows(d)?) } else { None };
            let factor = Rows::from_vec(grid.take(n * d * rank, power), d * rank)?;
            Covariances::from_factor(factor, rank, variances, &names)?
        }
    })
}

/// J at a point, row by row from dense matrices; and what rounding of the spreads may make of it.
fn objective(problem: &Problem<'_>, s: &Solution) -> (f64, f64) {
    let (n, d) = (problem.data.n_rows(), s.w.len());
    let dense = problem.data.dense().expect("small matrices");
    let weight = |i: usize| problem.weights.map_or(1.0, |c| c[i]);
    let total: f64 = (0..n).map(weight).sum();
    let norm = s.w.iter().map(|w| w * w).sum::<f64>();
    let (mut sum, mut slack) = (problem.alpha / 2.0 * norm, 0.0);
    for i in 0..n {
        let x = problem.data.means().row(i);
        let m = s.b + (0..d).map(|j| s.w[j] * x[j]).sum::<f64>();
        let mut parts = (0..d * d).map(|k| s.w[k / d] * dense[i * d * d + k] * s.w[k % d]).collect::<Vec<f64>>();
        let v = parts.iter().sum::<f64>().max(0.0);
        parts.iter_mut().for_each(|p| *p = p.abs());
        let rounding = 1e-14 * parts.iter().sum::<f64>();
        let y = problem.targets.at(i);
        let at = |v: f64| {
            let mut out = [LossEval::default()];
            let (y, m, v) = (&[y], &[m], &[v]);
            problem.loss.eval(&Scores { first: i, y, m, v, width: 0.0 }, &mut out);
            out[0].value
        };
        sum += weight(i) / total * at(v);
        slack += weight(i) / total * (at(v + rounding) - at((v - rounding).max(0.0))).abs();
        // m itself is known to so much.
        let size = s.b.abs() + (0..d).map(|j| (s.w[j] * x[j]).abs()).sum::<f64>() + y.abs();
        let mut out = [LossEval::default()];
        problem.loss.eval(&Scores { first: i, y: &[y], m: &[m], v: &[v], width: 0.0 }, &mut out);
        slack += weight(i) / total * (out[0].dm.abs() + 1.0).min(1.0 + size) * 1e-13 * size;
    }
    (sum, slack)
}

fuzz_target!(|given: Given| {
    if given.numbers.is_empty() {
        return;
    }
    let d = usize::from(given.d % 5) + 1;
    let n = (given.numbers.len() / d).clamp(2, 24);
    let mut grid = Grid { numbers: &given.numbers, at: 0 };
    let means = Rows::from_vec(grid.take(n * d, given.powers[0]), d).expect("n rows of d numbers");
    let array = covariances(&given, &mut grid, n, d).and_then(|covariances| GaussianArray::new(means, covariances));
    let Ok(data) = array else { return };
    let parameter = 10_f64.powi(i32::from(given.powers[5] % 4));
    let kind = match LossKind::ALL[usize::from(given.loss) % LossKind::ALL.len()] {
        LossKind::EpsilonInsensitive { .. } => LossKind::EpsilonInsensitive { epsilon: parameter },
        LossKind::Huber { .. } => LossKind::Huber { delta: parameter },
        other => other,
    };
    let real = kind.check_for(TargetKind::Real).is_ok();
    let variances = (real && given.noisy_targets).then(|| grid.sizes(n, given.powers[2]));
    let loss = kind.build(variances);
    let targets = grid.take(n, given.powers[2]);
    let targets = if real { targets } else { targets.iter().map(|y| if *y < 0.0 { -1.0 } else { 1.0 }).collect() };
    let weights = given.weighted.then(|| Weights::new(grid.sizes(n, given.powers[3])));
    let Ok(weights) = weights.transpose() else { return };
    let alpha = 10_f64.powi(i32::from(given.powers[4] % 7));
    let (weights, fit_intercept) = (weights.as_ref(), given.fit_intercept);
    let problem = Problem { data: &data, targets: (&targets).into(), weights, alpha, fit_intercept, loss: &*loss };
    // The plain hinge sees means alone; models give it exact rows.
    let points = (kind == LossKind::Hinge).then(|| data.collapse(uncertain::Collapse::Zero).expect("without errors"));
    let problem = Problem { data: points.as_ref().unwrap_or(&data), ..problem };

    let (mut lower, mut upper, mut slack) = (f64::NEG_INFINITY, f64::INFINITY, 0.0_f64);
    let mut seen = vec![];
    for kind in [SolverKind::Auto, SolverKind::Newton, SolverKind::Lbfgs, SolverKind::Sgd] {
        let options = Options { max_iter: (kind == SolverKind::Sgd).then_some(20), ..Options::default() };
        let Ok(s) = fit_linear(&problem, kind, &options, None, &Control::new()) else { continue };
        assert!(
            s.w.iter().all(|w| w.is_finite()) && s.b.is_finite() && s.objective.is_finite() && s.gap >= 0.0,
            "{s:?}"
        );
        assert!(s.status != Status::Converged || s.gap <= options.tol, "{s:?}");
        assert!(fit_intercept || s.b == 0.0, "{s:?}");
        let (again, rounding) = objective(&problem, &s);
        let rounding = rounding + 1e-11 * again.abs();
        assert!((again - s.objective).abs() <= rounding, "{kind:?} says J = {:e}, which is {again:e}", s.objective);
        slack = slack.max(rounding);
        (lower, upper) = (lower.max(s.objective * (1.0 - s.gap)), upper.min(s.objective));
        seen.push((kind, s.objective, s.gap, s.status));
    }
    assert!(lower <= upper + slack + 1e-9 * upper.abs(), "{lower:e} > {upper:e} +- {slack:e}: {seen:?}");
});
