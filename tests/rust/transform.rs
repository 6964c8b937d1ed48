//! Scaling and subspaces of every kind of covariance against dense references.

use uncertain::data::{Covariances, Names, Rows, Weights};
use uncertain::prelude::*;
use uncertain::state::HasPredictor;
use uncertain::transform::{
    GaussianCollapser, GaussianLogScaler, GaussianScaler, Project, ScalerParams, Spread, SubspaceProjector,
};
use uncertain::{Collapse, Control, Error, GaussianArray, Kind};

mod cases;
use cases::{Case, Numbers, cases, close};

fn points(values: &[f64], d: usize) -> GaussianArray {
    GaussianArray::exact(Rows::from_vec(values.to_vec(), d).unwrap()).unwrap()
}

#[test]
fn scaling_is_d_s_d() {
    for d in [1, 2, 9] {
        let scale: Vec<f64> = Numbers(3).take(d).iter().map(|x| 0.1 + x.abs() * 10.0).collect();
        let mean = Numbers(4).take(d);
        let scaler = GaussianScaler::new(mean.clone(), scale.clone()).unwrap();
        for case in cases(40, d, 2) {
            let out = scaler.transform(&case.array).unwrap();
            let expected: Vec<f64> =
                (0..case.dense.len()).map(|p| case.dense[p] / scale[p / d % d] / scale[p % d]).collect();
            close(&out.dense().unwrap(), &expected, 1.0, case.name);
            let x: Vec<f64> =
                case.array.means().to_vec().iter().enumerate().map(|(p, x)| (x - mean[p % d]) / scale[p % d]).collect();
            assert_eq!(out.means().to_vec(), x, "{}", case.name);
            let kind = match case.array.covariances().kind() {
                Kind::Isotropic if d > 1 => Kind::Diagonal,
                kind => kind,
            };
            assert_eq!(out.covariances().kind(), kind, "{}", case.name);
            let back = scaler.inverse_transform(&out).unwrap();
            close(&back.dense().unwrap(), &case.dense, 1.0, case.name);
            close(&back.means().to_vec(), &case.array.means().to_vec(), 1.0, case.name);
            // The result is valid for whoever checks it again.
            GaussianArray::new(out.means().clone(), out.covariances().clone()).unwrap();
        }
    }
}

#[test]
fn a_logarithmic_scale_moves_both_ends_of_an_error_bar() {
    let d = 3;
    let b = [0.5, 0.2, 0.0];
    let g = |x: f64, b: f64| if b == 0.0 { x } else { (x / (2.0 * b)).asinh() };
    let scaler = GaussianLogScaler::new(b.to_vec()).unwrap();
    for case in cases(40, d, 2) {
        let out = scaler.transform(&case.array).unwrap();
        let x = case.array.means().to_vec();
        let moved: Vec<f64> = x.iter().enumerate().map(|(p, x)| g(*x, b[p % d])).collect();
        close(&out.means().to_vec(), &moved, 1.0, case.name);
        let factor = |i: usize, j: usize| {
            let (x, s) = (x[i * d + j], case.dense[(i * d + j) * d + j].sqrt());
            match (b[j] == 0.0, s == 0.0) {
                (true, _) => 1.0,
                (_, true) => 1.0 / x.hypot(2.0 * b[j]),
                _ => (g(x + s, b[j]) - g(x - s, b[j])) / (2.0 * s),
            }
        };
        let element = |p: usize| case.dense[p] * factor(p / d / d, p / d % d) * factor(p / d / d, p % d);
        let expected: Vec<f64> = (0..case.dense.len()).map(element).collect();
        close(&out.dense().unwrap(), &expected, 1.0, case.name);
        GaussianArray::new(out.means().clone(), out.covariances().clone()).unwrap();
        let back = scaler.inverse_transform(&out).unwrap();
        close(&back.means().to_vec(), &x, 1.0, case.name);
    }
}

#[test]
fn equal_scales_keep_one_variance_per_row() {
    let scaler = GaussianScaler::new(vec![0.0; 3], vec![2.0; 3]).unwrap();
    for case in cases(10, 3, 1).iter().filter(|c| c.name.starts_with("isotropic")) {
        assert_eq!(scaler.transform(&case.array).unwrap().covariances().kind(), Kind::Isotropic);
    }
}

