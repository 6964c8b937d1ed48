//! Extreme deconvolution of every kind of covariance against plain dense formulas, row by row.

use uncertain::data::covariance::{packed_index, packed_len};
use uncertain::data::{Covariances, Incomplete, Labels, Names, Rows, Weights};
use uncertain::deconvolution::{Acceleration, Components, Mixture, Params, ValidParams};
use uncertain::prelude::*;
use uncertain::transform::GaussianDenoiser;
use uncertain::{Control, GaussianArray, Kind};

mod cases;
use cases::{Case, Numbers, cases};

type Matrix = Vec<Vec<f64>>;
/// x, S, the features that are seen, and a weight.
type Row = (Vec<f64>, Vec<f64>, Vec<usize>, f64);

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    a.iter().map(|r| (0..b[0].len()).map(|j| r.iter().zip(b).map(|(x, b)| x * b[j]).sum()).collect()).collect()
}

/// Inverse and log determinant by elimination with the largest pivot.
fn inverse(a: &Matrix) -> (Matrix, f64) {
    let n = a.len();
    let mut z: Matrix = a.clone();
    (0..n).for_each(|i| z[i].extend((0..n).map(|j| f64::from(u8::from(i == j)))));
    let mut log_det = 0.0;
    for k in 0..n {
        let best = (k..n).max_by(|&i, &j| z[i][k].abs().total_cmp(&z[j][k].abs())).unwrap();
        z.swap(k, best);
        log_det += z[k][k].abs().ln();
        let scale = 1.0 / z[k][k];
        z[k].iter_mut().for_each(|x| *x *= scale);
        for i in (0..n).filter(|&i| i != k) {
            let (c, pivot) = (z[i][k], z[k].clone());
            z[i].iter_mut().zip(pivot).for_each(|(x, p)| *x -= c * p);
        }
    }
    (z.into_iter().map(|row| row[n..].to_vec()).collect(), log_det)
}

/// The parameters as plain matrices.
#[derive(Clone)]
struct Plain {
    weights: Vec<f64>,
    means: Matrix,
    covariances: Vec<Matrix>,
}

impl Plain {
    fn of(m: &Mixture) -> Self {
        let d = m.n_features();
        let square = |t: &[f64]| (0..d).map(|i| (0..d).map(|j| t[packed_index(i, j)]).collect()).collect();
        let k = 0..m.n_components();
        Self {
            weights: m.weights().to_vec(),
            means: k.clone().map(|k| m.mean(k).to_vec()).collect(),
            covariances: k.map(|k| square(m.covariance(k))).collect(),
        }
    }

    /// Shares, posterior means and covariances of the components for a row of which only `known` is seen, and log p.
    fn row(&self, x: &[f64], s: &[f64], known: &[usize]) -> (Vec<f64>, Matrix, Vec<Matrix>, f64) {
        let d = x.len();
        let (mut logs, mut means, mut covariances) = (vec![], vec![], vec![]);
        for (k, t) in self.covariances.iter().enumerate() {
            if known.is_empty() {
                logs.push(self.weights[k].ln());
                means.push(self.means[k].clone());
                covariances.push(t.clone());
                continue;
            }
            let m = known.iter().map(|&i| known.iter().map(|&j| t[i][j] + s[i * d + j]).collect()).collect();
            let (m_inverse, log_det) = inverse(&m);
            let r: Matrix = known.iter().map(|&i| vec![x[i] - self.means[k][i]]).collect();
            let t_known: Matrix = t.iter().map(|row| known.iter().map(|&j| row[j]).collect()).collect();
            let gain = product(&t_known, &m_inverse);
            let quad: f64 = product(&m_inverse, &r).iter().zip(&r).map(|(a, r)| a[0] * r[0]).sum();
            let tau = known.len() as f64 * std::f64::consts::TAU.ln();
            logs.push(self.weights[k].ln() - 0.5 * (tau + log_det + quad));
            means.push(product(&gain, &r).iter().zip(&self.means[k]).map(|(a, m)| a[0] + m).collect::<Vec<f64>>());
            let explained = product(&gain, &(0..known.len()).map(|c| t_known.iter().map(|r| r[c]).collect()).collect());
            covariances.push((0..d).map(|i| (0..d).map(|j| t[i][j] - explained[i][j]).collect()).collect::<Matrix>());
        }
        let largest = logs.iter().copied().fold(f64::MIN, f64::max);
        let sum: f64 = logs.iter().map(|l| (l - largest).exp()).sum();
        let shares = logs.iter().map(|l| (l - largest).exp() / sum).collect();
        (shares, means, covariances, largest + sum.ln())
    }

