//! Conformance: every kind of covariance and every verb against the dense matrix it stands for.
//!
//! A new kind is one more entry in cases.rs; the checks find it by themselves.

use proptest::prelude::*;
use strum::VariantArray;
use uncertain::data::covariance::{BlockVerbs, LowRank, Structure, packed_index, packed_len};
use uncertain::data::{Covariances, Names, Rows};
use uncertain::{Collapse, GaussianArray, Kind, parallel, with_kind};

mod cases;
use cases::{Case, Numbers, cases, close, diagonals, gram};

fn triangle(square: &[f64], d: usize) -> Vec<f64> {
    (0..d).flat_map(|i| (0..=i).map(move |j| square[i * d + j])).collect()
}

fn product(s: &[f64], w: &[f64]) -> Vec<f64> {
    s.chunks(w.len()).map(|row| row.iter().zip(w).map(|(a, b)| a * b).sum()).collect()
}

fn check_rows(case: &Case, w: &[f64]) {
    let (d, c, name) = (w.len(), case.array.covariances(), case.name);
    for (row, s) in case.dense.chunks(d * d).enumerate() {
        let image = product(s, w);
        let quad: f64 = image.iter().zip(w).map(|(a, b)| a * b).sum();
        let scale = d as f64;
        close(&[c.quad(row, w)], &[quad], scale, &format!("{name}: quad of row {row}"));
        let mut out = vec![f64::NAN; d];
        c.apply(row, w, &mut out);
        close(&out, &image, scale, &format!("{name}: apply of row {row}"));
        let mut sum = vec![1.0; packed_len(d)];
        c.add_to(row, 0.5, d, &mut sum);
        let expected: Vec<f64> = triangle(s, d).iter().map(|x| 1.0 + 0.5 * x).collect();
        close(&sum, &expected, scale, &format!("{name}: add_to of row {row}"));
        let diagonal: Vec<f64> = (0..d).map(|i| s[i * d + i]).collect();
        close(&[c.trace(row, d)], &[diagonal.iter().sum()], scale, &format!("{name}: trace of row {row}"));
        c.variances(row, &mut out);
        close(&out, &diagonal, scale, &format!("{name}: variances of row {row}"));
        let mut packed = vec![f64::NAN; packed_len(d)];
        c.triangle(row, d, &mut packed);
        close(&packed, &triangle(s, d), scale, &format!("{name}: triangle of row {row}"));
        if let Some(common) = c.common() {
            close(common, &packed, scale, &format!("{name}: common triangle"));
        }
        check_structure(c.structure(), row, s, d, name);
        let root = c.sqrt(row, d).unwrap();
        let columns: Vec<f64> = (0..d * d).map(|p| root[p % d * d + p / d]).collect();
        assert_eq!(root, columns, "{name}: a square root is symmetric");
        assert!((0..d).all(|i| root[i * d + i] >= -1e-12), "{name}: a square root is positive");
        let squared: Vec<f64> = columns.chunks(d).flat_map(|c| product(&root, c)).collect();
        close(&squared, s, scale, &format!("{name}: squared root of row {row}"));
    }
}

/// The structure promises no more zeros, and no other factor, than the dense matrix has.
fn check_structure(structure: Structure<'_>, row: usize, s: &[f64], d: usize, name: &str) {
    let diagonal = diagonals(1, d, |_, i| s[i * d + i]);
    match structure {
        Structure::Zero => assert!(s.iter().all(|x| *x == 0.0), "{name}"),
        Structure::Isotropic => assert_eq!(s, diagonals(1, d, |_, _| s[0]), "{name}"),
        Structure::Diagonal => assert_eq!(s, diagonal, "{name}"),
        Structure::Factor(k) => {
            let beside = k.diagonal.as_ref().map_or(vec![0.0; d], |v| v.row(row).to_vec());
            let beside = diagonals(1, d, |_, i| beside[i]);
            let sum: Vec<f64> =
                gram(&k.factor.row(row), 1, d, k.rank).iter().zip(&beside).map(|(a, b)| a + b).collect();
            close(&sum, s, d as f64, name);
        }
        Structure::Dense => {}
    }
    assert_eq!(structure.is_diagonal(), !matches!(structure, Structure::Factor(_) | Structure::Dense));
}

