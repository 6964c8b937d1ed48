use strum::VariantArray;

use super::*;
use crate::control::Control;
use crate::data::{Covariances, Rows};
use crate::testing::Numbers;

/// At least one of every variant.
fn samples() -> Vec<PointKernel> {
    let kernels = vec![
        PointKernel::Linear,
        PointKernel::Quadratic,
        PointKernel::Polynomial { degree: 1, gamma: 0.7, coef0: 0.0 },
        PointKernel::Polynomial { degree: 3, gamma: 0.3, coef0: 1.5 },
        PointKernel::Rbf { gamma: 0.4 },
    ];
    for name in KernelName::VARIANTS.iter().map(|kernel| kernel.name()) {
        assert!(kernels.iter().any(|k| k.name() == name), "no sample of {name}");
    }
    kernels
}

fn normals(n: usize, seed: u64) -> Vec<f64> {
    let mut numbers = Numbers::new(seed);
    (0..n).map(|_| numbers.normal()).collect()
}

#[test]
fn derivatives_agree_with_central_differences() {
    let d = 4;
    let h = 1e-5;
    for kernel in samples() {
        for seed in 0..5 {
            let (x, z) = (normals(d, seed), normals(d, 100 + seed));
            let moved = |p: &[f64], j: usize, h: f64| {
                p.iter().enumerate().map(|(k, p)| if k == j { p + h } else { *p }).collect::<Vec<f64>>()
            };
            let mut gradient = vec![0.0; d];
            kernel.gradient(&x, &z, &mut gradient);
            let mut hessian = vec![0.0; d * d];
            kernel.hessian(&x, &z, &mut hessian);
            let (mut up, mut down) = (vec![0.0; d], vec![0.0; d]);
            for j in 0..d {
                let slope = (kernel.value(&moved(&x, j, h), &z) - kernel.value(&moved(&x, j, -h), &z)) / (2.0 * h);
                assert!((slope - gradient[j]).abs() < 1e-8 * (1.0 + slope.abs()), "{kernel:?} {j}");
                kernel.gradient(&x, &moved(&z, j, h), &mut up);
                kernel.gradient(&x, &moved(&z, j, -h), &mut down);
                for i in 0..d {
                    let mixed = (up[i] - down[i]) / (2.0 * h);
                    assert!((mixed - hessian[i * d + j]).abs() < 1e-8 * (1.0 + mixed.abs()), "{kernel:?} {i} {j}");
                }
            }
        }
    }
}

#[test]
fn functions_along_a_direction_are_products_with_the_derivatives() {
    let d = 3;
    for kernel in samples() {
        let (x, z, a) = (normals(d, 1), normals(d, 2), normals(d, 3));
        let (mut gradient, mut hessian, mut out) = (vec![0.0; d], vec![0.0; d * d], vec![0.0; d]);
        let value = kernel.against(&x, &z, Some(&a), &mut out);
        kernel.gradient(&z, &x, &mut gradient);
        kernel.hessian(&x, &z, &mut hessian);
        let exact: f64 = gradient.iter().zip(&a).map(|(g, a)| g * a).sum();
        assert!((value - exact).abs() < 1e-13 * (1.0 + exact.abs()), "{kernel:?}");
        for i in 0..d {
            let exact: f64 = (0..d).map(|j| hessian[i * d + j] * a[j]).sum();
            assert!((out[i] - exact).abs() < 1e-13 * (1.0 + exact.abs()), "{kernel:?} {i}");
        }
    }
}

#[test]
fn values_are_the_formulas() {
    let (x, z): (&[f64], &[f64]) = (&[1.0, -2.0, 0.5], &[0.3, 0.7, -1.1]);
    let (product, distance) = (0.3 - 1.4 - 0.55, 0.49_f64 + 2.7 * 2.7 + 1.6 * 1.6);
    let close = |kernel: PointKernel, value: f64| assert!((kernel.value(x, z) - value).abs() < 1e-14, "{kernel:?}");
    close(PointKernel::Linear, product);
    close(PointKernel::Quadratic, product * product);
    close(PointKernel::Polynomial { degree: 3, gamma: 0.5, coef0: 2.0 }, (0.5 * product + 2.0_f64).powi(3));
    close(PointKernel::Rbf { gamma: 0.25 }, (-0.25 * distance).exp());
}

#[test]
fn gram_matrices_hold_the_values() {
    let (n, m) = (150, 70);
    for d in [1, 7] {
        let (a, b) = (normals(n * d, 1), normals(m * d, 2));
        let rows = |v: &[f64]| Rows::from_vec(v.to_vec(), d).unwrap();
        let pieces = Rows::concat([rows(&a[..40 * d]), rows(&a[40 * d..])], d).unwrap();
        for kernel in samples() {
            let own = kernel.gram(&pieces, None, &Control::new()).unwrap();
            let cross = kernel.gram(&rows(&b), Some(&pieces), &Control::new()).unwrap();
            for i in 0..n {
                for j in 0..n {
                    let value = kernel.value(&pieces.row(i), &pieces.row(j));
                    assert!((own[[i, j]] - value).abs() <= 1e-13 * (1.0 + value.abs()), "{kernel:?} {i} {j}");
                    assert_eq!(own[[i, j]], own[[j, i]]);
                }
                for j in 0..m {
                    let value = kernel.value(&b[j * d..(j + 1) * d], &pieces.row(i));
                    assert!((cross[[j, i]] - value).abs() <= 1e-13 * (1.0 + value.abs()), "{kernel:?} {i} {j}");
                }
            }
        }
    }
}

#[test]
fn names_and_parameters_are_checked() {
    for kernel in samples() {
        let again = match kernel {
            PointKernel::Polynomial { degree, gamma, coef0 } => PointKernel::new("polynomial", degree, gamma, coef0),
            other => PointKernel::new(other.name(), 0, other.gamma().unwrap_or(0.0), -1.0),
        };
        assert_eq!(again, Ok(kernel));
    }
    let message = |name, degree, gamma, coef0| PointKernel::new(name, degree, gamma, coef0).unwrap_err().to_string();
    assert!(message("sigmoid", 1, 1.0, 0.0).contains("linear, quadratic, polynomial, rbf"));
    assert!(message("rbf", 1, 0.0, 0.0).contains("gamma = 0"));
    assert!(message("polynomial", 0, 1.0, 0.0).contains("degree"));
    assert!(message("polynomial", 2, 1.0, -1.0).contains("coef0"));
    let rows = |d: usize| Rows::from_vec(vec![1.0; 2 * d], d).unwrap();
    assert!(PointKernel::Linear.gram(&rows(2), Some(&rows(3)), &Control::new()).is_err());
    let control = Control::new();
    control.stop();
    assert_eq!(PointKernel::Linear.gram(&rows(2), None, &control).unwrap_err(), Error::Interrupted);
}

#[test]
fn the_median_heuristic() {
    // Distances 1, 2, 3 of different rows: sqrt(2^2 + 2 * 4) with error bars.
    let means = Rows::from_vec(vec![0.0, 3.0, 1.0, 0.0, 0.0], 1).unwrap();
    let errors = Rows::from_vec(vec![2.0; 5], 1).unwrap();
    let data = GaussianArray::new(means, Covariances::from_std(errors)).unwrap();
    assert!((median_gamma(&data, 0).unwrap() - 1.0 / 24.0).abs() < 1e-15);
    let same = GaussianArray::exact(Rows::from_vec(vec![1.0; 3], 1).unwrap()).unwrap();
    assert!(median_gamma(&same, 0).unwrap_err().to_string().contains("gamma = \"median\" needs"));
}