    /// One step of EM, as in the paper.
    fn step(&self, rows: &[Row]) -> Self {
        let (d, k) = (self.means[0].len(), self.weights.len());
        let posts: Vec<_> = rows.iter().map(|(x, s, known, _)| self.row(x, s, known)).collect();
        let total: f64 = rows.iter().map(|r| r.3).sum();
        let mut next = self.clone();
        for c in 0..k {
            let q: Vec<f64> = posts.iter().zip(rows).map(|(p, r)| p.0[c] * r.3).collect();
            let n: f64 = q.iter().sum();
            next.weights[c] = n / total;
            next.means[c] = (0..d).map(|j| posts.iter().zip(&q).map(|(p, q)| q * p.1[c][j]).sum::<f64>() / n).collect();
            let mean = next.means[c].clone();
            let at = |i: usize, j: usize| {
                let of = |p: &(Vec<f64>, Matrix, Vec<Matrix>, f64)| {
                    (p.1[c][i] - mean[i]) * (p.1[c][j] - mean[j]) + p.2[c][i][j]
                };
                posts.iter().zip(&q).map(|(p, q)| q * of(p)).sum::<f64>() / n
            };
            next.covariances[c] = (0..d).map(|i| (0..d).map(|j| at(i, j)).collect()).collect();
        }
        next
    }
}

fn near(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{what}: {a}, not {b}");
}

fn near_plain(a: &Plain, b: &Plain, what: &str) {
    for c in 0..a.weights.len() {
        near(a.weights[c], b.weights[c], 1e-9, what);
        a.means[c].iter().zip(&b.means[c]).for_each(|(x, y)| near(*x, *y, 1e-9, what));
        let flat = |m: &Matrix| m.concat();
        flat(&a.covariances[c]).iter().zip(&flat(&b.covariances[c])).for_each(|(x, y)| near(*x, *y, 1e-9, what));
    }
}

fn params(k: usize, steps: usize) -> ValidParams {
    let params = Params::new().components(Components::Fixed(k)).tol(Some(0.0)).max_iter(steps).acceleration(None);
    params.check().unwrap()
}

fn plain_rows(case: &Case, missing: Option<&[bool]>, weights: Option<&[f64]>) -> Vec<Row> {
    let d = case.array.n_features();
    (0..case.array.n_rows())
        .map(|i| {
            let known = (0..d).filter(|j| !missing.is_some_and(|m| m[i * d + j])).collect();
            let s = case.dense[i * d * d..(i + 1) * d * d].to_vec();
            (case.array.means().row(i).to_vec(), s, known, weights.map_or(1.0, |w| w[i]))
        })
        .collect()
}

