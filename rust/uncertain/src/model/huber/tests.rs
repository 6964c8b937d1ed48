use super::*;
use crate::control::Control;
use crate::data::{Covariances, GaussianArray, Rows};
use crate::parallel;
use crate::probabilistic_kernel::{self, Coupling, Options};
use crate::testing::Numbers;

type Dense = Vec<Vec<f64>>;

/// n rows of 4 features; a smooth target with a few gross errors, NaN for every fourth row.
fn problem(n: usize) -> (Rows, Vec<f64>) {
    let mut numbers = Numbers::new(5);
    let x = Rows::from_vec((0..n * 4).map(|_| numbers.normal()).collect(), 4).unwrap();
    let y = (0..n)
        .map(|i| {
            let row = x.row(i);
            let error = if i % 7 == 1 { 3.0 } else { 0.05 * numbers.normal() };
            if i % 4 == 3 { f64::NAN } else { row[0].sin() + 0.5 * row[1] * row[2] + error }
        })
        .collect();
    (x, y)
}

fn points(x: &Rows) -> GaussianArray {
    GaussianArray::points(x.clone()).unwrap()
}

/// The kernel matrix of a view, by plain formulas.
fn kernel_matrix(x: &Rows, part: &Part) -> Dense {
    let columns: Vec<usize> = part.columns.clone().unwrap_or_else(|| (0..x.width()).collect());
    let at = |i: usize, j: usize| {
        let (a, b) = (x.row(i), x.row(j));
        let dot: f64 = columns.iter().map(|&c| a[c] * b[c]).sum();
        let distance: f64 = columns.iter().map(|&c| (a[c] - b[c]).powi(2)).sum();
        match part.kernel {
            Kernel::Linear => dot,
            Kernel::Quadratic => dot * dot,
            Kernel::Polynomial { degree, gamma, coef0 } => (gamma.unwrap() * dot + coef0).powi(degree as i32),
            Kernel::Rbf { gamma, .. } => (-gamma.unwrap() * distance).exp(),
            Kernel::Precomputed => a[j],
        }
    };
    (0..x.n_rows()).map(|i| (0..x.n_rows()).map(|j| at(i, j)).collect()).collect()
}

/// The normalised Laplacian of the union 3-nn graph with weights exp(-0.3 d^2), by plain formulas.
fn laplacian(x: &Rows, columns: &[usize]) -> Dense {
    let n = x.n_rows();
    let squared = |i: usize, j: usize| -> f64 { columns.iter().map(|&c| (x.row(i)[c] - x.row(j)[c]).powi(2)).sum() };
    let mut w = vec![vec![0.0; n]; n];
    for i in 0..n {
        let mut others: Vec<usize> = (0..n).filter(|&j| j != i).collect();
        others.sort_by(|a, b| squared(i, *a).total_cmp(&squared(i, *b)));
        for &j in &others[..3] {
            w[i][j] = (-0.3 * squared(i, j)).exp();
            w[j][i] = w[i][j];
        }
    }
    let degree: Vec<f64> = w.iter().map(|row| row.iter().sum()).collect();
    let at = |i: usize, j: usize| f64::from(u8::from(i == j)) - w[i][j] / (degree[i] * degree[j]).sqrt();
    (0..n).map(|i| (0..n).map(|j| at(i, j)).collect()).collect()
}

