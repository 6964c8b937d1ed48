mod zoo;

use std::ops::Range;

use strum::VariantArray;

use super::*;
use crate::data::covariance::Diagonal;
use crate::data::{Covariances, GaussianArray, Names, Rows, Unit, Weights, Workspace};
use crate::loss::{EllipsoidHinge, ExpectedHinge, Hinge, Loss};
use crate::objective::tests::partitioned::PartitionedRows;
use crate::testing::Numbers;

/// The solvers that stop on the certified gap: all but one.
fn exact_kinds() -> impl Iterator<Item = SolverKind> {
    SolverKind::VARIANTS.iter().copied().filter(|kind| *kind != SolverKind::Sgd)
}

/// Two overlapping classes; each row's standard deviations are `spread` times uniform numbers, or
/// zero for every `exact`-th row.
fn classes(n: usize, d: usize, spread: f64, exact: usize) -> (GaussianArray, Vec<f64>) {
    let mut numbers = Numbers::new(5);
    let targets: Vec<f64> = (0..n).map(|_| if numbers.uniform() < 0.3 { -1.0 } else { 1.0 }).collect();
    let means = (0..n * d).map(|k| numbers.normal() + 0.8 * targets[k / d] * f64::from(u8::from(k % d < 2)));
    let means = Rows::from_vec(means.collect(), d).unwrap();
    let std = (0..n * d).map(|k| if k / d % exact == exact - 1 { 0.0 } else { spread * (0.5 + numbers.uniform()) });
    let values = Rows::from_vec(std.collect(), d).unwrap();
    let covariances = Covariances::Diagonal(Diagonal { values, unit: Unit::StandardDeviation });
    (GaussianArray::new(means, covariances).unwrap(), targets)
}

fn problem<'a>(data: &'a GaussianArray, targets: &'a [f64]) -> Problem<'a> {
    Problem { data, targets: targets.into(), weights: None, alpha: 1e-3, fit_intercept: true, loss: &ExpectedHinge }
}

#[test]
fn every_solver_reaches_one_certified_optimum() {
    // Healthy error bars; one exact row in seven; exact points only; nearly exact ones.
    for (spread, exact) in [(0.5, usize::MAX), (0.5, 7), (0.0, 1), (1e-7, usize::MAX)] {
        let (data, targets) = classes(400, 6, spread, exact);
        let radii: Vec<f64> = (0..400).map(|i| 0.5 * f64::from(i % 7)).collect();
        let losses: [Box<dyn Loss>; 3] =
            [Box::new(ExpectedHinge), Box::new(Hinge), Box::new(EllipsoidHinge::worst(&radii))];
        for loss in losses {
            let problem = Problem { loss: &*loss, ..problem(&data, &targets) };
            let options = Options { tol: 1e-7, max_iter: Some(5000), ..Options::default() };
            let best = fit_linear(&problem, SolverKind::Auto, &options, None, &Control::new()).unwrap().objective;
            for &kind in SolverKind::VARIANTS {
                let s = fit_linear(&problem, kind, &options, None, &Control::new()).unwrap();
                if kind == SolverKind::Sgd {
                    assert_eq!(s.status, Status::StepsDone);
                    assert!(s.objective >= best * (1.0 - 1e-7) && s.objective * (1.0 - s.gap) <= best);
                    continue;
                }
                assert_eq!(s.status, Status::Converged, "{kind:?} {spread} {exact} {loss:?}");
                assert!((s.objective / best - 1.0).abs() < 2e-7);
            }
        }
    }
}

#[test]
fn losses_without_one_minimum_are_refused() {
    let (data, targets) = classes(20, 2, 0.5, usize::MAX);
    let problem = Problem { loss: &EllipsoidHinge::best(&[1.0; 20]), ..problem(&data, &targets) };
    let result = fit_linear(&problem, SolverKind::Auto, &Options::default(), None, &Control::new());
    assert!(matches!(result, Err(Error::Parameter { name, .. }) if name == "loss"));
}