/// Features multiplied by numbers, some of the features, and the arguments that give the same array again.
fn check_moves(case: &Case) {
    let (array, d, n, name) = (&case.array, case.array.n_features(), case.array.n_rows(), case.name);
    let element = |row: usize, i: usize, j: usize| case.dense[(row * d + i) * d + j];
    for factor in [Numbers(7).take(d), vec![-3.0; d]] {
        let scaled = array.covariances().scaled(&factor).unwrap();
        let scaled = GaussianArray::new(array.means().clone(), scaled).unwrap();
        let expected: Vec<f64> = (0..n * d * d).map(|p| case.dense[p] * factor[p / d % d] * factor[p % d]).collect();
        close(&scaled.dense().unwrap(), &expected, 1.0, &format!("{name}: scaled"));
    }
    assert!(name == "zero" || array.covariances().scaled(&vec![1e200; d]).is_err(), "{name}");

    for columns in [vec![d - 1], (0..d).rev().step_by(2).collect(), (0..d).collect()] {
        let part = array.columns(&columns).unwrap();
        assert_eq!(part.covariances().kind(), array.covariances().kind(), "{name}");
        let k = columns.len();
        let expected: Vec<f64> =
            (0..n * k * k).map(|p| element(p / (k * k), columns[p / k % k], columns[p % k])).collect();
        assert_eq!(part.dense().unwrap(), expected, "{name}: columns");
    }

    let arguments = array.arguments().unwrap();
    let shared = arguments.iter().any(|field| field.shared);
    let arguments = arguments.into_iter().map(|field| (field.name.to_string(), field.values)).collect();
    let again = Covariances::from_arguments(arguments, d, shared, &Names::default()).unwrap();
    let again = GaussianArray::new(array.means().clone(), again).unwrap();
    assert_eq!(again.covariances().kind(), array.covariances().kind(), "{name}");
    assert_eq!(again.dense().unwrap(), array.dense().unwrap(), "{name}: made again from its arguments");
}

fn check_blocks(case: &Case, w: &[f64], first: usize, n: usize, seed: u64) {
    let d = w.len();
    let coef = Numbers(seed).take(n);
    let along = case.array.covariances().along(w);
    let all: Vec<u32> = (0..n as u32).collect();
    let subset: Vec<u32> = all.iter().copied().filter(|k| (k * 7 + 3) % 5 < 3).collect();
    let dense = &case.dense[first * d * d..(first + n) * d * d];
    let images: Vec<Vec<f64>> = dense.chunks(d * d).map(|s| product(s, w)).collect();
    let scale = (d * n) as f64;
    with_kind!(case.array.covariances(), kind => {
        let what = |verb: &str| format!("{}: {verb} of {n} rows from {first}, d = {d}", case.name);
        let mut memo = vec![f64::NAN; n * kind.memo_width(d)];
        let mut quads = vec![f64::NAN; n];
        kind.quads(first, &along, &mut memo, &mut quads);
        let expected: Vec<f64> = images.iter().map(|i| i.iter().zip(w).map(|(a, b)| a * b).sum()).collect();
        close(&quads, &expected, scale, &what("quads"));
        let mut out = vec![f64::NAN; n * d];
        kind.images(first, n, &along, &memo, &mut out);
        close(&out, &images.concat(), scale, &what("images"));
        for picks in [&all[..], &subset, &all[..0], &all[n - 1..]] {
            let mut sum = vec![2.0; d];
            kind.add_images(first, picks, &coef, &along, &memo, &mut sum);
            let mut expected = vec![2.0; d];
            let mut matrix = vec![2.0; packed_len(d)];
            let mut expected_matrix = matrix.clone();
            for &k in picks {
                let k = k as usize;
                expected.iter_mut().zip(&images[k]).for_each(|(e, i)| *e += coef[k] * i);
                let s = triangle(&dense[k * d * d..(k + 1) * d * d], d);
                expected_matrix.iter_mut().zip(&s).for_each(|(e, s)| *e += coef[k] * s);
            }
            close(&sum, &expected, scale, &what("add_images"));
            kind.add_to(first, picks, &coef, d, &mut matrix);
            close(&matrix, &expected_matrix, scale, &what("add_to"));
        }
    });
}

