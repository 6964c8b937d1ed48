use super::super::interior;
use super::*;
use crate::data::{Covariances, GaussianArray, Rows, Weights};
use crate::error::Error;
use crate::loss::{EllipsoidHinge, ExpectedEpsilonInsensitive, ExpectedHinge, Hinge, Loss, TubeEnds};
use crate::objective::Problem;
use crate::testing::Numbers;

/// Two overlapping classes of n points, with features of mean `offset`.
fn points_of(n: usize, d: usize, offset: f64, seed: u64) -> (GaussianArray, Vec<f64>) {
    let mut numbers = Numbers::new(seed);
    let targets: Vec<f64> = (0..n).map(|_| if numbers.uniform() < 0.3 { -1.0 } else { 1.0 }).collect();
    let shift = |k: usize| offset + if k % d < 2 { 0.8 * targets[k / d] } else { 0.0 };
    let means = (0..n * d).map(|k| shift(k) + numbers.normal()).collect();
    let means = Rows::from_vec(means, d).unwrap();
    (GaussianArray::new(means, Covariances::Zero).unwrap(), targets)
}

fn descended(problem: &Problem<'_>, options: &Options) -> Solution {
    let objective = problem.check().unwrap();
    let all = problem.targets.iter().enumerate().map(|(row, y)| problem.loss.conjugate(row, y).unwrap());
    minimize(&objective, all.collect(), options, &Control::new()).unwrap()
}

/// The problem by the interior-point method.
fn by_interior(problem: &Problem<'_>, options: &Options) -> f64 {
    let objective = problem.check().unwrap();
    let start = vec![0.0; objective.dim()];
    interior::minimize(&objective, start, 1.0, 0, options, &Control::new()).unwrap().objective
}

#[test]
fn the_optimum_is_that_of_the_interior_point_method() {
    let options = Options { tol: 1e-8, ..Options::default() };
    for (n, d, offset) in [(300, 70, 0.0), (70, 200, 3.0), (200, 80, -50.0), (2, 3, 0.0), (90, 90, 0.0)] {
        let (data, targets) = points_of(n, d, offset, 3);
        let mut numbers = Numbers::new(9);
        let weights = Weights::new((0..n).map(|i| if i % 5 == 4 { 0.0 } else { numbers.uniform() }).collect()).unwrap();
        let radii = vec![0.5; n];
        let losses: [&dyn Loss; 3] = [&Hinge, &ExpectedHinge, &EllipsoidHinge::worst(&radii)];
        for (k, alpha) in [1e-4, 1e-2, 1.0].into_iter().enumerate() {
            for weights in [None, Some(&weights)] {
                // Far from zero and not centred, rows are nearly one: another method's task.
                for fit_intercept in [true, false].into_iter().take(if offset < 0.0 { 1 } else { 2 }) {
                    let problem = Problem {
                        data: &data,
                        targets: (&targets).into(),
                        weights,
                        alpha,
                        fit_intercept,
                        loss: losses[k],
                    };
                    let found = descended(&problem, &options);
                    let what = format!("{n} x {d} + {offset}, alpha {alpha}, {fit_intercept}, {}", weights.is_some());
                    assert_eq!(found.status, Status::Converged, "{what}: gap {}", found.gap);
                    let other = by_interior(&problem, &options);
                    assert!((found.objective - other).abs() < 4e-8 * other.max(1e-12), "{what}");
                    // The rows' order is ours: bits do not change from call to call.
                    assert_eq!(found, descended(&problem, &options), "{what}");
                }
            }
        }
    }
}

#[test]
fn a_tube_is_both_its_ends() {
    let options = Options { tol: 1e-8, ..Options::default() };
    for (n, d, epsilon) in [(300, 70, 0.1), (60, 100, 0.3), (150, 64, 0.0)] {
        let (data, _) = points_of(n, d, 1.0, 4);
        let mut numbers = Numbers::new(2);
        let targets: Vec<f64> = (0..n).map(|i| data.means().at(i, 0) + 0.5 * numbers.normal()).collect();
        let loss = ExpectedEpsilonInsensitive { epsilon };
        for alpha in [1e-2, 0.1] {
            let problem = Problem {
                data: &data,
                targets: (&targets).into(),
                weights: None,
                alpha,
                fit_intercept: true,
                loss: &loss,
            };
            let found = descended(&problem, &options);
            let both = data.take(&(0..n).chain(0..n).collect::<Vec<_>>()).unwrap();
            let signs: Vec<f64> = (0..2 * n).map(|k| if k < n { 1.0 } else { -1.0 }).collect();
            let offsets = (0..2 * n).map(|k| signs[k] * targets[k % n] - epsilon).collect();
            let ends = TubeEnds::new(offsets);
            let ends = Problem { data: &both, targets: (&signs).into(), alpha: 0.5 * alpha, loss: &ends, ..problem };
            let other = 2.0 * by_interior(&ends, &options);
            // Narrow rows may be left to others, with what was certified until then.
            let what = format!("{n} x {d}, alpha {alpha}: {} of {other}, gap {}", found.objective, found.gap);
            assert!(found.status == Status::Converged || d < 100, "{what}");
            assert!(found.gap < 0.05 && found.objective >= other * (1.0 - 4e-8), "{what}");
            assert!(found.objective * (1.0 - found.gap) <= other * (1.0 + 1e-8), "{what}");
        }
    }
}

/// All rows alike, copies of rows, and classes that a plane separates.
#[test]
fn degenerate_rows_are_certified() {
    let (data, _) = points_of(40, 80, 0.0, 5);
    let same = data.take(&[0; 30]).unwrap();
    let copies = data.take(&(0..120).map(|i| i % 40).collect::<Vec<_>>()).unwrap();
    for (data, alpha) in [(&same, 1e-2), (&copies, 1e-3), (&data, 1e-6)] {
        let targets: Vec<f64> = (0..data.n_rows()).map(|i| if i % 3 == 0 { -1.0 } else { 1.0 }).collect();
        let problem =
            Problem { data, targets: (&targets).into(), weights: None, alpha, fit_intercept: true, loss: &Hinge };
        let found = fit(&problem);
        assert_eq!(found.status, Status::Converged, "{}: gap {}", data.n_rows(), found.gap);
    }
    fn fit(problem: &Problem<'_>) -> Solution {
        descended(problem, &Options::default())
    }
}

#[test]
fn it_ends_when_asked() {
    let (data, targets) = points_of(300, 70, 0.0, 6);
    let problem = Problem {
        data: &data,
        targets: (&targets).into(),
        weights: None,
        alpha: 1e-5,
        fit_intercept: true,
        loss: &Hinge,
    };
    let one = descended(&problem, &Options { max_iter: Some(1), ..Options::default() });
    assert_eq!((one.status, one.iterations), (Status::MaxIterations, 1));
    assert!(one.gap > 1e-6 && one.objective.is_finite());
    let objective = problem.check().unwrap();
    let control = Control::new();
    control.stop();
    let stopped = minimize(&objective, losses(&objective).unwrap(), &Options::default(), &control);
    assert!(matches!(stopped, Err(Error::Interrupted)));
}
