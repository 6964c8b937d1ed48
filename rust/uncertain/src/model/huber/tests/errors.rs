//! Unusable arguments are refused with a message.

use super::*;

#[test]
fn what_cannot_be_used_is_refused() {
    let (x, y) = problem(20);
    let said = |params: Params, y: &[f64], weights: Option<&[f64]>| {
        let weights = weights.map(|w| Weights::new(w.to_vec()).unwrap());
        let fit =
            params.check().and_then(|p| p.fit(&points(&x), &[y.to_vec()], weights.as_ref(), None, &Control::new()));
        fit.unwrap_err().to_string()
    };
    assert!(said(Params::new().alpha(0.0), &y, None).contains("alpha"));
    assert!(said(Params::new().delta(f64::NAN), &y, None).contains("delta"));
    assert!(said(Params::new().threshold(Some(-1.0)), &y, None).contains("threshold"));
    assert!(said(Params::new().manifold_alpha(-1.0), &y, None).contains("manifold_alpha"));
    assert!(said(Params::new().views(vec![]), &y, None).contains("views"));
    assert!(said(Params::new(), &y[1..], None).contains("one per row"));
    assert!(said(Params::new(), &[f64::NAN; 20], None).contains("no row"));
    assert!(said(Params::new(), &y, Some(&[1.0; 19])).contains("sample_weight"));
    assert!(said(Params::new().max_bytes(Some(100)), &y, None).contains("100 are allowed"));
    let view = |kernel, columns, graph| vec![View { kernel, columns, graph, weight: 1.0 }];
    assert!(said(Params::new().views(view(RBF, Some(vec![9]), Graph::None)), &y, None).contains("feature 9"));
    let negative = (0..400).map(|at| if at % 21 == 0 { -1.0 } else { 0.0 }).collect();
    let graph = Graph::Given { matrix: Operator::Dense { n: 20, values: negative }, regulariser: true };
    assert!(said(Params::new().views(view(RBF, None, graph)), &y, None).contains("positive semi-definite"));
    let small = Graph::Given { matrix: Operator::Dense { n: 2, values: vec![0.0; 4] }, regulariser: false };
    assert!(said(Params::new().views(view(RBF, None, small)), &y, None).contains("20 rows"));
    let mut infinite = y.clone();
    infinite[3] = f64::INFINITY;
    assert!(said(Params::new(), &infinite, None).contains("row 3"));
    let huge: Vec<f64> = y.iter().map(|y| 1e300 * y).collect();
    assert!(said(Params::new(), &huge, None).contains("look at their unit"));
    assert!(said(Params::new().views(view(Kernel::Precomputed, None, Graph::None)), &y, None).contains("square"));
}