fn check_array(case: &Case) {
    let (d, n) = (case.array.n_features(), case.array.n_rows());
    let name = case.name;
    close(&case.array.dense().unwrap(), &case.dense, 1.0, name);
    let full = case.array.to_full().unwrap();
    assert_eq!(full.covariances().kind(), Kind::Full);
    close(&full.dense().unwrap(), &case.dense, 1.0, name);
    let traces: Vec<f64> = case.dense.chunks(d * d).map(|s| (0..d).map(|i| s[i * d + i]).sum()).collect();
    close(&case.array.traces().unwrap(), &traces, 1.0, name);
    let roots: Vec<f64> = (0..n).flat_map(|row| case.array.covariances().sqrt(row, d).unwrap()).collect();
    close(&case.array.roots().unwrap(), &roots, 1.0, name);

    let (from, to) = (n / 4, n - n / 5);
    close(&case.array.slice(from..to).dense().unwrap(), &case.dense[from * d * d..to * d * d], 1.0, name);
    let rows: Vec<usize> = (0..n).rev().step_by(3).chain([0, 0]).collect();
    let taken = case.array.take(&rows).unwrap();
    let expected: Vec<f64> = rows.iter().flat_map(|&i| &case.dense[i * d * d..(i + 1) * d * d]).copied().collect();
    close(&taken.dense().unwrap(), &expected, 1.0, name);
    assert_eq!(taken.means().row(0), case.array.means().row(n - 1));
    assert_eq!(taken.covariances().kind(), case.array.covariances().kind());
    assert!(case.array.take(&[n]).is_err());

    let flat = case.array.collapse(Collapse::Diagonal).unwrap().dense().unwrap();
    close(&flat, &diagonals(n, d, |row, i| case.dense[row * d * d + i * d + i]), 1.0, name);
    let round = case.array.collapse(Collapse::Isotropic).unwrap();
    close(&round.dense().unwrap(), &diagonals(n, d, |row, _| traces[row] / d as f64), 1.0, name);
    assert_eq!(case.array.collapse(Collapse::Zero).unwrap().covariances().kind(), Kind::Zero);
}

#[test]
fn every_kind_has_a_case() {
    let cases = cases(2, 2, 1);
    for kind in Kind::VARIANTS {
        assert!(cases.iter().any(|case| case.array.covariances().kind() == *kind), "{}", kind.name());
    }
}

