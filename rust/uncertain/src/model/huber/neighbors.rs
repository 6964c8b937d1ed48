//! Exact nearest neighbours, and distances between rows that are Gaussians.
//!
//! The squared distance of two rows is that of two independent draws, |x_i - x_j|^2 + tr S_i + tr S_j. All
//! pairs are computed: in more than a few dimensions no tree is faster. Neighbours at the same distance
//! as the k-th one all count, so the result does not depend on the order of the rows.
//!
//! Identical rows are one point ([`distinct`](crate::data::distinct)): ten copies of a row would otherwise see nobody but
//! each other.

use crate::control::Control;
use crate::data::{GaussianArray, Rows};
use crate::error::Result;
use crate::parallel;
use crate::simd::add_squared_distances;

/// Rows whose distances are computed together, and others per piece: the piece stays in cache.
const ROWS: usize = 16;
const PIECE: usize = 1024;

/// Rows of which squared distances are wanted.
pub(super) enum Points {
    /// Feature by feature, and the traces of the covariances.
    Features { columns: Vec<f64>, rows: Rows, traces: Vec<f64> },
    /// By a kernel: K_ii + K_jj - 2 K_ij, with K's row numbers.
    Kernel { gram: Rows, numbers: Vec<usize> },
}

impl Points {
    /// Some rows by their features.
    pub(super) fn new(rows: &GaussianArray) -> Result<Self> {
        let (n, d) = (rows.n_rows(), rows.n_features());
        let mut columns = crate::memory::zeros(d, n)?;
        for i in 0..n {
            for (j, x) in rows.means().row(i).iter().enumerate() {
                columns[j * n + i] = *x;
            }
        }
        Ok(Self::Features { columns, rows: rows.means().clone(), traces: rows.traces()? })
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Features { rows, .. } => rows.n_rows(),
            Self::Kernel { numbers, .. } => numbers.len(),
        }
    }

    /// The squared distances of rows `first..` (as many as `out` has rows of n numbers) to all; 0 to itself.
    pub(super) fn squared_distances(&self, first: usize, out: &mut [f64]) {
        let n = self.len();
        match self {
            Self::Features { columns, rows, traces } => {
                for (r, out) in out.chunks_exact_mut(n).enumerate() {
                    let own = traces[first + r];
                    out.iter_mut().zip(traces).for_each(|(o, t)| *o = own + t);
                }
                for start in (0..n).step_by(PIECE) {
                    let end = n.min(start + PIECE);
                    for (r, out) in out.chunks_exact_mut(n).enumerate() {
                        let point = rows.row(first + r);
                        add_squared_distances(&columns[start..], n, &point, &mut out[start..end]);
                    }
                }
            }
            Self::Kernel { gram, numbers } => {
                for (r, out) in out.chunks_exact_mut(n).enumerate() {
                    let i = numbers[first + r];
                    let row = gram.row(i);
                    for (o, &j) in out.iter_mut().zip(numbers) {
                        *o = (row[i] + gram.row(j)[j] - 2.0 * row[j]).max(0.0);
                    }
                }
            }
        }
        for (r, out) in out.chunks_exact_mut(n).enumerate() {
            out[first + r] = 0.0;
        }
    }

    /// For each row its k nearest others, ties included: (row, squared distance), by row number.
    pub(super) fn nearest(&self, k: usize, control: &Control) -> Result<Vec<Vec<(u32, f64)>>> {
        let n = self.len();
        let parts = parallel::map_fine(n, |range| {
            let mut lists = Vec::with_capacity(range.len());
            let mut all = vec![0.0; ROWS * n];
            let mut near = vec![];
            for first in range.clone().step_by(ROWS) {
                control.check()?;
                let count = ROWS.min(range.end - first);
                let all = &mut all[..count * n];
                self.squared_distances(first, all);
                for (r, distances) in all.chunks_exact(n).enumerate() {
                    smallest(distances, first + r, k, &mut near);
                    near.sort_unstable_by_key(|entry| entry.0);
                    lists.push(near.clone());
                }
            }
            Ok(lists)
        })?;
        Ok(parts.into_iter().flatten().collect())
    }
}

