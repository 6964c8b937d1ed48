//! From the start to the end: steps of EM, extrapolated.

use super::{FactorAnalysis, unusable};
use crate::control::Control;
use crate::deconvolution::params::LEAST;
use crate::deconvolution::squarem::jump;
use crate::deconvolution::start::{Sample, Scales};
use crate::deconvolution::{FittedMixture, Observed, Params};
use crate::error::Result;
use crate::solver::Status;

/// The longest jumps grow by this factor where they succeed.
const GROWTH: f64 = 4.0;

/// A point on the way, and what a pass over the rows says about it.
struct Place {
    at: FactorAnalysis,
    /// Mean log-likelihood per row.
    likelihood: f64,
    /// EM's step from here.
    next: FactorAnalysis,
}

/// EM from its start to the end.
pub(super) fn climb(
    params: &Params,
    observed: &Observed<'_>,
    r: usize,
    rows: f64,
    control: &Control,
) -> Result<(FactorAnalysis, FittedMixture)> {
    let Scales { scale, .. } = Sample::new(observed, None, params.seed).scales()?;
    let least = params.reg.unwrap_or(LEAST);
    let floor: Vec<f64> = scale.iter().map(|d| least * d).collect();
    let start = FactorAnalysis::start(observed, (&scale, &floor), r, params.seed)?;
    let tol = params.patience(rows);
    let mut climb = Climb { observed, control, scale: &scale, floor: &floor, passes: 0, history: vec![] };
    let (last, status) = climb.run(start, params, tol)?;
    let (n_iter, history) = (climb.passes - 1, climb.history);
    let mixture = last.mixture();
    Ok((last, FittedMixture { mixture, history, n_iter, status, choice: None }))
}

/// One fit on its way.
struct Climb<'a> {
    observed: &'a Observed<'a>,
    control: &'a Control,
    /// Unit of every feature.
    scale: &'a [f64],
    /// The least psi.
    floor: &'a [f64],
    passes: usize,
    history: Vec<f64>,
}

impl Climb<'_> {
    fn look(&mut self, at: FactorAnalysis) -> Result<Place> {
        self.passes += 1;
        let sums = at.sums(self.observed, self.control)?;
        let r = at.rank();
        let [.., total, log] = sums.as_slice() else { return Err(unusable()) };
        debug_assert_eq!(sums.len(), at.d() * (r + 2) + (r + 1) * (r + 1) + 1);
        let (likelihood, next) = (log / total, at.moved(&sums, self.floor)?);
        Ok(Place { at, likelihood, next })
    }

    /// Two steps of EM and a jump along them, or the second step where the jump leads down from the first.
    fn run(&mut self, start: FactorAnalysis, params: &Params, tol: f64) -> Result<(FactorAnalysis, Status)> {
        let mut here = self.look(start)?;
        self.history.push(here.likelihood);
        let mut most = 1.0;
        while self.passes <= params.max_iter {
            let first = self.look(here.next.clone())?;
            let mut best = first;
            if params.acceleration.is_some() && self.passes <= params.max_iter {
                let three = [&here.at, &best.at, &best.next].map(|at| at.coordinates(self.scale));
                if let Some((u, length)) = jump(&three, most) {
                    let at = FactorAnalysis::from_coordinates(&u, self.scale, self.floor, best.at.rank());
                    most = if length >= most { most * GROWTH } else { most };
                    match self.look(at) {
                        Ok(far) if far.likelihood >= best.likelihood => best = far,
                        Err(error) if !error.is_about_data() => return Err(error),
                        // A failure so far out is no error of the data.
                        _ => most = (length / GROWTH).max(1.0),
                    }
                }
            }
            let rise = best.likelihood - here.likelihood;
            if rise < 0.0 {
                // Rounding: the point before is as good as it gets.
                return Ok((here.at, Status::Converged));
            }
            self.history.push(best.likelihood);
            here = best;
            if rise <= tol {
                return Ok((here.at, Status::Converged));
            }
        }
        Ok((here.at, Status::MaxIterations))
    }
}

impl FactorAnalysis {
    /// mu, F and log psi in units of the features.
    fn coordinates(&self, scale: &[f64]) -> Vec<f64> {
        let r = self.rank();
        let mean = self.mean.iter().zip(scale).map(|(m, s)| m / s.sqrt());
        let loadings = self.loadings.iter().enumerate().map(|(p, f)| f / scale[p / r].sqrt());
        let specific = self.specific.iter().zip(scale).map(|(v, s)| (v / s).ln());
        mean.chain(loadings).chain(specific).collect()
    }

    /// Inverse of [`coordinates`](Self::coordinates).
    fn from_coordinates(u: &[f64], scale: &[f64], floor: &[f64], r: usize) -> Self {
        let d = scale.len();
        let specific = u[d + d * r..].iter().zip(scale).zip(floor).map(|((u, s), f)| (u.exp() * s).max(*f)).collect();
        Self {
            mean: u[..d].iter().zip(scale).map(|(m, s)| m * s.sqrt()).collect(),
            loadings: u[d..d + d * r].iter().enumerate().map(|(p, f)| f * scale[p / r].sqrt()).collect(),
            specific,
        }
    }
}
