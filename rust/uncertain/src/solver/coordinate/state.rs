//! The rows' slopes g, what they add up to, and how one of them changes.

use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::control::Control;
use crate::data::Rows;
use crate::error::Result;
use crate::loss::Conjugate;
use crate::objective::{ClassSums, LinearObjective};
use crate::{parallel, simd};

/// Rows between looks at the stop flag.
const ROWS: usize = 64;
/// |z|^2 is at least this part of |x|^2: below is rounding.
const ROUNDING: f64 = 1e-14;

/// A row's loss and products, and its slope g.
#[derive(Debug, Clone, Copy)]
pub(super) struct DualRow {
    pub loss: Conjugate,
    /// Weight, > 0.
    pub c: f64,
    /// |x - centre|^2
    square: f64,
    /// x'centre
    along: f64,
    pub g: f64,
}

impl DualRow {
    /// The derivatives to the left and to the right in g, of which `smooth` is the part without a kink.
    fn slopes(&self, smooth: f64) -> (f64, f64) {
        let kink = self.loss.kink;
        let left = if self.g > 0.0 { kink } else { -kink };
        let right = if self.g < 0.0 { -kink } else { kink };
        (smooth + left, smooth + right)
    }

    /// How far from its best place the row is, by its slopes, and how fast it is held there.
    fn standing(&self, (left, right): (f64, f64)) -> (f64, f64) {
        let up = if self.g < self.loss.high { -right } else { f64::NEG_INFINITY };
        let down = if self.g > self.loss.low { left } else { f64::NEG_INFINITY };
        let pull = up.max(down);
        (pull.max(0.0), -pull)
    }

    /// The best slope, all others being what they are: `stiffness` is the curvature in g.
    fn best(&self, smooth: f64, stiffness: f64) -> f64 {
        let at = self.g - smooth / stiffness;
        (at.abs() - self.loss.kink / stiffness).max(0.0).copysign(at).clamp(self.loss.low, self.loss.high)
    }

    /// Is g inside a piece of the loss, so that it moves freely to either side?
    pub(super) fn is_free(&self) -> bool {
        self.g > self.loss.low && self.g < self.loss.high && (self.loss.kink == 0.0 || self.g != 0.0)
    }
}

/// Numbers of a sweep.
pub(super) struct Swept {
    /// The part of the gap that its rows leave open.
    pub open: f64,
    /// J, less what the rows lose that were left out.
    pub value: f64,
}

/// The dual problem and where it stands.
pub(super) struct Descent<'a> {
    objective: &'a LinearObjective<'a>,
    pub means: &'a Rows,
    pub rows: Vec<DualRow>,
    /// Numbers of the rows with weight: first those in the sweeps, from `awake` on those left out.
    order: Vec<u32>,
    awake: usize,
    /// A row that is held faster than this is left out.
    fast: f64,
    /// The rows' mean, and its square.
    pub centre: Vec<f64>,
    square: f64,
    pub alpha: f64,
    /// Of the augmented Lagrangian; 0 without an intercept.
    pub rho: f64,
    /// sum c g x / alpha, and its product with the centre.
    pub u: Vec<f64>,
    along: f64,
    /// sum c g
    pub sum: f64,
    /// The intercept of centred rows.
    pub b: f64,
    /// Products with rows so far.
    pub spent: f64,
}

impl<'a> Descent<'a> {
    pub(super) fn new(objective: &'a LinearObjective<'a>, losses: Vec<Conjugate>, control: &Control) -> Result<Self> {
        let problem = *objective.problem();
        let (means, n, d) = (problem.data.means(), problem.data.n_rows(), problem.data.n_features());
        let weights: Vec<f64> = (0..n).map(|row| objective.weight(row)).collect();
        let mut centre = vec![0.0; d];
        if problem.fit_intercept {
            let total: f64 = weights.iter().sum();
            centre.iter_mut().zip(objective.combination(&weights, control)?).for_each(|(m, sum)| *m = sum / total);
        }
        let square = simd::dot(&centre, &centre);
        let ones = vec![1.0; d];
        let products = parallel::map_parts(n, |range| {
            let (mut squares, mut along) = (vec![0.0; range.len()], vec![0.0; range.len()]);
            simd::dots(means, range.start, &ones, simd::Power::Two, &mut squares);
            simd::dots(means, range.start, &centre, simd::Power::One, &mut along);
            squares.into_iter().zip(along).collect::<Vec<_>>()
        })?;
        let row = |((own, along), (loss, c)): ((f64, f64), (Conjugate, f64))| DualRow {
            loss,
            c,
            square: (own - 2.0 * along + square).max(ROUNDING * own),
            along,
            g: 0.0,
        };
        let rows: Vec<DualRow> = products.into_iter().flatten().zip(losses.into_iter().zip(weights)).map(row).collect();
        let order: Vec<u32> = (0..n as u32).filter(|i| rows[*i as usize].c > 0.0).collect();
        let typical: f64 = rows.iter().map(|row| row.c * row.square).sum();
        let rho = if problem.fit_intercept { typical.max(problem.alpha) / problem.alpha } else { 0.0 };
        Ok(Self {
            objective,
            means,
            rows,
            awake: order.len(),
            order,
            fast: f64::INFINITY,
            centre,
            square,
            alpha: problem.alpha,
            rho,
            u: vec![0.0; d],
            along: 0.0,
            sum: 0.0,
            b: 0.0,
            spent: 3.0 * n as f64,
        })
    }

