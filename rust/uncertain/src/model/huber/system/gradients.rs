//! Conjugate gradients for A - D, preconditioned with a factor of A, D diagonal.
//!
//! A step costs no product with A: z is solved from the residual, so A z is the residual, and A times the direction
//! follows the recurrence of the direction itself.

/// Steps at most.
pub(super) const STEPS: usize = 40;

/// One system on its way. All vectors are zero outside the rows that are free.
pub(super) struct Descent {
    /// Correction of the first guess.
    pub x: Vec<f64>,
    /// The residual.
    pub rest: Vec<f64>,
    direction: Vec<f64>,
    /// A times the direction.
    image: Vec<f64>,
    /// Residual' z of the last step.
    product: f64,
    /// W of the factor minus W of this system.
    behind: f64,
    floor: f64,
}

impl Descent {
    /// From a residual down to `floor`.
    pub(super) fn new(rest: Vec<f64>, behind: f64, floor: f64) -> Self {
        let zero = || vec![0.0; rest.len()];
        let (x, direction, image) = (zero(), zero(), zero());
        Self { x, rest, direction, image, product: 0.0, behind, floor }
    }

    /// One step, and whether this is as far as it gets; z solves A z = residual on the free rows.
    pub(super) fn step(&mut self, z: Vec<f64>, free: &[usize], weights: &[f64]) -> bool {
        if self.behind == 0.0 {
            // The factor is that of the system itself.
            self.x = z;
            return true;
        }
        let next = crate::simd::dot(&self.rest, &z);
        let turn = if self.product > 0.0 { next / self.product } else { 0.0 };
        self.product = next;
        let mut curvature = 0.0;
        for &i in free {
            self.direction[i] = z[i] + turn * self.direction[i];
            self.image[i] = self.rest[i] + turn * self.image[i];
            let own = self.image[i] - 2.0 * self.behind / weights[i] * self.direction[i];
            curvature += self.direction[i] * own;
        }
        if !(curvature > 0.0 && self.product > 0.0) {
            return true;
        }
        let length = self.product / curvature;
        let mut largest = 0.0_f64;
        for &i in free {
            let own = self.image[i] - 2.0 * self.behind / weights[i] * self.direction[i];
            self.x[i] += length * self.direction[i];
            self.rest[i] -= length * own;
            largest = largest.max(self.rest[i].abs());
        }
        largest <= self.floor
    }
}
