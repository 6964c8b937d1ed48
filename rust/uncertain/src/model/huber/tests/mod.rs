//! A model of many rows against plain formulas; what several files share is here.

mod errors;
mod forms;
mod probability;
mod quadratic;
mod reduction;
mod refinement;
mod rows;
mod stationarity;

use ndarray::Array2;

use super::*;
use crate::control::Control;
use crate::data::{GaussianArray, Rows, Weights};
use crate::kernel::probabilistic_rbf::Coupling;
use crate::testing::Numbers;

type Dense = Vec<Vec<f64>>;

/// n rows of 4 features; a smooth target with a few gross errors, NaN for every fourth row.
fn problem(n: usize) -> (Rows, Vec<f64>) {
    let mut numbers = Numbers::new(5);
    let x = Rows::from_vec((0..n * 4).map(|_| numbers.normal()).collect(), 4).unwrap();
    let y = (0..n)
        .map(|i| {
            let row = x.row(i);
            let error = if i % 7 == 1 { 3.0 } else { 0.05 * numbers.normal() };
            if i % 4 == 3 { f64::NAN } else { row[0].sin() + 0.5 * row[1] * row[2] + error }
        })
        .collect();
    (x, y)
}

/// Values of the outputs at new rows.
fn predicted(model: &Model, new: &GaussianArray, rows: &GaussianArray) -> Array2<f64> {
    let intercepts: Vec<f64> = model.outcomes.iter().map(|outcome| outcome.intercept).collect();
    fitted::predict(&model.parts, &intercepts, new, Some(rows), &Control::new()).unwrap()
}

fn points(x: &Rows) -> GaussianArray {
    GaussianArray::exact(x.clone()).unwrap()
}

/// The kernel matrix of a view, by plain formulas.
fn kernel_matrix(x: &Rows, part: &FittedView) -> Dense {
    let columns: Vec<usize> = part.columns.clone().unwrap_or_else(|| (0..x.width()).collect());
    let scale = |k: usize| part.scales.as_ref().map_or(1.0, |scales| scales[k]);
    let row = |i: usize| columns.iter().enumerate().map(|(k, &c)| x.row(i)[c] / scale(k)).collect::<Vec<f64>>();
    let at = |i: usize, j: usize| {
        let (a, b) = (row(i), row(j));
        let dot: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
        let distance: f64 = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum();
        match part.kernel {
            Kernel::Linear => dot,
            Kernel::Quadratic => dot * dot,
            Kernel::Polynomial { degree, gamma, coef0 } => (gamma.unwrap() * dot + coef0).powi(degree as i32),
            Kernel::Rbf { gamma, .. } => (-gamma.unwrap() * distance).exp(),
            Kernel::Precomputed => a[j],
        }
    };
    (0..x.n_rows()).map(|i| (0..x.n_rows()).map(|j| at(i, j)).collect()).collect()
}

/// The normalised Laplacian of the union 3-nn graph with weights exp(-0.3 d^2), by plain formulas.
fn laplacian(x: &Rows, columns: &[usize]) -> Dense {
    let n = x.n_rows();
    let squared = |i: usize, j: usize| -> f64 { columns.iter().map(|&c| (x.row(i)[c] - x.row(j)[c]).powi(2)).sum() };
    let mut w = vec![vec![0.0; n]; n];
    for i in 0..n {
        let mut others: Vec<usize> = (0..n).filter(|&j| j != i).collect();
        others.sort_by(|a, b| squared(i, *a).total_cmp(&squared(i, *b)));
        for &j in &others[..3] {
            w[i][j] = (-0.3 * squared(i, j)).exp();
            w[j][i] = w[i][j];
        }
    }
    let degree: Vec<f64> = w.iter().map(|row| row.iter().sum()).collect();
    let at = |i: usize, j: usize| f64::from(u8::from(i == j)) - w[i][j] / (degree[i] * degree[j]).sqrt();
    (0..n).map(|i| (0..n).map(|j| at(i, j)).collect()).collect()
}

fn times(a: &Dense, x: &[f64]) -> Vec<f64> {
    a.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn views(kernels: [Kernel; 2]) -> Vec<View> {
    let graph = Graph::Neighbors { count: 3, gamma: Some(0.3) };
    let view =
        |columns: Vec<usize>, kernel, weight| View { columns: Some(columns), kernel, weight, graph: graph.clone() };
    vec![view(vec![0, 1], kernels[0], 0.7), view(vec![1, 2, 3], kernels[1], 0.4)]
}

const RBF: Kernel = Kernel::Rbf { gamma: Some(0.4), coupling: Coupling::Shared };
const CUBIC: Kernel = Kernel::Polynomial { degree: 3, gamma: Some(0.5), coef0: 1.0 };
