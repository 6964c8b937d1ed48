//! Graphs on the rows and their Laplacians.

use serde::{Deserialize, Serialize};

use crate::control::Control;
use crate::data::GaussianArray;
use crate::error::{Error, Result};
use crate::memory::zeros;
use crate::number;
use crate::parallel;
use crate::params::check_positive;

use super::neighbors::Points;
use super::operator::{Operator, Sparse};

/// The graph of a view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
#[non_exhaustive]
pub enum Graph {
    /// No regulariser.
    None,
    /// Each row and its nearest neighbours, joined with weight exp(-gamma distance^2). Rows are joined when
    /// either is among the nearest of the other.
    #[serde(rename = "knn")]
    Neighbors {
        /// Neighbours of a row, >= 1; ties with the last one are neighbours, too.
        count: usize,
        /// `None`: 1 / (2 m^2), m the median length of the edges.
        #[serde(with = "number::option")]
        gamma: Option<f64>,
    },
    /// Every two rows, joined with weight exp(-gamma distance^2).
    #[serde(rename = "rbf")]
    Full {
        /// `None`: 1 / (2 m^2), m the median distance.
        #[serde(with = "number::option")]
        gamma: Option<f64>,
    },
    /// Weights of the caller, or the regulariser itself.
    Given {
        /// Rows and columns in the order of the data. In no file: of no rows there, so that a fit refuses it.
        #[serde(skip)]
        matrix: Operator,
        /// Whether `matrix` is M itself, not the weights of a graph.
        regulariser: bool,
    },
}

impl Graph {
    pub(super) fn check(&self) -> Result<()> {
        if let Self::Neighbors { count: 0, .. } = self {
            return Err(Error::parameter("n_neighbors", 0, "at least 1"));
        }
        self.gamma().map_or(Ok(()), |gamma| check_positive("graph_gamma", gamma))
    }

    /// The caller's gamma.
    pub(super) fn gamma(&self) -> Option<f64> {
        match self {
            Self::Neighbors { gamma, .. } | Self::Full { gamma } => *gamma,
            Self::None | Self::Given { .. } => None,
        }
    }

    /// Bytes of the operator on n rows.
    pub(super) fn bytes(&self, n: u128) -> u128 {
        match self {
            Self::None => 0,
            Self::Neighbors { count, .. } => 2 * 12 * n * (*count as u128 + 1),
            Self::Full { .. } => 8 * n * n,
            Self::Given { matrix: Operator::Sparse(sparse), .. } => 12 * sparse.len() as u128,
            Self::Given { matrix: Operator::Dense { .. }, .. } => 8 * n * n,
        }
    }

    /// M on rows `order` of the data. `rows` are these rows, `nodes` the first of each group of identical
    /// ones; `gram`: the rows are those of a kernel matrix.
    pub(super) fn operator(
        &self,
        rows: &GaussianArray,
        nodes: &[usize],
        order: &[usize],
        gram: bool,
        normalized: bool,
        control: &Control,
    ) -> Result<Option<Operator>> {
        let points = || {
            if gram {
                // Row i of the data is column i of the matrix.
                let gram = rows.means().clone();
                let columns = crate::data::Rows::from_vec(gather(&gram, nodes, order), nodes.len().max(1))?;
                return Ok(Points::Kernel { gram: columns, numbers: (0..nodes.len()).collect() });
            }
            Points::new(&rows.take(nodes)?)
        };
        let on_nodes = match self {
            Self::None => return Ok(None),
            Self::Given { matrix, regulariser } => {
                let matrix = matrix.permuted(order)?;
                let operator = if *regulariser { matrix } else { matrix.laplacian(normalized) };
                operator.check_positive(control)?;
                return Ok(Some(operator));
            }
            _ if nodes.len() < 2 => return Ok(None),
            Self::Neighbors { count, gamma } => Operator::Sparse(nearest(&points()?, *count, *gamma, control)?),
            Self::Full { gamma } => full(&points()?, *gamma, control)?,
        };
        spread(on_nodes.laplacian(normalized), nodes, rows.n_rows()).map(Some)
    }
}

