//! Probabilities of classes.

use super::*;

/// Labels of two classes with P(+1) = 1 / (1 + exp(-3 x)); NaN for every fifth row.
fn classes(n: usize) -> (GaussianArray, Vec<f64>) {
    let mut numbers = Numbers::new(3);
    let x: Vec<f64> = (0..n).map(|_| 4.0 * numbers.uniform() - 2.0).collect();
    let label = |(i, x): (usize, &f64)| {
        let positive = numbers.uniform() < 1.0 / (1.0 + (-3.0 * x).exp());
        if i % 5 == 4 { f64::NAN } else { [-1.0, 1.0][usize::from(positive)] }
    };
    let y = x.iter().enumerate().map(label).collect();
    (GaussianArray::exact(Rows::from_vec(x, 1).unwrap()).unwrap(), y)
}

#[test]
fn probabilities_are_sigmoids_of_scores_of_labels_that_were_held_out() {
    let (rows, y) = classes(500);
    let params = Params::new().alpha(1e-2).max_refinements(1).delta(0.1).probability(true).seed(4);
    let fit_on = |threads: usize, params: &Params| {
        let (params, control) = (params.clone().check().unwrap(), Control::new().with_threads(threads));
        params.fit(&rows, std::slice::from_ref(&y), None, None, &control).unwrap()
    };
    let fit = |params: &Params| fit_on(2, params);
    let model = fit(&params);
    // The scores do not depend on the probabilities, and the folds on their seed alone.
    let plain = fit(&params.clone().probability(false));
    assert_eq!((&plain.parts, &plain.outcomes), (&model.parts, &model.outcomes));
    assert_eq!(fit_on(3, &params), model);
    assert_ne!(fit(&params.clone().seed(5)).platt, model.platt);
    let machine = Machine::new(model, Some(rows.clone()), 2).unwrap();
    let at = GaussianArray::exact(Rows::from_vec(vec![-1.0, -0.3, 0.3, 1.0], 1).unwrap()).unwrap();
    let p = machine.predict_proba(&at, &Control::new()).unwrap();
    for (i, x) in [-1.0_f64, -0.3, 0.3, 1.0].into_iter().enumerate() {
        let truth = 1.0 / (1.0 + (-3.0 * x).exp());
        assert!((p[[i, 1]] - truth).abs() < 0.1 && (p.row(i).sum() - 1.0).abs() < 1e-15, "{x}: {} {truth}", p[[i, 1]]);
    }
    // A flexible fit to labels without a pattern: its scores promise much, held-out ones nothing.
    let mut numbers = Numbers::new(11);
    let noise: Vec<f64> = (0..500).map(|_| [-1.0, 1.0][usize::from(numbers.uniform() < 0.5)]).collect();
    let view = View {
        kernel: Kernel::Rbf { gamma: Some(1e7), coupling: Coupling::Shared },
        graph: Graph::None,
        ..View::default()
    };
    let params = Params::new().alpha(1e-6).max_refinements(0).probability(true).views(vec![view]).check().unwrap();
    let model = params.fit(&rows, &[noise], None, None, &Control::new()).unwrap();
    let machine = Machine::new(model, Some(rows.clone()), 2).unwrap();
    assert!(machine.decision(&rows, &Control::new()).unwrap().iter().filter(|f| f.abs() > 0.9).count() > 400);
    let p = machine.predict_proba(&rows, &Control::new()).unwrap();
    assert!(p.iter().all(|p| (0.3..0.7).contains(p)), "{p:?}");
}

#[test]
fn probabilities_need_classes_and_two_labels_of_each() {
    let (rows, mut y) = classes(40);
    let params = Params::new().probability(true).check().unwrap();
    let said = |targets: &[Vec<f64>]| params.fit(&rows, targets, None, None, &Control::new()).unwrap_err().to_string();
    y[3] = 0.5;
    assert!(said(&[y.clone()]).contains("row 3 is 0.5"));
    y.iter_mut().for_each(|y| *y = -1.0);
    y[3] = 1.0;
    assert!(said(&[y]).contains("class 1 has 1"));
    assert!(Params::new().folds(1).check().unwrap_err().to_string().contains("folds"));
}