fn times(a: &Dense, x: &[f64]) -> Vec<f64> {
    a.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn views(kernels: [Kernel; 2]) -> Vec<View> {
    let graph = Graph::Neighbors { count: 3, gamma: Some(0.3) };
    let view =
        |columns: Vec<usize>, kernel, weight| View { columns: Some(columns), kernel, weight, graph: graph.clone() };
    vec![view(vec![0, 1], kernels[0], 0.7), view(vec![1, 2, 3], kernels[1], 0.4)]
}

const RBF: Kernel = Kernel::Rbf { gamma: Some(0.4), coupling: Coupling::Shared };
const CUBIC: Kernel = Kernel::Polynomial { degree: 3, gamma: Some(0.5), coef0: 1.0 };

/// f = sum_a c K w on all rows, and the f of each view.
fn fitted(x: &Rows, parts: &[Part]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let each: Vec<Vec<f64>> =
        parts.iter().map(|part| times(&kernel_matrix(x, part), &part.coef.column(0).to_vec())).collect();
    let sum = |i: usize| parts.iter().zip(&each).map(|(part, f)| part.weight * f[i]).sum();
    ((0..x.n_rows()).map(sum).collect(), each)
}

/// The gradient of J in w of every view, relative to the norms of its terms; from scratch.
fn stationarity(
    x: &Rows,
    y: &[f64],
    weights: &[f64],
    params: &Params,
    model: &Model,
    operators: &[Option<Dense>],
) -> f64 {
    let outcome = &model.outcomes[0];
    let threshold = *outcome.thresholds.last().unwrap();
    let labelled: Vec<usize> =
        (0..y.len()).filter(|i| !y[*i].is_nan() && weights[*i] > 0.0 && !outcome.removed.contains(i)).collect();
    let total: f64 = labelled.iter().map(|&i| weights[i]).sum();
    let (f, each) = fitted(x, &model.parts);
    let mut pull = vec![0.0; y.len()];
    for &i in &labelled {
        let r = y[i] - outcome.intercept - f[i];
        pull[i] = weights[i] * r.clamp(-threshold, threshold) / total;
    }
    let mut worst: f64 = 0.0;
    for (a, part) in model.parts.iter().enumerate() {
        let k = kernel_matrix(x, part);
        let w = part.coef.column(0).to_vec();
        let mut terms: Vec<Vec<f64>> = vec![
            times(&k, &pull).iter().map(|g| -part.weight * g).collect(),
            times(&k, &w).iter().map(|g| 2.0 * params.alpha * g).collect(),
        ];
        if let Some(m) = &operators[a] {
            let image = times(&k, &times(m, &each[a]));
            terms.push(image.iter().map(|g| 2.0 * params.manifold_alpha * g).collect());
        }
        for other in &each {
            let difference: Vec<f64> = each[a].iter().zip(other).map(|(a, b)| a - b).collect();
            terms.push(times(&k, &difference).iter().map(|g| 2.0 * params.between_alpha * g).collect());
        }
        let sum: Vec<f64> = (0..y.len()).map(|i| terms.iter().map(|t| t[i]).sum()).collect();
        worst = worst.max(norm(&sum) / terms.iter().map(|t| norm(t)).sum::<f64>());
    }
    worst
}

#[test]
fn solutions_are_stationary_to_ten_digits() {
    let (x, y) = problem(80);
    let weights: Vec<f64> = (0..80).map(|i| [1.0, 2.0, 0.5, 0.0][i % 4 % 3 + usize::from(i % 11 == 5)]).collect();
    let ones = vec![1.0; 80];
    let operators = [Some(laplacian(&x, &[0, 1])), Some(laplacian(&x, &[1, 2, 3]))];
    let base = Params::new().alpha(1e-3).manifold_alpha(1e-2).delta(0.5);
    for kernels in [[RBF, RBF], [Kernel::Linear, Kernel::Quadratic], [CUBIC, RBF]] {
        for between in [0.0, 1e-2] {
            for (threshold, refinements) in [(None, 0), (Some(0.1), 0), (Some(1e-6), 0), (None, 3)] {
                let params = base.clone().views(views(kernels)).between_alpha(between);
                let params = params.threshold(threshold).max_refinements(refinements).fit_intercept(refinements > 0);
                let model = params.clone().check().unwrap();
                let model = model.fit(&points(&x), std::slice::from_ref(&y), Some(&ones), &Control::new()).unwrap();
                let error = stationarity(&x, &y, &ones, &params, &model, &operators);
                assert!(error < 1e-10, "{kernels:?} {between} {threshold:?} {refinements}: {error:e}");
                assert_eq!(model.outcomes[0].thresholds.len(), 1 + model.outcomes[0].history.len());
            }
        }
    }
    // Weights, of which some are zero, without graphs: dropped rows would change them.
    let plain: Vec<View> = views([RBF, CUBIC]).into_iter().map(|v| View { graph: Graph::None, ..v }).collect();
    let params = Params::new().alpha(1e-3).views(plain).threshold(Some(0.2)).max_refinements(0);
    let model = params
        .clone()
        .check()
        .unwrap()
        .fit(&points(&x), std::slice::from_ref(&y), Some(&weights), &Control::new())
        .unwrap();
    let error = stationarity(&x, &y, &weights, &params, &model, &[None, None]);
    assert!(error < 1e-10, "{error:e}");
    assert!((0..80).all(|i| weights[i] > 0.0 || model.parts[0].coef[[i, 0]] == 0.0));
}

/// Gaussian elimination with pivots.
fn solve(mut a: Dense, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - sum) / a[k][k];
    }
    b
}

