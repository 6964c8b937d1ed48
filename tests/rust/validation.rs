//! What data is accepted, what is mended with a warning, and what is refused with row, column and value.

use std::sync::Arc;

use proptest::prelude::*;
use uncertain::data::SharedBuffer;
use uncertain::data::covariance::{Covariances, Kind};
use uncertain::data::{Names, Rows};
use uncertain::{Error, GaussianArray};

fn rows(values: &[f64], width: usize) -> Rows {
    Rows::from_vec(values.to_vec(), width).unwrap()
}

fn zeros(n: usize, d: usize) -> Rows {
    Rows::from_vec(vec![0.0; n * d], d).unwrap()
}

fn names() -> Names {
    Names { means: "x".into(), covariances: "x_err".into(), diagonal: "x_var".into() }
}

fn full(matrices: &[f64], d: usize) -> Result<GaussianArray, Error> {
    let cov = rows(matrices, d * d);
    let n = cov.n_rows();
    GaussianArray::new_named(zeros(n, d), Covariances::from_cov(cov, &names())?, &names())
}

#[test]
fn numbers_that_are_not_finite_name_row_element_and_value() {
    let means = rows(&[0.0, 1.0, 2.0, f64::INFINITY], 2);
    let error = GaussianArray::new_named(means, Covariances::Zero, &names()).unwrap_err();
    assert_eq!(error, Error::NotFinite { what: "x".into(), row: 1, column: 1, value: f64::INFINITY });
    for kind in [Covariances::from_std(rows(&[1.0, f64::NAN], 1)), Covariances::from_var(rows(&[1.0, f64::NAN], 1))] {
        let error = GaussianArray::new_named(zeros(2, 3), kind, &names()).unwrap_err();
        assert!(matches!(&error, Error::NotFinite { what, row: 1, column: 0, .. } if what == "x_err"), "{error}");
    }
    let error = full(&[1.0, 0.0, 0.0, 1.0, 1.0, f64::NAN, f64::NAN, 1.0], 2).unwrap_err();
    assert!(matches!(error, Error::NotFinite { row: 1, column: 1, .. }));
    let factor = Covariances::from_factor(rows(&[1.0, f64::NAN], 2), 1, None, &names()).unwrap();
    assert!(matches!(GaussianArray::new(zeros(1, 2), factor), Err(Error::NotFinite { .. })));
}

#[test]
fn negative_and_overflowing_deviations_are_refused() {
    let error = GaussianArray::new_named(zeros(2, 2), Covariances::from_std(rows(&[1., 2., 3., -4.], 2)), &names());
    assert_eq!(error.unwrap_err(), Error::Negative { what: "x_err".into(), row: 1, column: 1, value: -4.0 });
    let factor = rows(&[1.0, -1.0], 2);
    let cov = Covariances::from_factor(factor, 1, Some(rows(&[0.0, -1e-30], 2)), &names()).unwrap();
    let error = GaussianArray::new_named(zeros(1, 2), cov, &names()).unwrap_err();
    assert!(matches!(&error, Error::Negative { what, row: 0, column: 1, .. } if what == "x_var"), "{error}");
    let error = GaussianArray::new(zeros(1, 1), Covariances::from_std(rows(&[1e200], 1))).unwrap_err();
    assert!(error.to_string().contains("square"), "{error}");
}

#[test]
fn the_first_offending_row_is_the_error() {
    // Thousands of rows, so that several parts find something.
    let mut values = vec![1.0; 5000];
    for i in [4999, 3000, 700] {
        values[i] = -1.0;
    }
    let error = GaussianArray::new(zeros(5000, 3), Covariances::from_var(rows(&values, 1))).unwrap_err();
    assert!(matches!(error, Error::Negative { row: 700, .. }));
}

#[test]
fn asymmetric_matrices_are_refused_and_rounding_is_not() {
    let error = full(&[1.0, 0.5, 0.4, 1.0], 2).unwrap_err();
    let expected = Error::NotSymmetric { what: "x_err".into(), row: 0, i: 0, j: 1, upper: 0.5, lower: 0.4 };
    assert_eq!(error, expected);
    assert!(full(&[1.0, 0.5, 0.500_000_1, 1.0], 2).is_ok());
}

#[test]
fn indefinite_matrices_are_refused() {
    let error = full(&[1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 1.0], 2).unwrap_err();
    let Error::NotPositive { what, row, eigenvalue, largest } = error else { panic!("{error}") };
    assert_eq!((what.as_str(), row), ("x_err", 1));
    assert!((eigenvalue + 1.0).abs() < 1e-14 && (largest - 3.0).abs() < 1e-14);
    assert!(matches!(full(&[-1e-9], 1), Err(Error::NotPositive { .. })));
    let shared = Covariances::shared(&[1.0, 2.0, 2.0, 1.0], &names()).unwrap();
    assert!(matches!(GaussianArray::new(zeros(3, 2), shared), Err(Error::NotPositive { .. })));
}

#[test]
fn singular_matrices_pass_without_a_warning() {
    // Rank one, zero, badly scaled, subnormal.
    for m in [[1.0, 1.0, 1.0, 1.0], [0.0; 4], [1e12, 1e3, 1e3, 1e-6], [5e-320, 0.0, 0.0, 0.0]] {
        let g = full(&m, 2).unwrap();
        assert!(g.warnings().is_empty(), "{m:?}: {:?}", g.warnings());
        assert_eq!(g.covariances().quad(0, &[1.0, 0.0]), m[0]);
    }
}

