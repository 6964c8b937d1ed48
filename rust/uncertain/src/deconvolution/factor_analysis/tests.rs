use super::*;
use crate::data::{Covariances, GaussianArray, Incomplete, Rows, Weights};
use crate::linalg::{cholesky, cholesky_solve};
use crate::solver::Status;
use crate::testing::Numbers;

/// n rows of d features that vary in three directions and each by itself, with different noise.
fn rows(n: usize, d: usize, seed: u64) -> GaussianArray {
    let mut numbers = Numbers::new(seed);
    let loadings: Vec<f64> = (0..3 * d).map(|_| numbers.normal()).collect();
    let (mut means, mut variances) = (vec![], vec![]);
    for _ in 0..n {
        let y = [numbers.normal(), numbers.normal(), numbers.normal()];
        for f in loadings.chunks_exact(3) {
            let variance = (0.3 * numbers.normal()).exp();
            let truth = f.iter().zip(y).map(|(f, y)| f * y).sum::<f64>() + 0.5 * numbers.normal();
            means.push(truth + variance.sqrt() * numbers.normal());
            variances.push(variance);
        }
    }
    let variances = Rows::from_vec(variances, d).unwrap();
    GaussianArray::new(Rows::from_vec(means, d).unwrap(), Covariances::from_var(variances)).unwrap()
}

fn few(n: usize, d: usize) -> (FactorAnalysis, FittedMixture, GaussianArray) {
    let data = rows(n, d, 3);
    let params = Params::new().check().unwrap();
    let fitted = params.fit_few_directions((&data).into(), None, &Control::new()).unwrap();
    let (few, fitted) = fitted.unwrap();
    (few, fitted, data)
}

/// Log density and posterior of a row by their definition, with d x d matrices.
fn dense(mixture: &Mixture, x: &[f64], variances: &[f64]) -> (f64, Vec<f64>, Vec<f64>) {
    let d = x.len();
    let seen: Vec<usize> = (0..d).filter(|&j| variances[j].is_finite()).collect();
    let k = seen.len();
    let t = |i: usize, j: usize| mixture.covariance(0)[packed_index(i, j)];
    let mut m: Vec<f64> = vec![0.0; k * k];
    for (p, &i) in seen.iter().enumerate() {
        for (q, &j) in seen.iter().enumerate() {
            m[p * k + q] = t(i, j) + if i == j { variances[i] } else { 0.0 };
        }
    }
    assert!(cholesky(&mut m, k));
    let off: Vec<f64> = seen.iter().map(|&j| x[j] - mixture.mean(0)[j]).collect();
    let mut a = off.clone();
    cholesky_solve(&m, k, &mut a);
    let quad: f64 = off.iter().zip(&a).map(|(o, a)| o * a).sum();
    let log_det: f64 = m.iter().step_by(k + 1).map(|x| 2.0 * x.ln()).sum();
    let log = -0.5 * (quad + log_det + k as f64 * std::f64::consts::TAU.ln());
    let mean = (0..d).map(|i| mixture.mean(0)[i] + seen.iter().zip(&a).map(|(&j, a)| t(i, j) * a).sum::<f64>());
    let mut covariance = vec![0.0; d * d];
    for i in 0..d {
        let mut column: Vec<f64> = seen.iter().map(|&j| t(i, j)).collect();
        cholesky_solve(&m, k, &mut column);
        for j in 0..d {
            covariance[i * d + j] = t(i, j) - seen.iter().zip(&column).map(|(&q, c)| t(j, q) * c).sum::<f64>();
        }
    }
    (log, mean.collect(), covariance)
}

#[test]
fn densities_and_posteriors_are_those_of_the_whole_matrix_also_with_gaps() {
    let (few, fitted, data) = few(36, 50);
    assert_eq!(few.rank(), 3);
    assert!(few.equals(&fitted.mixture));
    let (n, d, r) = (data.n_rows(), data.n_features(), few.rank());
    let gap = |p: usize| p % 7 == 3 || p / d == 1;
    let missing: Vec<bool> = (0..n * d).map(gap).collect();
    for marks in [None, Some(missing.as_slice())] {
        let observed = Observed::new(&data, marks, None);
        let logs = few.log_densities(&observed, &Control::new()).unwrap();
        let posteriors = few.posteriors(&observed, &Control::new()).unwrap();
        for (i, own) in posteriors.chunks_exact(d * (2 + r)).enumerate() {
            let mut variances = vec![0.0; d];
            data.covariances().variances(i, &mut variances);
            (0..d).filter(|&j| observed.is_missing(i, j)).for_each(|j| variances[j] = f64::INFINITY);
            let (log, mean, covariance) = dense(&fitted.mixture, &data.means().row(i), &variances);
            assert!((log - logs[i]).abs() < 1e-9 * (1.0 + log.abs()), "{log} {}", logs[i]);
            for p in 0..d {
                assert!((mean[p] - own[p]).abs() < 1e-9);
                for q in 0..d {
                    let g = |j: usize| &own[2 * d + j * r..][..r];
                    let together: f64 = g(p).iter().zip(g(q)).map(|(a, b)| a * b).sum();
                    let one = together + if p == q { own[d + p] } else { 0.0 };
                    assert!((covariance[p * d + q] - one).abs() < 1e-9, "{i} {p} {q}");
                }
            }
        }
    }
}