#[test]
fn the_reduction_is_the_dense_system_of_all_views() {
    let n = 40;
    let (x, y) = problem(n);
    let operators = [laplacian(&x, &[0, 1]), laplacian(&x, &[1, 2, 3])];
    for kernels in [[RBF, RBF], [Kernel::Linear, CUBIC]] {
        for between in [0.0, 0.05] {
            let params = Params::new().alpha(1e-2).manifold_alpha(2e-2).between_alpha(between).max_refinements(0);
            let params = params.views(views(kernels)).check().unwrap();
            let model = params.fit(&points(&x), std::slice::from_ref(&y), None, &Control::new()).unwrap();
            let total = y.iter().filter(|y| !y.is_nan()).count() as f64;
            let k: Vec<Dense> = model.parts.iter().map(|part| kernel_matrix(&x, part)).collect();
            let mut a = vec![vec![0.0; 2 * n]; 2 * n];
            let mut b = vec![0.0; 2 * n];
            for v in 0..2 {
                for i in 0..n {
                    a[v * n + i][v * n + i] += 2.0 * total * 1e-2;
                    if !y[i].is_nan() {
                        b[v * n + i] = model.parts[v].weight * y[i];
                    }
                    for j in 0..n {
                        let smooth: f64 = (0..n).map(|p| operators[v][i][p] * k[v][p][j]).sum();
                        a[v * n + i][v * n + j] += 2.0 * total * 2e-2 * smooth;
                        for u in 0..2 {
                            // E'E sum_u c_v c_u K_u, and f_v - f_u.
                            if !y[i].is_nan() {
                                a[v * n + i][u * n + j] += model.parts[v].weight * model.parts[u].weight * k[u][i][j];
                            }
                            a[v * n + i][v * n + j] += 2.0 * total * between * k[v][i][j];
                            a[v * n + i][u * n + j] -= 2.0 * total * between * k[u][i][j];
                        }
                    }
                }
            }
            let w = solve(a, b);
            let scale = w.iter().fold(0.0_f64, |m, w| m.max(w.abs()));
            for v in 0..2 {
                for i in 0..n {
                    let got = model.parts[v].coef[[i, 0]];
                    assert!((got - w[v * n + i]).abs() < 1e-9 * scale, "{kernels:?} view {v} row {i}");
                }
            }
        }
    }
}