#[test]
fn steps_are_those_of_the_paper_for_every_kind() {
    let n = 70;
    let weights = Weights::new(Numbers(8).take(n).iter().map(|x| (x + 0.5).max(0.0)).collect()).unwrap();
    for (d, k) in [(1, 1), (2, 2), (3, 1), (4, 2), (5, 1), (7, 1), (9, 2), (14, 1)] {
        let some: Vec<bool> = Numbers(77).take(n * d).iter().map(|x| *x > 0.4).collect();
        let none = vec![false; n * d];
        for case in cases(n, d, 5) {
            for missing in [None, Some(some.as_slice())] {
                let fit = |steps| {
                    let fitted = {
                        let missing = missing.unwrap_or(&none);
                        let rows = Incomplete::new(&case.array, missing).unwrap();
                        params(k, steps).fit(&Dataset::new(rows).with_weights(&weights[..]).unwrap()).unwrap()
                    };
                    assert!(fitted.history.windows(2).all(|h| h[1] >= h[0]), "{}: {:?}", case.name, fitted.history);
                    Plain::of(&fitted.mixture)
                };
                let rows = plain_rows(&case, missing, Some(&weights));
                let mut expected = fit(3);
                (0..4).for_each(|_| expected = expected.step(&rows));
                near_plain(&fit(7), &expected, &format!("{}, d = {d}, k = {k}, {}", case.name, missing.is_some()));
            }
        }
    }
}

#[test]
fn posteriors_and_likelihoods_are_the_dense_ones() {
    for (n, d) in [(50, 3), (21, 10)] {
        posteriors_are_dense(n, d);
    }
}

fn posteriors_are_dense(n: usize, d: usize) {
    for case in cases(n, d, 6) {
        for k in [1, 2] {
            let denoiser = params(k, 5).params().clone().denoiser().fit(&Dataset::new(&case.array)).unwrap();
            let out = denoiser.transform(&case.array).unwrap();
            let likelihoods = denoiser.log_likelihood(&case.array).unwrap();
            let mean = likelihoods.iter().sum::<f64>() / n as f64;
            near(mean, *denoiser.report().unwrap().history.last().unwrap(), 1e-12, case.name);
            let (plain, dense) = (Plain::of(denoiser.mixture()), out.dense().unwrap());
            for (i, (x, s, known, _)) in plain_rows(&case, None, None).iter().enumerate() {
                let (q, means, covariances, log) = plain.row(x, s, known);
                near(likelihoods[i], log, 1e-10, case.name);
                let m: Vec<f64> = (0..d).map(|j| q.iter().zip(&means).map(|(q, b)| q * b[j]).sum()).collect();
                for a in 0..d {
                    near(out.means().row(i)[a], m[a], 1e-9, case.name);
                    for b in 0..d {
                        let c: f64 = (0..k)
                            .map(|c| q[c] * (covariances[c][a][b] + (means[c][a] - m[a]) * (means[c][b] - m[b])))
                            .sum();
                        near(dense[i * d * d + a * d + b], c, 1e-9, case.name);
                    }
                }
            }
            let expected = match case.array.covariances().kind() {
                Kind::Zero => Kind::Zero,
                Kind::Shared if k == 1 => Kind::Shared,
                Kind::LowRank if k == 1 && few_columns(&case.array) => Kind::LowRank,
                _ => Kind::Full,
            };
            assert_eq!(out.covariances().kind(), expected);
            // Valid for whoever checks it again, also where S is singular.
            GaussianArray::new(out.means().clone(), out.covariances().clone()).unwrap();
        }
    }
}

/// So few that Woodbury's identity is used.
fn few_columns(data: &GaussianArray) -> bool {
    match data.covariances() {
        Covariances::LowRank(k) => k.diagonal.is_none() && 3 * k.rank <= data.n_features(),
        _ => false,
    }
}