#[test]
fn fitted_moments_are_those_of_the_weighted_data() {
    let (n, d) = (700, 4);
    let weights = Weights::new(Numbers(1).take(n).iter().map(|x| x.abs() * 3.0).collect()).unwrap();
    let total = weights.total();
    for case in cases(n, d, 9) {
        let x = case.array.means().to_vec();
        for spread in [Spread::Means, Spread::Total] {
            let scaler =
                ScalerParams { spread }.fit(&Dataset::new(&case.array).with_weights(&weights[..]).unwrap()).unwrap();
            for j in 0..d {
                let mean: f64 = (0..n).map(|i| weights[i] * x[i * d + j]).sum::<f64>() / total;
                let mut variance: f64 = (0..n).map(|i| weights[i] * (x[i * d + j] - mean).powi(2)).sum::<f64>() / total;
                if spread == Spread::Total {
                    variance += (0..n).map(|i| weights[i] * case.dense[i * d * d + j * d + j]).sum::<f64>() / total;
                }
                close(&[scaler.mean()[j]], &[mean], 1.0, case.name);
                close(&[scaler.scale()[j]], &[variance.sqrt()], 1.0, case.name);
            }
            // What it was fitted on comes out standardised.
            let out = scaler.transform(&case.array).unwrap();
            let again = ScalerParams { spread }.fit(&Dataset::new(&out).with_weights(&weights[..]).unwrap()).unwrap();
            close(again.mean(), &vec![0.0; d], 1.0, case.name);
            close(again.scale(), &vec![1.0; d], 1.0, case.name);
        }
    }
}

#[test]
fn weight_two_is_the_row_twice_and_weight_zero_its_absence() {
    let g = cases(5, 3, 4).remove(3).array;
    let weights = Weights::new(vec![2.0, 0.0, 1.0, 1.0, 0.0]).unwrap();
    let weighted =
        ScalerParams { spread: Spread::Total }.fit(&Dataset::new(&g).with_weights(&weights[..]).unwrap()).unwrap();
    let repeated = ScalerParams { spread: Spread::Total }.fit(&Dataset::new(g.take(&[0, 0, 2, 3]).unwrap())).unwrap();
    close(weighted.mean(), repeated.mean(), 1.0, "mean");
    close(weighted.scale(), repeated.scale(), 1.0, "scale");
}

#[test]
fn constant_features_keep_their_scale() {
    let g = points(&[0.1, 0.0, 1e9, 0.1, 0.0, 1e9 + 1.0, 0.1, 0.0, 1e9 - 1.0], 3);
    let scaler = ScalerParams { spread: Spread::Means }.fit(&Dataset::new(&g)).unwrap();
    assert_eq!(scaler.scale()[..2], [1.0, 1.0]);
    assert!((scaler.scale()[2] - (2.0_f64 / 3.0).sqrt()).abs() < 1e-9);
    let out = scaler.transform(&g).unwrap();
    assert!(out.means().to_vec().chunks(3).all(|x| x[0].abs() < 1e-15 && x[1] == 0.0));
    // Constant means with error bars do vary.
    let cov = Covariances::from_std(Rows::from_vec(vec![3.0; 3], 1).unwrap());
    let g = GaussianArray::new(g.means().clone(), cov).unwrap();
    assert_eq!(ScalerParams { spread: Spread::Total }.fit(&Dataset::new(&g)).unwrap().scale()[0], 3.0);
}

#[test]
fn unusable_scalers_and_weights_are_refused() {
    let g = points(&[1.0, 2.0, 3.0, 4.0], 2);
    assert!(Dataset::new(&g).with_weights([1.0]).is_err());
    assert!(ScalerParams { spread: Spread::Means }.fit(&Dataset::new(g.slice(0..0))).is_err());
    assert!(ScalerParams { spread: Spread::Means }.fit(&Dataset::new(points(&[1e300, -1e300], 1))).is_err());
    assert!(GaussianScaler::new(vec![0.0], vec![0.0]).is_err());
    assert!(GaussianScaler::new(vec![f64::NAN], vec![1.0]).is_err());
    assert!(GaussianScaler::new(vec![0.0; 2], vec![1.0]).is_err());
    assert!(GaussianScaler::new(vec![0.0; 3], vec![1.0; 3]).unwrap().transform(&g).is_err());
    let tiny = GaussianScaler::new(vec![0.0], vec![1e-200]).unwrap();
    let cov = Covariances::from_var(Rows::from_vec(vec![1.0], 1).unwrap());
    let wide = GaussianArray::new(Rows::from_vec(vec![0.0], 1).unwrap(), cov).unwrap();
    assert!(tiny.transform(&wide).is_err());
    assert!("both".parse::<Spread>().is_err() && "total".parse::<Spread>().is_ok());
}

