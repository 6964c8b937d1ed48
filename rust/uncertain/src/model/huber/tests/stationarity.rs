//! The gradient of the objective at what a fit returns.

use super::*;

/// f = sum_a c K w on all rows, and the f of each view.
fn fitted(x: &Rows, parts: &[FittedView]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let each: Vec<Vec<f64>> =
        parts.iter().map(|part| times(&kernel_matrix(x, part), &part.coef.column(0).to_vec())).collect();
    let sum = |i: usize| parts.iter().zip(&each).map(|(part, f)| part.weight * f[i]).sum();
    ((0..x.n_rows()).map(sum).collect(), each)
}

/// The gradient of J in w of every view, relative to the norms of its terms; from scratch.
pub(super) fn stationarity(
    x: &Rows,
    y: &[f64],
    weights: &[f64],
    params: &Params,
    model: &Model,
    operators: &[Option<Dense>],
) -> f64 {
    let outcome = &model.outcomes[0];
    let threshold = *outcome.thresholds.last().unwrap();
    let labelled: Vec<usize> =
        (0..y.len()).filter(|i| !y[*i].is_nan() && weights[*i] > 0.0 && !outcome.removed.contains(i)).collect();
    let total: f64 = labelled.iter().map(|&i| weights[i]).sum();
    let (f, each) = fitted(x, &model.parts);
    let mut pull = vec![0.0; y.len()];
    for &i in &labelled {
        let r = y[i] - outcome.intercept - f[i];
        pull[i] = weights[i] * r.clamp(-threshold, threshold) / total;
    }
    let mut worst: f64 = 0.0;
    for (a, part) in model.parts.iter().enumerate() {
        let k = kernel_matrix(x, part);
        let w = part.coef.column(0).to_vec();
        let mut terms: Vec<Vec<f64>> = vec![
            times(&k, &pull).iter().map(|g| -part.weight * g).collect(),
            times(&k, &w).iter().map(|g| 2.0 * params.alpha * g).collect(),
        ];
        if let Some(m) = &operators[a] {
            let image = times(&k, &times(m, &each[a]));
            terms.push(image.iter().map(|g| 2.0 * params.manifold_alpha * g).collect());
        }
        for other in &each {
            let difference: Vec<f64> = each[a].iter().zip(other).map(|(a, b)| a - b).collect();
            terms.push(times(&k, &difference).iter().map(|g| 2.0 * params.between_alpha * g).collect());
        }
        let sum: Vec<f64> = (0..y.len()).map(|i| terms.iter().map(|t| t[i]).sum()).collect();
        worst = worst.max(norm(&sum) / terms.iter().map(|t| norm(t)).sum::<f64>());
    }
    worst
}

#[test]
fn solutions_are_stationary_to_ten_digits() {
    let (x, y) = problem(80);
    let weights = (0..80).map(|i| [1.0, 2.0, 0.5, 0.0][i % 4 % 3 + usize::from(i % 11 == 5)]);
    let weights = Weights::new(weights.collect()).unwrap();
    let ones = Weights::new(vec![1.0; 80]).unwrap();
    let operators = [Some(laplacian(&x, &[0, 1])), Some(laplacian(&x, &[1, 2, 3]))];
    let base = Params::new().alpha(1e-3).manifold_alpha(1e-2).delta(0.5);
    for kernels in [[RBF, RBF], [Kernel::Linear, Kernel::Quadratic], [CUBIC, RBF]] {
        for between in [0.0, 1e-2] {
            for (threshold, refinements) in [(None, 0), (Some(0.1), 0), (Some(1e-6), 0), (None, 3)] {
                let params = base.clone().views(views(kernels)).between_alpha(between);
                let params = params.threshold(threshold).max_refinements(refinements).fit_intercept(refinements > 0);
                let model = params.clone().check().unwrap();
                let model =
                    model.fit(&points(&x), std::slice::from_ref(&y), Some(&ones), None, &Control::new()).unwrap();
                let error = stationarity(&x, &y, &ones, &params, &model, &operators);
                assert!(error < 1e-10, "{kernels:?} {between} {threshold:?} {refinements}: {error:e}");
                assert_eq!(model.outcomes[0].thresholds.len(), 1 + model.outcomes[0].history.len());
            }
        }
    }
    // Weights, of which some are zero, without graphs: dropped rows would change them.
    let plain: Vec<View> = views([RBF, CUBIC]).into_iter().map(|v| View { graph: Graph::None, ..v }).collect();
    let params = Params::new().alpha(1e-3).views(plain).threshold(Some(0.2)).max_refinements(0);
    let model = params
        .clone()
        .check()
        .unwrap()
        .fit(&points(&x), std::slice::from_ref(&y), Some(&weights), None, &Control::new())
        .unwrap();
    let error = stationarity(&x, &y, &weights, &params, &model, &[None, None]);
    assert!(error < 1e-10, "{error:e}");
    assert!((0..80).all(|i| weights[i] > 0.0 || model.parts[0].coef[[i, 0]] == 0.0));
}

#[test]
fn features_in_any_unit_are_stationary_to_nine_digits() {
    let (x, y) = problem(80);
    let ones = Weights::new(vec![1.0; 80]).unwrap();
    for powers in [[6, 0, -6, 3], [0, 150, 0, -150], [0, 0, 0, 2]] {
        let unit = |j: usize| 10.0_f64.powi(powers[j % 4]);
        let raw = (0..80 * 4).map(|k| unit(k) * x.row(k / 4)[k % 4]).collect();
        let raw = Rows::from_vec(raw, 4).unwrap();
        for kernel in [Kernel::Linear, Kernel::Quadratic, Kernel::Rbf { gamma: None, coupling: Coupling::Shared }] {
            let view = View { kernel, graph: Graph::None, ..View::default() };
            let params = Params::new().alpha(1e-3).delta(0.5).views(vec![view]);
            let fit = |rows: &Rows, scaled| {
                let params = params.clone().scale_features(scaled).check().unwrap();
                params.fit(&points(rows), std::slice::from_ref(&y), None, None, &Control::new()).unwrap()
            };
            let model = fit(&raw, None);
            assert!(model.parts[0].scales.is_some());
            let error = stationarity(&raw, &y, &ones, &params, &model, &[None]);
            assert!(error < 1e-9, "{kernel:?} {powers:?}: {error:e}");
            let same = fit(&x, Some(true)).outcomes[0].objective;
            let objective = model.outcomes[0].objective;
            assert!((objective - same).abs() <= 1e-9 * same, "{kernel:?} {powers:?}: {objective} is not {same}");
        }
    }
    // Features that their owner scaled stay as they are.
    let params = Params::new().views(vec![View { kernel: Kernel::Linear, ..View::default() }]).check().unwrap();
    let model = params.fit(&points(&x), &[y], None, None, &Control::new()).unwrap();
    assert_eq!(model.parts[0].scales, None);
}