#[test]
fn rounding_is_mended_in_its_row_alone_with_one_warning() {
    // Eigenvalues 2 and -2.2e-8, as text with eight digits leaves them.
    let off = 1.0 + 2.2e-8;
    let identity = [1.0, 0.0, 0.0, 1.0];
    let mut matrices = identity.repeat(600);
    for row in [3, 4, 300] {
        matrices[4 * row..4 * row + 4].copy_from_slice(&[1.0, off, off, 1.0]);
    }
    let g = full(&matrices, 2).unwrap();
    assert_eq!(g.warnings().len(), 1);
    let warning = &g.warnings()[0];
    assert!(warning.contains("x_err: 3 of 600") && warning.contains("rows 3, 4, 300"), "{warning}");
    assert!(warning.contains("-2.2"), "{warning}");
    for row in [3, 4, 300] {
        let v = g.covariances().quad(row, &[1.0, -1.0]);
        assert!((0.0..1e-15).contains(&v), "{v}");
        assert!((g.covariances().quad(row, &[1.0, 1.0]) - 4.0).abs() < 1e-7);
    }
    assert_eq!(g.covariances().quad(5, &[1.0, -1.0]), 2.0);
    // Mending is done: nothing to warn about a second time.
    let again = GaussianArray::new(g.means().clone(), g.covariances().clone()).unwrap();
    assert!(again.warnings().is_empty());
    let shared = Covariances::shared(&[1.0, off, off, 1.0], &names()).unwrap();
    assert_eq!(GaussianArray::new(zeros(2, 2), shared).unwrap().warnings().len(), 1);
}

#[test]
fn good_matrices_stay_where_they_are() {
    let d = 3;
    let buffer: Arc<Vec<f64>> = Arc::new([2.0, 0.5, 0.0, 0.5, 2.0, 0.1, 0.0, 0.1, 2.0].repeat(500));
    let values = Rows::from_shared(SharedBuffer::F64(buffer.clone()), 0, 500, d * d).unwrap();
    let cov = Covariances::from_cov(values, &names()).unwrap();
    let g = GaussianArray::new(zeros(500, d), cov).unwrap();
    let Covariances::Full(kept) = g.covariances() else { panic!() };
    assert_eq!(kept.values.row(0).as_ptr(), buffer.as_ptr());
}

#[test]
fn precisions_are_inverted_and_singular_ones_refused() {
    let matrix = [4.0, 1.0, 1.0, 3.0];
    let inverse = [3.0 / 11.0, -1.0 / 11.0, 4.0 / 11.0];
    let check = |cov: Covariances, kind: Kind| {
        let g = GaussianArray::new(zeros(3, 2), cov).unwrap();
        assert_eq!(g.covariances().kind(), kind);
        let mut packed = vec![0.0; 3];
        g.covariances().add_to(2, 1.0, 2, &mut packed);
        assert!(packed.iter().zip(inverse).all(|(a, b)| (a - b).abs() < 1e-15), "{packed:?}");
    };
    check(Covariances::from_precision(&rows(&matrix.repeat(3), 4), &names()).unwrap(), Kind::Full);
    check(Covariances::shared_precision(&matrix, &names()).unwrap(), Kind::Shared);
    let singular = Covariances::from_precision(&rows(&[1.0, 1.0, 1.0, 1.0], 4), &names()).unwrap_err();
    assert!(singular.to_string().contains("row 0 is singular"), "{singular}");
    let negative = Covariances::from_precision(&rows(&[1.0, 2.0, 2.0, 1.0], 4), &names()).unwrap_err();
    assert!(matches!(negative, Error::NotPositive { .. }));
    assert!(Covariances::from_precision(&rows(&[1.0, 2.0, 0.0, 1.0], 4), &names()).is_err());
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let error = GaussianArray::new_named(zeros(3, 2), Covariances::from_std(zeros(2, 2)), &names()).unwrap_err();
    assert!(matches!(&error, Error::Shape { what, .. } if what == "x_err"), "{error}");
    assert!(Covariances::from_cov(zeros(2, 5), &names()).is_err());
    assert!(Covariances::from_factor(zeros(2, 5), 2, None, &names()).is_err());
    assert!(Covariances::from_factor(zeros(2, 4), 0, None, &names()).is_err());
    assert!(GaussianArray::new(zeros(2, 3), Covariances::from_cov(zeros(2, 4), &names()).unwrap()).is_err());
    let wrong = Covariances::from_factor(zeros(2, 4), 2, Some(zeros(2, 3)), &names()).unwrap();
    let error = GaussianArray::new_named(zeros(2, 2), wrong, &names()).unwrap_err();
    assert!(matches!(&error, Error::Shape { what, .. } if what == "x_var"), "{error}");
    assert!(GaussianArray::exact(zeros(0, 2)).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// F F' of any rank and scale passes as it is, and what f32 makes of it passes, mended if need be.
    #[test]
    fn rounding_never_refuses_a_good_matrix(d in 1usize..20, rank in 1usize..5, exponent in -30i32..30, seed in any::<u64>()) {
        let mut state = seed;
        let mut number = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let f: Vec<f64> = (0..d * rank).map(|_| number()).collect();
        let scale = 2.0_f64.powi(exponent);
        let dot = |i: usize, j: usize| (0..rank).map(|k| f[i * rank + k] * f[j * rank + k]).sum::<f64>() * scale;
        let exact: Vec<f64> = (0..d * d).map(|p| dot(p / d, p % d)).collect();
        let g = full(&exact, d).unwrap();
        prop_assert!(g.warnings().is_empty());
        let single: Vec<f64> = exact.iter().map(|x| f64::from(*x as f32)).collect();
        let g = full(&single, d).unwrap();
        let largest = exact.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let mended = g.dense().unwrap();
        prop_assert!(mended.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-6 * d as f64 * largest));
    }
}
