//! The logistic-normal integral against mpmath, and Platt scaling on data with known truth.

use uncertain::Control;
use uncertain::data::Weights;
use uncertain::model::platt::Sigmoid;
use uncertain::model::probability::{averaged_sigmoid, expected_sigmoid, sigmoid};

/// tests/golden/expected_sigmoid.json: rows [a, b, p, dp/da, dp/db].
fn golden() -> Vec<[f64; 5]> {
    serde_json::from_str(include_str!("../golden/expected_sigmoid.json")).unwrap()
}

#[test]
fn the_integral_and_its_derivatives_match_high_precision_values() {
    for [a, b, p, d_a, d_b] in golden() {
        for (sign, p) in [(1.0, p), (-1.0, 1.0 - p)] {
            let got = averaged_sigmoid(sign * a, b);
            let context = format!("a = {}, b = {b}: {got:?}", sign * a);
            assert!((got.p - p).abs() < 1e-13, "p = {p}, {context}");
            assert!((got.q - (1.0 - p)).abs() < 1e-13, "{context}");
            assert!((got.d_a - d_a).abs() < 1e-12, "d_a = {d_a}, {context}");
            assert!((got.d_b - sign * d_b).abs() < 1e-12, "d_b = {d_b}, {context}");
        }
    }
}

#[test]
fn small_probabilities_keep_their_digits() {
    for [a, b, p, ..] in golden() {
        // Moderate tails: these enter logarithms when the sigmoid is fitted.
        if b <= 2.5 && p > 1e-25 {
            let got = expected_sigmoid(a, b);
            assert!((got - p).abs() <= 1e-9 * p, "a = {a}, b = {b}: {got} against {p}");
        }
    }
}

#[test]
fn neighbouring_methods_agree_and_limits_are_exact() {
    for a in [-30.0, -2.0, 0.1, 5.0] {
        for switch in [0.35, 3.0, 40.0] {
            let (below, above) =
                (averaged_sigmoid(a, switch * (1.0 - 1e-14)), averaged_sigmoid(a, switch * (1.0 + 1e-14)));
            assert!((below.p - above.p).abs() < 1e-12, "a = {a} at {switch}: {below:?} {above:?}");
            assert!((below.d_a - above.d_a).abs() < 1e-12);
        }
        assert_eq!(expected_sigmoid(a, 0.0), sigmoid(a));
        assert!((expected_sigmoid(a, f64::MAX) - 0.5).abs() < 1e-15);
    }
    for b in [0.0, 1e-300, 1.0, 10.0, 1e300] {
        assert!((expected_sigmoid(0.0, b) - 0.5).abs() < 1e-14, "b = {b}");
    }
    assert_eq!(expected_sigmoid(1e308, 1.0), 1.0);
    assert_eq!(expected_sigmoid(-1e308, 5.0), 0.0);
}

/// Scores on a grid with labels in exact proportion to the truth, so that the fit has nothing to blur it.
struct Grid {
    means: Vec<f64>,
    stds: Vec<f64>,
    targets: Vec<f64>,
    weights: Vec<f64>,
}

fn grid(truth: Sigmoid, std: impl Fn(usize) -> f64) -> Grid {
    let mut grid = Grid { means: vec![], stds: vec![], targets: vec![], weights: vec![] };
    for k in 0..4000 {
        let mean = -4.0 + 8.0 * f64::from(k) / 3999.0;
        let s = std(k as usize);
        let p = truth.probability(mean, s);
        for (target, weight) in [(1.0, p), (-1.0, 1.0 - p)] {
            grid.means.push(mean);
            grid.stds.push(s);
            grid.targets.push(target);
            grid.weights.push(weight);
        }
    }
    grid
}

impl Grid {
    fn fit(&self, weights: Option<&[f64]>) -> Sigmoid {
        let weights = weights.map(|w| Weights::new(w.to_vec()).unwrap());
        Sigmoid::fit(&self.means, &self.stds, &self.targets, weights.as_ref(), &Control::new()).unwrap()
    }
}

#[test]
fn the_true_sigmoid_is_found_with_and_without_spread() {
    let truth = Sigmoid { a: -2.0, b: 0.7 };
    for spread in [0.0, 0.5, 3.0] {
        let rows = grid(truth, |k| spread * (k % 5) as f64 / 2.0);
        let found = rows.fit(Some(&rows.weights));
        // The prior correction keeps a distance of order 1 / n.
        assert!((found.a - truth.a).abs() < 0.02 && (found.b - truth.b).abs() < 0.02, "{spread}: {found:?}");
    }
}

#[test]
fn fitting_the_means_alone_would_count_the_spread_twice() {
    let truth = Sigmoid { a: -2.0, b: 0.0 };
    let rows = grid(truth, |_| 1.5);
    let zeros = vec![0.0; rows.means.len()];
    let weights = Weights::new(rows.weights.clone()).unwrap();
    let naive = Sigmoid::fit(&rows.means, &zeros, &rows.targets, Some(&weights), &Control::new()).unwrap();
    let right = rows.fit(Some(&rows.weights));
    let error = |s: Sigmoid| (s.probability(2.0, 1.5) - truth.probability(2.0, 1.5)).abs();
    assert!(error(right) < 1e-3);
    assert!(error(naive) > 0.02);
}