#[test]
fn the_likelihood_never_falls_and_ends_where_its_slope_is_zero() {
    let data = rows(60, 60, 5);
    let params = Params::new().tol(1e-12).check().unwrap();
    let control = Control::new();
    let (few, fitted) = params.fit_few_directions((&data).into(), None, &control).unwrap().unwrap();
    assert!(fitted.history.windows(2).all(|pair| pair[1] >= pair[0]), "{:?}", fitted.history);
    let observed = Observed::new(&data, None, None);
    let likelihood = |few: &FactorAnalysis| -> f64 {
        few.log_densities(&observed, &control).unwrap().iter().sum::<f64>() / data.n_rows() as f64
    };
    assert!((likelihood(&few) - fitted.history.last().unwrap()).abs() < 1e-9);
    let h = 1e-4;
    let slope = |change: &dyn Fn(&mut FactorAnalysis, f64)| {
        let at = |step: f64| {
            let mut moved = few.clone();
            change(&mut moved, step);
            likelihood(&moved)
        };
        (at(h) - at(-h)) / (2.0 * h)
    };
    let r = few.rank();
    // Of a feature whose psi goes to its floor (like 1 / t) the loadings are not at rest yet.
    let free: Vec<usize> = (0..60).filter(|&j| few.specific[j] > 0.05).collect();
    assert!(free.len() > 20, "{}", free.len());
    for &j in free.iter().take(5) {
        assert!(slope(&|few, h| few.mean[j] += h).abs() < 1e-4);
        assert!((0..r).all(|p| slope(&|few, h| few.loadings[j * r + p] += h).abs() < 1e-4));
        assert!(slope(&|few, h| few.specific[j] *= 1.0 + h).abs() < 1e-4);
    }
    assert!((0..60).all(|j| slope(&|few, h| few.specific[j] *= 1.0 + h) < 1e-4));
}

#[test]
fn rows_of_weight_two_are_there_twice() {
    let data = rows(40, 60, 8);
    let doubled: Vec<usize> = (0..40).chain(0..20).collect();
    let weights = Weights::new((0..40).map(|i| if i < 20 { 2.0 } else { 1.0 }).collect()).unwrap();
    let twice = Incomplete::from(&data).take(&doubled).unwrap();
    let scale = vec![1.0; 60];
    let control = Control::new();
    let one = Observed::new(&data, None, Some(&weights));
    let other = Observed::from_rows(twice.view(), None);
    let start = FactorAnalysis::start(&one, (&scale, &vec![1e-6; 60]), 3, 0).unwrap();
    let [a, b] = [one, other].map(|rows| start.sums(&rows, &control).unwrap());
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + a.abs())));
}

/// A law of cost that no clock is needed for: directions times passes of tables that once took minutes.
#[test]
fn few_rows_take_few_operations() {
    for (n, d) in [(60, 100), (60, 200), (60, 400), (400, 400)] {
        let (few, fitted, data) = few(n, d);
        let passes = fitted.n_iter + 1;
        assert_eq!(few.rank(), if n == 60 { 5 } else { 13 });
        assert!(passes < 200 && fitted.status == Status::Converged, "{n} x {d}: {passes}");
        let operations = passes * n * d * few.rank().pow(2);
        // A single pass with a matrix per row takes n d^3.
        assert!(operations < n * d.pow(3), "{n} x {d}: {operations}");
        assert_eq!(data.n_features(), d);
    }
    assert_eq!(directions(10_000, 10_000.0, 400), Some(8));
    assert_eq!(directions(60, 60.0, 10), None);
    assert_eq!(directions(100_000, 100_000.0, 50), None);
    assert_eq!(directions(1_000, 1_000.0, 50), None);
}

/// EM comes back from there: the climb takes such an error for a jump that was too long.
#[test]
fn what_cannot_be_computed_too_far_out_is_told_from_other_errors() {
    let (mut few, _, data) = few(30, 40);
    few.specific.fill(f64::INFINITY);
    let observed = Observed::from_rows((&data).into(), None);
    let error = few.sums(&observed, &Control::new()).unwrap_err();
    assert!(error.is_about_data(), "{error}");
    assert!(error.to_string().starts_with("row 0: "), "{error}");
    assert!(!crate::Error::Interrupted.is_about_data());
}
