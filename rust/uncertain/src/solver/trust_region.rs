//! The trust-region subproblem by preconditioned conjugate gradients (Steihaug 1983).
//!
//! ```text
//! min g'p + p'H p / 2   subject to  |p|_M <= radius,   |p|_M^2 = sum M_j p_j^2
//! ```
//!
//! M is the diagonal of H (or ones): it is the preconditioner, and it makes the region round in units
//! in which every feature matters alike. CG starts from zero, so the first iterate is the Cauchy
//! point, every further one is better, and the norm grows: the step ends at the border when it
//! crosses it or meets a direction without curvature.

use crate::error::Result;
use crate::linalg::dot;

/// A step and what its model promises.
pub(super) struct TrustStep {
    pub p: Vec<f64>,
    /// -(g'p + p'H p / 2)
    pub promised: f64,
    /// |p|_M
    pub norm: f64,
}

/// Solve the subproblem; `product(v, out)` is out = H v. Ends when |r|_(1/M) <= `accuracy` |g|_(1/M).
pub(super) fn step(
    gradient: &[f64],
    m: &[f64],
    radius: f64,
    accuracy: f64,
    max_iter: usize,
    mut product: impl FnMut(&[f64], &mut [f64]) -> Result<()>,
) -> Result<TrustStep> {
    let n = gradient.len();
    let mut p = vec![0.0; n];
    let mut r: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut z: Vec<f64> = (0..n).map(|j| r[j] / m[j]).collect();
    let mut direction = z.clone();
    let mut image = vec![0.0; n];
    let mut rz = dot(&r, &z);
    let stop = accuracy * accuracy * rz;
    let norm2 = |p: &[f64]| (0..n).map(|j| m[j] * p[j] * p[j]).sum::<f64>();
    // H p is kept beside p: the promise needs no further product.
    let mut hp = vec![0.0; n];
    for _ in 0..max_iter {
        if rz <= stop || rz <= f64::MIN_POSITIVE {
            break;
        }
        product(&direction, &mut image)?;
        let curvature = dot(&direction, &image);
        let full = if curvature > 0.0 { rz / curvature } else { f64::INFINITY };
        let inside = |t: f64| {
            t.is_finite() && norm2(&(0..n).map(|j| p[j] + t * direction[j]).collect::<Vec<_>>()) < radius * radius
        };
        let ends = !inside(full);
        let t = if ends { to_border(&p, &direction, m, radius) } else { full };
        if !t.is_finite() {
            break;
        }
        for j in 0..n {
            p[j] += t * direction[j];
            hp[j] += t * image[j];
            r[j] -= t * image[j];
        }
        if ends {
            break;
        }
        (0..n).for_each(|j| z[j] = r[j] / m[j]);
        let next = dot(&r, &z);
        let beta = next / rz;
        rz = next;
        (0..n).for_each(|j| direction[j] = z[j] + beta * direction[j]);
    }
    Ok(TrustStep { promised: -(dot(gradient, &p) + 0.5 * dot(&p, &hp)), norm: norm2(&p).sqrt(), p })
}

/// The t >= 0 with |p + t d|_M = radius.
fn to_border(p: &[f64], d: &[f64], m: &[f64], radius: f64) -> f64 {
    let product = |a: &[f64], b: &[f64]| (0..m.len()).map(|j| m[j] * a[j] * b[j]).sum::<f64>();
    let (dd, pd, pp) = (product(d, d), product(p, d), product(p, p));
    let rest = (radius * radius - pp).max(0.0);
    rest / (pd + (pd * pd + dd * rest).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A positive definite 3 x 3 matrix.
    fn product(v: &[f64], out: &mut [f64]) -> Result<()> {
        let h = [[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]];
        (0..3).for_each(|i| out[i] = dot(&h[i], v));
        Ok(())
    }

    #[test]
    fn a_wide_region_gives_the_newton_step() {
        let g = [1.0, -2.0, 0.5];
        let step = step(&g, &[4.0, 3.0, 2.0], f64::INFINITY, 1e-12, 20, product).unwrap();
        let mut hp = [0.0; 3];
        product(&step.p, &mut hp).unwrap();
        assert!(hp.iter().zip(&g).all(|(a, g)| (a + g).abs() < 1e-10));
        assert!((step.promised + 0.5 * dot(&g, &step.p)).abs() < 1e-10);
    }

    #[test]
    fn a_narrow_region_ends_at_its_border() {
        let m = [4.0, 3.0, 2.0];
        let step = step(&[1.0, -2.0, 0.5], &m, 0.1, 1e-12, 20, product).unwrap();
        assert!((step.norm - 0.1).abs() < 1e-12);
        assert!(step.promised > 0.0);
    }
}
