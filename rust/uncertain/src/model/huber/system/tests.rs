use super::*;
use crate::linalg::dense::{self, Matrix};
use crate::testing::Numbers;

fn factor(l: usize, d: usize) -> Matrix {
    let mut numbers = Numbers::new(8);
    Matrix { n_rows: l, n_cols: d, values: (0..l * d).map(|_| numbers.normal()).collect() }
}

/// The largest error of the equations of the free rows.
fn residual(system: &System, x: &[f64], free: &[usize], total: f64, rhs: &[f64]) -> f64 {
    let image = system.times(x).unwrap();
    let error = |&i: &usize| (rhs[i] - image[i] - 2.0 * total / system.weights[i] * x[i]).abs();
    free.iter().map(error).fold(0.0, f64::max)
}

#[test]
fn both_forms_solve_every_set() {
    let (l, d) = (60, 7);
    let u = factor(l, d);
    let weights: Vec<f64> = (0..l).map(|i| 0.5 + (i % 5) as f64).collect();
    let mut lower = Matrix::zeros(l, l).unwrap();
    dense::add_gram(&mut lower, &u, dense::Shape::Full, 1.0, &Control::new()).unwrap();
    let mut dense_form = System::new(Kept::Dense(lower), weights.clone()).unwrap();
    let mut low = System::new(Kept::Factor(u), weights).unwrap();
    let rhs: Vec<f64> = (0..l).map(|i| (i as f64).cos()).collect();
    let all: Vec<usize> = (0..l).collect();
    let without = |gone: &[usize]| all.iter().copied().filter(|i| !gone.contains(i)).collect::<Vec<_>>();
    let sets = [all.clone(), without(&[3]), without(&[3, 4, 59]), without(&[0, 7]), vec![5], vec![], all.clone()];
    for total in [0.3, 50.0] {
        for set in &sets {
            let a = dense_form.solve(set, total, &rhs, (vec![0.0; l], vec![0.0; l]), &Control::new()).unwrap().0;
            let b = low.solve(set, total, &rhs, (vec![0.0; l], vec![0.0; l]), &Control::new()).unwrap().0;
            assert!(residual(&dense_form, &a, set, total, &rhs) < 1e-12);
            assert!(residual(&low, &b, set, total, &rhs) < 1e-12);
            for i in 0..l {
                assert!((a[i] - b[i]).abs() < 1e-11, "{i}: {} {}", a[i], b[i]);
                assert!(set.contains(&i) || a[i] == 0.0 && b[i] == 0.0);
            }
        }
    }
    // Sets with a few rows less used the factor of all rows: three factorisations for each total.
    assert_eq!(dense_form.factorisations, 6);
}

#[test]
fn labels_that_leave_need_no_new_factor() {
    let l = 1700;
    let u = factor(l, l + 5);
    let mut lower = Matrix::zeros(l, l).unwrap();
    dense::add_gram(&mut lower, &u, dense::Shape::Full, 1.0, &Control::new()).unwrap();
    let mut system = System::new(Kept::Dense(lower), (0..l).map(|i| 1.0 + (i % 3) as f64).collect()).unwrap();
    let targets: Vec<f64> = (0..l).map(|i| (i as f64).sin()).collect();
    let mut free: Vec<usize> = (0..l).collect();
    let mut b = vec![0.0; l];
    let mut gone = 0;
    for round in 0..6 {
        free.retain(|i| i % 139 != round * 7);
        let total: f64 = free.iter().map(|&i| system.weights()[i]).sum();
        // Rows that left keep a value, as at a threshold, every other time.
        let others = if round % 2 == 0 { 0.0 } else { 1e-4 };
        (0..l).filter(|i| free.binary_search(i).is_err()).for_each(|i| b[i] = others);
        let start = (b.clone(), system.times(&b).unwrap());
        let (x, f) = system.solve(&free, total, &targets, start, &Control::new()).unwrap();
        let image = system.times(&x).unwrap();
        for &i in &free {
            let error = targets[i] - image[i] - 2.0 * total / system.weights()[i] * x[i];
            assert!(error.abs() < 1e-12, "{round} {i}: {error:e}");
        }
        assert!(f.iter().zip(&image).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!((0..l).all(|i| free.binary_search(&i).is_ok() || x[i] == others));
        (b, gone) = (x, l - free.len());
    }
    assert!(gone > 60 && system.factorisations == 1, "{gone} {}", system.factorisations);
}

#[test]
fn rows_that_come_are_appended() {
    let l = 120;
    let u = factor(l, l + 5);
    let mut lower = Matrix::zeros(l, l).unwrap();
    dense::add_gram(&mut lower, &u, dense::Shape::Full, 1.0, &Control::new()).unwrap();
    let mut system = System::new(Kept::Dense(lower), (0..l).map(|i| 1.0 + (i % 3) as f64).collect()).unwrap();
    let targets: Vec<f64> = (0..l).map(|i| (i as f64).sin()).collect();
    let mut point = (vec![0.0; l], vec![0.0; l]);
    // Rows that come one round may leave the next, and come back.
    for round in 0..7 {
        let free: Vec<usize> = (0..l).filter(|i| i % 5 != 2 || i % 7 < round % 5).collect();
        let mut b = point.0.clone();
        (0..l).filter(|i| !free.contains(i)).for_each(|i| b[i] = 1e-3);
        let f = system.moved((&point.0, &point.1), &b).unwrap();
        assert!(f.iter().zip(system.times(&b).unwrap()).all(|(a, b)| (a - b).abs() < 1e-12));
        point = system.solve(&free, 40.0, &targets, (b, f), &Control::new()).unwrap();
        let error = residual(&system, &point.0, &free, 40.0, &targets);
        assert!(error < 1e-12, "{round}: {error:e}");
        assert!((0..l).all(|i| free.contains(&i) || point.0[i] == 1e-3));
    }
    assert_eq!(system.factorisations, 1);
}

#[test]
fn differences_of_sets() {
    assert_eq!(difference(&[1, 3, 5, 9], &[0, 3, 4, 9]), [1, 5]);
    assert_eq!(difference(&[], &[1]), [0_usize; 0]);
}
