//! A quadratic model plus the losses of a few rows, as they are.
//!
//! ```text
//! min over delta  g'delta + delta'H delta / 2 + sum c L(theta + E'delta)
//! ```
//!
//! theta = (d, F'w) of a row at delta = 0, and E are the vectors that move it, [-y x, F]. With the rows' duals
//! nu = (p, h) the minimum over delta is known, H delta = -(g + sum c E nu), so that only nu is left:
//!
//! ```text
//! theta(nu) = theta_0 - G c nu,   theta_0 = theta - E'H^-1 g,   G = E'H^-1 E,
//! ```
//!
//! and every row's own equations ([`super::row`]). Newton's method on them has the matrix M + c G, M being made of
//! blocks whose inverses are products B B': I + B' (sqrt(c) G sqrt(c)) B is factored, which rounding cannot make
//! indefinite. What L exceeds nu'theta by, summed, is the model's duality gap.

use super::row::{ConeRow, Local, norm2};
use crate::control::Control;
use crate::error::Result;
use crate::linalg;

/// The aim is at least this part of the present complementarity.
const BOLDEST: f64 = 1e-4;
/// Iterations at most: 10 to 20 is usual.
const MOST: usize = 60;

/// The rows, and where their elements of nu and theta are.
pub(in crate::solver) struct Corner {
    rows: Vec<ConeRow>,
    /// Row k has the elements `first[k]..first[k + 1]`: p or d, then h or F'w.
    first: Vec<usize>,
}

/// A linearisation at nu.
struct System {
    local: Vec<Local>,
    /// Row k's B: columns of as many elements as it has.
    roots: Vec<Vec<f64>>,
    /// Where row k's columns of B are among those of all rows.
    place: Vec<usize>,
    /// Cholesky factor of I + B' sqrt(c) G sqrt(c) B.
    factor: Vec<f64>,
}

/// A step of the duals and of (lambda, eta) of every row.
struct CornerStep {
    nu: Vec<f64>,
    multipliers: Vec<(f64, f64)>,
}

impl Corner {
    /// The rows, which have `first[k + 1] - first[k]` elements each.
    pub(in crate::solver) fn new(rows: Vec<ConeRow>, first: Vec<usize>) -> Self {
        Self { rows, first }
    }

    /// nu for theta_0 and G (row-major), such that the model's duality gap is at most `enough`, where rounding lets it.
    /// `gap` is what the losses at a theta exceed nu'theta by.
    pub(in crate::solver) fn solve(
        mut self,
        theta0: &[f64],
        g: &[f64],
        enough: f64,
        gap: impl Fn(&[f64], &[f64]) -> f64,
        control: &Control,
    ) -> Result<Vec<f64>> {
        let mut nu = vec![0.0; theta0.len()];
        self.rows.iter().zip(&self.first).for_each(|(row, &at)| nu[at] = row.p);
        let (mut best, mut least) = (nu.clone(), f64::INFINITY);
        for _ in 0..MOST {
            control.check()?;
            let theta = self.theta(theta0, g, &nu);
            let here = gap(&theta, &nu);
            if here < least {
                least = here;
                best.copy_from_slice(&nu);
            }
            if here <= enough {
                break;
            }
            let Some(system) = self.system(g, &nu) else { break };
            let open = self.complementarity(&nu);
            let predictor = self.step(&system, &theta, &nu, 0.0);
            let t = self.longest(&system, &nu, &predictor);
            let (rows, ahead) = self.moved(&nu, &predictor, t);
            let reached = Self { rows, first: self.first.clone() }.complementarity(&ahead) / open;
            let mu = reached.clamp(0.0, 1.0).powi(3).max(BOLDEST) * open;
            let step = self.step(&system, &theta, &nu, mu);
            let t = self.longest(&system, &nu, &step);
            if !(t > 1e-9) || step.nu.iter().any(|v| !v.is_finite()) {
                break;
            }
            (self.rows, nu) = self.moved(&nu, &step, t);
        }
        Ok(best)
    }

    fn elements(&self, k: usize) -> std::ops::Range<usize> {
        self.first[k]..self.first[k + 1]
    }

