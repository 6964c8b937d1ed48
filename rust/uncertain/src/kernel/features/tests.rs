use super::*;
use crate::data::covariance::{Full, Layout, LowRank};
use crate::data::{Covariances, Rows};
use crate::kernel::probabilistic_rbf::{self, Coupling};
use crate::testing::Numbers;

const COUPLINGS: [Coupling; 2] = [Coupling::Shared, Coupling::Independent];

/// Rows of every kind, and of thin and wide factors.
fn every_kind(n: usize, d: usize) -> Vec<(&'static str, GaussianArray)> {
    let mut numbers = Numbers::new(21);
    let means = Rows::from_vec((0..n * d).map(|_| 0.6 * numbers.normal()).collect(), d).unwrap();
    let mut positive =
        |width: usize| Rows::from_vec((0..n * width).map(|_| 0.1 + 0.7 * numbers.uniform()).collect(), width).unwrap();
    let (one, each) = (positive(1), positive(d));
    let mut numbers = Numbers::new(22);
    let mut factor = |rank: usize, diagonal: Option<Rows>| {
        let values = (0..n * d * rank).map(|_| 0.4 * numbers.normal()).collect();
        Covariances::LowRank(LowRank { factor: Rows::from_vec(values, d * rank).unwrap(), rank, diagonal })
    };
    let full = GaussianArray::new(means.clone(), factor(d, None)).unwrap().to_full().unwrap();
    let square = full.dense().unwrap();
    let kinds = [
        ("zero", Covariances::Zero),
        ("isotropic", Covariances::from_std(one.clone())),
        ("isotropic var", Covariances::from_var(one)),
        ("diagonal", Covariances::from_std(each.clone())),
        ("diagonal var", Covariances::from_var(each.clone())),
        ("thin", factor(1, None)),
        ("thin + diagonal", factor(1, Some(each.clone()))),
        ("wide", factor(3, None)),
        ("wide + diagonal", factor(3, Some(each))),
        ("full", full.covariances().clone()),
        (
            "square",
            Covariances::Full(Full { values: Rows::from_vec(square.clone(), d * d).unwrap(), layout: Layout::Square }),
        ),
        ("shared", Covariances::shared(&square[..d * d], &crate::data::Names::default()).unwrap()),
    ];
    kinds.into_iter().map(|(name, k)| (name, GaussianArray::new(means.clone(), k).unwrap())).collect()
}

fn gram(data: &GaussianArray, coupling: Coupling) -> Array2<f64> {
    let options = probabilistic_rbf::RbfOptions { coupling, ..probabilistic_rbf::RbfOptions::new(SIGMA) };
    probabilistic_rbf::gram(data, None, &options, &Control::new()).unwrap()
}

const SIGMA: f64 = 1.3;

fn features(map: &RandomFeatures, data: &GaussianArray) -> Array2<f64> {
    map.transform(data, &Control::new()).unwrap()
}

/// w'(x + S^{1/2} e) and w'S w, from dense matrices.
#[test]
fn features_are_the_waves_of_their_definition_for_every_kind() {
    let (n, d, r) = (70, 8, 5);
    for coupling in COUPLINGS {
        let random = RandomFeatures::new(d, r, SIGMA, coupling, 3).unwrap();
        let map = random.clone();
        for (name, data) in every_kind(n, d) {
            let z = features(&map, &data);
            assert_eq!(z.dim(), (n, 2 * r));
            let (roots, dense) = (data.roots().unwrap(), data.dense().unwrap());
            for i in 0..n {
                let (root, s) = (&roots[i * d * d..(i + 1) * d * d], &dense[i * d * d..(i + 1) * d * d]);
                for k in 0..r {
                    let w = &random.frequencies()[k * d..(k + 1) * d];
                    let image = |m: &[f64], v: &[f64]| -> Vec<f64> {
                        m.chunks_exact(d).map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum()).collect()
                    };
                    let dot = |v: &[f64]| w.iter().zip(v).map(|(a, b)| a * b).sum::<f64>();
                    let x = data.means().row(i);
                    let (phase, amplitude) = match random.noise() {
                        Some(e) => (dot(&x) + dot(&image(root, &e[k * d..(k + 1) * d])), 1.0),
                        None => (dot(&x), (-0.5 * dot(&image(s, w))).exp()),
                    };
                    let scale = amplitude / (r as f64).sqrt();
                    // Roots of singular matrices are only known to 1e-8 (zero eigenvalues are left out here).
                    let near = |a: f64, b: f64| (a - b).abs() < 1e-7;
                    assert!(near(z[[i, k]], scale * phase.cos()), "{name} {coupling:?} row {i}");
                    assert!(near(z[[i, r + k]], scale * phase.sin()), "{name} {coupling:?} row {i}");
                }
            }
        }
    }
}

