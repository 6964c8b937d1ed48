//! The quadratic program of the labelled rows: what is asked for, and how far a point is from the answer.

use super::system::System;

/// A solution: coefficients and fitted values of the labelled rows.
#[derive(Debug, Clone)]
pub(super) struct Point {
    /// b, zero where a label is not in use.
    pub b: Vec<f64>,
    /// G0 b.
    pub f: Vec<f64>,
    /// Newton steps.
    pub steps: usize,
}

impl Point {
    /// Without coefficients.
    pub(super) fn zero(l: usize) -> Self {
        Self { b: vec![0.0; l], f: vec![0.0; l], steps: 0 }
    }
}

/// Some labels and a threshold.
pub(super) struct Problem<'a> {
    /// Labels in use, ascending.
    pub labels: &'a [usize],
    /// Targets of all labelled rows.
    pub targets: &'a [f64],
    /// Sum of the weights of the labels in use.
    pub total: f64,
    /// xi > 0; infinite for squared loss.
    pub threshold: f64,
}

impl Problem<'_> {
    /// The largest |b_i|.
    pub(super) fn bound(&self, weights: &[f64], i: usize) -> f64 {
        self.threshold * weights[i] / (2.0 * self.total)
    }

    pub(super) fn residual(&self, f: &[f64], i: usize) -> f64 {
        self.targets[i] - f[i]
    }

    /// J.
    pub(super) fn objective(&self, weights: &[f64], point: &Point) -> f64 {
        let xi = self.threshold;
        let loss: f64 = self
            .labels
            .iter()
            .map(|&i| {
                let r = self.residual(&point.f, i).abs();
                weights[i] * if r <= xi { 0.5 * r * r } else { xi * (r - 0.5 * xi) }
            })
            .sum();
        loss / self.total + crate::simd::dot(&point.b, &point.f)
    }

    /// Are the conditions of a solution met but for rounding?
    pub(super) fn is_solution(&self, system: &System, point: &Point) -> bool {
        let rounding = system.rounding(&point.b, self.targets, self.total);
        self.labels.iter().all(|&i| self.error(system.weights(), point, i).abs() <= rounding[i])
    }

    /// 2 W / s_i b_i - H'_xi(r_i), zero at the solution.
    pub(super) fn error(&self, weights: &[f64], point: &Point, i: usize) -> f64 {
        let r = self.residual(&point.f, i).clamp(-self.threshold, self.threshold);
        2.0 * self.total / weights[i] * point.b[i] - r
    }

    /// 2 W / s_i b_i - r_i, the gradient of the program.
    pub(super) fn gradient(&self, weights: &[f64], point: &Point, i: usize) -> f64 {
        2.0 * self.total / weights[i] * point.b[i] - self.residual(&point.f, i)
    }

    /// Largest error of b_i = s_i H'_xi(r_i) / (2 W), relative to the targets or to the threshold, if that is smaller.
    pub(super) fn violation(&self, weights: &[f64], point: &Point) -> f64 {
        let largest = self.labels.iter().fold(f64::MIN_POSITIVE, |m, &i| m.max(self.targets[i].abs()));
        self.labels.iter().map(|&i| self.error(weights, point, i).abs()).fold(0.0, f64::max)
            / largest.min(self.threshold)
    }
}
