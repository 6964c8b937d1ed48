//! A Newton step for the free rows: those whose slopes are inside a piece of their loss.
//!
//! With a = c g the dual is a quadratic function of theirs, whose matrix is Z Z', Z the centred rows over sqrt(alpha) with
//! sqrt(rho) behind. The step to its minimum on sum a = 0 takes one Cholesky factor, of Z Z' for few rows and of Z'Z for
//! more than there are features; where rows would leave their piece, they stop at its end, the step is halved until the
//! function falls, and the others go on without them. Nobody is freed here, which the sweeps do.
//!
//! A ridge is added to the matrix: rows may depend on each other, and more rows than features do. The function is then one
//! with a proximal term, and the way to its minimum still leads down.

use super::state::Descent;
use crate::control::Control;
use crate::error::Result;
use crate::linalg;
use crate::simd::{Power, add_slices, dot_slices};

/// Numbers of the free rows at most.
const MOST_NUMBERS: usize = 8 << 20;
/// Multiply-adds of a matrix product in the time of one in a sweep.
const FASTER: f64 = 8.0;
/// Factors per step: at most, and as a step's price counts them.
const ROUNDS: usize = 20;
const USUAL_ROUNDS: f64 = 4.0;
/// Halvings of a step.
const HALVINGS: usize = 14;
/// The ridge as a part of the diagonal's mean: for few rows, for more than features, and the factor by which it grows where
/// a step does not go down.
const RIDGE: f64 = 1e-9;
const WIDER_RIDGE: f64 = 1e-3;
const GROWTH: f64 = 100.0;

/// Cost of a step, in products with rows of d numbers.
pub(super) fn price(rows: usize, d: usize) -> f64 {
    if rows == 0 || rows * (d + 1) > MOST_NUMBERS {
        return f64::INFINITY;
    }
    let (rows, d) = (rows as f64, d as f64);
    let least = rows.min(d);
    rows * least / FASTER * (0.5 + USUAL_ROUNDS * if rows > d { 0.5 } else { least / d / 3.0 }) + 3.0 * rows
}

/// A free row: a = c g, the piece that g may move in, and the derivative at a.
struct FreeRow {
    number: usize,
    c: f64,
    a: f64,
    ends: (f64, f64),
    slope: f64,
    stopped: bool,
}

impl FreeRow {
    fn is_at_an_end(&self) -> bool {
        self.a <= self.c * self.ends.0 || self.a >= self.c * self.ends.1
    }
}

/// The free rows and their matrix.
struct Face {
    rows: Vec<FreeRow>,
    /// Z
    z: Vec<f64>,
    /// Its columns, d + 1.
    width: usize,
    /// The lower triangle of Z Z', for few rows.
    gram: Vec<f64>,
}

impl Descent<'_> {
    /// The Newton step of these rows.
    pub(super) fn step(&mut self, numbers: &[usize], control: &Control) -> Result<()> {
        let mut face = Face::new(self, numbers);
        let typical = face.z.iter().map(|z| z * z).sum::<f64>() / numbers.len() as f64;
        let mut ridge = if numbers.len() > self.u.len() { WIDER_RIDGE } else { RIDGE };
        let mut sum = self.sum;
        for _ in 0..ROUNDS {
            control.check()?;
            let moving: Vec<usize> = (0..numbers.len()).filter(|k| !face.rows[*k].stopped).collect();
            let changes = face.direction(&moving, ridge * typical, sum, self.rho > 0.0).and_then(|(direction, b)| {
                self.b += b;
                face.rows.iter_mut().for_each(|row| row.slope += b);
                face.shortened(&moving, &direction)
            });
            let Some(changes) = changes else {
                ridge *= GROWTH;
                if ridge > 1.0 || moving.is_empty() {
                    break;
                }
                continue;
            };
            sum += changes.iter().sum::<f64>();
            face.change(&moving, &changes);
            if moving.iter().all(|k| !face.rows[*k].stopped) {
                break;
            }
        }
        for row in face.rows {
            let ((low, high), c) = (row.ends, row.c);
            // An end is where it is, whatever was multiplied and divided.
            let g = if row.a <= c * low {
                low
            } else if row.a >= c * high {
                high
            } else {
                row.a / c
            };
            self.set(row.number, g);
        }
        Ok(())
    }

    fn free_row(&self, number: usize) -> FreeRow {
        let row = &self.rows[number];
        let (mut low, mut high) = (row.loss.low, row.loss.high);
        // A kink at zero ends the piece.
        let kink = row.loss.kink.copysign(row.g);
        if kink > 0.0 {
            low = 0.0;
        } else if kink < 0.0 {
            high = 0.0;
        }
        let slope = self.slope(number) + kink;
        FreeRow { number, c: row.c, a: row.c * row.g, ends: (low, high), slope, stopped: false }
    }
}

