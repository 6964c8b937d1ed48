//! Linear maps and stacking of every kind of covariance against dense references.

use ndarray::{Array2, ArrayView2, arr2};
use uncertain::data::{Covariances, Names, Rows};
use uncertain::prelude::*;
use uncertain::state::HasPredictor;
use uncertain::transform::LinearMap;
use uncertain::{Control, GaussianArray, Kind};

mod cases;
use cases::{Numbers, cases, close};

/// A'S A, row by row.
fn mapped(dense: &[f64], a: &[f64], d: usize, k: usize) -> Vec<f64> {
    let entry = |s: &[f64], p: usize, q: usize| -> f64 {
        (0..d * d).map(|at| a[at / d * k + p] * s[at] * a[at % d * k + q]).sum()
    };
    dense.chunks(d * d).flat_map(|s| (0..k * k).map(move |at| entry(s, at / k, at % k))).collect()
}

/// Matrices d x k with a name each: any, a scaled selection, disjoint columns of which the last one is zero, nothing.
fn matrices(d: usize) -> Vec<(&'static str, usize, Vec<f64>)> {
    let mut numbers = Numbers(7);
    let k = d / 2 + 1;
    let selected: Vec<f64> =
        (0..d * k).map(|at| if at / k == d - 1 - at % k { 2.25 - at as f64 } else { 0.0 }).collect();
    let disjoint: Vec<f64> = (0..d * 3).map(|at| if at / 3 % 2 == at % 3 { numbers.next() } else { 0.0 }).collect();
    vec![
        ("any", k, numbers.take(d * k)),
        ("wide", d + 2, numbers.take(d * (d + 2))),
        ("selection", k, selected),
        ("disjoint", 3, disjoint),
        ("nothing", 2, vec![0.0; d * 2]),
    ]
}

fn kind_after(from: Kind, matrix: &str, d: usize, bare: bool) -> Kind {
    match from {
        Kind::Isotropic if matrix == "selection" && d > 1 => Kind::Diagonal,
        Kind::Isotropic if matrix == "selection" => Kind::Isotropic,
        Kind::Isotropic | Kind::Diagonal if matrix == "any" && d == 1 => from,
        Kind::Isotropic | Kind::Diagonal if ["any", "wide"].contains(&matrix) => Kind::Full,
        Kind::Isotropic | Kind::Diagonal => Kind::Diagonal,
        Kind::LowRank if !bare && (matrix == "wide" || (matrix == "any" && d > 1)) => Kind::Full,
        other => other,
    }
}

/// Numbers as rows of k.
fn table(values: &[f64], k: usize) -> ArrayView2<'_, f64> {
    ArrayView2::from_shape((values.len() / k, k), values).unwrap()
}

#[test]
fn images_are_a_s_a() {
    for d in [1, 2, 9, 17] {
        for (name, k, matrix) in matrices(d) {
            let map = LinearMap::new(&table(&matrix, k)).unwrap();
            assert_eq!((map.n_features(), map.n_features_out()), (d, k));
            for case in cases(40, d, 2) {
                let what = format!("{name}, {}, d = {d}", case.name);
                let out = map.transform(&case.array).unwrap();
                close(&out.dense().unwrap(), &mapped(&case.dense, &matrix, d, k), 1.0, &what);
                let x = case.array.means().to_vec();
                let image = |at: usize| (0..d).map(|j| x[at / k * d + j] * matrix[j * k + at % k]).sum();
                close(&out.means().to_vec(), &(0..40 * k).map(image).collect::<Vec<f64>>(), 1.0, &what);
                let expected = kind_after(case.array.covariances().kind(), name, d, !case.name.contains("diagonal"));
                assert_eq!(out.covariances().kind(), expected, "{what}");
                // Valid for whoever checks it again, and a row's image does not depend on the other rows.
                GaussianArray::new(out.means().clone(), out.covariances().clone()).unwrap();
                let few = map.transform(&case.array.take(&[31, 3]).unwrap()).unwrap();
                assert_eq!(few.dense().unwrap(), out.take(&[31, 3]).unwrap().dense().unwrap(), "{what}");
                assert_eq!(few.means(), out.take(&[31, 3]).unwrap().means(), "{what}");
            }
        }
    }
}

#[test]
fn no_rows_have_images_too() {
    for case in cases(3, 4, 1) {
        for (name, k, matrix) in matrices(4) {
            let out = LinearMap::new(&table(&matrix, k)).unwrap().transform(&case.array.slice(1..1)).unwrap();
            assert_eq!((out.n_rows(), out.n_features()), (0, k), "{name} {}", case.name);
        }
    }
}