/// The rows and columns of a kernel matrix that belong to the nodes.
fn gather(gram: &crate::data::Rows, nodes: &[usize], order: &[usize]) -> Vec<f64> {
    nodes.iter().flat_map(|&i| nodes.iter().map(move |&j| gram.row(i)[order[j]])).collect()
}

/// An operator on the nodes as one on all rows, zero for the copies.
fn spread(operator: Operator, nodes: &[usize], n: usize) -> Result<Operator> {
    if nodes.len() == n {
        return Ok(operator);
    }
    match operator {
        Operator::Sparse(sparse) => {
            let mut rows = vec![vec![]; n];
            for (k, &i) in nodes.iter().enumerate() {
                rows[i] = sparse.row(k).map(|(j, v)| (nodes[j] as u32, v)).collect();
            }
            Ok(Operator::Sparse(Sparse::from_rows(rows.into_iter())))
        }
        Operator::Dense { n: m, values } => {
            let mut out = zeros(n, n)?;
            for (k, &i) in nodes.iter().enumerate() {
                for (l, &j) in nodes.iter().enumerate() {
                    out[i * n + j] = values[k * m + l];
                }
            }
            Ok(Operator::Dense { n, values: out })
        }
    }
}

/// Weights of the k-nn graph, symmetric.
fn nearest(points: &Points, count: usize, gamma: Option<f64>, control: &Control) -> Result<Sparse> {
    let lists = points.nearest(count, control)?;
    let mut joined: Vec<Vec<(u32, f64)>> = lists.clone();
    for (i, list) in lists.iter().enumerate() {
        for &(j, squared) in list {
            if lists[j as usize].binary_search_by_key(&(i as u32), |entry| entry.0).is_err() {
                joined[j as usize].push((i as u32, squared));
            }
        }
    }
    joined.iter_mut().for_each(|row| row.sort_unstable_by_key(|entry| entry.0));
    let gamma = gamma.unwrap_or_else(|| scale(joined.iter().flatten().map(|entry| entry.1).collect()));
    joined.iter_mut().flatten().for_each(|entry| entry.1 = (-gamma * entry.1).exp());
    Ok(Sparse::from_rows(joined.into_iter()))
}

/// Weights of the complete graph.
fn full(points: &Points, gamma: Option<f64>, control: &Control) -> Result<Operator> {
    let n = points.len();
    let mut values = zeros(n, n)?;
    parallel::fill_rows(&mut values, n, |rows, out| {
        control.check()?;
        points.squared_distances(rows.start, out);
        Ok(())
    })?;
    let gamma = gamma.unwrap_or_else(|| {
        // Every pair of a small matrix, some thousands of pairs of a large one.
        let step = (n * n / 1_000_000).max(1) | 1;
        scale(values.iter().copied().step_by(step).filter(|d| *d > 0.0).collect())
    });
    parallel::fill_rows(&mut values, n, |_, out| {
        out.iter_mut().for_each(|d| *d = (-gamma * *d).exp());
        Ok(())
    })?;
    Ok(Operator::Dense { n, values })
}

