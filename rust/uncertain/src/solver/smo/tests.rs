use serde::Deserialize;

use super::*;
use crate::testing::Numbers;

#[derive(Deserialize)]
struct Golden {
    x: Vec<[f64; 2]>,
    y: Vec<f64>,
    target: Vec<f64>,
    weight: Vec<f64>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    kind: String,
    #[serde(rename = "C")]
    c: f64,
    epsilon: f64,
    weighted: bool,
    dual: f64,
    intercept: f64,
    scores: Vec<f64>,
}

fn gram(x: &[[f64; 2]]) -> Vec<f64> {
    let k = |a: &[f64; 2], b: &[f64; 2]| (-0.5 * ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2))).exp();
    x.iter().flat_map(|a| x.iter().map(move |b| k(a, b))).collect()
}

/// Overlapping classes in the plane.
fn cloud(n: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut numbers = Numbers::new(seed);
    let y: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let x: Vec<[f64; 2]> = y.iter().map(|y| [numbers.normal() + 0.6 * y, numbers.normal() - 0.4 * y]).collect();
    (gram(&x), y)
}

fn boxes(y: &[f64], c: impl Fn(usize) -> f64) -> (Vec<f64>, Vec<f64>) {
    (0..y.len()).map(|i| if y[i] > 0.0 { (0.0, c(i)) } else { (-c(i), 0.0) }).unzip()
}

fn svc(kernel: &dyn KernelRows, y: &[f64], c: f64, options: &SmoOptions) -> DualSolution {
    let (lower, upper) = boxes(y, |_| c);
    let problem = DualProblem { targets: y, epsilon: 0.0, lower: &lower, upper: &upper };
    solve(kernel, &problem, options, &Control::new()).unwrap()
}

fn tight() -> SmoOptions {
    SmoOptions { tol: 1e-12, ..SmoOptions::default() }
}

#[test]
fn objectives_are_those_of_libsvm() {
    let golden: Golden = serde_json::from_str(include_str!("../../../../../tests/golden/kernel_dual.json")).unwrap();
    let (k, n) = (gram(&golden.x), golden.x.len());
    let kernel = Dense::new(&k, n).unwrap();
    assert!(golden.cases.len() >= 18);
    for case in &golden.cases {
        let c = |i: usize| case.c * if case.weighted { golden.weight[i] } else { 1.0 };
        let classify = case.kind == "svc";
        let (lower, upper) = match classify {
            true => boxes(&golden.y, c),
            false => (0..n).map(|i| (-c(i), c(i))).unzip(),
        };
        let targets = if classify { &golden.y } else { &golden.target };
        let problem = DualProblem { targets, epsilon: case.epsilon, lower: &lower, upper: &upper };
        let s = solve(&kernel, &problem, &tight(), &Control::new()).unwrap();
        let label = format!("{} C={} epsilon={} weighted={}", case.kind, case.c, case.epsilon, case.weighted);
        assert!((s.dual / case.dual - 1.0).abs() < 1e-6, "{label}: {} is not {}", s.dual, case.dual);
        assert!((s.objective / case.dual - 1.0).abs() < 1e-6 && s.gap < 1e-6, "{label}: {s:?}");
        assert!((s.intercept - case.intercept).abs() < 2e-4 * (1.0 + s.intercept.abs()), "{label}");
        for (i, score) in case.scores.iter().enumerate() {
            let ours: f64 = (0..n).map(|j| s.coef[j] * k[i * n + j]).sum::<f64>() + s.intercept;
            assert!((ours - score).abs() < 1e-4 * (1.0 + score.abs()), "{label}: {ours} is not {score}");
        }
        assert_eq!(s.status, Status::Converged);
    }
}

#[test]
fn the_optimality_conditions_hold_and_the_certificate_is_what_it_says() {
    let n = 400;
    let (k, y) = cloud(n, 1);
    let s = svc(&Dense::new(&k, n).unwrap(), &y, 2.0, &tight());
    assert!(s.coef.iter().sum::<f64>().abs() < 1e-10);
    let (mut objective, mut quadratic) = (0.0, 0.0);
    for i in 0..n {
        let score: f64 = (0..n).map(|j| k[i * n + j] * s.coef[j]).sum();
        let (a, margin) = (y[i] * s.coef[i], y[i] * (score + s.intercept));
        assert!((0.0..=2.0).contains(&a));
        assert!(a > 0.0 || margin >= 1.0 - 1e-7, "row {i}: a = 0 but margin {margin}");
        assert!(a < 2.0 || margin <= 1.0 + 1e-7, "row {i}: a = C but margin {margin}");
        assert!(a == 0.0 || a == 2.0 || (margin - 1.0).abs() < 1e-7, "row {i}: free but margin {margin}");
        objective += 2.0 * (1.0 - margin).max(0.0);
        quadratic += 0.5 * s.coef[i] * score;
    }
    let dual = s.coef.iter().map(|b| b.abs()).sum::<f64>() - quadratic;
    assert!((s.objective - objective - quadratic).abs() < 1e-9 * objective);
    assert!((s.dual - dual).abs() < 1e-9 * dual);
    assert!(s.gap >= 0.0 && s.gap < 1e-7 && s.violation <= 1e-8);
}

