//! [`FamilyRows`]: targets of a family as a [`Response`] of the second stage.

use crate::model::law::family::{ACTIVE, Family, Observation};
use crate::model::law::integral::integral;
use crate::model::law::likelihood::{self, At, Response};
use crate::model::law::quadrature::{Integral, NUMBERS};

/// Targets of a family.
pub(super) struct FamilyRows {
    family: &'static dyn Family,
    n_extra: usize,
    seen: Vec<Observation>,
}

impl FamilyRows {
    pub(super) fn new(family: &'static dyn Family, n_extra: usize, seen: Vec<Observation>) -> Self {
        Self { family, n_extra, seen }
    }

    /// The targets of the rows with these numbers.
    pub(super) fn take(&self, rows: impl Iterator<Item = usize>) -> Self {
        Self { seen: rows.map(|i| self.seen[i]).collect(), ..*self }
    }
}

impl Response for FamilyRows {
    fn at<'s>(&'s self, psi: &'s [f64]) -> At<'s> {
        Box::new(move |i, m, v| {
            let seen = self.seen[i];
            let Integral { log, gradient, hessian, d_v } = integral(self.family, seen, (m, v), psi);
            // By v = s^2 in place of s: d/ds = 2 s d/dv. Without variance nothing depends on it.
            let per_s = if v > 0.0 { 0.5 / v.sqrt() } else { 0.0 };
            let bent = if v > 0.0 { (hessian[1][1] - 2.0 * d_v) * 0.25 / v } else { 0.0 };
            let extra = |e: usize| NUMBERS - ACTIVE + e;
            let mut out = likelihood::Local {
                log,
                gradient: [gradient[0], d_v],
                hessian: [hessian[0][0], hessian[0][1] * per_s, bent],
                ..likelihood::Local::default()
            };
            for (e, place) in self.family.active(seen, self.n_extra).into_iter().enumerate() {
                let line = &hessian[extra(e)];
                (out.places[e], out.extra[e]) = (place, gradient[extra(e)]);
                out.mixed[e] = [line[0], line[1] * per_s];
                (0..ACTIVE).for_each(|f| out.second[e][f] = line[extra(f)]);
            }
            out
        })
    }
}