/// Eigenpairs by Jacobi rotations, values descending: slow, and nothing the library knows.
fn jacobi(s: &[f64], d: usize) -> Vec<(f64, Vec<f64>)> {
    let mut a = s.to_vec();
    let mut v: Vec<f64> = (0..d * d).map(|p| f64::from(u8::from(p / d == p % d))).collect();
    for _ in 0..60 {
        for p in 0..d {
            for q in p + 1..d {
                let angle = 0.5 * (2.0 * a[p * d + q]).atan2(a[q * d + q] - a[p * d + p]);
                let (sin, cos) = angle.sin_cos();
                let rotate = |m: &mut [f64], step: usize, stride: usize| {
                    for k in 0..d {
                        let (x, y) = (m[k * step + p * stride], m[k * step + q * stride]);
                        m[k * step + p * stride] = cos * x - sin * y;
                        m[k * step + q * stride] = sin * x + cos * y;
                    }
                };
                rotate(&mut a, d, 1);
                rotate(&mut a, 1, d);
                rotate(&mut v, d, 1);
            }
        }
    }
    let mut pairs: Vec<_> = (0..d).map(|k| (a[k * d + k], (0..d).map(|i| v[i * d + k]).collect())).collect();
    pairs.sort_by(|x: &(f64, Vec<f64>), y| y.0.total_cmp(&x.0));
    pairs
}

/// (truncated covariance, projected mean), by the definition.
fn reference(s: &[f64], x: &[f64], p: f64) -> (Vec<f64>, Vec<f64>) {
    let d = x.len();
    let pairs = jacobi(s, d);
    let total: f64 = pairs.iter().map(|p| p.0.max(0.0)).sum();
    let (mut matrix, mut mean, mut sum) = (vec![0.0; d * d], vec![0.0; d], 0.0);
    for (value, v) in &pairs {
        if total == 0.0 || sum > p * total {
            break;
        }
        sum += value;
        let along: f64 = v.iter().zip(x).map(|(v, x)| v * x).sum();
        (0..d * d).for_each(|at| matrix[at] += value * v[at / d] * v[at % d]);
        (0..d).for_each(|j| mean[j] += along * v[j]);
    }
    (matrix, mean)
}

fn near(a: &[f64], b: &[f64], what: &str) {
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9), "{what}: {a:?} is not {b:?}");
}

fn check_subspace(case: &Case, p: f64) {
    let (n, d, name) = (case.array.n_rows(), case.array.n_features(), case.name);
    let _control = Control::new();
    let run = |project| SubspaceProjector::new(p, project).unwrap().transform(&case.array).unwrap();
    let (alone, both) = (run(Project::Covariance), run(Project::Both));
    assert_eq!(alone.means().to_vec(), case.array.means().to_vec(), "{name}");
    let (a, b) = (alone.dense().unwrap(), both.dense().unwrap());
    near(&a, &b, name);
    for i in 0..n {
        let s = &case.dense[i * d * d..(i + 1) * d * d];
        let (matrix, mean) = reference(s, &case.array.means().row(i), p);
        near(&a[i * d * d..(i + 1) * d * d], &matrix, &format!("{name}, p = {p}, row {i}"));
        near(&both.means().row(i), &mean, &format!("{name}, p = {p}, mean of row {i}"));
    }
    GaussianArray::new(both.means().clone(), both.covariances().clone()).unwrap();
}

#[test]
fn subspaces_are_the_leading_eigenpairs() {
    for d in [1, 2, 6] {
        // Equal eigenvalues have no unique leading pairs: the isotropic kinds have their own test.
        for case in cases(30, d, 21).iter().filter(|c| !c.name.starts_with("isotropic")) {
            for p in [0.3, 0.8, 0.99] {
                check_subspace(case, p);
            }
        }
    }
}