/// Nothing separates the classes: w = 0 is the optimum, where every row's spread is zero too.
#[test]
fn the_kink_at_the_origin_is_certified() {
    for (n, d, exact) in [(60, 2, usize::MAX), (60, 2, 5), (200, 3, 2), (9, 2, usize::MAX)] {
        let (data, _) = classes(n, d, 0.7, exact);
        let middle = |i: usize| if i % 3 == 1 && data.means().at(i, 0).abs() < 2.0 { 1.0 } else { -1.0 };
        let targets: Vec<f64> = (0..n).map(middle).collect();
        for alpha in [1e-3, 0.1] {
            let problem = Problem { alpha, ..problem(&data, &targets) };
            for kind in exact_kinds() {
                let s = fit_linear(&problem, kind, &Options::default(), None, &Control::new()).unwrap();
                assert_eq!(s.status, Status::Converged, "{n} {d} {exact} {alpha} {kind:?}: gap {}", s.gap);
            }
        }
    }
}

/// Rows that are uncertain in two directions each.
fn thin(n: usize, d: usize) -> (GaussianArray, Vec<f64>) {
    let mut numbers = Numbers::new(8);
    let means = Rows::from_vec((0..n * d).map(|_| numbers.normal()).collect(), d).unwrap();
    let factor = Rows::from_vec((0..n * d * 2).map(|_| 0.3 * numbers.normal()).collect(), d * 2).unwrap();
    let covariances = Covariances::from_factor(factor, 2, None, &Names::default()).unwrap();
    (GaussianArray::new(means, covariances).unwrap(), (0..n).map(|i| [1.0, -1.0][i % 2]).collect())
}

/// Spread in few directions: the optimum avoids the spreads of many rows, or of all.
#[test]
fn thin_spreads_are_certified() {
    for (n, d) in [(30, 60), (20, 200), (100, 60)] {
        let (data, targets) = thin(n, d);
        for alpha in [1e-6, 1e-4, 1e-2, 1.0] {
            let problem = Problem { alpha, ..problem(&data, &targets) };
            let s = fit_linear(&problem, SolverKind::Auto, &Options::default(), None, &Control::new()).unwrap();
            assert_eq!(s.status, Status::Converged, "{n} {d} {alpha}: gap {}", s.gap);
            assert!(s.iterations <= 60, "{n} {d} {alpha}: {}", s.iterations);
        }
    }
}

/// A matrix per row in place of a factor.
fn as_matrices(data: &GaussianArray) -> GaussianArray {
    let (n, d) = (data.n_rows(), data.n_features());
    let mut all = vec![];
    for row in 0..n {
        let mut packed = vec![0.0; d * (d + 1) / 2];
        data.covariances().add_to(row, 1.0, d, &mut packed);
        all.extend(packed);
    }
    let layout = crate::data::covariance::Layout::Packed;
    let values = Rows::from_vec(all, d * (d + 1) / 2).unwrap();
    let full = crate::data::covariance::Full { values, layout };
    GaussianArray::new(data.means().clone(), Covariances::Full(full)).unwrap()
}

/// Rows that the optimum leaves without spread, among many that it does not, against the cone-aware method.
#[test]
fn a_few_rows_at_their_tips_are_certified() {
    let (data, targets) = thin(400, 40);
    let matrices = as_matrices(&data);
    let weights = Weights::new((0..400).map(|i| f64::from(i % 4)).collect()).unwrap();
    let (options, control) = (Options { tol: 1e-8, ..Options::default() }, Control::new());
    for alpha in [1e-5, 1e-3, 1e-1] {
        for (fit_intercept, weights) in [(true, None), (false, Some(&weights))] {
            let problem = Problem { alpha, fit_intercept, weights, ..problem(&data, &targets) };
            let objective = problem.check().unwrap();
            assert!(!cone::is_thin(&objective));
            let reference = cone::minimize(&objective, 0, &options, &control).unwrap();
            assert!(reference.gap <= 1e-7, "{alpha}: {}", reference.gap);
            for data in [&data, &matrices] {
                let s = fit_linear(&Problem { data, ..problem }, SolverKind::Auto, &options, None, &control).unwrap();
                assert_eq!(s.status, Status::Converged, "{alpha}: gap {}", s.gap);
                assert!((s.objective / reference.objective - 1.0).abs() < 1e-7, "{alpha}");
                assert!(s.objective * (1.0 - s.gap) <= reference.objective && (fit_intercept || s.b == 0.0));
                assert!(s.iterations <= 40, "{alpha}: {}", s.iterations);
            }
        }
    }
}