#[test]
fn a_loose_tolerance_still_tells_the_truth_about_the_gap() {
    let n = 300;
    let (k, y) = cloud(n, 2);
    let kernel = Dense::new(&k, n).unwrap();
    let best = svc(&kernel, &y, 10.0, &tight());
    for tol in [0.5, 0.1, 1e-2] {
        let rough = svc(&kernel, &y, 10.0, &SmoOptions { tol, ..SmoOptions::default() });
        assert!(rough.iterations < best.iterations);
        assert!(rough.dual <= best.objective && rough.objective >= best.dual);
        assert!(rough.objective - best.objective <= rough.gap * rough.objective * (1.0 + 1e-12));
    }
    let stopped = svc(&kernel, &y, 10.0, &SmoOptions { max_iter: Some(20), ..tight() });
    assert_eq!((stopped.status, stopped.iterations), (Status::MaxIterations, 20));
    assert!(stopped.gap > 0.0);
}

#[test]
fn shrinking_changes_the_way_and_not_the_optimum() {
    let n = 900;
    let (k, y) = cloud(n, 3);
    let kernel = Dense::new(&k, n).unwrap();
    for c in [0.05, 1.0, 10.0] {
        let with = svc(&kernel, &y, c, &tight());
        let without = svc(&kernel, &y, c, &SmoOptions { shrinking: false, ..tight() });
        assert!((with.dual / without.dual - 1.0).abs() < 1e-9, "{c}: {} {}", with.dual, without.dual);
        assert!(with.violation <= 1e-8 && without.violation <= 1e-8);
    }
}

#[test]
fn two_cached_rows_give_the_same_bits_as_the_matrix() {
    let n = 600;
    let (k, y) = cloud(n, 4);
    let matrix = Dense::new(&k, n).unwrap();
    // Its rows do not lie in memory.
    let computed = Subset::new(&matrix, (0..n as u32).collect()).unwrap();
    let dense = svc(&matrix, &y, 1.0, &tight());
    for cache_size in [0, 40 * n, 200 << 20] {
        assert_eq!(svc(&computed, &y, 1.0, &SmoOptions { cache_size, ..tight() }), dense, "{cache_size}");
    }
}

#[test]
fn a_subset_is_a_matrix_of_its_own() {
    let n = 200;
    let (k, y) = cloud(n, 5);
    let kernel = Dense::new(&k, n).unwrap();
    let rows: Vec<u32> = (0..n as u32).filter(|i| i % 4 != 1).collect();
    let part: Vec<f64> = rows
        .iter()
        .flat_map(|&i| rows.iter().map(move |&j| (i, j)))
        .map(|(i, j)| k[i as usize * n + j as usize])
        .collect();
    let y: Vec<f64> = rows.iter().map(|&i| y[i as usize]).collect();
    let alone = svc(&Dense::new(&part, rows.len()).unwrap(), &y, 1.0, &tight());
    assert_eq!(svc(&Subset::new(&kernel, rows).unwrap(), &y, 1.0, &tight()), alone);
    assert!(Subset::new(&kernel, vec![200]).is_err());
}

#[test]
fn rows_without_weight_are_as_good_as_absent_and_twice_is_weight_two() {
    let n = 120;
    let (k, y) = cloud(n, 6);
    let kernel = Dense::new(&k, n).unwrap();
    let (lower, upper) = boxes(&y, |i| [1.0, 0.0, 2.0][i % 3]);
    let problem = DualProblem { targets: &y, epsilon: 0.0, lower: &lower, upper: &upper };
    let weighted = solve(&kernel, &problem, &tight(), &Control::new()).unwrap();
    let rows: Vec<u32> = (0..n as u32).flat_map(|i| vec![i; [1, 0, 2][i as usize % 3]]).collect();
    let y: Vec<f64> = rows.iter().map(|&i| y[i as usize]).collect();
    let repeated = svc(&Subset::new(&kernel, rows).unwrap(), &y, 1.0, &tight());
    assert!((weighted.dual / repeated.dual - 1.0).abs() < 1e-9);
    assert!((weighted.intercept - repeated.intercept).abs() < 1e-6);
}

