//! Machines whose optimum is w = 0: the side of the heavier class, at the cost of 2 for each row of the lighter one.
//!
//! What w has there is rounding, and a sigmoid would learn from its digits. Of two classes w = 0 itself is the answer, with the
//! shares of the classes as probabilities.
//!
//! One class against several others is often lost, and nevertheless different from them. It keeps a direction that the rows
//! determine, in a size that is nothing, and a sigmoid of its scores: the direction of the smoothed minimum of the expected hinge
//! (`solver/zero.rs`); of a worst case and of exact rows, which have none, and where that direction is too small for digits, that
//! of the machine of the squared hinge. Of rows that other processes hold such a class has w = 0 and its share.
//! Rejected: w = 0 for all of them (20 clouds in four dimensions: 19 instead of 64 percent correct).

use super::{TwoClasses, scores};
use crate::control::Control;
use crate::data::Weights;
use crate::error::Result;
use crate::loss::LossKind;
use crate::objective::Problem;
use crate::solver::{Options, Solution, SolverKind, Status, fit_linear};
use crate::sums::RemoteLoss;

/// By how much a class of all rows is nearer to its plane than one of none, where all planes are w = 0.
const NEARER: f64 = 1e-9;
/// The size of a direction, in units of the margin.
const NOTHING: f64 = 1e-8;

/// When a hinge with an offset counts as being at w = 0.
#[derive(Debug, Clone, Copy)]
pub(in crate::model) struct AtZero {
    /// C, the cost of a loss of 1 per unit of weight, beside |w|^2 / 2; `None`: the objective is a mean with alpha.
    pub cost: Option<f64>,
    pub alpha: f64,
    /// How much better a plane must be.
    pub tol: f64,
    /// Does a solution there have a direction of its own?
    pub directed: bool,
}

impl AtZero {
    /// Of a mean of this loss; `None` for one that has no kink, or none that w = 0 reaches.
    pub(in crate::model) fn for_loss(
        loss: RemoteLoss,
        alpha: f64,
        fit_intercept: bool,
        tol: f64,
        exact: bool,
    ) -> Option<Self> {
        let kinds = [LossKind::Hinge, LossKind::ExpectedHinge].map(RemoteLoss::Kind);
        let hinge = kinds.contains(&loss) || matches!(loss, RemoteLoss::WorstCase { .. });
        let directed = loss == kinds[1] && !exact;
        (hinge && fit_intercept).then_some(Self { cost: None, alpha, tol, directed })
    }

    /// Put w = 0 into `found` where that is as good, or a direction where its class is one of `several`: is it as good?
    pub(super) fn settle(
        self,
        rows: &TwoClasses<'_>,
        found: &mut Solution,
        several: bool,
        control: &Control,
    ) -> Result<bool> {
        let &TwoClasses { data, targets, weights } = rows;
        let weight = |i: usize| weights.map_or(1.0, |c| c[i]);
        let total = weights.map_or(targets.len() as f64, Weights::total);
        let share = (0..targets.len()).filter(|&i| targets.at(i) > 0.0).map(weight).sum::<f64>() / total;
        let there = self.settle_to(found, share, total, several);
        let side = if share > 0.5 { 1.0 } else { -1.0 };
        // Scores of a smaller direction would be rounding of the offset.
        let sized = || Ok(scores::means(data, &found.w, found.b)?.iter().any(|f| (f - side).abs() > 0.1 * NOTHING));
        if there && several && !(self.directed && sized()?) {
            let alpha = self.cost.map_or(self.alpha, |c| 1.0 / (c * total));
            let loss = LossKind::SquaredHinge.build(None);
            let problem = Problem { data, targets, weights, alpha, fit_intercept: true, loss: &*loss };
            let Solution { w, b, .. } = fit_linear(&problem, SolverKind::Auto, &Options::default(), None, control)?;
            (found.w, found.b) = (w.iter().map(|w| NOTHING * w).collect(), side + NOTHING * (b - side));
        }
        Ok(there)
    }

    /// Put w = 0 where that is as good, for a class of this share of a weight, unless `keeps`: is it as good?
    pub(super) fn settle_to(self, found: &mut Solution, share: f64, weight: f64, keeps: bool) -> bool {
        let zero = 2.0 * share.min(1.0 - share) * self.cost.map_or(1.0, |c| c * weight);
        let ended = found.status != Status::MaxIterations;
        let there = ended && zero > 0.0 && found.objective >= zero * (1.0 - self.tol);
        if there && !keeps {
            found.w.fill(0.0);
            found.b = if share > 0.5 { 1.0 } else { -1.0 } + NEARER * share;
            found.gap += (1.0 - found.objective / zero).max(0.0);
            found.objective = zero;
        }
        there
    }
}
