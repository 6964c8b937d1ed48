//! The kernel map against the extended Gram matrix that it factorises, and against optima found without it.

use uncertain::data::{Covariances, Labels, Rows};
use uncertain::kernel::PointKernel;
use uncertain::prelude::*;
use uncertain::state::HasPredictor;
use uncertain::transform::{KernelMap, KernelMapParams};
use uncertain::{Control, Error, Kind, gsu};

mod cases;
use cases::cases;

const KERNELS: [PointKernel; 4] = [
    PointKernel::Linear,
    PointKernel::Quadratic,
    PointKernel::Polynomial { degree: 3, gamma: 0.5, coef0: 1.0 },
    PointKernel::Rbf { gamma: 0.7 },
];

fn params(kernel: PointKernel, tol: f64, max_rank: Option<usize>) -> KernelMapParams {
    KernelMapParams::from(kernel).tol(tol).max_rank(max_rank)
}

fn fit(data: &GaussianArray, kernel: PointKernel, tol: f64) -> KernelMap {
    params(kernel, tol, None).fit(&Dataset::new(data)).unwrap()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// a'M b
fn form(a: &[f64], m: &[f64], b: &[f64]) -> f64 {
    m.chunks(b.len()).zip(a).map(|(line, a)| a * dot(line, b)).sum()
}

/// tr(A B'), A = S_i M S_j with M of d x d.
fn squared_norm(si: &[f64], m: &[f64], sj: &[f64], d: usize) -> f64 {
    let product = |a: &[f64], b: &[f64]| -> Vec<f64> {
        (0..d * d).map(|p| (0..d).map(|k| a[p / d * d + k] * b[k * d + p % d]).sum()).collect()
    };
    dot(&product(&product(si, m), sj), m)
}

/// Largest difference between inner products in the feature space, from the mapped rows on the one side and
/// from kernel, gradient and mixed derivatives on the other. Roots of the covariances do not enter:
/// g_ij'S_i g_ij is the quadratic form of mean j, and tr(S_i M S_j M') the inner product of two covariances.
fn difference(kernel: PointKernel, data: &GaussianArray, dense: &[f64], mapped: &GaussianArray) -> [f64; 3] {
    let (n, d) = (data.n_rows(), data.n_features());
    let spreads = mapped.dense().unwrap();
    let width = mapped.n_features().pow(2);
    let (mut gradient, mut mixed) = (vec![0.0; d], vec![0.0; d * d]);
    let mut worst = [0.0_f64; 3];
    for i in 0..n {
        let (x, m) = (data.means().row(i), mapped.means().row(i));
        for j in 0..n {
            let (z, own) = (data.means().row(j), mapped.means().row(j));
            let (si, sj) = (&dense[i * d * d..(i + 1) * d * d], &dense[j * d * d..(j + 1) * d * d]);
            let (fi, fj) = (&spreads[i * width..(i + 1) * width], &spreads[j * width..(j + 1) * width]);
            kernel.gradient(&x, &z, &mut gradient);
            kernel.hessian(&x, &z, &mut mixed);
            worst[0] = worst[0].max((dot(&m, &own) - kernel.value(&x, &z)).abs());
            worst[1] = worst[1].max((form(&own, fi, &own) - form(&gradient, si, &gradient)).abs());
            worst[2] = worst[2].max((dot(fi, fj) - squared_norm(si, &mixed, sj, d)).abs());
        }
    }
    worst
}

#[test]
fn mapped_rows_have_the_inner_products_of_the_kernel() {
    for d in [1, 2, 5] {
        for case in cases(20, d, 5) {
            for kernel in KERNELS {
                let map = fit(&case.array, kernel, 1e-14);
                assert!(map.error() <= 1e-14);
                let mapped = map.transform(&case.array).unwrap();
                assert_eq!((mapped.n_rows(), mapped.n_features()), (20, map.rank()));
                let kind = if case.name == "zero" { Kind::Zero } else { Kind::LowRank };
                assert_eq!(mapped.covariances().kind(), kind);
                let worst = difference(kernel, &case.array, &case.dense, &mapped);
                // Values of a few hundred occur (degree 3), and squares of them in the covariances.
                assert!(worst[0] < 1e-12 && worst[1] < 1e-9 && worst[2] < 1e-9, "{} {kernel:?} {worst:?}", case.name);
            }
        }
    }
}

/// More rows than a block has, more directions than a piece of columns; exact rows and those of every kind.
#[test]
fn rows_of_the_fit_are_mapped_by_the_choice_as_by_the_map() {
    for case in cases(150, 3, 5) {
        for kernel in KERNELS {
            let (params, data) = (params(kernel, 1e-9, Some(60)), Dataset::new(&case.array));
            let (map, mapped) = params.fit_transform(&data).unwrap();
            assert_eq!(map, params.fit(&data).unwrap());
            let after = map.transform(&case.array).unwrap();
            assert_eq!(mapped.covariances().kind(), after.covariances().kind());
            let close = |a: &[f64], b: &[f64]| {
                let largest = b.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-7 * largest.max(1e-9))
            };
            assert!(close(&mapped.means().to_vec(), &after.means().to_vec()), "{} {kernel:?}", case.name);
            assert!(close(&mapped.dense().unwrap(), &after.dense().unwrap()), "{} {kernel:?}", case.name);
        }
    }
}