/// The span of few rows, weights of zero and a fixed intercept change nothing but the size.
#[test]
fn few_rows_are_solved_in_their_span() {
    let (data, targets) = thin(24, 90);
    let weights = Weights::new((0..24).map(|i| f64::from(i % 3 != 0)).collect()).unwrap();
    let kept: Vec<usize> = (0..24).filter(|i| i % 3 != 0).collect();
    let (fewer, theirs) = (data.take(&kept).unwrap(), kept.iter().map(|&i| targets[i]).collect::<Vec<_>>());
    let options = Options { tol: 1e-9, ..Options::default() };
    for fit_intercept in [true, false] {
        let solve = |problem: Problem<'_>| {
            let problem = Problem { fit_intercept, alpha: 1e-2, ..problem };
            fit_linear(&problem, SolverKind::Auto, &options, None, &Control::new()).unwrap()
        };
        let weighted = solve(Problem { weights: Some(&weights), ..problem(&data, &targets) });
        let dropped = solve(problem(&fewer, &theirs));
        assert!(weighted.status == Status::Converged && dropped.status == Status::Converged);
        assert!((weighted.objective / dropped.objective - 1.0).abs() < 2e-9);
        assert!(fit_intercept || weighted.b == 0.0);
    }
    // Points: the span is smaller than the features.
    let points = GaussianArray::exact(data.means().clone()).unwrap();
    let small = solve_points(&points, &targets);
    // The points among the features of more rows of weight zero, where the span is everything.
    let more = Rows::concat([data.means().clone(), thin(120, 90).0.means().clone()], 90).unwrap();
    let weights = Weights::new((0..144).map(|i| f64::from(i < 24)).collect()).unwrap();
    let labels: Vec<f64> = (0..144).map(|i| [1.0, -1.0][i % 2]).collect();
    let wide = GaussianArray::exact(more).unwrap();
    let wide = Problem { weights: Some(&weights), ..problem(&wide, &labels) };
    let wide = fit_linear(&wide, SolverKind::Auto, &options, None, &Control::new()).unwrap();
    assert!((small.objective / wide.objective - 1.0).abs() < 2e-7, "{} {}", small.objective, wide.objective);
}

/// Features of size 300 and classes far apart, where a hundred points once took 500 iterations.
#[test]
fn exact_points_take_few_iterations_whatever_their_scale() {
    for scale in [1e-3, 1.0, 300.0] {
        for apart in [0.0, 0.5, 5.0] {
            for alpha in [1e-6, 1e-2, 1.0] {
                let mut numbers = Numbers::new(3);
                let targets: Vec<f64> = (0..150).map(|i| if i % 3 == 0 { -1.0 } else { 1.0 }).collect();
                let means = (0..450).map(|k| scale * (numbers.normal() + apart * targets[k / 3])).collect();
                let points = GaussianArray::exact(Rows::from_vec(means, 3).unwrap()).unwrap();
                let weights = Weights::new((0..150).map(|i| f64::from(i % 4)).collect()).unwrap();
                let problem = Problem { alpha, weights: Some(&weights), loss: &Hinge, ..problem(&points, &targets) };
                let s = fit_linear(&problem, SolverKind::Auto, &Options::default(), None, &Control::new()).unwrap();
                assert_eq!(s.status, Status::Converged, "{scale} {apart} {alpha}");
                assert!(s.iterations <= 40, "{scale} {apart} {alpha}: {} iterations", s.iterations);
            }
        }
    }
}

