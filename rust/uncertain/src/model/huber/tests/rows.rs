//! Rows with weights and rows with error bars.

use super::*;
use crate::data::Covariances;
use crate::kernel::probabilistic_rbf::{RbfOptions, gram as gram_of};

#[test]
fn a_weight_of_two_is_the_row_twice_also_on_a_graph() {
    let n = 50;
    let (x, y) = problem(n);
    let counts: Vec<usize> = (0..n).map(|i| [1, 2, 0, 3, 1][i % 5]).collect();
    let weights = Weights::new(counts.iter().map(|c| *c as f64).collect()).unwrap();
    let numbers: Vec<usize> = (0..n).flat_map(|i| std::iter::repeat_n(i, counts[i])).collect();
    let repeated = points(&x).take(&numbers).unwrap();
    let y_repeated: Vec<f64> = numbers.iter().map(|&i| y[i]).collect();
    let params = Params::new().manifold_alpha(1e-3).delta(0.3).fit_intercept(true).check().unwrap();
    let weighted = params.fit(&points(&x), &[y], Some(&weights), None, &Control::new()).unwrap();
    let twice = params.fit(&repeated, &[y_repeated], None, None, &Control::new()).unwrap();
    let a = predicted(&weighted, &points(&x), &points(&x));
    let b = predicted(&twice, &points(&x), &repeated);
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9));
}

#[test]
fn error_bars_enter_through_the_expected_kernel() {
    let n = 60;
    let (x, y) = problem(n);
    let mut numbers = Numbers::new(9);
    let full = |x: &Rows| {
        let factor = Rows::from_vec((0..n * 4 * 2).map(|i| 0.1 * ((i % 13) as f64 - 6.0) / 6.0).collect(), 8).unwrap();
        let covariances = Covariances::from_factor(factor, 2, None, &crate::data::Names::default()).unwrap();
        GaussianArray::new(x.clone(), covariances).unwrap()
    };
    let std = Rows::from_vec((0..n * 4).map(|_| 0.3 * numbers.uniform()).collect(), 4).unwrap();
    let diagonal = GaussianArray::new(x.clone(), Covariances::from_std(std)).unwrap();
    for rows in [diagonal, full(&x)] {
        for coupling in [Coupling::Shared, Coupling::Independent] {
            let kernel = Kernel::Rbf { gamma: Some(0.4), coupling };
            let params = |kernel, graph| {
                let view = View { kernel, graph, ..View::default() };
                Params::new().alpha(1e-2).manifold_alpha(1e-2).max_refinements(1).delta(0.2).views(vec![view])
            };
            let options = RbfOptions { coupling, ..RbfOptions::new((0.5_f64 / 0.4).sqrt()) };
            let gram = gram_of(&rows, None, &options, &Control::new()).unwrap();
            let gram = GaussianArray::exact(Rows::from(gram)).unwrap();
            let direct = params(kernel, Graph::None).check().unwrap();
            let direct = direct.fit(&rows, std::slice::from_ref(&y), None, None, &Control::new()).unwrap();
            let by_matrix = params(Kernel::Precomputed, Graph::None).check().unwrap();
            let by_matrix = by_matrix.fit(&gram, std::slice::from_ref(&y), None, None, &Control::new()).unwrap();
            let a = predicted(&direct, &rows, &rows);
            let b = predicted(&by_matrix, &gram, &gram);
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9));
            let graph = Graph::Neighbors { count: 5, gamma: None };
            let views = params(kernel, graph)
                .check()
                .unwrap()
                .fit(&rows, std::slice::from_ref(&y), None, None, &Control::new())
                .unwrap();
            assert!(predicted(&views, &rows, &rows).iter().all(|f| f.is_finite()));
        }
        let refused = View { kernel: Kernel::Quadratic, ..View::default() };
        let refused = Params::new().views(vec![refused]).check().unwrap();
        assert!(
            refused
                .fit(&rows, std::slice::from_ref(&y), None, None, &Control::new())
                .unwrap_err()
                .to_string()
                .contains("rbf")
        );
    }
}