#[test]
fn every_form_of_a_kernel_gives_the_same_function() {
    // Features of rank 4 (no l x l matrix), their Gram matrix (a dense one where it has high rank), and RBF
    // kernels of low and of full rank.
    let (x, y) = problem(90);
    let gram = |part: &Part| {
        let k = kernel_matrix(&x, part);
        GaussianArray::points(Rows::from_vec(k.concat(), 90).unwrap()).unwrap()
    };
    let matrix = {
        let m = laplacian(&x, &[0, 1, 2, 3]);
        Operator::Dense { n: 90, values: m.concat() }
    };
    for kernel in [Kernel::Linear, CUBIC, RBF, Kernel::Rbf { gamma: Some(30.0), coupling: Coupling::Shared }] {
        for graph in [Graph::None, Graph::Given { matrix: matrix.clone(), regulariser: true }] {
            let params = |kernel| {
                let view = View { kernel, graph: graph.clone(), ..View::default() };
                Params::new().alpha(1e-3).manifold_alpha(0.1).delta(0.3).max_refinements(2).views(vec![view])
            };
            let direct = params(kernel)
                .check()
                .unwrap()
                .fit(&points(&x), std::slice::from_ref(&y), None, &Control::new())
                .unwrap();
            let matrix = gram(&direct.parts[0]);
            let by_matrix = params(Kernel::Precomputed).check().unwrap();
            let by_matrix = by_matrix.fit(&matrix, std::slice::from_ref(&y), None, &Control::new()).unwrap();
            let a = direct.predict(&points(&x), &points(&x), &Control::new()).unwrap();
            let b = by_matrix.predict(&matrix, &matrix, &Control::new()).unwrap();
            for (a, b) in a.iter().zip(&b) {
                assert!((a - b).abs() < 1e-9, "{kernel:?}: {a} {b}");
            }
            assert_eq!(direct.outcomes[0].removed, by_matrix.outcomes[0].removed);
        }
    }
}

#[test]
fn kernels_of_high_rank_are_factored_as_they_are() {
    // More rows than a block of pivots, a kernel that is nearly the identity, and few or many labels.
    let (x, y) = problem(150);
    let operators = [Some(laplacian(&x, &[0, 1, 2, 3]))];
    let ones = vec![1.0; 150];
    for (gamma, singular) in [(3.0, false), (3.0, true), (0.05, false)] {
        for every in [1, 3] {
            let y: Vec<f64> = (0..150).map(|i| if i % every == 0 { y[i] } else { f64::NAN }).collect();
            let kernel = Kernel::Rbf { gamma: Some(gamma), coupling: Coupling::Shared };
            let graph = Graph::Neighbors { count: 3, gamma: Some(0.3) };
            let view = View { kernel, graph: graph.clone(), ..View::default() };
            let params = Params::new().alpha(1e-3).manifold_alpha(1e-2).delta(0.3).max_refinements(2);
            let params = params.views(vec![view]);
            let fit = |params: &Params, rows: &GaussianArray, y: &[f64]| {
                params.clone().check().unwrap().fit(rows, &[y.to_vec()], None, &Control::new()).unwrap()
            };
            let model = fit(&params, &points(&x), &y);
            let error = stationarity(&x, &y, &ones, &params, &model, &operators);
            assert!(error < 1e-10, "{gamma} {every}: {error:e}");
            // A row twice makes the kernel matrix singular, whatever its rank is else.
            if singular {
                let twice: Vec<usize> = (0..150).chain([4]).collect();
                let rows = points(&x).take(&twice).unwrap();
                let again = fit(&params, &rows, &[y.clone(), vec![f64::NAN]].concat());
                let (a, b) = (at_points(&again, &rows, &x), at_points(&model, &points(&x), &x));
                assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-8), "{every}");
            }
        }
    }
}

fn at_points(model: &Model, rows: &GaussianArray, x: &Rows) -> Vec<f64> {
    model.predict(&points(x), rows, &Control::new()).unwrap().column(0).to_vec()
}

