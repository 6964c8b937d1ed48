//! Squared extrapolation of a slow iteration, SQUAREM (Varadhan, Roland, "Simple and globally convergent methods for
//! accelerating the convergence of any EM algorithm", Scandinavian Journal of Statistics 35, 2008,
//! <https://doi.org/10.1111/j.1467-9469.2007.00585.x>), scheme S3.
//!
//! From u_0 and two steps u_1, u_2 of the iteration, with r = u_1 - u_0 and v = (u_2 - u_1) - r:
//! ```text
//! a = -|r| / |v|,    u = u_0 - 2 a r + a^2 v        (a = -1 is u_2)
//! ```
//! u are numbers without constraints and units: log shares, means over the scale of their feature, and the factor of
//! T = L L' over the same scale, its diagonal as logarithms. T is then positive definite wherever u goes, and a T that EM
//! shrinks like 1/t towards its floor gets there in long jumps.
//!
//! Rejected: Anderson mixing (a history of points and a least-squares problem for little more), T itself as coordinates
//! (jumps end outside the cone just where EM is slow).

use std::ops::Range;

use crate::data::covariance::packed_len;
use crate::deconvolution::Mixture;
use crate::error::Result;

/// The mixture that three in a row lead to, and the length -a of the jump, at most `most`; `None` if they do not move.
/// `groups`: components whose shares sum to 1.
pub(super) fn extrapolated(
    [a, b, c]: [&Mixture; 3],
    groups: &[Range<usize>],
    scale: &[f64],
    most: f64,
) -> Result<Option<(Mixture, f64)>> {
    // A component without rows has no logarithm of a share.
    let alive: Vec<bool> = (0..c.n_components()).map(|k| [a, b, c].iter().all(|m| m.weights()[k] > 0.0)).collect();
    let three = [coordinates(a, &alive, scale)?, coordinates(b, &alive, scale)?, coordinates(c, &alive, scale)?];
    let Some((u, length)) = jump(&three, most) else { return Ok(None) };
    Ok(Some((mixture(&u, &alive, groups, scale, c), length)))
}

/// Where three points in a row lead to, and the length -a of the jump, at most `most`; `None` if they do not move.
pub(super) fn jump([u0, u1, u2]: &[Vec<f64>; 3], most: f64) -> Option<(Vec<f64>, f64)> {
    let (mut rr, mut vv) = (0.0, 0.0);
    for ((x, y), z) in u0.iter().zip(u1).zip(u2) {
        let (r, v) = (y - x, (z - y) - (y - x));
        rr += r * r;
        vv += v * v;
    }
    if !(rr > 0.0 && vv > 0.0) {
        return None;
    }
    let length = (rr / vv).sqrt().clamp(1.0, most);
    let along = |((x, y), z): ((&f64, &f64), &f64)| {
        let (r, v) = (y - x, (z - y) - (y - x));
        x + 2.0 * length * r + length * length * v
    };
    let u: Vec<f64> = u0.iter().zip(u1).zip(u2).map(along).collect();
    u.iter().all(|x| x.is_finite()).then_some((u, length))
}

/// Per component: the log share, the mean, the rows of L (one of them for a T that several share).
fn coordinates(mixture: &Mixture, alive: &[bool], scale: &[f64]) -> Result<Vec<f64>> {
    let d = scale.len();
    let (mut u, mut l) = (vec![], vec![]);
    for (k, alive) in alive.iter().enumerate() {
        u.push(if *alive { mixture.weights()[k].ln() } else { 0.0 });
        u.extend(mixture.mean(k).iter().zip(scale).map(|(m, s)| m / s.sqrt()));
        if k == 0 || mixture.covariance(k) != mixture.covariance(k - 1) {
            l = mixture.root(k)?;
        }
        for i in 0..d {
            let unit = scale[i].sqrt();
            u.extend((0..i).map(|j| l[i * d + j] / unit));
            u.push((l[i * d + i] / unit).ln());
        }
    }
    Ok(u)
}

/// Inverse of [`coordinates`]; components that are not `alive` keep the share that they have in `last`.
fn mixture(u: &[f64], alive: &[bool], groups: &[Range<usize>], scale: &[f64], last: &Mixture) -> Mixture {
    let d = scale.len();
    let (mut weights, mut means, mut covariances) = (vec![], vec![], vec![]);
    let mut before: &[f64] = &[];
    for (k, u) in u.chunks_exact(1 + d + packed_len(d)).enumerate() {
        weights.push(if alive[k] { u[0].exp() } else { last.weights()[k] });
        means.extend(u[1..=d].iter().zip(scale).map(|(m, s)| m * s.sqrt()));
        if u[1 + d..] == *before {
            covariances.extend_from_within(covariances.len() - packed_len(d)..);
            continue;
        }
        before = &u[1 + d..];
        let mut l = before.to_vec();
        for i in 0..d {
            let row = &mut l[packed_len(i)..packed_len(i + 1)];
            row[i] = row[i].exp();
            row.iter_mut().for_each(|x| *x *= scale[i].sqrt());
        }
        let row = |i: usize| &l[packed_len(i)..packed_len(i + 1)];
        for i in 0..d {
            covariances.extend((0..=i).map(|j| row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum::<f64>()));
        }
    }
    for group in groups {
        let total: f64 = weights[group.clone()].iter().sum();
        weights[group.clone()].iter_mut().for_each(|w| *w /= total);
    }
    Mixture::unchecked(weights, means, covariances, d)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(weights: [f64; 2], shift: f64, size: f64) -> Mixture {
        let means = vec![1.0 + shift, 200.0 - 100.0 * shift, -1.0, 50.0];
        let t = vec![size, 30.0 * size, 4000.0 * size, 2.0, -20.0, 9000.0];
        Mixture::unchecked(weights.to_vec(), means, t, 2)
    }

    #[test]
    fn one_jump_ends_a_geometric_approach() {
        // Distances from the limit halve (nearly, in these coordinates): |r| = 2 |v|, so u = u_0 + 4 r + 4 v, which is the limit.
        let limit = at([0.2, 0.8], 0.0, 1.0);
        let path = [1.0, 0.5, 0.25].map(|x: f64| {
            let odds = 0.25 * x.exp();
            let mut m = at([odds / (1.0 + odds), 1.0 / (1.0 + odds)], 0.1 * x, (0.6 * x).exp());
            m = Mixture::unchecked(m.weights().to_vec(), m.means().to_vec(), m.covariances().to_vec(), 2);
            m
        });
        let scale = [1.0, 4000.0];
        let [a, b, c] = &path;
        let all = 0..2;
        let groups = std::slice::from_ref(&all);
        let (found, length) = extrapolated([a, b, c], groups, &scale, 100.0).unwrap().unwrap();
        assert!((length - 2.0).abs() < 0.1, "{length}");
        let off = |m: &Mixture| {
            let near = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x / y - 1.0).abs()).fold(0.0, f64::max);
            near(m.means(), limit.means()).max(near(m.covariances(), limit.covariances()))
        };
        assert!(off(&found) < 0.15 * off(c), "{} {}", off(&found), off(c));
        assert!((found.weights().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // A jump of length 1 is the second step.
        let (short, length) = extrapolated([a, b, c], groups, &scale, 1.0).unwrap().unwrap();
        assert_eq!(length, 1.0);
        assert!(off(&short) > 0.0 && (short.means()[0] - c.means()[0]).abs() < 1e-12);
        assert!(extrapolated([c, c, c], groups, &scale, 4.0).unwrap().is_none());
    }
}
