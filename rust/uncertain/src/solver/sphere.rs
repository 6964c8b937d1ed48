//! Newton's method on the unit sphere, for functions of a direction that need not be convex.
//!
//! A function with F(k x) = F(x) for all k > 0 has no curvature along x: Newton's method in all unknowns would have one
//! direction too many, and a region to trust that means something else for every length of x. So x keeps the length 1,
//! steps are tangents, p'x = 0, and x + p is brought back to length 1 (Absil, Mahony, Sepulchre, Optimization
//! Algorithms on Matrix Manifolds, 2008, algorithm 10). The gradient is a tangent by itself, and the Hessian on the
//! tangents is that of F. Conjugate gradients within a region follow directions of negative curvature to its border,
//! so the end is a minimum as a rule, never a saddle that was not the start.

use super::trust_region::{TrustStep, step};
use super::{Best, Solution, Status};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::objective::{Derivatives, Evaluation, LinearObjective};
use crate::simd::dot;

/// Radians of the first step at most, and of any.
const FIRST: f64 = 0.5;
const LONGEST: f64 = 1.0;
/// A step that promises less than this part of F is the last one.
const SETTLED: f64 = 1e-14;
/// Residual gradient in a step's equations.
const ACCURACY: f64 = 1e-10;

/// A local minimum near the direction of `start`.
pub(super) fn minimize(
    objective: &LinearObjective<'_>,
    start: &[f64],
    max_iter: usize,
    control: &Control,
) -> Result<Solution> {
    let mut x = unit(start.to_vec());
    let mut e = objective.evaluate(&x, 0.0, Derivatives::Hessian, control)?;
    let mut radius = FIRST;
    for iteration in 0..max_iter {
        control.report(iteration, e.objective, f64::NAN);
        let TrustStep { p, promised, norm } = tangent_step(&e, &x, radius)?;
        if promised <= SETTLED * e.objective {
            return Ok(Best::new(&x, &e).solution(iteration, Status::Converged));
        }
        let there = unit(x.iter().zip(&p).map(|(x, p)| x + p).collect());
        let at = objective.evaluate(&there, 0.0, Derivatives::Hessian, control)?;
        let won = (e.objective - at.objective) / promised;
        if won < 0.25 {
            radius = 0.25 * norm;
        } else if won > 0.75 && norm > 0.9 * radius {
            radius = (2.0 * radius).min(LONGEST);
        }
        if won > 1e-4 {
            (x, e) = (there, at);
        } else if radius < f64::EPSILON {
            return Ok(Best::new(&x, &e).solution(iteration, Status::NoProgress));
        }
    }
    Ok(Best::new(&x, &e).solution(max_iter, Status::MaxIterations))
}

/// The step from x within the radius.
fn tangent_step(e: &Evaluation, x: &[f64], radius: f64) -> Result<TrustStep> {
    let n = x.len();
    let missing = || Error::Internal("a Newton step without a Hessian".into());
    let mut hessian = e.hessian.clone().ok_or_else(missing)?;
    for i in 0..n {
        for j in 0..i {
            hessian[j * n + i] = hessian[i * n + j];
        }
    }
    let mut gradient = e.gradient.clone();
    project(&mut gradient, x);
    step(&gradient, &vec![1.0; n], radius, ACCURACY, 4 * n, |v, out| {
        out.iter_mut().zip(hessian.chunks_exact(n)).for_each(|(o, row)| *o = dot(row, v));
        project(out, x);
        Ok(())
    })
}

/// v without its part along x, of length 1.
fn project(v: &mut [f64], x: &[f64]) {
    let along = dot(v, x);
    v.iter_mut().zip(x).for_each(|(v, x)| *v -= along * x);
}

fn unit(mut x: Vec<f64>) -> Vec<f64> {
    // Divided by the largest first: no square overflows.
    let largest = x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    x.iter_mut().for_each(|x| *x /= largest);
    let length = dot(&x, &x).sqrt();
    x.iter_mut().for_each(|x| *x /= length);
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Covariances, GaussianArray, Rows};
    use crate::loss::MarginError;
    use crate::objective::Problem;
    use crate::testing::Numbers;

    #[test]
    fn it_ends_where_no_direction_is_better_whatever_the_length_of_the_start() {
        let (n, d) = (80, 3);
        let mut numbers = Numbers::new(11);
        let means: Vec<f64> =
            (0..n * d).map(|at: usize| numbers.normal() + if (at / d).is_multiple_of(2) { 0.8 } else { 0.0 }).collect();
        let std: Vec<f64> = (0..n * d).map(|_| 0.2 + numbers.uniform()).collect();
        let covariances = Covariances::from_std(Rows::from_vec(std.clone(), d).unwrap());
        let data = GaussianArray::new(Rows::from_vec(means.clone(), d).unwrap(), covariances).unwrap();
        let targets: Vec<f64> = (0..n).map(|i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 }).collect();
        let loss = &MarginError;
        let problem =
            Problem { data: &data, targets: (&targets).into(), weights: None, alpha: 1.0, fit_intercept: true, loss };
        let objective = problem.unpenalised().unwrap();
        // The measure by its definition.
        let measure = |x: &[f64]| -> f64 {
            let row = |i: usize| {
                let m = targets[i] * ((0..d).map(|j| x[j] * means[i * d + j]).sum::<f64>() + x[d]);
                let v: f64 = (0..d).map(|j| (x[j] * std[i * d + j]).powi(2)).sum();
                if m > 0.0 { v / (v + m * m) } else { 1.0 }
            };
            (0..n).map(row).sum::<f64>() / n as f64
        };
        for start in [[1.0, 1.0, 1.0, 0.0], [1.0, -1.0, 0.5, 0.3], [0.0, 0.2, 1.0, -1.0]] {
            let end = minimize(&objective, &start, 200, &Control::new()).unwrap();
            assert_eq!(end.status, Status::Converged);
            assert!(end.iterations < 60, "{}", end.iterations);
            let x = [end.w.clone(), vec![end.b]].concat();
            let least = measure(&x);
            assert!((least - end.objective).abs() < 1e-12 && least <= measure(&start));
            assert!((dot(&x, &x) - 1.0).abs() < 1e-12);
            for j in 0..=d {
                for h in [1e-4, -1e-4] {
                    let mut moved = x.clone();
                    moved[j] += h;
                    assert!(measure(&moved) >= least - 1e-13, "{j} {h}");
                }
            }
            for k in [-250, 250] {
                let far: Vec<f64> = start.iter().map(|x| x * 10_f64.powi(k)).collect();
                let same = minimize(&objective, &far, 200, &Control::new()).unwrap();
                assert!(same.w.iter().zip(&end.w).all(|(a, b)| (a - b).abs() < 1e-7));
            }
        }
    }
}