/// The worst case of spreads in few directions, where the cone-aware method can stall between 1e-6 and 1e-3: the gap that it
/// reports is that of its point and its bound, and so of all its points.
#[test]
fn the_gap_of_thin_spreads_is_honest() {
    let (data, targets) = thin(30, 60);
    for (c, radius) in [(10.0, 1.0), (10.0, 3.0), (1000.0, 0.3), (1000.0, 3.0)] {
        let loss = &EllipsoidHinge::worst(&[radius; 30]);
        let problem = Problem { alpha: 1.0 / (30.0 * c), loss, ..problem(&data, &targets) };
        let solve = |max_iter| {
            let options = Options { max_iter, ..Options::default() };
            fit_linear(&problem, SolverKind::Auto, &options, None, &Control::new()).unwrap()
        };
        let best = solve(None);
        assert!(best.gap < 1e-3, "{c} {radius}: {}", best.gap);
        for early in [2, 5, 8].map(|steps| solve(Some(steps))) {
            assert!(early.objective * (1.0 - early.gap) <= best.objective, "{c} {radius}: {early:?} {best:?}");
        }
    }
}

fn solve_points(points: &GaussianArray, targets: &[f64]) -> Solution {
    let s =
        fit_linear(&problem(points, targets), SolverKind::Auto, &Options::default(), None, &Control::new()).unwrap();
    assert_eq!(s.status, Status::Converged);
    s
}

#[test]
fn hundreds_of_features_have_one_optimum() {
    let (data, targets) = classes(600, 320, 0.5, usize::MAX);
    let problem = Problem { alpha: 0.1, ..problem(&data, &targets) };
    let options = Options { tol: 1e-9, ..Options::default() };
    let solve = |kind| fit_linear(&problem, kind, &options, None, &Control::new()).unwrap();
    let (newton, lbfgs) = (solve(SolverKind::Newton), solve(SolverKind::Lbfgs));
    assert_eq!((newton.status, lbfgs.status), (Status::Converged, Status::Converged));
    assert!((newton.objective / lbfgs.objective - 1.0).abs() < 1e-8);
}

/// Newton and L-BFGS need nothing but sums.
#[test]
fn rows_in_pieces_have_the_same_optimum() {
    let (data, targets) = classes(2000, 6, 0.5, usize::MAX);
    let whole = problem(&data, &targets).check().unwrap();
    let (options, control) = (Options { tol: 1e-9, ..Options::default() }, Control::new());
    let start = || Start { x: vec![0.0; 7], epsilon: 1.0, factor: None };
    let done = |ended: Ended| match ended {
        Ended::Done(solution) => solution,
        Ended::Narrow { .. } => panic!("no row is narrow"),
    };
    let reference = done(newton::minimize(&whole, start(), false, &options, &control).unwrap());
    for pieces in [2, 7] {
        let cut = PartitionedRows::objective(&whole, pieces);
        for ended in [
            newton::minimize(&cut, start(), false, &options, &control),
            lbfgs::minimize(&cut, start(), false, &options, &control),
        ] {
            let solution = done(ended.unwrap());
            assert_eq!(solution.status, Status::Converged);
            assert!((solution.objective / reference.objective - 1.0).abs() < 2e-9);
        }
    }
}

#[test]
fn a_sampled_start_changes_nothing_but_the_time() {
    let (data, targets) = classes(40_000, 3, 0.4, usize::MAX);
    let problem = problem(&data, &targets);
    let options = Options { tol: 1e-9, ..Options::default() };
    let sampled = fit_linear(&problem, SolverKind::Newton, &options, None, &Control::new()).unwrap();
    let cold = fit_linear(&problem, SolverKind::Newton, &options, Some(&[0.0; 4]), &Control::new()).unwrap();
    assert!(sampled.iterations < cold.iterations);
    assert!((sampled.objective / cold.objective - 1.0).abs() < 2e-9);
}

/// Only SGD is random: its seed changes nothing elsewhere.
#[test]
fn an_exact_solution_does_not_depend_on_the_seed() {
    let (data, targets) = classes(10_000, 3, 0.4, 7);
    let solve = |kind, seed| {
        let options = Options { seed, ..Options::default() };
        fit_linear(&problem(&data, &targets), kind, &options, None, &Control::new()).unwrap()
    };
    for kind in exact_kinds() {
        assert_eq!(solve(kind, 0), solve(kind, 1), "{kind:?}");
    }
    assert!(solve(SolverKind::Sgd, 0) != solve(SolverKind::Sgd, 1));
}