    /// The derivative in a row's g, over its weight, without the kink.
    pub(super) fn slope(&self, i: usize) -> f64 {
        let row = &self.rows[i];
        let m = simd::row_dot(&self.means.stored_row(i), &self.u)
            - self.along
            - self.sum / self.alpha * (row.along - self.square);
        m + self.b + self.rho * self.sum - row.loss.target
    }

    /// Give a row another slope.
    pub(super) fn set(&mut self, i: usize, g: f64) {
        let row = &mut self.rows[i];
        let change = row.c * (g - row.g);
        row.g = g;
        simd::add_row(change / self.alpha, &self.means.stored_row(i), &mut self.u);
        self.along += change / self.alpha * row.along;
        self.sum += change;
        self.spent += 1.0;
    }

    /// The best slope of every row in turn, in a random order, then the multiplier.
    pub(super) fn sweep(&mut self, rng: &mut Xoshiro256PlusPlus, control: &Control) -> Result<Swept> {
        self.order[..self.awake].shuffle(rng);
        let (mut worst, mut open, mut lost) = (0.0_f64, 0.0, 0.0);
        let mut k = 0;
        while k < self.awake {
            if k.is_multiple_of(ROWS) {
                control.check()?;
            }
            let i = self.order[k] as usize;
            let (smooth, row) = (self.slope(i), self.rows[i]);
            self.spent += 1.0;
            let (pull, hold) = row.standing(row.slopes(smooth));
            if hold > self.fast {
                self.awake -= 1;
                self.order.swap(k, self.awake);
                continue;
            }
            k += 1;
            worst = worst.max(pull);
            // t - m - b
            let r = -smooth;
            let loss = row.loss.value(r);
            lost += row.c * loss;
            open += row.c * (loss + row.loss.kink * row.g.abs() - row.g * r).max(0.0);
            if pull > 0.0 {
                self.set(i, row.best(smooth, row.c * (row.square / self.alpha + self.rho)));
            }
        }
        self.b += self.rho * self.sum;
        self.fast = if worst > 0.0 { worst } else { f64::INFINITY };
        let w = self.weights();
        Ok(Swept { open, value: lost + 0.5 * self.alpha * simd::dot(&w, &w) })
    }

    /// Numbers of the rows whose slopes are free.
    pub(super) fn free(&self) -> Vec<usize> {
        self.order.iter().map(|i| *i as usize).filter(|i| self.rows[*i].is_free()).collect()
    }

    /// w
    pub(super) fn weights(&self) -> Vec<f64> {
        self.u.iter().zip(&self.centre).map(|(u, centre)| u - self.sum / self.alpha * centre).collect()
    }

    /// (w, b) of rows as they are.
    pub(super) fn point(&self) -> Vec<f64> {
        let mut x = self.weights();
        x.push(self.b - simd::dot(&x, &self.centre));
        x
    }

    /// Terms of the slopes in the sums of either class; the sums of the rows are made anew, without the rounding of
    /// their changes.
    pub(super) fn class_sums(&mut self, control: &Control) -> Result<[ClassSums; 2]> {
        let d = self.u.len();
        let mut classes = [ClassSums::zero(d), ClassSums::zero(d)];
        for (k, &i) in self.order.iter().enumerate() {
            if k.is_multiple_of(ROWS) {
                control.check()?;
            }
            let row = &self.rows[i as usize];
            if row.g == 0.0 {
                continue;
            }
            // Slopes in m: -g
            let class = &mut classes[usize::from(row.g > 0.0)];
            class.constant += row.c * (row.g * row.loss.target - row.loss.kink * row.g.abs());
            class.bias -= row.c * row.g;
            simd::add_row(-row.c * row.g, &self.means.stored_row(i as usize), &mut class.gradient);
            self.spent += 0.5;
        }
        self.u = (0..d).map(|j| -(classes[0].gradient[j] + classes[1].gradient[j]) / self.alpha).collect();
        self.along = simd::dot(&self.u, &self.centre);
        self.sum = -(classes[0].bias + classes[1].bias);
        self.spent += self.objective.facts().n_rows as f64;
        Ok(classes)
    }

    /// sum c L at these scores.
    pub(super) fn losses(&self, scores: &[(f64, f64)]) -> f64 {
        self.rows.iter().zip(scores).map(|(row, (m, _))| row.c * row.loss.value(row.loss.target - m)).sum()
    }

    /// Take rows that are not held at these scores into the sweeps again.
    pub(super) fn wake(&mut self, scores: &[(f64, f64)]) {
        for k in self.awake..self.order.len() {
            let i = self.order[k] as usize;
            let row = &self.rows[i];
            if row.standing(row.slopes(scores[i].0 - row.loss.target)).0 > 0.0 {
                self.order.swap(k, self.awake);
                self.awake += 1;
            }
        }
        self.fast = f64::INFINITY;
    }
}