#[test]
fn ranks_are_those_of_the_feature_spaces() {
    let data = &cases(40, 2, 5)[3].array;
    // Features of a polynomial of degree p in two variables: (p + 1)(p + 2) / 2.
    for (kernel, rank) in KERNELS[..3].iter().zip([2, 3, 10]) {
        assert_eq!(fit(data, *kernel, 1e-12).rank(), rank, "{kernel:?}");
    }
    // The vectors of the RBF kernel at different points are independent.
    let points = GaussianArray::exact(data.means().slice(0..12)).unwrap();
    assert_eq!(fit(&points, PointKernel::Rbf { gamma: 5.0 }, 1e-12).rank(), 12);
}

#[test]
fn new_rows_keep_their_inner_products_with_the_fitted_ones() {
    let all = &cases(30, 3, 8)[9].array;
    let (old, new) = (all.slice(0..24), all.slice(24..30));
    for kernel in KERNELS {
        let map = fit(&old, kernel, 1e-13);
        let (a, b) = (map.transform(&old).unwrap(), map.transform(&new).unwrap());
        let finite = map.rank() < 72;
        for i in 0..6 {
            for j in 0..24 {
                let value = kernel.value(&new.means().row(i), &old.means().row(j));
                assert!((dot(&b.means().row(i), &a.means().row(j)) - value).abs() < 1e-11, "{kernel:?}");
            }
            // The old rows span the whole space of a polynomial kernel: among themselves new ones are exact too.
            for j in 0..6 {
                let value = kernel.value(&new.means().row(i), &new.means().row(j));
                let error = value - dot(&b.means().row(i), &b.means().row(j));
                assert!(if finite { error.abs() < 1e-11 } else { i != j || error > -1e-12 }, "{kernel:?} {error}");
            }
        }
    }
}

#[test]
fn the_error_is_what_was_left_out() {
    let case = &cases(60, 3, 4)[4];
    let kernel = PointKernel::Rbf { gamma: 0.4 };
    let mut before = 1.0;
    for rank in [1, 5, 20, 60] {
        let map = params(kernel, 1e-12, Some(rank)).fit(&Dataset::new(&case.array)).unwrap();
        assert_eq!(map.rank(), rank);
        assert!(map.error() < before, "{rank}");
        before = map.error();
        let mapped = map.transform(&case.array).unwrap();
        // Largest deficit of a squared length: values (1 in E) and derivatives (2 gamma variance in E).
        let mut largest = 1.0_f64;
        let mut deficit = 0.0_f64;
        let Covariances::LowRank(factor) = mapped.covariances() else { panic!() };
        for i in 0..60 {
            deficit = deficit.max(1.0 - dot(&mapped.means().row(i), &mapped.means().row(i)));
            for c in 0..3 {
                let exact = 0.8 * case.dense[i * 9 + c * 3 + c];
                let own: f64 = (0..rank).map(|j| factor.factor.row(i)[j * 3 + c].powi(2)).sum();
                largest = largest.max(exact);
                deficit = deficit.max(exact - own);
            }
        }
        assert!((map.error() - deficit / largest).abs() < 1e-12, "{rank}: {} {deficit}", map.error());
    }
    for tol in [1e-2, 1e-5] {
        let map = fit(&case.array, kernel, tol);
        assert!(map.error() <= tol && map.error() > 1e-3 * tol && map.rank() < 240);
    }
}

#[test]
fn a_linear_kernel_changes_nothing_and_threads_neither() {
    for case in cases(500, 4, 6) {
        let labels = Labels::new((0..500).map(|i| u32::from(case.array.means().row(i)[0] > 0.1)).collect(), 2).unwrap();
        let map = fit(&case.array, PointKernel::Linear, 1e-12);
        let mapped = map.transform(&case.array).unwrap();
        let params = gsu::Params::new().alpha(0.1).tol(1e-9).check().unwrap();
        let objective =
            |data| params.fit(&Dataset::new(data).with_labels(&labels).unwrap()).unwrap().linear.fits[0].objective;
        assert!((objective(&case.array) / objective(&mapped) - 1.0).abs() < 1e-8, "{}", case.name);
        let kernel = PointKernel::Rbf { gamma: 1.0 };
        let on = |threads| {
            let params = self::params(kernel, 1e-6, Some(30)).control(Control::new().with_threads(threads));
            let (map, mapped) = params.fit_transform(&Dataset::new(&case.array)).unwrap();
            (map, mapped.means().to_vec(), mapped.traces().unwrap())
        };
        assert_eq!(on(1), on(3));
    }
}

