//! Which labels go, and that nothing but the data decides about it.

use super::*;
use crate::parallel;

#[test]
fn gross_errors_go_first_and_thresholds_come_down() {
    let n = 400;
    let (x, y) = problem(n);
    let view = View { graph: Graph::None, kernel: CUBIC, ..View::default() };
    let params = Params::new().alpha(1e-4).delta(0.4).max_refinements(8).fit_intercept(true).views(vec![view]);
    let model =
        params.check().unwrap().fit(&points(&x), std::slice::from_ref(&y), None, None, &Control::new()).unwrap();
    let outcome = &model.outcomes[0];
    assert!(outcome.thresholds.windows(2).all(|w| w[1] < w[0]), "{:?}", outcome.thresholds);
    let wrong = (0..n).filter(|i| i % 7 == 1 && i % 4 != 3).count();
    let found = outcome.removed.iter().filter(|i| *i % 7 == 1).count();
    assert!(found >= wrong - 2 && outcome.removed[..wrong / 2].iter().all(|i| i % 7 == 1), "{found} of {wrong}");
    assert_eq!(outcome.removed.len(), outcome.removed_residuals.len());
    let left = outcome.history.last().unwrap();
    assert_eq!(left.labels + outcome.removed.len(), y.iter().filter(|y| !y.is_nan()).count());
    assert_eq!(left.threshold, *outcome.thresholds.last().unwrap());
    // The residuals of what is left are within the threshold.
    let f = predicted(&model, &points(&x), &points(&x));
    for i in (0..n).filter(|i| !y[*i].is_nan() && !outcome.removed.contains(i)) {
        assert!((y[i] - f[[i, 0]]).abs() <= left.threshold * (1.0 + 1e-9));
    }
    // A step that is larger than the threshold ends at once.
    let big = Params::new().delta(1e3).check().unwrap().fit(&points(&x), &[y], None, None, &Control::new()).unwrap();
    assert_eq!(big.outcomes[0].ending, Ending::ThresholdZero);
    assert!(big.outcomes[0].history.is_empty() && big.outcomes[0].removed.is_empty());
}

#[test]
fn results_do_not_depend_on_threads_and_a_stop_is_heard() {
    let (x, y) = problem(300);
    let fit = |threads| {
        let (params, control) = (Params::new().delta(0.2).check().unwrap(), Control::new().with_threads(threads));
        params.fit(&points(&x), std::slice::from_ref(&y), None, None, &control).unwrap()
    };
    assert_eq!(fit(1), fit(3));
    parallel::install(Some(2), || {
        let control = Control::new();
        control.stop();
        let stopped = Params::new().check().unwrap().fit(&points(&x), std::slice::from_ref(&y), None, None, &control);
        assert_eq!(stopped, Err(crate::Error::Interrupted));
    })
    .unwrap();
}