#[test]
fn gross_errors_go_first_and_thresholds_come_down() {
    let n = 400;
    let (x, y) = problem(n);
    let view = View { graph: Graph::None, kernel: CUBIC, ..View::default() };
    let params = Params::new().alpha(1e-4).delta(0.4).max_refinements(8).fit_intercept(true).views(vec![view]);
    let model = params.check().unwrap().fit(&points(&x), std::slice::from_ref(&y), None, &Control::new()).unwrap();
    let outcome = &model.outcomes[0];
    assert!(outcome.thresholds.windows(2).all(|w| w[1] < w[0]), "{:?}", outcome.thresholds);
    let wrong = (0..n).filter(|i| i % 7 == 1 && i % 4 != 3).count();
    let found = outcome.removed.iter().filter(|i| *i % 7 == 1).count();
    assert!(found >= wrong - 2 && outcome.removed[..wrong / 2].iter().all(|i| i % 7 == 1), "{found} of {wrong}");
    assert_eq!(outcome.removed.len(), outcome.removed_residuals.len());
    let left = outcome.history.last().unwrap();
    assert_eq!(left.labels + outcome.removed.len(), y.iter().filter(|y| !y.is_nan()).count());
    assert_eq!(left.threshold, *outcome.thresholds.last().unwrap());
    // The residuals of what is left are within the threshold.
    let f = model.predict(&points(&x), &points(&x), &Control::new()).unwrap();
    for i in (0..n).filter(|i| !y[*i].is_nan() && !outcome.removed.contains(i)) {
        assert!((y[i] - f[[i, 0]]).abs() <= left.threshold * (1.0 + 1e-9));
    }
    // A step that is larger than the threshold ends at once.
    let big = Params::new().delta(1e3).check().unwrap().fit(&points(&x), &[y], None, &Control::new()).unwrap();
    assert_eq!(big.outcomes[0].ending, Ending::ThresholdZero);
    assert!(big.outcomes[0].history.is_empty() && big.outcomes[0].removed.is_empty());
}

#[test]
fn a_weight_of_two_is_the_row_twice_also_on_a_graph() {
    let n = 50;
    let (x, y) = problem(n);
    let counts: Vec<usize> = (0..n).map(|i| [1, 2, 0, 3, 1][i % 5]).collect();
    let weights: Vec<f64> = counts.iter().map(|c| *c as f64).collect();
    let numbers: Vec<usize> = (0..n).flat_map(|i| std::iter::repeat_n(i, counts[i])).collect();
    let repeated = points(&x).take(&numbers).unwrap();
    let y_repeated: Vec<f64> = numbers.iter().map(|&i| y[i]).collect();
    let params = Params::new().manifold_alpha(1e-3).delta(0.3).fit_intercept(true).check().unwrap();
    let weighted = params.fit(&points(&x), &[y], Some(&weights), &Control::new()).unwrap();
    let twice = params.fit(&repeated, &[y_repeated], None, &Control::new()).unwrap();
    let a = weighted.predict(&points(&x), &points(&x), &Control::new()).unwrap();
    let b = twice.predict(&points(&x), &repeated, &Control::new()).unwrap();
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9));
}

#[test]
fn error_bars_enter_through_the_expected_kernel() {
    let n = 60;
    let (x, y) = problem(n);
    let mut numbers = Numbers::new(9);
    let full = |x: &Rows| {
        let factor = Rows::from_vec((0..n * 4 * 2).map(|i| 0.1 * ((i % 13) as f64 - 6.0) / 6.0).collect(), 8).unwrap();
        let covariances = Covariances::from_factor(factor, 2, None, &crate::data::Names::default()).unwrap();
        GaussianArray::new(x.clone(), covariances).unwrap()
    };
    let std = Rows::from_vec((0..n * 4).map(|_| 0.3 * numbers.uniform()).collect(), 4).unwrap();
    let diagonal = GaussianArray::new(x.clone(), Covariances::from_std(std)).unwrap();
    for rows in [diagonal, full(&x)] {
        for coupling in [Coupling::Shared, Coupling::Independent] {
            let kernel = Kernel::Rbf { gamma: Some(0.4), coupling };
            let params = |kernel, graph| {
                let view = View { kernel, graph, ..View::default() };
                Params::new().alpha(1e-2).manifold_alpha(1e-2).max_refinements(1).delta(0.2).views(vec![view])
            };
            let options = Options { coupling, ..Options::new((0.5_f64 / 0.4).sqrt()) };
            let gram = probabilistic_kernel::gram(&rows, None, &options, &Control::new()).unwrap();
            let gram = GaussianArray::points(Rows::from(gram)).unwrap();
            let direct = params(kernel, Graph::None).check().unwrap();
            let direct = direct.fit(&rows, std::slice::from_ref(&y), None, &Control::new()).unwrap();
            let by_matrix = params(Kernel::Precomputed, Graph::None).check().unwrap();
            let by_matrix = by_matrix.fit(&gram, std::slice::from_ref(&y), None, &Control::new()).unwrap();
            let a = direct.predict(&rows, &rows, &Control::new()).unwrap();
            let b = by_matrix.predict(&gram, &gram, &Control::new()).unwrap();
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9));
            let graph = Graph::Neighbors { count: 5, gamma: None };
            let views = params(kernel, graph)
                .check()
                .unwrap()
                .fit(&rows, std::slice::from_ref(&y), None, &Control::new())
                .unwrap();
            assert!(views.predict(&rows, &rows, &Control::new()).unwrap().iter().all(|f| f.is_finite()));
        }
        let refused = View { kernel: Kernel::Quadratic, ..View::default() };
        let refused = Params::new().views(vec![refused]).check().unwrap();
        assert!(
            refused
                .fit(&rows, std::slice::from_ref(&y), None, &Control::new())
                .unwrap_err()
                .to_string()
                .contains("rbf")
        );
    }
}