/// 1 / (2 m), m the (upper) median of squared distances.
fn scale(mut squares: Vec<f64>) -> f64 {
    if squares.is_empty() {
        return 1.0;
    }
    let middle = squares.len() / 2;
    let m = *squares.select_nth_unstable_by(middle, f64::total_cmp).1;
    let gamma = 0.5 / m;
    if gamma.is_finite() && gamma > 0.0 { gamma } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;

    fn line(values: Vec<f64>) -> GaussianArray {
        GaussianArray::exact(Rows::from_vec(values, 1).unwrap()).unwrap()
    }

    fn dense(operator: &Operator) -> Vec<Vec<f64>> {
        let n = operator.n();
        let unit = |j: usize| (0..n).map(|i| f64::from(u8::from(i == j))).collect::<Vec<_>>();
        (0..n).map(|j| operator.times(&unit(j)).unwrap()).collect()
    }

    fn dense_operator(graph: &Graph, rows: &GaussianArray, nodes: &[usize], normalized: bool) -> Vec<Vec<f64>> {
        let order: Vec<usize> = (0..rows.n_rows()).collect();
        dense(&graph.operator(rows, nodes, &order, false, normalized, &Control::new()).unwrap().unwrap())
    }

    #[test]
    fn the_laplacian_of_a_path() {
        // 0 - 1 - 3: the nearest of 0 is 1, of 1 is 0, of 3 is 1.
        let graph = Graph::Neighbors { count: 1, gamma: Some(0.5) };
        let (a, b) = ((-0.5_f64).exp(), (-2.0_f64).exp());
        let plain = dense_operator(&graph, &line(vec![0.0, 1.0, 3.0]), &[0, 1, 2], false);
        let expected = [[a, -a, 0.0], [-a, a + b, -b], [0.0, -b, b]];
        for i in 0..3 {
            for j in 0..3 {
                assert!((plain[i][j] - expected[i][j]).abs() < 1e-15);
            }
        }
        let normalized = dense_operator(&graph, &line(vec![0.0, 1.0, 3.0]), &[0, 1, 2], true);
        assert!((normalized[0][1] + a / (a * (a + b)).sqrt()).abs() < 1e-15 && normalized[1][1] == 1.0);
    }

    #[test]
    fn a_complete_sparse_graph_is_the_dense_one_and_copies_count_once() {
        let rows = line(vec![0.0, 1.0, 1.0, 3.0, 7.0]);
        let nodes = [0, 1, 3, 4];
        let sparse = dense_operator(&Graph::Neighbors { count: 9, gamma: Some(0.1) }, &rows, &nodes, true);
        let full = dense_operator(&Graph::Full { gamma: Some(0.1) }, &rows, &nodes, true);
        for i in 0..5 {
            for j in 0..5 {
                assert!((sparse[i][j] - full[i][j]).abs() < 1e-15);
            }
        }
        assert!(full[2].iter().all(|x| *x == 0.0));
    }

    #[test]
    fn given_graphs_are_checked_and_reordered() {
        let sparse = |entries: &[(u32, u32, f64)]| {
            let rows = (0..3).map(|i| entries.iter().filter(|e| e.0 == i).map(|e| (e.1, e.2)).collect());
            Operator::Sparse(Sparse::from_rows(rows))
        };
        let good = sparse(&[(0, 1, 2.0), (1, 0, 2.0), (1, 2, 1.0), (2, 1, 1.0), (0, 0, 5.0)]);
        assert!(good.check(true).is_ok());
        assert!(sparse(&[(0, 1, 2.0)]).check(true).unwrap_err().to_string().contains("[0, 1]"));
        assert!(sparse(&[(0, 1, -2.0), (1, 0, -2.0)]).check(true).unwrap_err().to_string().contains("-2"));
        assert!(sparse(&[(0, 1, f64::NAN), (1, 0, 1.0)]).check(false).is_err());
        let order = [2, 1];
        let graph = Graph::Given { matrix: good, regulariser: false };
        let rows = line(vec![0.0, 0.0]);
        let m = graph.operator(&rows, &[0], &order, false, false, &Control::new()).unwrap().unwrap();
        assert_eq!(dense(&m), [[1.0, -1.0], [-1.0, 1.0]]);
        let dense_one = Operator::Dense { n: 3, values: vec![0.0, 2.0, 0.0, 2.0, 0.0, 1.0, 0.0, 1.0, 0.0] };
        let graph = Graph::Given { matrix: dense_one, regulariser: false };
        let m = graph.operator(&rows, &[0], &order, false, false, &Control::new()).unwrap().unwrap();
        assert_eq!(dense(&m), [[1.0, -1.0], [-1.0, 1.0]]);
        let negative = Graph::Given { matrix: sparse(&[(0, 0, -1.0)]), regulariser: true };
        assert!(negative.operator(&line(vec![0.0; 3]), &[0], &[0, 1, 2], false, true, &Control::new()).is_err());
    }
}
