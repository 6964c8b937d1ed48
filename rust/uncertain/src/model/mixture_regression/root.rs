//! T_xx = L L' by its root L, for profiles: their T may lose a direction on the way, where its own elements have a boundary and
//! those of L none.

use crate::data::covariance::{packed_index, packed_len};
use crate::deconvolution::Mixture;
use crate::error::{Error, Result};
use crate::linalg::cholesky;
use crate::model::mixture_regression::information::Information;
use crate::model::mixture_regression::law::moved;

/// What T is raised by along its diagonal, relative to that: beta is read from T_xx^-1 T_xy, of which less would leave rounding.
const RAISED: f64 = 1e-9;

/// L, d x d, of the features of a component.
pub(super) struct Root {
    d: usize,
    l: Vec<f64>,
}

impl Root {
    pub(super) fn new(joint: &Mixture) -> Result<Self> {
        let (d, t) = (joint.n_features() - 1, joint.covariance(0));
        let mut l: Vec<f64> =
            (0..d * d).map(|at| t[packed_index((at / d).max(at % d), (at / d).min(at % d))]).collect();
        if !cholesky(&mut l, d) {
            return Err(Error::Data("the covariance of the features is singular; raise reg_covar".into()));
        }
        Ok(Self { d, l })
    }

    /// Derivatives by L in place of those by T_xx:
    /// dT = dL L' + L dL', and to second order dL dL'.
    pub(super) fn turn(&self, information: &mut Information) {
        let (d, len, first, q) = (self.d, packed_len(self.d), 2 * self.d + 2, information.q);
        let mut by_root = vec![0.0; len * len];
        for (a, b) in (0..d).flat_map(|a| (0..=a).map(move |b| (a, b))) {
            for k in b..d {
                let own = if k == a { 2.0 } else { 1.0 } * self.l[k * d + b];
                by_root[packed_index(a.max(k), a.min(k)) * len + packed_index(a, b)] = own;
            }
        }
        let gradient = information.gradient[first..].to_vec();
        let turned = |values: &[f64], r: usize| -> f64 {
            values.iter().enumerate().map(|(t, x)| x * by_root[t * len + r]).sum()
        };
        (0..len).for_each(|r| information.gradient[first + r] = turned(&gradient, r));
        for p in 0..q {
            let row: Vec<f64> = (0..len).map(|t| information.at(p, first + t)).collect();
            (0..len).for_each(|r| information.set(p, first + r, turned(&row, r)));
        }
        for p in 0..q {
            let column: Vec<f64> = (0..len).map(|t| information.at(first + t, p)).collect();
            (0..len).for_each(|r| information.set(first + r, p, turned(&column, r)));
        }
        for (a, k) in (0..d).flat_map(|a| (0..d).map(move |k| (a, k))) {
            let own = gradient[packed_index(a.max(k), a.min(k))] * if a == k { 2.0 } else { 1.0 };
            for b in 0..=a.min(k) {
                let (p, r) = (first + packed_index(a, b), first + packed_index(k, b));
                information.set(p, r, information.at(p, r) - own);
            }
        }
    }

    /// The component after a part of a step in beta, alpha, s^2, mu_x and L.
    pub(super) fn moved(&self, joint: &Mixture, coef: &[f64], step: &[f64], part: f64) -> Result<Mixture> {
        let (d, t) = (self.d, joint.covariance(0));
        let mut l = self.l.clone();
        for (a, b) in (0..d).flat_map(|a| (0..=a).map(move |b| (a, b))) {
            l[a * d + b] += part * step[2 * d + 2 + packed_index(a, b)];
        }
        let mut whole: Vec<f64> = step[..2 * d + 2].iter().map(|by| part * by).collect();
        for (a, b) in (0..d).flat_map(|a| (0..=a).map(move |b| (a, b))) {
            let product: f64 = (0..=b).map(|k| l[a * d + k] * l[b * d + k]).sum();
            let raised = if a == b { RAISED * t[packed_index(a, a)] } else { 0.0 };
            whole.push(product + raised - t[packed_index(a, b)]);
        }
        moved(joint, coef, &whole, 1.0)
    }
}