/// The root mean square error of inner products falls as R^-1/2: the slope of its logarithm, and its
/// mean over seeds is within the standard error of zero.
#[test]
fn inner_products_are_unbiased_and_their_error_falls_as_one_over_the_root() {
    let (n, d) = (12, 4);
    for coupling in COUPLINGS {
        for (name, data) in every_kind(n, d) {
            let exact = gram(&data, coupling);
            let sizes = [16usize, 64, 256, 1024];
            let mut points = vec![];
            for size in sizes {
                let seeds = 24;
                let (mut squares, mut bias) = (0.0, Array2::<f64>::zeros((n, n)));
                for seed in 0..seeds {
                    let random = RandomFeatures::new(d, size, SIGMA, coupling, 1000 + seed).unwrap();
                    let z = features(&random, &data);
                    let error = z.dot(&z.t()) - &exact;
                    squares += error.iter().map(|e| e * e).sum::<f64>() / (n * n) as f64;
                    bias += &error;
                }
                let seeds = seeds as f64;
                let rms = (squares / seeds).sqrt();
                // A feature's product has variance <= 1, their mean 1 / R.
                assert!(rms < 1.0 / (size as f64).sqrt(), "{name} {coupling:?} {size}: {rms}");
                let worst = bias.iter().fold(0.0f64, |w, b| w.max((b / seeds).abs()));
                assert!(worst < 4.5 / (size as f64 * seeds).sqrt(), "{name} {coupling:?} {size}: bias {worst}");
                points.push(((size as f64).ln(), rms.ln()));
            }
            let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / points.len() as f64;
            let (x, y) = (mean(|p| p.0), mean(|p| p.1));
            let slope = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>()
                / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>();
            assert!((slope + 0.5).abs() < 0.08, "{name} {coupling:?}: slope {slope}");
        }
    }
}

#[test]
fn blocks_and_chosen_rows_are_those_of_the_whole() {
    let (n, d) = (75, 8);
    for (name, data) in every_kind(n, d) {
        for coupling in COUPLINGS {
            let map = RandomFeatures::new(d, 7, SIGMA, coupling, 0).unwrap();
            {
                let (z, width) = (features(&map, &data), map.n_columns());
                let prepared = map.prepare(&data).unwrap();
                let mut workspace = Workspace::default();
                let chosen = [70, 3, 3, 44];
                let taken = prepared.take(&chosen).unwrap();
                assert_eq!((taken.n_rows(), taken.width()), (4, width));
                let mut out = vec![0.0; 4 * width];
                taken.fill(0..4, &mut workspace, &mut out).unwrap();
                let near = |a: &[f64], row: usize| a.iter().zip(z.row(row)).all(|(a, b)| (a - b).abs() < 1e-10);
                for (out, row) in out.chunks_exact(width).zip(chosen) {
                    assert!(near(out, row), "{name} row {row}");
                }
                prepared.fill(33..37, &mut workspace, &mut out).unwrap();
                assert!(out.chunks_exact(width).zip(33..).all(|(out, row)| near(out, row)), "{name}");
            }
        }
    }
}

#[test]
fn the_seed_decides_and_more_draws_begin_with_the_same() {
    let draw = |r, coupling, seed| RandomFeatures::new(3, r, SIGMA, coupling, seed).unwrap();
    let few = draw(4, Coupling::Shared, 7);
    let many = draw(9, Coupling::Shared, 7);
    assert_eq!(many.frequencies()[..12], *few.frequencies());
    assert_eq!(many.noise().unwrap()[..12], *few.noise().unwrap());
    assert_eq!(draw(9, Coupling::Independent, 7).frequencies(), many.frequencies());
    assert_ne!(draw(9, Coupling::Shared, 8), many);
    assert!(many.noise().unwrap().iter().zip(many.frequencies()).all(|(e, w)| e != w));
}

#[test]
fn what_cannot_be_mapped_is_refused() {
    let said = |result: Result<Array2<f64>>| result.unwrap_err().to_string();
    assert!(RandomFeatures::new(2, 0, 1.0, Coupling::Shared, 0).is_err());
    assert!(RandomFeatures::new(2, 5, 0.0, Coupling::Shared, 0).is_err());
    assert!(RandomFeatures::from_parts(2, vec![1.0; 5], None).is_err());
    assert!(RandomFeatures::from_parts(2, vec![1.0; 4], Some(vec![1.0; 2])).is_err());
    assert!(RandomFeatures::from_parts(2, vec![f64::NAN; 4], None).is_err());
    let map = RandomFeatures::new(2, 5, 1e-200, Coupling::Shared, 0).unwrap();
    let points = |x: f64, d: usize| GaussianArray::exact(Rows::from_vec(vec![x; 6], d).unwrap()).unwrap();
    assert!(said(map.transform(&points(1.0, 3), &Control::new())).contains("2 features"));
    assert!(said(map.transform(&points(1e200, 2), &Control::new())).contains("row 0"));
    let stopped = Control::new();
    stopped.stop();
    assert_eq!(map.transform(&points(1.0, 2), &stopped), Err(Error::Interrupted));
}