#[test]
fn factors_of_few_columns_are_their_matrices_at_less_cost() {
    let n = 60;
    for (d, rank, size) in [(6, 2, 1.0), (31, 1, 10.0), (31, 4, 1.0), (31, 9, 1e-3), (64, 21, 1.0)] {
        let mut numbers = Numbers(d as u64);
        let means = Rows::from_vec(numbers.take(n * d), d).unwrap();
        let f: Vec<f64> = numbers.take(n * d * rank).iter().map(|x| size * x).collect();
        let names = Names::default();
        let dense = Rows::from_vec(cases::gram(&f, n, d, rank), d * d).unwrap();
        let thin = Covariances::from_factor(Rows::from_vec(f, d * rank).unwrap(), rank, None, &names).unwrap();
        let thin = GaussianArray::new(means.clone(), thin).unwrap();
        let full = GaussianArray::new(means, Covariances::from_cov(dense, &names).unwrap()).unwrap();
        assert!(few_columns(&thin));
        for k in [1, 3] {
            // One step: later ones magnify rounding where components have few rows.
            let fit = |data| params(k, 1).fit(&Dataset::new(data)).unwrap();
            let (a, b) = (fit(&thin), fit(&full));
            let close = |x: &[f64], y: &[f64], what: &str| {
                let scale = y.iter().fold(0.0, |m: f64, y| m.max(y.abs()));
                let off = x.iter().zip(y).fold(0.0, |m: f64, (x, y)| m.max((x - y).abs()));
                assert!(off <= 1e-10 * scale, "{what}: d = {d}, rank = {rank}, k = {k}: {off} of {scale}");
            };
            close(&a.history, &b.history, "likelihoods");
            close(a.mixture.means(), b.mixture.means(), "means");
            close(a.mixture.covariances(), b.mixture.covariances(), "covariances");
            let denoiser = GaussianDenoiser::new(b.mixture);
            let post = |data| denoiser.transform(data).unwrap();
            let (a, b) = (post(&thin), post(&full));
            close(&a.means().to_vec(), &b.means().to_vec(), "posterior means");
            close(&a.dense().unwrap(), &b.dense().unwrap(), "posterior covariances");
            assert_eq!(a.covariances().kind(), if k == 1 { Kind::LowRank } else { Kind::Full });
        }
    }
}

/// Correlated true values under much larger noise: where EM is slow.
fn noisy(n: usize, d: usize, noise: f64) -> GaussianArray {
    let mut numbers = Numbers(5);
    let mix = numbers.take(d * d);
    let (mut x, mut s) = (vec![], vec![]);
    for _ in 0..n {
        let z = numbers.take(d);
        for j in 0..d {
            let own: f64 = (0..d / 2 + 1).map(|c| mix[j * d + c] * z[c]).sum();
            let std = noise * (0.2 + numbers.next().abs());
            x.push(own + std * 3f64.sqrt() * numbers.next());
            s.push(std);
        }
    }
    let covariances = Covariances::from_std(Rows::from_vec(s, d).unwrap());
    GaussianArray::new(Rows::from_vec(x, d).unwrap(), covariances).unwrap()
}

#[test]
fn extrapolated_steps_climb_as_high_in_fewer_passes() {
    for (d, k, noise) in [(3, 1, 2.0), (5, 1, 4.0), (4, 2, 1.0)] {
        let data = noisy(500, d, noise);
        let fit = |acceleration| {
            let components = Components::Fixed(k);
            let params = Params { components, acceleration, tol: Some(1e-8), max_iter: 20_000, ..Params::default() };
            params.check().unwrap().fit(&Dataset::new(&data)).unwrap()
        };
        let (plain, fast) = (fit(None), fit(Some(Acceleration::Squarem)));
        for fitted in [&plain, &fast] {
            assert!(fitted.history.windows(2).all(|h| h[1] >= h[0]), "d = {d}, k = {k}");
            assert_eq!(fitted.status.name(), "converged");
            assert!(fitted.history.len() <= fitted.n_iter + 1);
        }
        assert_eq!(plain.history.len(), plain.n_iter + 1);
        // The first step is that of EM.
        assert_eq!(plain.history[..2], fast.history[..2]);
        let (low, high) = (plain.history.last().unwrap(), fast.history.last().unwrap());
        assert!(high >= &(low - 1e-7), "d = {d}, k = {k}: {high} after {} steps, {low}", fast.n_iter);
        assert!(2 * fast.n_iter < plain.n_iter, "d = {d}, k = {k}: {} and {}", fast.n_iter, plain.n_iter);
    }
}

#[test]
fn as_many_passes_as_allowed() {
    let data = noisy(300, 4, 3.0);
    for most in 1..12 {
        let params = Params { tol: Some(0.0), max_iter: most, ..Params::default() };
        let fitted = params.check().unwrap().fit(&Dataset::new(&data)).unwrap();
        assert_eq!((fitted.n_iter, fitted.status.name()), (most, "max_iter"));
    }
}