#[test]
fn unusable_maps_are_refused() {
    assert!(LinearMap::new(&Array2::zeros((0, 1))).is_err() && LinearMap::new(&Array2::zeros((1, 0))).is_err());
    let error = LinearMap::new(&arr2(&[[1.0, 2.0], [f64::NAN, 4.0]])).unwrap_err().to_string();
    assert!(error.contains("matrix") && error.contains("row 1") && error.contains("NaN"), "{error}");
    let wide = GaussianArray::new(
        Rows::from_vec(vec![0.0, 0.0], 2).unwrap(),
        Covariances::from_std(Rows::from_vec(vec![1e150, 1.0], 2).unwrap()),
    )
    .unwrap();
    let map = |matrix: Vec<f64>| LinearMap::new(&table(&matrix, 2)).unwrap().transform(&wide);
    assert!(map(vec![1e200, 1.0, 1.0, 1.0]).is_err());
    assert!(map(vec![1.0, 0.0, 0.0, 1.0, 0.0, 0.0]).unwrap_err().to_string().contains("features"));
    assert!(LinearMap::new(&Array2::ones((2, 2))).unwrap().predictor().transform((&wide).into(), &stopped()).is_err());
}

fn stopped() -> Control {
    let control = Control::new();
    control.stop();
    control
}

#[test]
fn stacked_features_are_independent_blocks() {
    for (d, e) in [(1, 1), (3, 1), (2, 4)] {
        for a in cases(11, d, 3) {
            for b in cases(11, e, 5) {
                let out = GaussianArray::hstack(&[a.array.clone(), b.array.clone()]).unwrap();
                let (what, m) = (format!("{} | {}", a.name, b.name), d + e);
                let block = |at: usize| match (at / m % m, at % m) {
                    (i, j) if i < d && j < d => a.dense[(at / (m * m) * d + i) * d + j],
                    (i, j) if i >= d && j >= d => b.dense[(at / (m * m) * e + i - d) * e + j - d],
                    _ => 0.0,
                };
                let expected: Vec<f64> = (0..11 * m * m).map(block).collect();
                close(&out.dense().unwrap(), &expected, 1.0, &what);
                let kinds = [a.array.covariances().kind(), b.array.covariances().kind()];
                let any = |kind| kinds.contains(&kind);
                let shared = kinds.iter().all(|k| [Kind::Zero, Kind::Shared].contains(k));
                let kind = match () {
                    () if kinds == [Kind::Zero; 2] => Kind::Zero,
                    () if shared => Kind::Shared,
                    () if any(Kind::Full) || any(Kind::Shared) => Kind::Full,
                    () if any(Kind::LowRank) => Kind::LowRank,
                    () => Kind::Diagonal,
                };
                assert_eq!(out.covariances().kind(), kind, "{what}");
                GaussianArray::new(out.means().clone(), out.covariances().clone()).unwrap();
                for (first, part) in [(0, &a), (d, &b)] {
                    let columns: Vec<usize> = (first..first + part.array.n_features()).collect();
                    let back = out.columns(&columns).unwrap();
                    assert_eq!(back.means(), part.array.means(), "{what}");
                    close(&back.dense().unwrap(), &part.dense, 1.0, &what);
                }
            }
        }
    }
}

#[test]
fn stacking_three_and_one_and_none() {
    let pieces: Vec<GaussianArray> = cases(5, 2, 1).into_iter().map(|c| c.array).collect();
    let one = GaussianArray::hstack(&pieces[3..4]).unwrap();
    assert_eq!(one, pieces[3]);
    let names = Names::default();
    let low = |f: Vec<f64>, rank| Covariances::from_factor(Rows::from_vec(f, 2 * rank).unwrap(), rank, None, &names);
    let factors: Vec<GaussianArray> = [(1, 1.0), (2, 2.0), (1, 3.0)]
        .map(|(rank, x)| GaussianArray::new(pieces[0].means().clone(), low(vec![x; 10 * rank], rank).unwrap()).unwrap())
        .to_vec();
    let three = GaussianArray::hstack(&factors).unwrap();
    let Covariances::LowRank(k) = three.covariances() else { panic!("factors stay factors") };
    assert!(k.rank == 4 && k.diagonal.is_none() && three.n_features() == 6);
    assert!(GaussianArray::hstack(&[]).is_err());
    let error = GaussianArray::hstack(&[pieces[0].clone(), pieces[1].slice(0..4)]).unwrap_err().to_string();
    assert!(error.contains("array 1") && error.contains("5 rows"), "{error}");
    assert_eq!(GaussianArray::hstack(&[pieces[0].slice(0..0), pieces[8].slice(0..0)]).unwrap().n_features(), 4);
}