impl Face {
    fn new(descent: &Descent<'_>, numbers: &[usize]) -> Self {
        let (f, width) = (numbers.len(), descent.u.len() + 1);
        let (scale, last) = (descent.alpha.sqrt().recip(), descent.rho.sqrt());
        let mut z = Vec::with_capacity(f * width);
        for &number in numbers {
            let mean = descent.means.row(number);
            z.extend(mean.iter().zip(&descent.centre).map(|(x, centre)| scale * (x - centre)));
            z.push(last);
        }
        let mut gram = vec![];
        if f < width {
            gram = vec![0.0; f * f];
            linalg::gram_lower(&z, width, &mut gram);
        }
        Self { rows: numbers.iter().map(|&number| descent.free_row(number)).collect(), z, width, gram }
    }

    /// x with (Z Z' + ridge I) x = b of the moving rows, for some b.
    fn solve(&self, moving: &[usize], ridge: f64, sides: &mut [Vec<f64>]) -> Option<()> {
        let m = moving.len();
        if !self.gram.is_empty() {
            let f = self.rows.len();
            let mut factor = vec![0.0; m * m];
            for (i, &k) in moving.iter().enumerate() {
                factor[i * m..].iter_mut().zip(&moving[..=i]).for_each(|(out, &l)| *out = self.gram[k * f + l]);
                factor[i * m + i] += ridge;
            }
            if !linalg::cholesky(&mut factor, m) {
                return None;
            }
            sides.iter_mut().for_each(|b| linalg::cholesky_solve(&factor, m, b));
            return Some(());
        }
        // (b - Z (Z'Z + ridge I)^-1 Z'b) / ridge
        let n = self.width;
        let z: Vec<f64> = moving.iter().flat_map(|k| &self.z[k * n..][..n]).copied().collect();
        let mut factor = vec![0.0; n * n];
        (0..n).for_each(|j| factor[j * n + j] = ridge);
        linalg::gemm_tn_lower(&z, &z, m, n, &mut factor);
        if !linalg::cholesky(&mut factor, n) {
            return None;
        }
        let all: Vec<u32> = (0..m as u32).collect();
        let mut back = vec![0.0; m];
        for b in sides {
            let mut small = vec![0.0; n];
            add_slices(&z, n, &all, b, Power::One, &mut small);
            linalg::cholesky_solve(&factor, n, &mut small);
            dot_slices(&z, &small, Power::One, &mut back);
            b.iter_mut().zip(&back).for_each(|(b, back)| *b = (*b - back) / ridge);
        }
        Some(())
    }

    /// The step of the moving rows, and of b where there is one: sum a becomes zero.
    fn direction(&self, moving: &[usize], ridge: f64, sum: f64, with_b: bool) -> Option<(Vec<f64>, f64)> {
        if moving.is_empty() {
            return None;
        }
        let mut sides = vec![moving.iter().map(|k| -self.rows[*k].slope).collect::<Vec<f64>>()];
        if with_b {
            sides.push(vec![1.0; moving.len()]);
        }
        self.solve(moving, ridge, &mut sides)?;
        let mut step = sides.swap_remove(0);
        let mut b = 0.0;
        if let Some(even) = sides.first() {
            b = (sum + step.iter().sum::<f64>()) / even.iter().sum::<f64>();
            step.iter_mut().zip(even).for_each(|(s, e)| *s -= b * e);
        }
        (b.is_finite() && step.iter().all(|s| s.is_finite())).then_some((step, b))
    }

    /// Z'changes
    fn image(&self, moving: &[usize], changes: &[f64]) -> Vec<f64> {
        let picks: Vec<u32> = moving.iter().map(|k| *k as u32).collect();
        let mut all = vec![0.0; self.rows.len()];
        moving.iter().zip(changes).for_each(|(k, change)| all[*k] = *change);
        let mut image = vec![0.0; self.width];
        add_slices(&self.z, self.width, &picks, &all, Power::One, &mut image);
        image
    }

    /// Change of the moving rows: the longest of some parts of the step with which the function falls.
    fn shortened(&self, moving: &[usize], direction: &[f64]) -> Option<Vec<f64>> {
        let mut t = 1.0;
        for _ in 0..HALVINGS {
            let change = |(&k, direction): (&usize, &f64)| {
                let FreeRow { a, c, ends: (low, high), .. } = self.rows[k];
                (a + t * direction).clamp(c * low, c * high) - a
            };
            let changes: Vec<f64> = moving.iter().zip(direction).map(change).collect();
            let slope: f64 = moving.iter().zip(&changes).map(|(k, change)| self.rows[*k].slope * change).sum();
            let bend: f64 = self.image(moving, &changes).iter().map(|z| z * z).sum();
            if slope + 0.5 * bend < 0.0 {
                return Some(changes);
            }
            t *= 0.5;
        }
        None
    }

    /// Move the rows; those at an end stop.
    fn change(&mut self, moving: &[usize], changes: &[f64]) {
        let image = self.image(moving, changes);
        let mut slopes = vec![0.0; self.rows.len()];
        dot_slices(&self.z, &image, Power::One, &mut slopes);
        self.rows.iter_mut().zip(&slopes).for_each(|(row, slope)| row.slope += slope);
        for (&k, change) in moving.iter().zip(changes) {
            let row = &mut self.rows[k];
            row.a += change;
            row.stopped = row.is_at_an_end();
        }
    }
}