#[test]
fn results_do_not_depend_on_threads_and_a_stop_is_heard() {
    let (x, y) = problem(300);
    let fit = |threads| {
        let params = Params::new().delta(0.2).threads(Some(threads)).check().unwrap();
        params.fit(&points(&x), std::slice::from_ref(&y), None, &Control::new()).unwrap()
    };
    assert_eq!(fit(1), fit(3));
    parallel::install(Some(2), || {
        let control = Control::new();
        control.stop();
        let stopped = Params::new().check().unwrap().fit(&points(&x), std::slice::from_ref(&y), None, &control);
        assert_eq!(stopped, Err(crate::Error::Interrupted));
    })
    .unwrap();
}

#[test]
fn what_cannot_be_used_is_refused() {
    let (x, y) = problem(20);
    let said = |params: Params, y: &[f64], weights: Option<&[f64]>| {
        let fit = params.check().and_then(|p| p.fit(&points(&x), &[y.to_vec()], weights, &Control::new()));
        fit.unwrap_err().to_string()
    };
    assert!(said(Params::new().alpha(0.0), &y, None).contains("alpha"));
    assert!(said(Params::new().delta(f64::NAN), &y, None).contains("delta"));
    assert!(said(Params::new().threshold(Some(-1.0)), &y, None).contains("threshold"));
    assert!(said(Params::new().manifold_alpha(-1.0), &y, None).contains("manifold_alpha"));
    assert!(said(Params::new().views(vec![]), &y, None).contains("views"));
    assert!(said(Params::new(), &y[1..], None).contains("one per row"));
    assert!(said(Params::new(), &[f64::NAN; 20], None).contains("no row"));
    assert!(said(Params::new(), &y, Some(&[-1.0; 20])).contains("row 0 is -1"));
    assert!(said(Params::new(), &y, Some(&[0.0; 20])).contains("no row"));
    assert!(said(Params::new().max_bytes(Some(100)), &y, None).contains("100 are allowed"));
    let view = |kernel, columns, graph| vec![View { kernel, columns, graph, weight: 1.0 }];
    assert!(said(Params::new().views(view(RBF, Some(vec![9]), Graph::None)), &y, None).contains("feature 9"));
    let negative = (0..400).map(|at| if at % 21 == 0 { -1.0 } else { 0.0 }).collect();
    let graph = Graph::Given { matrix: Operator::Dense { n: 20, values: negative }, regulariser: true };
    assert!(said(Params::new().views(view(RBF, None, graph)), &y, None).contains("positive semi-definite"));
    let small = Graph::Given { matrix: Operator::Dense { n: 2, values: vec![0.0; 4] }, regulariser: false };
    assert!(said(Params::new().views(view(RBF, None, small)), &y, None).contains("20 rows"));
    let mut infinite = y.clone();
    infinite[3] = f64::INFINITY;
    assert!(said(Params::new(), &infinite, None).contains("row 3"));
    assert!(said(Params::new().views(view(Kernel::Precomputed, None, Graph::None)), &y, None).contains("square"));
}

