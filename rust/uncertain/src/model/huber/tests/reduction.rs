//! The reduction to the labelled rows against the dense system of all views.

use super::*;

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
            let model = params.fit(&points(&x), std::slice::from_ref(&y), None, None, &Control::new()).unwrap();
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