#[test]
fn tiny_and_enormous_noise_keep_their_posteriors() {
    let names = Names::default();
    let means = Rows::from_vec(vec![0.3, -0.2, 0.5, 1.0], 2).unwrap();
    let prior = Mixture::from_packed(vec![1.0], vec![0.0; 2], vec![1.0, 0.5, 2.0], 2).unwrap();
    let denoiser = GaussianDenoiser::new(prior);
    for scale in [1e-18, 1e-9, 1e9, 1e18] {
        let cov = vec![2.0 * scale, 0.5 * scale, 0.5 * scale, scale];
        for covariances in [
            Covariances::from_cov(Rows::from_vec(cov.repeat(2), 4).unwrap(), &names),
            Covariances::shared(&cov, &names),
        ] {
            let data = GaussianArray::new(means.clone(), covariances.unwrap()).unwrap();
            let out = denoiser.transform(&data).unwrap();
            // Little noise: C = S; much noise: C = T and m = mu, to first order in the ratio.
            let (expected, ratio) =
                if scale < 1.0 { (cov.clone(), scale) } else { (vec![1.0, 0.5, 0.5, 2.0], 1.0 / scale) };
            for (c, e) in out.dense().unwrap().chunks(4).flat_map(|c| c.iter().zip(&expected)) {
                assert!((c / e - 1.0).abs() < 10.0 * ratio + 1e-13, "{scale}: {c}, not {e}");
            }
        }
    }
}

#[test]
fn without_noise_it_is_the_normal_distribution() {
    let case = &cases(200, 3, 2)[0];
    let fitted = params(1, 50).fit(&Dataset::new(&case.array)).unwrap();
    let x = case.array.means().to_vec();
    let mean = |f: &dyn Fn(&[f64]) -> f64| x.chunks(3).map(f).sum::<f64>() / 200.0;
    let mu: Vec<f64> = (0..3).map(|j| mean(&|r| r[j])).collect();
    for i in 0..3 {
        near(fitted.mixture.mean(0)[i], mu[i], 1e-13, "mean");
        for j in 0..=i {
            let c = mean(&|r| (r[i] - mu[i]) * (r[j] - mu[j]));
            near(fitted.mixture.covariance(0)[packed_index(i, j)], c, 1e-13, "covariance");
        }
    }
}

#[test]
fn the_floor_holds_and_the_likelihood_still_rises() {
    // The third feature is the sum of the others, and noise is far larger than what is behind it.
    let n = 400;
    let mut numbers = Numbers(3);
    let x: Vec<f64> = (0..n)
        .flat_map(|_| {
            let (a, b) = (numbers.next(), numbers.next());
            [a + 3.0 * numbers.next(), b, a + b]
        })
        .collect();
    let data = GaussianArray::new(
        Rows::from_vec(x, 3).unwrap(),
        Covariances::from_var(Rows::from_vec([3.0, 1e-8, 1e-8].repeat(n), 3).unwrap()),
    )
    .unwrap();
    for reg in [1e-3, 1e-6] {
        let fit = Params::new().reg(Some(reg)).max_iter(300).check().unwrap().fit(&Dataset::new(&data)).unwrap();
        assert!(fit.history.windows(2).all(|h| h[1] >= h[0]));
        let t = Plain::of(&fit.mixture).covariances.remove(0);
        assert!((0..3).all(|i| t[i][i] > 0.9 * reg * if i == 0 { 1.0 } else { 0.1 }), "{t:?}");
    }
}