/// Labels of two classes with P(+1) = 1 / (1 + exp(-3 x)); NaN for every fifth row.
fn classes(n: usize) -> (GaussianArray, Vec<f64>) {
    let mut numbers = Numbers::new(3);
    let x: Vec<f64> = (0..n).map(|_| 4.0 * numbers.uniform() - 2.0).collect();
    let label = |(i, x): (usize, &f64)| {
        let positive = numbers.uniform() < 1.0 / (1.0 + (-3.0 * x).exp());
        if i % 5 == 4 { f64::NAN } else { [-1.0, 1.0][usize::from(positive)] }
    };
    let y = x.iter().enumerate().map(label).collect();
    (GaussianArray::points(Rows::from_vec(x, 1).unwrap()).unwrap(), y)
}

#[test]
fn probabilities_are_sigmoids_of_scores_of_labels_that_were_held_out() {
    let (rows, y) = classes(500);
    let params = Params::new().alpha(1e-2).max_refinements(1).delta(0.1).probability(true).seed(4);
    let fit = |params: &Params| {
        let params = params.clone().check().unwrap();
        params.fit(&rows, std::slice::from_ref(&y), None, &Control::new()).unwrap()
    };
    let model = fit(&params);
    // The scores do not depend on the probabilities, and the folds on their seed alone.
    let plain = fit(&params.clone().probability(false));
    assert_eq!((&plain.parts, &plain.outcomes), (&model.parts, &model.outcomes));
    assert_eq!(fit(&params.clone().threads(Some(3))), model);
    assert_ne!(fit(&params.clone().seed(5)).platt, model.platt);
    let machine = Machine::new(model, Some(rows.clone()), 2).unwrap();
    let at = GaussianArray::points(Rows::from_vec(vec![-1.0, -0.3, 0.3, 1.0], 1).unwrap()).unwrap();
    let p = machine.predict_proba(&at, &Control::new()).unwrap();
    for (i, x) in [-1.0_f64, -0.3, 0.3, 1.0].into_iter().enumerate() {
        let truth = 1.0 / (1.0 + (-3.0 * x).exp());
        assert!((p[[i, 1]] - truth).abs() < 0.1 && (p.row(i).sum() - 1.0).abs() < 1e-15, "{x}: {} {truth}", p[[i, 1]]);
    }
    // A flexible fit to labels without a pattern: its own scores promise much, held-out ones nothing.
    let mut numbers = Numbers::new(11);
    let noise: Vec<f64> = (0..500).map(|_| [-1.0, 1.0][usize::from(numbers.uniform() < 0.5)]).collect();
    let view = View {
        kernel: Kernel::Rbf { gamma: Some(1e7), coupling: Coupling::Shared },
        graph: Graph::None,
        ..View::default()
    };
    let params = Params::new().alpha(1e-6).max_refinements(0).probability(true).views(vec![view]).check().unwrap();
    let model = params.fit(&rows, &[noise], None, &Control::new()).unwrap();
    let machine = Machine::new(model, Some(rows.clone()), 2).unwrap();
    assert!(machine.decision(&rows, &Control::new()).unwrap().iter().filter(|f| f.abs() > 0.9).count() > 400);
    let p = machine.predict_proba(&rows, &Control::new()).unwrap();
    assert!(p.iter().all(|p| (0.3..0.7).contains(p)), "{p:?}");
}

#[test]
fn probabilities_need_classes_and_two_labels_of_each() {
    let (rows, mut y) = classes(40);
    let params = Params::new().probability(true).check().unwrap();
    let said = |targets: &[Vec<f64>]| params.fit(&rows, targets, None, &Control::new()).unwrap_err().to_string();
    y[3] = 0.5;
    assert!(said(&[y.clone()]).contains("row 3 is 0.5"));
    y.iter_mut().for_each(|y| *y = -1.0);
    y[3] = 1.0;
    assert!(said(&[y]).contains("class 1 has 1"));
    assert!(Params::new().folds(1).check().unwrap_err().to_string().contains("folds"));
}