#[test]
fn sgd_comes_close_and_reports_its_gap() {
    let (data, targets) = classes(3000, 5, 0.4, 9);
    let problem = Problem { alpha: 1e-2, ..problem(&data, &targets) };
    let exact = fit_linear(&problem, SolverKind::Newton, &Options::default(), None, &Control::new()).unwrap();
    for averaging in [true, false] {
        let options = Options { averaging, ..Options::default() };
        let sgd = fit_linear(&problem, SolverKind::Sgd, &options, None, &Control::new()).unwrap();
        assert_eq!(sgd.status, Status::StepsDone);
        assert!(sgd.objective / exact.objective - 1.0 < 0.01, "{} {}", sgd.objective, exact.objective);
        assert!(sgd.objective * (1.0 - sgd.gap) <= exact.objective);
    }
}

#[test]
fn a_raised_flag_ends_every_solver() {
    let (data, targets) = classes(300, 3, 0.4, 9);
    let control = Control::new();
    control.stop();
    for &kind in SolverKind::VARIANTS {
        let result = fit_linear(&problem(&data, &targets), kind, &Options::default(), None, &control);
        assert_eq!(result.unwrap_err(), Error::Interrupted);
    }
}

#[test]
fn options_out_of_range_are_refused() {
    for options in [
        Options { tol: 0.0, ..Options::default() },
        Options { max_iter: Some(0), ..Options::default() },
        Options { batch_size: 0, ..Options::default() },
        Options { step_offset: Some(-1.0), ..Options::default() },
    ] {
        assert!(matches!(options.check(), Err(Error::Parameter { .. })));
    }
}

#[test]
fn solvers_have_names() {
    for kind in SolverKind::VARIANTS {
        assert_eq!(kind.name().parse(), Ok(*kind));
    }
    let message = "adam".parse::<SolverKind>().unwrap_err().to_string();
    assert!(message.contains("adam") && message.contains("auto, newton, lbfgs, sgd"), "{message}");
}

/// A matrix as rows that are computed.
#[derive(Debug)]
struct Stored(Rows);

impl RowSource for Stored {
    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    fn width(&self) -> usize {
        self.0.width()
    }

    fn fill(&self, rows: Range<usize>, _: &mut Workspace, out: &mut [f64]) -> Result<()> {
        rows.zip(out.chunks_exact_mut(self.width())).for_each(|(i, out)| out.copy_from_slice(&self.0.row(i)));
        Ok(())
    }

    fn take(&self, rows: &[usize]) -> Result<Box<dyn RowSource + '_>> {
        Ok(Box::new(Stored(self.0.take(rows))))
    }
}

/// Few rows and many (a sample first); few columns (plain outer products) and many (matrix products).
#[test]
fn computed_rows_are_fitted_like_rows_in_memory() {
    for (n, d) in [(300, 5), (10_000, 4), (500, 150)] {
        let (data, targets) = classes(n, d, 0.0, 1);
        let points = GaussianArray::exact(data.means().clone()).unwrap();
        // What the rows are computed from may be anything; here it has another width.
        let other = GaussianArray::exact(Rows::from_vec(vec![0.0; n], 1).unwrap()).unwrap();
        let source = Stored(data.means().clone());
        for kind in exact_kinds() {
            let options = Options { tol: 1e-7, ..Options::default() };
            let direct = fit_linear(&problem(&points, &targets), kind, &options, None, &Control::new()).unwrap();
            let problem = problem(&other, &targets);
            let computed = fit_source(&problem, &source, kind, &options, None, &Control::new()).unwrap();
            assert_eq!(computed.status, Status::Converged, "{n} {d} {kind:?}");
            assert_eq!(computed.w.len(), d);
            assert!((computed.objective / direct.objective - 1.0).abs() < 2e-7);
        }
    }
}