#[test]
fn the_number_of_components_is_found_and_results_repeat() {
    let n = 600;
    let mut numbers = Numbers(12);
    let x: Vec<f64> =
        (0..n).flat_map(|i| [(i % 3) as f64 * 4.0 + numbers.next(), (i % 2) as f64 + numbers.next()]).collect();
    let data = GaussianArray::new(
        Rows::from_vec(x, 2).unwrap(),
        Covariances::from_std(Rows::from_vec(vec![0.3; n], 1).unwrap()),
    )
    .unwrap();
    let params = Params { components: Components::Auto, max_components: 8, seed: 4, ..Params::default() };
    let fit = params.clone().check().unwrap().fit(&Dataset::new(&data)).unwrap();
    let choice = fit.choice.clone().unwrap();
    assert!(fit.mixture.n_components() >= 3 && fit.mixture.n_components() == choice.n_components, "{choice:?}");
    assert!(choice.log_likelihoods[2] > choice.log_likelihoods[1] + 0.1);
    let threads = |n| params.clone().control(Control::new().with_threads(n)).fit(&Dataset::new(&data));
    assert_eq!(threads(1), threads(3));
}

#[test]
fn what_cannot_be_used_is_refused() {
    let data = cases(10, 2, 1).remove(3).array;
    let refused = |params: Params, weights: Option<&[f64]>| {
        let all = Dataset::new(&data);
        let data = weights.map_or(Ok(all.clone()), |weights| all.with_weights(weights));
        data.and_then(|data| params.fit(&data)).unwrap_err().to_string()
    };
    let default = Params::default;
    assert!(refused(Params { components: Components::Fixed(0), ..default() }, None).contains("n_components"));
    assert!(refused(Params { components: Components::Fixed(11), ..default() }, None).contains("11 components"));
    assert!(refused(Params { tol: Some(f64::NAN), ..default() }, None).contains("tol"));
    assert!(refused(Params { max_iter: 0, ..default() }, None).contains("max_iter"));
    assert!(refused(Params { reg: Some(0.0), ..default() }, None).contains("reg_covar"));
    assert!(refused(default(), Some(&[1.0])).contains("weights"));
    assert!(Mixture::from_packed(vec![0.5], vec![0.0], vec![1.0], 1).is_err());
    assert!(Mixture::from_packed(vec![1.0], vec![0.0], vec![0.0], 1).is_err());
    assert!(Mixture::from_packed(vec![1.0], vec![f64::NAN], vec![1.0], 1).is_err());
    assert!(Mixture::from_packed(vec![1.0], vec![0.0; 2], vec![1.0; packed_len(2) + 1], 2).is_err());
    let control = Control::new();
    control.stop();
    assert_eq!(default().control(control).fit(&Dataset::new(&data)), Err(uncertain::Error::Interrupted));
    let denoiser = GaussianDenoiser::new(Mixture::from_packed(vec![1.0], vec![0.0], vec![1.0], 1).unwrap());
    assert!(denoiser.transform(&data).is_err());
}

