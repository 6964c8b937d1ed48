//! TSVC (and the Power SVM): every row counts as the point of its ellipsoid that is classified best.
//!
//! max(0, d - r s) is not convex in w, but -s is concave, and s >= t'w for t = S w0 / s0 of any w0, with
//! equality at w0. So max(0, 1 - y (w'(x + y r t) + b)) lies above the loss and touches it at w0: an ordinary
//! SVM on rows moved to x + y r t. Minimising it, and taking t from its solution, again and again, never
//! raises the objective (the convex-concave procedure of Yuille and Rangarajan; Bi and Zhang's
//! alternation is the same thing). The end is a point no such step improves, not a certified minimum.
//! It starts from the SVM on the means.

use super::binary::{Binary, Outcome, point};
use crate::data::{Covariances, GaussianArray, Rows};
use crate::error::Result;
use crate::loss::{EllipsoidHinge, Hinge};
use crate::parallel;
use crate::solver::Status;

/// Convex problems at most.
const ROUNDS: usize = 200;

pub(super) fn fit(binary: &Binary<'_>) -> Result<Outcome> {
    let (n, radius) = (binary.targets.len(), binary.params.radius());
    let radii = vec![radius; n];
    let loss = EllipsoidHinge::best(&radii);
    let points = GaussianArray::from_checked(binary.data.means().clone(), Covariances::Zero);
    let mut best = binary.solve(&points, &Hinge, None)?;
    best.objective = binary.objective(&loss, &point(&best))?;
    let mut history = vec![best.objective];
    let mut iterations = best.iterations;
    let mut status = best.status;
    for round in 1.. {
        binary.control.report(round, best.objective, f64::NAN);
        let moved = moved(binary, &best.w)?;
        let mut next = binary.solve(&moved, &Hinge, None)?;
        next.objective = binary.objective(&loss, &point(&next))?;
        iterations += next.iterations;
        let won = best.objective - next.objective;
        if won > 0.0 {
            status = next.status;
            best = next;
            history.push(best.objective);
        }
        if won <= binary.params.0.options.tol * best.objective {
            break;
        }
        if round == ROUNDS {
            status = Status::MaxIterations;
            break;
        }
    }
    Ok(Outcome { solution: crate::solver::Solution { gap: f64::NAN, iterations, status, ..best }, radii, history })
}

/// The points x + y r S w / s; rows without spread along w stay.
fn moved(binary: &Binary<'_>, w: &[f64]) -> Result<GaussianArray> {
    let (data, d) = (binary.data, w.len());
    let covariances = data.covariances();
    let parts = parallel::map_parts(data.n_rows(), |rows| {
        let mut out = Vec::with_capacity(rows.len() * d);
        let mut image = vec![0.0; d];
        for row in rows {
            covariances.apply(row, w, &mut image);
            let s = image.iter().zip(w).map(|(t, w)| t * w).sum::<f64>().max(0.0).sqrt();
            let reach = if s > 0.0 { binary.targets.at(row) * binary.params.radius() / s } else { 0.0 };
            out.extend(data.means().row(row).iter().zip(&image).map(|(x, t)| x + reach * t));
        }
        out
    })?;
    Ok(GaussianArray::from_checked(Rows::from_vec(parts.concat(), d)?, Covariances::Zero))
}