#[test]
fn computed_rows_have_every_derivative_of_rows_in_memory() {
    let (data, targets) = classes(700, 150, 0.0, 1);
    let points = GaussianArray::exact(data.means().clone()).unwrap();
    let source = Stored(data.means().clone());
    let direct = problem(&points, &targets).check().unwrap();
    let computed = problem(&points, &targets).check().unwrap().with_source(&source).unwrap();
    let mut numbers = Numbers::new(1);
    let mut vector = || (0..151).map(|_| 0.1 * numbers.normal()).collect::<Vec<f64>>();
    let (x, control) = (vector(), Control::new());
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
    let at = |objective: &LinearObjective<'_>, want| objective.evaluate(&x, 0.3, want, &control).unwrap();
    let (a, b) = (at(&direct, Derivatives::Hessian), at(&computed, Derivatives::Hessian));
    assert!(near(&a.gradient, &b.gradient) && near(&a.hessian.unwrap(), b.hessian.as_ref().unwrap()));
    assert!(problem(&points, &targets).check().unwrap().with_source(&Stored(data.means().slice(0..9))).is_err());
}

/// Rows with factors of many columns in many dimensions: a Hessian now and then leads to the optimum of Newton's method.
#[test]
fn hessians_that_are_renewed_lead_to_newtons_optimum() {
    let (n, d, rank) = (300, 130, 6);
    let mut numbers = Numbers::new(17);
    let targets: Vec<f64> = (0..n).map(|i| [1.0, -1.0][i % 2]).collect();
    let means = (0..n * d).map(|k| numbers.normal() + 0.5 * targets[k / d] * f64::from(u8::from(k % d < 3)));
    let means = Rows::from_vec(means.collect(), d).unwrap();
    let factor = Rows::from_vec((0..n * d * rank).map(|_| 0.3 * numbers.normal()).collect(), d * rank).unwrap();
    let covariances = Covariances::from_factor(factor, rank, None, &Names::default()).unwrap();
    let data = GaussianArray::new(means, covariances).unwrap();
    for (alpha, tol) in [(1.0, 1e-8), (1e-2, 1e-8), (1e-4, 1e-8), (1e-6, 1e-6)] {
        let problem = Problem { alpha, ..problem(&data, &targets) };
        let options = Options { tol, ..Options::default() };
        let fit = |kind| fit_linear(&problem, kind, &options, None, &Control::new()).unwrap();
        let (renewed, newton) = (fit(SolverKind::Auto), fit(SolverKind::Newton));
        assert_eq!(renewed.status, Status::Converged, "{alpha}: gap {}", renewed.gap);
        assert!((renewed.objective / newton.objective - 1.0).abs() < 2.0 * tol, "{alpha}");
        // It is the other method that was taken.
        assert!(renewed.iterations != newton.iterations, "{alpha}: {}", renewed.iterations);
        let warm: Vec<f64> = renewed.w.iter().chain([&renewed.b]).copied().collect();
        let again = fit_linear(&problem, SolverKind::Auto, &options, Some(&warm), &Control::new()).unwrap();
        assert!(again.status == Status::Converged && again.iterations <= 1, "{alpha}: {}", again.iterations);
    }
}

/// Rows that are narrow, but not too narrow, are not handed over: Newton does without smoothing.
#[test]
fn rows_wide_enough_are_left_to_newton() {
    let mut numbers = Numbers::new(3);
    let targets: Vec<f64> = (0..500).map(|i| [1.0, -1.0][i % 2]).collect();
    let means = Rows::from_vec(targets.iter().map(|y| 0.6 * y + numbers.normal()).collect(), 1).unwrap();
    let narrow =
        Covariances::from_std(Rows::from_vec((0..500).map(|_| 0.05 + 0.5 * numbers.uniform()).collect(), 1).unwrap());
    let data = GaussianArray::new(means, narrow).unwrap();
    let objective = problem(&data, &targets).check().unwrap();
    let start = Start { x: vec![0.0; 2], epsilon: 1.0, factor: None };
    let options = Options { tol: 1e-8, ..Options::default() };
    let ended = newton::minimize(&objective, start, true, &options, &Control::new()).unwrap();
    let Ended::Done(solution) = ended else { panic!("handed over") };
    assert_eq!(solution.status, Status::Converged);
    let by_points = fit_linear(&problem(&data, &targets), SolverKind::Lbfgs, &options, None, &Control::new()).unwrap();
    assert!((solution.objective / by_points.objective - 1.0).abs() < 2e-8);
}
