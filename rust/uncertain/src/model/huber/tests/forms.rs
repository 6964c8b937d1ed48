//! One function, whichever form of its kernel matrix is worked with.

use super::stationarity::stationarity;
use super::*;

#[test]
fn every_form_of_a_kernel_gives_the_same_function() {
    // Features of rank 4 (no l x l matrix), their Gram matrix (a dense one where it has high rank), and RBF
    // kernels of low and of full rank.
    let (x, y) = problem(90);
    let gram = |part: &FittedView| {
        let k = kernel_matrix(&x, part);
        GaussianArray::exact(Rows::from_vec(k.concat(), 90).unwrap()).unwrap()
    };
    let matrix = {
        let m = laplacian(&x, &[0, 1, 2, 3]);
        Operator::Dense { n: 90, values: m.concat() }
    };
    for kernel in [Kernel::Linear, CUBIC, RBF, Kernel::Rbf { gamma: Some(30.0), coupling: Coupling::Shared }] {
        for graph in [Graph::None, Graph::Given { matrix: matrix.clone(), regulariser: true }] {
            let params = |kernel| {
                let view = View { kernel, graph: graph.clone(), ..View::default() };
                Params::new().alpha(1e-3).manifold_alpha(0.1).delta(0.3).max_refinements(2).views(vec![view])
            };
            let direct = params(kernel)
                .check()
                .unwrap()
                .fit(&points(&x), std::slice::from_ref(&y), None, None, &Control::new())
                .unwrap();
            let matrix = gram(&direct.parts[0]);
            let by_matrix = params(Kernel::Precomputed).check().unwrap();
            let by_matrix = by_matrix.fit(&matrix, std::slice::from_ref(&y), None, None, &Control::new()).unwrap();
            let a = predicted(&direct, &points(&x), &points(&x));
            let b = predicted(&by_matrix, &matrix, &matrix);
            for (a, b) in a.iter().zip(&b) {
                assert!((a - b).abs() < 1e-9, "{kernel:?}: {a} {b}");
            }
            assert_eq!(direct.outcomes[0].removed, by_matrix.outcomes[0].removed);
        }
    }
}

#[test]
fn kernels_of_high_rank_are_factored_as_they_are() {
    // More rows than a block of pivots, a kernel that is nearly the identity, and few or many labels.
    let (x, y) = problem(150);
    let operators = [Some(laplacian(&x, &[0, 1, 2, 3]))];
    let ones = vec![1.0; 150];
    for (gamma, singular) in [(3.0, false), (3.0, true), (0.05, false)] {
        for every in [1, 3] {
            let y: Vec<f64> = (0..150).map(|i| if i % every == 0 { y[i] } else { f64::NAN }).collect();
            let kernel = Kernel::Rbf { gamma: Some(gamma), coupling: Coupling::Shared };
            let graph = Graph::Neighbors { count: 3, gamma: Some(0.3) };
            let view = View { kernel, graph: graph.clone(), ..View::default() };
            let params = Params::new().alpha(1e-3).manifold_alpha(1e-2).delta(0.3).max_refinements(2);
            let params = params.views(vec![view]);
            let fit = |params: &Params, rows: &GaussianArray, y: &[f64]| {
                params.clone().check().unwrap().fit(rows, &[y.to_vec()], None, None, &Control::new()).unwrap()
            };
            let model = fit(&params, &points(&x), &y);
            let error = stationarity(&x, &y, &ones, &params, &model, &operators);
            assert!(error < 1e-10, "{gamma} {every}: {error:e}");
            // A row twice makes the kernel matrix singular, whatever its rank is else.
            if singular {
                let twice: Vec<usize> = (0..150).chain([4]).collect();
                let rows = points(&x).take(&twice).unwrap();
                let again = fit(&params, &rows, &[y.clone(), vec![f64::NAN]].concat());
                let (a, b) = (at_points(&again, &rows, &x), at_points(&model, &points(&x), &x));
                assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-8), "{every}");
            }
        }
    }
}

fn at_points(model: &Model, rows: &GaussianArray, x: &Rows) -> Vec<f64> {
    predicted(model, &points(x), rows).column(0).to_vec()
}