#[test]
fn every_verb_of_every_kind_is_that_of_the_dense_matrix() {
    for d in [1, 2, 7, 8, 9, 33] {
        let n = if d == 33 { 29 } else { 61 };
        for case in cases(n, d, d as u64) {
            let w = Numbers(99 + d as u64).take(d);
            check_rows(&case, &w);
            check_rows(&case, &vec![0.0; d]);
            for (first, len) in [(0, n), (3, 17), (n - 1, 1), (n / 7, n / 3)] {
                check_blocks(&case, &w, first, len, 5);
            }
            check_array(&case);
            check_moves(&case);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn blocks_of_any_size(n in 1usize..50, d in 1usize..13, seed in any::<u64>(), at in 0.0..1.0f64, len in 0.0..1.0f64) {
        let first = (at * n as f64) as usize;
        let len = 1 + (len * (n - first - 1) as f64) as usize;
        for case in cases(n, d, seed) {
            check_blocks(&case, &Numbers(seed ^ 1).take(d), first, len, seed);
        }
    }
}

#[test]
fn any_two_kinds_below_each_other() {
    let cases = cases(11, 4, 3);
    for a in &cases {
        for b in &cases {
            let joined = GaussianArray::concat(&[a.array.clone(), b.array.clone()]).unwrap();
            let expected = [a.dense.clone(), b.dense.clone()].concat();
            close(&joined.dense().unwrap(), &expected, 1.0, &format!("{} below {}", b.name, a.name));
            let means = [a.array.means().to_vec(), b.array.means().to_vec()].concat();
            assert_eq!(joined.means().to_vec(), means);
        }
    }
    let kind = |pieces: &[&str]| {
        let find = |name: &&str| cases.iter().find(|c| c.name == *name).unwrap().array.clone();
        let pieces: Vec<_> = pieces.iter().map(find).collect();
        GaussianArray::concat(&pieces).unwrap().covariances().kind()
    };
    assert_eq!(kind(&["zero", "zero"]), Kind::Zero);
    assert_eq!(kind(&["zero", "isotropic std", "isotropic std"]), Kind::Isotropic);
    assert_eq!(kind(&["isotropic var", "diagonal std"]), Kind::Diagonal);
    assert_eq!(kind(&["low-rank 1", "diagonal std", "low-rank 3"]), Kind::LowRank);
    assert_eq!(kind(&["low-rank 1", "full"]), Kind::Full);
    assert_eq!(kind(&["shared", "shared"]), Kind::Shared);
    assert_eq!(kind(&["shared", "zero"]), Kind::Full);
}

#[test]
fn concatenation_shares_memory_and_refuses_what_does_not_fit() {
    let g = cases(6, 3, 1).into_iter().find(|c| c.name == "full").unwrap().array;
    let joined = GaussianArray::concat(&[g.slice(0..2), g.slice(2..6)]).unwrap();
    let (Covariances::Full(a), Covariances::Full(b)) = (g.covariances(), joined.covariances()) else { panic!() };
    assert_eq!(a.values.row(4).as_ptr(), b.values.row(4).as_ptr());
    let narrow = GaussianArray::exact(Rows::from_vec(vec![0.0; 4], 2).unwrap()).unwrap();
    assert!(GaussianArray::concat(&[g.clone(), narrow]).is_err());
    assert!(GaussianArray::concat(&[]).is_err());
    // An empty piece does not change the kind.
    let empty = GaussianArray::exact(Rows::from_vec(vec![], 3).unwrap()).unwrap();
    assert_eq!(GaussianArray::concat(&[empty, g]).unwrap().covariances().kind(), Kind::Full);
}

#[test]
fn one_matrix_in_four_forms() {
    let (n, d) = (20, 5);
    let variances: Vec<f64> = Numbers(8).take(n * d).iter().map(|x| x.abs()).collect();
    let means = Rows::from_vec(vec![0.0; n * d], d).unwrap();
    let deviations: Vec<f64> = variances.iter().map(|v| v.sqrt()).collect();
    let rows = |v: Vec<f64>, width| Rows::from_vec(v, width).unwrap();
    let names = Names::default();
    let factor = diagonals(n, d, |i, j| deviations[i * d + j]);
    let forms = [
        Covariances::from_var(rows(variances.clone(), d)),
        Covariances::from_std(rows(deviations.clone(), d)),
        Covariances::from_cov(rows(diagonals(n, d, |i, j| variances[i * d + j]), d * d), &names).unwrap(),
        Covariances::from_factor(rows(factor, d * d), d, None, &names).unwrap(),
        Covariances::LowRank(LowRank {
            factor: rows(vec![0.0; n * d], d),
            rank: 1,
            diagonal: Some(rows(variances.clone(), d)),
        }),
    ];
    let w = Numbers(4).take(d);
    for form in &forms {
        let g = GaussianArray::new(means.clone(), form.clone()).unwrap();
        for row in 0..n {
            let expected: f64 = (0..d).map(|j| variances[row * d + j] * w[j] * w[j]).sum();
            assert!((g.covariances().quad(row, &w) - expected).abs() < 1e-14);
        }
    }
}

#[test]
fn draws_have_the_moments_of_their_row() {
    let draws = 20_000;
    for d in [1, 2, 9] {
        for case in cases(3, d, 17) {
            let points = case.array.sample(draws, 7).unwrap();
            assert_eq!((points.n_rows(), points.covariances().kind()), (3 * draws, Kind::Zero));
            for (row, s) in case.dense.chunks(d * d).enumerate() {
                let mean = case.array.means().row(row);
                let mut first = vec![0.0; d];
                let mut second = vec![0.0; packed_len(d)];
                for k in row * draws..(row + 1) * draws {
                    let x: Vec<f64> = points.means().row(k).iter().zip(&*mean).map(|(x, m)| x - m).collect();
                    for i in 0..d {
                        first[i] += x[i] / draws as f64;
                        (0..=i).for_each(|j| second[packed_index(i, j)] += x[i] * x[j] / draws as f64);
                    }
                }
                // Six standard errors of each moment.
                let n = draws as f64;
                for i in 0..d {
                    let sigma = (s[i * d + i] / n).sqrt();
                    assert!(first[i].abs() <= 6.0 * sigma + 1e-15, "{}: mean", case.name);
                    for j in 0..=i {
                        let exact = s[i * d + j];
                        let sigma = ((s[i * d + i] * s[j * d + j] + exact * exact) / n).sqrt();
                        let got = second[packed_index(i, j)];
                        assert!((got - exact).abs() <= 6.0 * sigma + 1e-15, "{}: ({i}, {j})", case.name);
                    }
                }
            }
        }
    }
}

#[test]
fn draws_depend_on_the_seed_alone() {
    for case in cases(40, 3, 5) {
        let draw = |threads, seed| {
            parallel::install(Some(threads), || case.array.sample(3, seed).unwrap().means().to_vec()).unwrap()
        };
        assert_eq!(draw(1, 1), draw(4, 1), "{}", case.name);
        if case.array.covariances().kind() != Kind::Zero {
            assert_ne!(draw(2, 1), draw(2, 2), "{}", case.name);
        }
    }
    let g = cases(2, 2, 1).remove(3).array;
    assert!(g.sample(0, 1).is_err());
    assert!(g.sample(usize::MAX / 4, 1).is_err());
}

/// Sums and eigenvalues of such numbers overflow; a bound that overflows would let everything pass.
#[test]
fn matrices_near_the_largest_numbers_are_tested_all_the_same() {
    let given = |values: Vec<f64>, d: usize| {
        let means = Rows::from_vec(vec![1.0; d], d).unwrap();
        let rows = Rows::from_vec(values.clone(), d * d).unwrap();
        let full = Covariances::from_cov(rows, &Names::default()).and_then(|c| GaussianArray::new(means.clone(), c));
        let shared = Covariances::shared(&values, &Names::default()).and_then(|c| GaussianArray::new(means, c));
        (full, shared)
    };
    let numbers = [1.7537129102662537e-143, -6.982735249099955e307, 8.261833e-317];
    let a: Vec<f64> = (0..49).map(|k| numbers[k % 3]).collect();
    let indefinite: Vec<f64> = (0..49).map(|k| a[k] + a[k % 7 * 7 + k / 7]).collect();
    let (full, shared) = given(indefinite, 7);
    assert!(full.is_err() && shared.is_err());
    // The trace is infinite: [[m, 1.5 m], [1.5 m, m]] has the eigenvalue -m / 2.
    let m = 1e308;
    let (full, shared) = given(vec![m, 1.5 * m, 1.5 * m, m], 2);
    assert!(full.is_err() && shared.is_err());
    let (full, shared) = given(vec![m, 0.5 * m, 0.5 * m, m], 2);
    assert!(full.unwrap().warnings().is_empty() && shared.unwrap().warnings().is_empty());
}