#[test]
fn degenerate_kernels_end_with_a_certificate() {
    let y = [1.0, 1.0, 1.0, -1.0, -1.0];
    // All rows are the same point: the best score is a constant, the majority's label.
    let constant = [1.0; 25];
    let s = svc(&Dense::new(&constant, 5).unwrap(), &y, 1.0, &tight());
    assert!((s.dual - 4.0).abs() < 1e-7 && s.gap < 1e-7, "{s:?}");
    // One class only: no coefficient can move, and the constant score has no loss.
    let s = svc(&Dense::new(&constant, 5).unwrap(), &[1.0; 5], 1.0, &tight());
    assert!(s.coef.iter().all(|&b| b == 0.0) && s.objective == 0.0 && s.intercept == 1.0, "{s:?}");
    // Every row twice, once with each label.
    let (k, _) = cloud(20, 7);
    let kernel = Dense::new(&k, 20).unwrap();
    let twice = Subset::new(&kernel, (0..40).map(|i| i / 2).collect()).unwrap();
    let y: Vec<f64> = (0..40).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let s = svc(&twice, &y, 1.0, &tight());
    assert!((s.objective - 40.0).abs() < 1e-6 && s.gap < 1e-7, "{s:?}");
}

#[test]
fn bad_input_is_refused() {
    let said = |result: Result<DualSolution>| result.unwrap_err().to_string();
    let y = [1.0, -1.0];
    let kernel = Dense::new(&[1.0, 0.0, 0.0, 1.0], 2).unwrap();
    let run = |targets: &[f64], lower: &[f64], upper: &[f64], epsilon: f64, options: &SmoOptions| {
        solve(&kernel, &DualProblem { targets, epsilon, lower, upper }, options, &Control::new())
    };
    let (lower, upper) = ([0.0, -1.0], [1.0, 0.0]);
    assert!(run(&y, &lower, &upper, 0.0, &tight()).is_ok());
    assert!(said(run(&y[..1], &lower, &upper, 0.0, &tight())).contains("one per row"));
    assert!(said(run(&[1.0, f64::NAN], &lower, &upper, 0.0, &tight())).contains("row 1"));
    assert!(said(run(&y, &[0.5, -1.0], &upper, 0.0, &tight())).contains("must hold zero"));
    assert!(said(run(&y, &lower, &upper, -1.0, &tight())).contains("epsilon"));
    assert!(said(run(&y, &lower, &upper, 0.0, &SmoOptions { tol: 0.0, ..tight() })).contains("tol"));
    assert!(said(run(&y, &lower, &upper, 0.0, &SmoOptions { max_iter: Some(0), ..tight() })).contains("max_iter"));
    assert!(Dense::new(&[1.0; 5], 2).is_err());
    let error = Dense::new(&[1.0, 0.0, f64::INFINITY, 1.0], 2).unwrap_err().to_string();
    assert!(error.contains("row 1, element 0"), "{error}");
}

#[test]
fn it_stops_when_asked() {
    let (k, y) = cloud(300, 8);
    let kernel = Dense::new(&k, 300).unwrap();
    let (lower, upper) = boxes(&y, |_| 100.0);
    let problem = DualProblem { targets: &y, epsilon: 0.0, lower: &lower, upper: &upper };
    let control = Control::new();
    let listener = control.clone();
    let stopping = control.with_listener(move |_| listener.stop());
    assert_eq!(solve(&kernel, &problem, &tight(), &stopping), Err(Error::Interrupted));
}

#[test]
fn a_feasible_start_leads_to_the_same_optimum() {
    let (k, y) = cloud(300, 11);
    let kernel = Dense::new(&k, y.len()).unwrap();
    let smaller = svc(&kernel, &y, 1.0, &tight());
    for epsilon in [0.0, 0.1] {
        let (lower, upper) = boxes(&y, |_| 1.5);
        let problem = DualProblem { targets: &y, epsilon, lower: &lower, upper: &upper };
        let start: Vec<f64> = smaller.coef.iter().map(|b| 1.5 * b).collect();
        let cold = solve(&kernel, &problem, &tight(), &Control::new()).unwrap();
        let warm = solve_from(&kernel, &problem, Some(&start), &tight(), &Control::new()).unwrap();
        assert!((warm.objective - cold.objective).abs() < 1e-9 * cold.objective);
        assert!((warm.dual - cold.dual).abs() < 1e-9 * cold.objective, "{} {}", warm.dual, cold.dual);
        let again = solve_from(&kernel, &problem, Some(&cold.coef), &tight(), &Control::new()).unwrap();
        assert!(2 * again.iterations < cold.iterations, "{} {}", again.iterations, cold.iterations);
        let refused =
            |start: &[f64]| solve_from(&kernel, &problem, Some(start), &tight(), &Control::new()).unwrap_err();
        assert!(refused(&start[1..]).to_string().contains("300 coefficients"));
        let beyond: Vec<f64> = start.iter().map(|b| 2.0 * b).collect();
        assert!(refused(&beyond).to_string().contains("out of its bounds"));
        let mut one = vec![0.0; 300];
        one[0] = 0.5;
        assert!(refused(&one).to_string().contains("not to 0"));
    }
}