/// The k smallest distances (ties with the last one included) and their numbers, but never `own`; in any order.
///
/// The k + 1 smallest of the minima of some pieces are k + 1 distances, one of them perhaps to `own`: what is larger than all
/// of them is not looked at again.
fn smallest(distances: &[f64], own: usize, k: usize, kept: &mut Vec<(u32, f64)>) {
    kept.clear();
    let size = (distances.len() / (4 * k + 4)).clamp(1, 32);
    let minima: Vec<f64> = distances.chunks(size).map(minimum).collect();
    let bound = match minima.len() > k + 1 {
        true => *minima.clone().select_nth_unstable_by(k, f64::total_cmp).1,
        false => f64::INFINITY,
    };
    for (piece, _) in minima.iter().enumerate().filter(|(_, least)| **least <= bound) {
        for (j, d) in (piece * size..).zip(&distances[piece * size..]).take(size) {
            if *d <= bound && j != own {
                kept.push((j as u32, *d));
            }
        }
    }
    if kept.len() > k {
        let bound = kept.select_nth_unstable_by(k - 1, |a, b| a.1.total_cmp(&b.1)).1.1;
        kept.retain(|entry| entry.1 <= bound);
    }
}

fn minimum(piece: &[f64]) -> f64 {
    let smaller = |a: f64, b: f64| if b < a { b } else { a };
    // Side by side, because a running minimum is what the compiler makes no vectors of.
    let mut lanes = [f64::INFINITY; 8];
    let (eights, rest) = piece.as_chunks::<8>();
    for eight in eights {
        (0..8).for_each(|l| lanes[l] = smaller(lanes[l], eight[l]));
    }
    lanes.iter().chain(rest).fold(f64::INFINITY, |m, d| smaller(m, *d))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Covariances;
    use crate::testing::Numbers;

    fn points(values: Vec<f64>, d: usize) -> GaussianArray {
        GaussianArray::exact(Rows::from_vec(values, d).unwrap()).unwrap()
    }

    #[test]
    fn neighbours_are_those_of_a_full_sort() {
        let (n, d, k) = (150, 3, 6);
        let mut numbers = Numbers::new(2);
        let means = Rows::from_vec((0..n * d).map(|_| numbers.normal()).collect(), d).unwrap();
        let errors = Rows::from_vec((0..n).map(|_| numbers.uniform()).collect(), 1).unwrap();
        let rows = GaussianArray::new(means, Covariances::from_std(errors)).unwrap();
        let lists = Points::new(&rows).unwrap().nearest(k, &Control::new()).unwrap();
        let traces = rows.traces().unwrap();
        for i in 0..n {
            let distance = |j: usize| -> f64 {
                let (x, z) = (rows.means().row(i), rows.means().row(j));
                x.iter().zip(&*z).map(|(a, b)| (a - b).powi(2)).sum::<f64>() + traces[i] + traces[j]
            };
            let mut all: Vec<usize> = (0..n).filter(|&j| j != i).collect();
            all.sort_by(|a, b| distance(*a).total_cmp(&distance(*b)));
            let mut expected = all[..k].to_vec();
            expected.sort_unstable();
            assert_eq!(lists[i].iter().map(|(j, _)| *j as usize).collect::<Vec<_>>(), expected);
            assert!(lists[i].iter().all(|(j, d)| (d - distance(*j as usize)).abs() < 1e-12));
        }
    }

    #[test]
    fn ties_all_count_and_few_rows_are_all_neighbours() {
        // A square and its centre: two corners are as near to a corner, the centre nearer.
        let square = points(vec![0.0, 0.0, 2.0, 0.0, 2.0, 2.0, 0.0, 2.0, 1.0, 1.0], 2);
        let lists = Points::new(&square).unwrap().nearest(2, &Control::new()).unwrap();
        assert_eq!(lists[0].iter().map(|n| n.0).collect::<Vec<_>>(), [1, 3, 4]);
        assert_eq!(lists[4].len(), 4);
        assert_eq!(Points::new(&square).unwrap().nearest(9, &Control::new()).unwrap()[2].len(), 4);
    }

    #[test]
    fn distances_by_a_kernel() {
        let gram = Rows::from_vec(vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0, 9.0], 3).unwrap(); // x = 1, 2, 3
        let by_kernel = Points::Kernel { gram, numbers: vec![2, 0] };
        let mut out = [9.0; 4];
        by_kernel.squared_distances(0, &mut out);
        assert_eq!(out, [0.0, 4.0, 4.0, 0.0]);
    }
}
