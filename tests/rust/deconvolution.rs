//! Extreme deconvolution of every kind of covariance against plain dense formulas, row by row.

use uncertain::data::covariance::{packed_index, packed_len};
use uncertain::deconvolution::{Components, Mixture, Params};
use uncertain::transform::{GaussianDenoiser, GaussianImputer};
use uncertain::{Control, Covariances, GaussianArray, Kind, Labels, Names, Rows};

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

fn params(k: usize, steps: usize) -> Params {
    Params { components: Components::Fixed(k), tol: 0.0, max_iter: steps, ..Params::default() }
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
    let weights: Vec<f64> = Numbers(8).take(n).iter().map(|x| (x + 0.5).max(0.0)).collect();
    for (d, k) in [(1, 1), (2, 2), (3, 1), (4, 2)] {
        let some: Vec<bool> = Numbers(77).take(n * d).iter().map(|x| *x > 0.4).collect();
        for case in cases(n, d, 5) {
            for missing in [None, Some(some.as_slice())] {
                let fit = |steps| {
                    let fitted = params(k, steps).fit(&case.array, missing, Some(&weights), &Control::new()).unwrap();
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
    let (n, d) = (50, 3);
    for case in cases(n, d, 6) {
        for k in [1, 2] {
            let (denoiser, fitted) = GaussianDenoiser::fit(&params(k, 5), &case.array, None, &Control::new()).unwrap();
            let out = denoiser.transform(&case.array, &Control::new()).unwrap();
            let likelihoods = denoiser.log_likelihood(&case.array, &Control::new()).unwrap();
            let mean = likelihoods.iter().sum::<f64>() / n as f64;
            near(mean, *fitted.history.last().unwrap(), 1e-12, case.name);
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
                _ => Kind::Full,
            };
            assert_eq!(out.covariances().kind(), expected);
            // Valid for whoever checks it again, also where S is singular.
            GaussianArray::new(out.means().clone(), out.covariances().clone()).unwrap();
        }
    }
}

#[test]
fn tiny_and_enormous_noise_keep_their_posteriors() {
    let names = Names::default();
    let means = Rows::from_vec(vec![0.3, -0.2, 0.5, 1.0], 2).unwrap();
    let prior = Mixture::new(vec![1.0], vec![0.0; 2], vec![1.0, 0.5, 2.0], 2).unwrap();
    let denoiser = GaussianDenoiser::new(prior);
    for scale in [1e-18, 1e-9, 1e9, 1e18] {
        let cov = vec![2.0 * scale, 0.5 * scale, 0.5 * scale, scale];
        for covariances in [
            Covariances::from_cov(Rows::from_vec(cov.repeat(2), 4).unwrap(), &names),
            Covariances::shared(&cov, &names),
        ] {
            let data = GaussianArray::new(means.clone(), covariances.unwrap()).unwrap();
            let out = denoiser.transform(&data, &Control::new()).unwrap();
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
    let fitted = params(1, 50).fit(&case.array, None, None, &Control::new()).unwrap();
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
        let fit = Params { reg, max_iter: 300, ..Params::default() }.fit(&data, None, None, &Control::new()).unwrap();
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
    let params = Params { components: Components::Auto { most: 8 }, seed: 4, ..Params::default() };
    let fit = params.fit(&data, None, None, &Control::new()).unwrap();
    let choice = fit.choice.clone().unwrap();
    assert!(fit.mixture.n_components() >= 3 && fit.mixture.n_components() == choice.n_components, "{choice:?}");
    assert!(choice.log_likelihoods[2] > choice.log_likelihoods[1] + 0.1);
    let threads = |threads| Params { threads: Some(threads), ..params.clone() };
    assert_eq!(threads(1).fit(&data, None, None, &Control::new()), threads(3).fit(&data, None, None, &Control::new()));
}

#[test]
fn what_cannot_be_used_is_refused() {
    let data = cases(10, 2, 1).remove(3).array;
    let refused = |params: Params, weights: Option<&[f64]>| {
        params.fit(&data, None, weights, &Control::new()).unwrap_err().to_string()
    };
    let default = Params::default;
    assert!(refused(Params { components: Components::Fixed(0), ..default() }, None).contains("n_components"));
    assert!(refused(Params { components: Components::Fixed(11), ..default() }, None).contains("11 components"));
    assert!(refused(Params { tol: f64::NAN, ..default() }, None).contains("tol"));
    assert!(refused(Params { max_iter: 0, ..default() }, None).contains("max_iter"));
    assert!(refused(Params { reg: 0.0, ..default() }, None).contains("reg_covar"));
    assert!(refused(default(), Some(&[1.0])).contains("weights"));
    assert!(Mixture::new(vec![0.5], vec![0.0], vec![1.0], 1).is_err());
    assert!(Mixture::new(vec![1.0], vec![0.0], vec![0.0], 1).is_err());
    assert!(Mixture::new(vec![1.0], vec![f64::NAN], vec![1.0], 1).is_err());
    assert!(Mixture::new(vec![1.0], vec![0.0; 2], vec![1.0; packed_len(2) + 1], 2).is_err());
    let control = Control::new();
    control.stop();
    assert_eq!(default().fit(&data, None, None, &control), Err(uncertain::Error::Interrupted));
    let denoiser = GaussianDenoiser::new(Mixture::new(vec![1.0], vec![0.0], vec![1.0], 1).unwrap());
    assert!(denoiser.transform(&data, &Control::new()).is_err());
}

#[test]
fn gaps_get_their_conditional_distribution_and_the_rest_stays() {
    let (n, d) = (60, 3);
    let missing: Vec<bool> = Numbers(21).take(n * d).iter().map(|x| *x > 0.5).collect();
    let labels = Labels::new((0..n as u32).map(|i| i % 2).collect(), 2).unwrap();
    for case in cases(n, d, 16) {
        for labels in [None, Some(&labels)] {
            let control = Control::new();
            let (imputer, fitted) =
                GaussianImputer::fit(&params(1, 6), &case.array, &missing, None, labels, &control).unwrap();
            assert!(fitted.history.windows(2).all(|h| h[1] >= h[0]));
            let out = imputer.transform(&case.array, &missing, &control).unwrap();
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
            let whole = imputer.transform(&case.array, &vec![false; n * d], &control).unwrap();
            assert_eq!(whole.covariances().kind(), case.array.covariances().kind());
        }
    }
    let data = cases(n, d, 1).remove(0).array;
    let gone: Vec<bool> = (0..n * d).map(|p| p % d == 1).collect();
    let refused = GaussianImputer::fit(&params(1, 2), &data, &gone, None, None, &Control::new()).unwrap_err();
    assert!(refused.to_string().contains("feature 1 is missing in every row"));
    assert!(GaussianImputer::fit(&params(1, 2), &data, &gone[1..], None, None, &Control::new()).is_err());
}