#[test]
fn the_order_of_rows_and_repetitions_do_not_matter() {
    for case in cases(40, 3, 7) {
        let backwards: Vec<usize> = (0..40).rev().chain(3..9).collect();
        let other = case.array.take(&backwards).unwrap();
        for kernel in KERNELS {
            let (a, b) = (fit(&case.array, kernel, 1e-5), fit(&other, kernel, 1e-5));
            let same = a.points() == b.points() && a.directions() == b.directions() && a.lower() == b.lower();
            assert!(same && (a.error() - b.error()).abs() < 1e-14, "{} {kernel:?}", case.name);
        }
    }
}

#[test]
fn gsu_on_mapped_rows_is_the_kernel_machine() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("../golden/kernel_map.json")).unwrap();
    let matrix = |name: &str| -> Vec<f64> {
        golden[name]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|r| r.as_array().unwrap())
            .map(|x| x.as_f64().unwrap())
            .collect()
    };
    let rows = |name: &str| Rows::from_vec(matrix(name), 2).unwrap();
    let data = GaussianArray::new(rows("means"), Covariances::from_std(rows("std"))).unwrap();
    let codes = golden["labels"].as_array().unwrap().iter().map(|y| u32::from(y.as_i64() == Some(1))).collect();
    let labels = Labels::new(codes, 2).unwrap();
    let number = |at: &serde_json::Value| at.as_f64().unwrap();
    for kernel in [PointKernel::Quadratic, PointKernel::Rbf { gamma: number(&golden["gamma"]) }] {
        let expected = &golden["kernels"][kernel.name()];
        let map = fit(&data, kernel, 1e-12);
        let rank = expected["rank"].as_u64().unwrap() as usize;
        assert!(map.rank().abs_diff(rank) <= rank / 20, "{} {rank}", map.rank());
        let mapped = map.transform(&data).unwrap();
        let params = gsu::Params::new().alpha(number(&golden["alpha"])).tol(1e-8).check().unwrap();
        let objective =
            params.fit(&Dataset::new(&mapped).with_labels(&labels).unwrap()).unwrap().linear.fits[0].objective;
        assert!((objective / number(&expected["gsu"]) - 1.0).abs() < 1e-6, "{kernel:?} {objective}");
    }
}

#[test]
fn a_map_can_be_taken_apart_and_put_together() {
    let data = &cases(30, 2, 8)[9].array;
    let map = fit(data, PointKernel::Rbf { gamma: 0.5 }, 1e-6);
    let parts = |map: &KernelMap| (map.points().to_vec(), map.directions().to_vec(), map.lower().to_vec());
    let (points, directions, lower) = parts(&map);
    let new = |points, directions, lower, error| KernelMap::new(map.kernel(), 2, points, directions, lower, error);
    let again = new(points.clone(), directions.clone(), lower.clone(), map.error()).unwrap();
    assert_eq!(again, map);
    assert!(new(points[2..].to_vec(), directions.clone(), lower.clone(), 0.0).is_err());
    assert!(new(points.clone(), directions.clone(), lower[1..].to_vec(), 0.0).is_err());
    assert!(new(points.clone(), directions.clone(), lower.clone(), f64::NAN).is_err());
    let mut flat = lower.clone();
    flat[0] = 0.0;
    assert!(new(points, directions, flat, 0.0).is_err());
}

#[test]
fn bad_parameters_data_and_interruptions_are_told() {
    let data = &cases(10, 2, 8)[3].array;
    let refusal = |data: &GaussianArray, kernel, (tol, max_rank)| {
        params(kernel, tol, max_rank).fit(&Dataset::new(data)).unwrap_err().to_string()
    };
    assert!(refusal(data, PointKernel::Rbf { gamma: -1.0 }, (0.1, None)).contains("gamma"));
    assert!(refusal(data, PointKernel::Linear, (0.0, None)).contains("tol"));
    assert!(refusal(data, PointKernel::Linear, (0.1, Some(0))).contains("max_rank"));
    assert!(refusal(&data.slice(0..0), PointKernel::Linear, (0.1, None)).contains("no rows"));
    let points = |x: f64| GaussianArray::exact(Rows::from_vec(vec![x; 4], 2).unwrap()).unwrap();
    assert!(refusal(&points(0.0), PointKernel::Linear, (0.1, None)).contains("zero on every row"));
    assert!(refusal(&points(1e200), PointKernel::Quadratic, (0.1, None)).contains("overflow"));
    let map = fit(data, PointKernel::Quadratic, 1e-6);
    assert!(map.transform(&cases(3, 3, 1)[0].array).unwrap_err().to_string().contains("2 features"));
    assert!(matches!(map.transform(&points(1e200)), Err(Error::NotFinite { .. })));
    let control = Control::new();
    control.stop();
    let stopped = params(PointKernel::Linear, 0.1, None).control(control.clone()).fit(&Dataset::new(data));
    assert_eq!(stopped.unwrap_err(), Error::Interrupted);
    assert_eq!(map.predictor().transform(data.into(), &control).unwrap_err(), Error::Interrupted);
}