    /// h of row k
    fn h<'v>(&self, nu: &'v [f64], k: usize) -> &'v [f64] {
        &nu[self.elements(k)][1..]
    }

    /// c nu
    fn weighted(&self, nu: &[f64]) -> Vec<f64> {
        let mut out = nu.to_vec();
        for (k, row) in self.rows.iter().enumerate() {
            out[self.elements(k)].iter_mut().for_each(|v| *v *= row.c);
        }
        out
    }

    fn theta(&self, theta0: &[f64], g: &[f64], nu: &[f64]) -> Vec<f64> {
        let weighted = self.weighted(nu);
        let moved = |row: &[f64]| row.iter().zip(&weighted).map(|(g, v)| g * v).sum::<f64>();
        theta0.iter().zip(g.chunks_exact(theta0.len())).map(|(theta, row)| theta - moved(row)).collect()
    }

    /// Mean complementarity: mu on the central path.
    fn complementarity(&self, nu: &[f64]) -> f64 {
        let total: f64 = self.rows.iter().map(|row| row.c).sum();
        let own = |(k, row): (usize, &ConeRow)| row.c * row.complementarity(norm2(self.h(nu, k)));
        self.rows.iter().enumerate().map(own).sum::<f64>() / total
    }

    /// `None` where the matrix has overflowed.
    fn system(&self, g: &[f64], nu: &[f64]) -> Option<System> {
        let local: Vec<Local> = self.rows.iter().enumerate().map(|(k, row)| row.local(norm2(self.h(nu, k)))).collect();
        let roots: Vec<Vec<f64>> = local.iter().enumerate().map(|(k, at)| at.roots(self.h(nu, k))).collect();
        let mut place = vec![0];
        for (k, root) in roots.iter().enumerate() {
            place.push(place[k] + root.len() / self.elements(k).len());
        }
        let (m, n) = (nu.len(), place[roots.len()]);
        let mut factor = vec![0.0; n * n];
        for k in 0..roots.len() {
            for l in 0..=k {
                let scale = (self.rows[k].c * self.rows[l].c).sqrt();
                for (i, left) in roots[k].chunks_exact(self.elements(k).len()).enumerate() {
                    // a row of B_k' G_kl
                    let mut image = vec![0.0; self.elements(l).len()];
                    for (a, left) in self.elements(k).zip(left) {
                        let part = &g[a * m..][self.elements(l)];
                        image.iter_mut().zip(part).for_each(|(o, g)| *o += scale * left * g);
                    }
                    for (j, right) in roots[l].chunks_exact(image.len()).enumerate() {
                        let product = image.iter().zip(right).map(|(a, b)| a * b).sum::<f64>();
                        factor[(place[k] + i) * n + place[l] + j] = product;
                    }
                }
            }
        }
        (0..n).for_each(|i| factor[i * n + i] += 1.0);
        linalg::cholesky(&mut factor, n).then_some(System { local, roots, place, factor })
    }

    /// The Newton step that aims at mu.
    fn step(&self, system: &System, theta: &[f64], nu: &[f64], mu: f64) -> CornerStep {
        let n = system.place[self.rows.len()];
        let (mut rho, mut inner) = (vec![0.0; nu.len()], vec![0.0; n]);
        for (k, row) in self.rows.iter().enumerate() {
            let theta = &theta[self.elements(k)];
            let rho = &mut rho[self.elements(k)];
            row.residual(&system.local[k], mu, theta[0], &theta[1..], self.h(nu, k), rho);
            for (i, root) in system.roots[k].chunks_exact(rho.len()).enumerate() {
                inner[system.place[k] + i] = row.c.sqrt() * root.iter().zip(&*rho).map(|(b, r)| b * r).sum::<f64>();
            }
        }
        linalg::cholesky_solve(&system.factor, n, &mut inner);
        let mut step = CornerStep { nu: vec![0.0; nu.len()], multipliers: vec![] };
        for (k, row) in self.rows.iter().enumerate() {
            let v = &mut step.nu[self.elements(k)];
            for (i, root) in system.roots[k].chunks_exact(v.len()).enumerate() {
                let by = inner[system.place[k] + i] / row.c.sqrt();
                v.iter_mut().zip(root).for_each(|(v, b)| *v += by * b);
            }
            step.multipliers.push(row.multipliers(&system.local[k], mu, self.h(nu, k), v));
        }
        step
    }

    fn longest(&self, system: &System, nu: &[f64], step: &CornerStep) -> f64 {
        self.rows.iter().enumerate().fold(1.0, |t, (k, row)| {
            row.longest(&system.local[k], t, self.h(nu, k), &step.nu[self.elements(k)], step.multipliers[k])
        })
    }

    fn moved(&self, nu: &[f64], step: &CornerStep, t: f64) -> (Vec<ConeRow>, Vec<f64>) {
        let nu: Vec<f64> = nu.iter().zip(&step.nu).map(|(v, dv)| v + t * dv).collect();
        let rows = self.rows.iter().zip(&self.first).zip(&step.multipliers).map(|((row, &at), (dlambda, deta))| {
            ConeRow { p: nu[at], lambda: row.lambda + t * dlambda, eta: row.eta + t * deta, ..*row }
        });
        (rows.collect(), nu)
    }
}
