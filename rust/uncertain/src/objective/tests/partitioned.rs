//! Rows in pieces, as if they were in several files or on several machines; for tests.

use crate::control::Control;
use crate::data::{GaussianArray, Weights};
use crate::error::Result;
use crate::loss::Loss;
use crate::objective::{LinearObjective, LocalRows, Problem};
use crate::sums::{Request, RowSums};

/// A problem's rows in pieces of nearly equal size, each with separate data and loss.
pub(crate) struct PartitionedRows<'a> {
    problem: Problem<'a>,
    scale: f64,
    pieces: Vec<Piece>,
}

/// Rows, their numbers in the whole, and their loss where it differs from row to row.
type Piece = (GaussianArray, Vec<usize>, Option<Box<dyn Loss>>);

impl<'a> PartitionedRows<'a> {
    /// The objective of the same problem on `pieces` pieces.
    pub(crate) fn objective(whole: &LinearObjective<'a>, pieces: usize) -> LinearObjective<'a, Self> {
        let (problem, n) = (*whole.problem(), whole.facts().n_rows);
        let piece = |k: usize| -> Piece {
            let rows: Vec<usize> = (k * n / pieces..(k + 1) * n / pieces).collect();
            (problem.data.take(&rows).unwrap(), rows.clone(), problem.loss.take_rows(&rows))
        };
        let scale = 1.0 / problem.weights.map_or(n as f64, Weights::total);
        LinearObjective::from_rows(
            *whole.facts(),
            None,
            Self { problem, scale, pieces: (0..pieces).map(piece).collect() },
        )
    }
}

impl RowSums for PartitionedRows<'_> {
    fn sums(&self, requests: &[Request], control: &Control) -> Result<Vec<Vec<f64>>> {
        let mut total: Vec<Vec<f64>> = vec![];
        for (data, rows, loss) in &self.pieces {
            let targets = self.problem.targets.take(rows);
            let weights = self.problem.weights.map(|c| c.take(rows)).transpose()?;
            let loss = loss.as_deref().unwrap_or(self.problem.loss);
            let problem = Problem { data, targets: (&targets).into(), weights: weights.as_ref(), loss, ..self.problem };
            let next = LocalRows { problem, source: None, scale: self.scale }.sums(requests, control)?;
            if total.is_empty() {
                total = next;
                continue;
            }
            for ((request, total), next) in requests.iter().zip(&mut total).zip(&next) {
                request.add(total, next)?;
            }
        }
        Ok(total)
    }
}