#[test]
fn equal_variances_keep_the_first_axes() {
    for case in cases(4, 4, 2).iter().filter(|c| c.name.starts_with("isotropic")) {
        let out = SubspaceProjector::new(0.4, Project::Both).unwrap().transform(&case.array).unwrap();
        for (i, s) in out.dense().unwrap().chunks(16).enumerate() {
            let v = case.dense[i * 16];
            let expected: Vec<f64> = (0..16).map(|p| if p == 0 || p == 5 { v } else { 0.0 }).collect();
            near(s, &expected, case.name);
            let x = case.array.means().row(i);
            near(&out.means().row(i), &[x[0], x[1], 0.0, 0.0], case.name);
        }
    }
}

#[test]
fn everything_kept_is_the_same_array() {
    for case in cases(20, 5, 8) {
        for project in [Project::Covariance, Project::Both] {
            let out = SubspaceProjector::new(1.0, project).unwrap().transform(&case.array).unwrap();
            near(&out.dense().unwrap(), &case.dense, case.name);
            assert_eq!(out.means().to_vec(), case.array.means().to_vec(), "{}", case.name);
            if case.name == "full singular" {
                let Covariances::LowRank(k) = out.covariances() else { panic!("a full matrix becomes low-rank") };
                assert_eq!(k.rank, 2, "the numerical rank");
            }
        }
    }
}

#[test]
fn ranks_differ_between_rows_and_are_padded() {
    let mut matrices = vec![0.0; 3 * 9];
    matrices[9] = 2.0; // row 1: one direction
    matrices[18..27].copy_from_slice(&[3.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 3.0]);
    let means = Rows::from_vec(vec![1.0; 9], 3).unwrap();
    let cov = Covariances::from_cov(Rows::from_vec(matrices.clone(), 9).unwrap(), &Names::default()).unwrap();
    let g = GaussianArray::new(means, cov).unwrap();
    let out = SubspaceProjector::new(0.9, Project::Both).unwrap().transform(&g).unwrap();
    let Covariances::LowRank(k) = out.covariances() else { panic!() };
    assert_eq!(k.rank, 3);
    near(&out.dense().unwrap(), &matrices, "dense");
    near(&out.means().to_vec(), &[0., 0., 0., 1., 0., 0., 1., 1., 1.], "means");
    let zeros = SubspaceProjector::new(0.9, Project::Covariance).unwrap().transform(&g.slice(0..1));
    assert_eq!(zeros.unwrap().covariances().kind(), Kind::Zero);
}

#[test]
fn a_stopped_control_ends_the_work() {
    let control = Control::new();
    control.stop();
    for case in cases(20, 3, 8).iter().filter(|c| c.name.starts_with("full") || c.name.starts_with("diagonal")) {
        let projector = SubspaceProjector::new(0.5, Project::Both).unwrap();
        let out = projector.predictor().transform((&case.array).into(), &control);
        assert_eq!(out.unwrap_err(), Error::Interrupted);
    }
}

#[test]
fn shares_outside_of_the_unit_interval_are_refused() {
    for p in [0.0, -0.1, 1.1, f64::NAN] {
        assert!(
            matches!(SubspaceProjector::new(p, Project::Both), Err(Error::Parameter { name, .. }) if name == "variance")
        );
    }
    assert!("mean".parse::<Project>().is_err());
}

#[test]
fn collapsing_keeps_means_and_what_was_asked_for() {
    let d = 3;
    for case in cases(20, d, 7) {
        for to in [Collapse::Zero, Collapse::Isotropic, Collapse::Diagonal] {
            let out = GaussianCollapser::new(to).transform(&case.array).unwrap();
            let expected: Vec<f64> = case
                .dense
                .chunks_exact(d * d)
                .flat_map(|s| {
                    let mean = (0..d).map(|j| s[j * d + j]).sum::<f64>() / d as f64;
                    (0..d * d).map(move |p| match to {
                        Collapse::Isotropic if p % (d + 1) == 0 => mean,
                        Collapse::Diagonal if p % (d + 1) == 0 => s[p],
                        _ => 0.0,
                    })
                })
                .collect();
            assert_eq!(out.means(), case.array.means(), "{}", case.name);
            close(&out.dense().unwrap(), &expected, 1.0, case.name);
        }
    }
}