#[test]
fn weights_act_as_repetition_up_to_the_prior_and_have_no_scale() {
    let truth = Sigmoid { a: -1.0, b: -0.3 };
    let rows = grid(truth, |k| (k % 3) as f64 / 3.0);
    let scaled: Vec<f64> = rows.weights.iter().map(|w| 1e6 * w).collect();
    let (one, other) = (rows.fit(Some(&rows.weights)), rows.fit(Some(&scaled)));
    assert!((one.a - other.a).abs() < 1e-9 && (one.b - other.b).abs() < 1e-9);
}

#[test]
fn the_unit_and_the_offset_of_the_scores_do_not_matter() {
    let truth = Sigmoid { a: -1.5, b: 0.4 };
    let rows = grid(truth, |k| (k % 4) as f64 / 4.0);
    let found = rows.fit(Some(&rows.weights));
    for (unit, offset) in [(1e-200, 0.0), (1e200, 0.0), (3.0, 50.0)] {
        let moved = Grid {
            means: rows.means.iter().map(|m| unit * (m + offset)).collect(),
            stds: rows.stds.iter().map(|s| unit * s).collect(),
            targets: rows.targets.clone(),
            weights: rows.weights.clone(),
        };
        let other = moved.fit(Some(&moved.weights));
        let p = other.probability(unit * (0.5 + offset), unit * 0.3);
        assert!((p - found.probability(0.5, 0.3)).abs() < 1e-8, "{unit}, {offset}: {other:?}");
    }
}

#[test]
fn many_rows_end_where_no_step_helps_in_any_order() {
    let n = 20_000;
    let mean = |i: usize| (i as f64 * 0.618_033_988_75).fract() * 6.0 - 3.0;
    let std = |i: usize| (i % 7) as f64 / 3.0;
    // A fifth of the labels is wrong.
    let target = |i: usize| if (mean(i) > 0.0) != i.is_multiple_of(5) { 1.0 } else { -1.0 };
    let of = |rows: &[usize]| {
        let (means, stds): (Vec<f64>, Vec<f64>) = rows.iter().map(|&i| (mean(i), std(i))).unzip();
        let targets: Vec<f64> = rows.iter().map(|&i| target(i)).collect();
        Sigmoid::fit(&means, &stds, &targets, None, &Control::new()).unwrap()
    };
    let found = of(&(0..n).collect::<Vec<_>>());
    let backwards = of(&(0..n).rev().collect::<Vec<_>>());
    assert!((found.a - backwards.a).abs() < 1e-6 && (found.b - backwards.b).abs() < 1e-6, "{found:?} {backwards:?}");
    // Platt's targets, and his likelihood by its definition.
    let positives = (0..n).filter(|&i| target(i) > 0.0).count() as f64;
    let (high, low) = ((positives + 1.0) / (positives + 2.0), 1.0 / (n as f64 - positives + 2.0));
    let loss = |at: Sigmoid| -> f64 {
        let row = |i: usize| {
            let (p, t) = (at.probability(mean(i), std(i)), if target(i) > 0.0 { high } else { low });
            -t * p.ln() - (1.0 - t) * (1.0 - p).ln()
        };
        (0..n).map(row).sum()
    };
    let least = loss(found);
    for (a, b) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3)] {
        assert!(loss(Sigmoid { a: found.a + a, b: found.b + b }) > least);
    }
}

#[test]
fn labels_surer_than_their_error_bars_give_the_steepest_sigmoid() {
    let (n, s) = (2000, 2.0);
    let means: Vec<f64> = (0..n).map(|k| -3.0 + 6.0 * f64::from(k) / f64::from(n - 1)).collect();
    let targets: Vec<f64> = means.iter().map(|m| if *m > 0.3 { 1.0 } else { -1.0 }).collect();
    let found = Sigmoid::fit(&means, &vec![s; n as usize], &targets, None, &Control::new()).unwrap();
    assert!(found.a < -10.0 && found.a.is_finite(), "{found:?}");
    // The limit is Phi((m - c) / s).
    let offset = -found.b / found.a;
    assert!((offset - 0.3).abs() < 0.1, "{offset}");
    for m in [-2.0, 0.0, 1.0, 3.0] {
        let limit = uncertain::special::cdf((m - offset) / s);
        assert!((found.probability(m, s) - limit).abs() < 1e-3);
    }
}

#[test]
fn hard_cases_give_finite_sigmoids() {
    let control = Control::new();
    let targets = [1.0, 1.0, -1.0, -1.0];
    // Perfectly separated: the prior correction keeps the slope finite.
    let separated = Sigmoid::fit(&[2.0, 1.0, -1.0, -2.0], &[0.0; 4], &targets, None, &control).unwrap();
    assert!(separated.a.is_finite() && separated.a < 0.0);
    let p = separated.probability(2.0, 0.0);
    assert!(p > 0.6 && p < 0.9, "{p}");
    // One score for all rows: the class frequencies, corrected.
    let constant = Sigmoid::fit(&[3.0; 4], &[0.0; 4], &[1.0, 1.0, 1.0, -1.0], None, &control).unwrap();
    assert!((constant.probability(3.0, 0.0) - 0.6833333333333333).abs() < 1e-9, "{constant:?}");
    // Scores far out with small and with large spread.
    let far = Sigmoid::fit(&[1e6, -1.0, 1.0, -1e6], &[1e-3, 1e5, 0.0, 1e7], &targets, None, &control).unwrap();
    assert!(far.a.is_finite() && far.b.is_finite());
}

#[test]
fn a_stopped_fit_is_interrupted() {
    let control = Control::new();
    control.stop();
    let result = Sigmoid::fit(&[1.0, -1.0], &[0.0; 2], &[1.0, -1.0], None, &control);
    assert_eq!(result, Err(uncertain::Error::Interrupted));
}