#[test]
fn gaps_get_their_conditional_distribution_and_the_rest_stays() {
    let (n, d) = (60, 3);
    let missing: Vec<bool> = Numbers(21).take(n * d).iter().map(|x| *x > 0.5).collect();
    let labels = Labels::new((0..n as u32).map(|i| i % 2).collect(), 2).unwrap();
    for case in cases(n, d, 16) {
        for labels in [None, Some(&labels)] {
            let rows = Dataset::new(Incomplete::new(&case.array, &missing).unwrap());
            let data = labels.map_or(rows.clone(), |labels| rows.with_labels(labels).unwrap());
            let imputer = params(1, 6).params().clone().imputer().fit(&data).unwrap();
            assert!(imputer.report().unwrap().history.windows(2).all(|h| h[1] >= h[0]));
            let out = imputer.transform(Incomplete::new(&case.array, &missing).unwrap()).unwrap();
            let (plain, dense) = (Plain::of(imputer.mixture()), out.dense().unwrap());
            assert_eq!(plain.weights.len(), if labels.is_some() { 2 } else { 1 });
            for (i, (x, s, known, _)) in plain_rows(&case, Some(&missing), None).iter().enumerate() {
                let (q, means, covariances, _) = plain.row(x, s, known);
                let m: Vec<f64> = (0..d).map(|j| q.iter().zip(&means).map(|(q, b)| q * b[j]).sum()).collect();
                for a in 0..d {
                    let seen = |j: usize| !missing[i * d + j];
                    near(out.means().row(i)[a], if seen(a) { x[a] } else { m[a] }, 1e-9, case.name);
                    for b in 0..d {
                        let expected = match (seen(a), seen(b)) {
                            (true, true) => s[a * d + b],
                            (false, false) => (0..q.len())
                                .map(|c| q[c] * (covariances[c][a][b] + (means[c][a] - m[a]) * (means[c][b] - m[b])))
                                .sum(),
                            _ => 0.0,
                        };
                        near(dense[(i * d + a) * d + b], expected, 1e-9, case.name);
                    }
                }
            }
            GaussianArray::new(out.means().clone(), out.covariances().clone()).unwrap();
            let whole = imputer.transform(&case.array).unwrap();
            assert_eq!(whole.covariances().kind(), case.array.covariances().kind());
        }
    }
    let data = cases(n, d, 1).remove(0).array;
    let gone: Vec<bool> = (0..n * d).map(|p| p % d == 1).collect();
    let rows = Dataset::new(Incomplete::new(&data, &gone).unwrap());
    let refused = params(1, 2).params().clone().imputer().fit(&rows).unwrap_err();
    assert!(refused.to_string().contains("feature 1 is missing in every row"));
    assert!(Incomplete::new(&data, &gone[1..]).is_err());
}

/// EM for the likelihood times |T|^{(d+1)/2}: the textbook's step, its scatter over n - d - 1.
#[test]
fn the_imputer_counts_the_degrees_of_freedom() {
    for (n, d) in [(70, 1), (70, 3), (30, 5), (6, 4)] {
        let missing: Vec<bool> = Numbers(31).take(n * d).iter().map(|x| *x > 0.5).collect();
        let weights: Vec<f64> = Numbers(9).take(n).iter().map(|x| x.abs() + 0.1).collect();
        let tenfold: Vec<f64> = weights.iter().map(|w| 10.0 * w).collect();
        let sum = |power| weights.iter().map(|w| w.powi(power)).sum::<f64>();
        // d + 1 rows are spent of Kish's effective number, and half of those with the rarest feature at most.
        let seen = |j: usize| (0..n).filter(|i| !missing[i * d + j]).map(|i| weights[i]).sum::<f64>();
        let rarest = (0..d).map(seen).fold(f64::MAX, f64::min);
        let factor = sum(1) / (sum(1) - ((d as f64 + 1.0) * sum(2) / sum(1)).min(rarest / 2.0));
        for case in cases(n, d, 12) {
            let fit = |params: &ValidParams, weights: &[f64]| {
                let rows = Dataset::new(Incomplete::new(&case.array, &missing).unwrap());
                params.params().clone().imputer().fit(&rows.with_weights(weights).unwrap()).unwrap()
            };
            let plain = |steps| Plain::of(fit(&params(1, steps), &weights).mixture());
            let rows = plain_rows(&case, Some(&missing), Some(&weights));
            let mut expected = plain(3);
            for _ in 0..4 {
                expected = expected.step(&rows);
                expected.covariances[0].iter_mut().flatten().for_each(|x| *x *= factor);
            }
            near_plain(&plain(7), &expected, &format!("{}, n = {n}, d = {d}", case.name));
            let fast = Params::new().tol(Some(1e-12)).max_iter(5000).check().unwrap();
            let (one, ten) = (fit(&fast, &weights), fit(&fast, &tenfold));
            let history = &one.report().unwrap().history;
            assert!(history.windows(2).all(|h| h[1] >= h[0]), "{}: {history:?}", case.name);
            let scale = expected.covariances[0].iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
            for (a, b) in one.mixture().covariances().iter().zip(ten.mixture().covariances()) {
                assert!((a - b).abs() < 1e-4 * scale, "{}: {a} {b}", case.name);
            }
        }
    }
}
