//! Fitting: one problem of two classes, or one per class against the rest.

use super::binary::{Binary, Outcome};
use super::{Method, ValidParams, adaptive, margin, total};
use crate::control::Control;
use crate::data::{Collapse, GaussianArray, Labels, Weights};
use crate::error::{Error, Result};
use crate::model::linear::{
    AtZero, LinearClassifier, NearFold, Plan, TwoClasses, classify, fit_one_vs_rest, path_one_vs_rest,
};
use crate::model::penalty_path::TOL;
use crate::parallel;
use crate::solver::SolverKind;
use crate::state::{PenaltyPath, RemoteRows};
use crate::sums::RemoteLoss;

/// A fitted member of the family.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Model {
    /// The hyperplanes with their reports and sigmoids, and all predictions. The reports' objective is
    /// 1/2 |w|^2 + C sum c L at the solution (MPSVC: its measure); the gap is NaN where nothing is certified.
    pub linear: LinearClassifier,
    /// Per hyperplane one radius per row (NaN for rows of weight 0): the one in force, and for MPSVC the one up to which the row's
    /// ellipsoid stays on its side.
    pub radii: Vec<Vec<f64>>,
    /// Per hyperplane the objective after each step of the method.
    pub history: Vec<Vec<f64>>,
}

impl ValidParams {
    /// Fit a model to rows with labels.
    pub(crate) fn fit(&self, data: &GaussianArray, labels: &Labels, control: &Control) -> Result<Model> {
        let p = &self.0;
        let balls = self.balls(data)?;
        let data = balls.as_ref().unwrap_or(data);
        let rule = self.at_zero(p.c);
        let fit = |rows: &TwoClasses<'_>, _: Option<&NearFold<'_>>, control: &Control| {
            let Outcome { solution, radii, history } = self.fit_rows(rows, control)?;
            Ok((solution, (radii, history)))
        };
        let (linear, others) = fit_one_vs_rest(data, labels, &p.calibration, p.options.seed, rule, control, fit)?;
        let (radii, mut history): (Vec<Vec<f64>>, Vec<Vec<f64>>) = others.into_iter().unzip();
        // A machine at w = 0 ends in the objective there.
        for ((steps, w), fit) in history.iter_mut().zip(linear.coef.rows()).zip(&linear.fits) {
            if let Some(last) = steps.last_mut().filter(|_| rule.is_some() && w.iter().all(|w| *w == 0.0)) {
                *last = fit.objective;
            }
        }
        let radii = match labels.weights().and_then(Weights::positive_rows) {
            None => radii,
            Some(kept) => radii.iter().map(|radii| spread_out(radii, &kept, data.n_rows())).collect(),
        };
        Ok(Model { linear, radii, history })
    }

    /// [`fit`](Self::fit) by passes over rows held by other processes, of USVC. The radii are those of the sample's rows.
    pub(super) fn fit_remote(&self, remote: &RemoteRows<'_>, control: &Control) -> Result<Model> {
        let p = &self.0;
        if p.method != Method::Usvc {
            return Err(Error::Data("of this family only USVC is made of sums over the rows".into()));
        }
        let radius = self.radius();
        let loss = RemoteLoss::WorstCase { radius };
        let plan = Plan { loss, fit_intercept: p.fit_intercept, solver: SolverKind::Auto, options: &p.options };
        let alpha = |total: f64| 1.0 / (p.c * total);
        let (mut linear, total) = classify(remote, &plan, &p.calibration, alpha, control)?;
        linear.fits.iter_mut().for_each(|fit| fit.objective *= p.c * total);
        let history = linear.fits.iter().map(|fit| vec![fit.objective]).collect();
        let radii = vec![vec![radius; remote.sample.complete()?.n_rows()]; linear.fits.len()];
        Ok(Model { linear, radii, history })
    }

    /// Held-out log losses of these C, the smallest first, by cross-validation; that of the parameters does not matter,
    /// and all hyperplanes have the same one. The methods choose their starts.
    pub(crate) fn path(
        &self,
        data: &GaussianArray,
        labels: &Labels,
        cs: &[f64],
        control: &Control,
    ) -> Result<PenaltyPath> {
        let balls = self.balls(data)?;
        let data = balls.as_ref().unwrap_or(data);
        let rule = |c| self.at_zero(c);
        path_one_vs_rest(data, labels, cs, rule, control, |rows, c, _, control| {
            let mut params = self.0.clone();
            (params.c, params.options.tol) = (c, params.options.tol.max(TOL));
            Ok(params.check()?.fit_rows(rows, control)?.solution)
        })
    }

    /// When a hyperplane is no better than w = 0; the measure of MPSVC is another.
    fn at_zero(&self, c: f64) -> Option<AtZero> {
        let p = &self.0;
        let rule = AtZero { cost: Some(c), alpha: 0.0, tol: p.options.tol, directed: false };
        Some(rule).filter(|_| p.fit_intercept && p.method != Method::Mpsvc)
    }

    /// The rows as PSVM takes them.
    fn balls(&self, data: &GaussianArray) -> Result<Option<GaussianArray>> {
        let collapse = || data.collapse(Collapse::Isotropic);
        (self.0.method == Method::Psvm).then(|| parallel::run(collapse)?).transpose()
    }

    /// One hyperplane. Rows that are held out are left out.
    fn fit_rows(&self, rows: &TwoClasses<'_>, control: &Control) -> Result<Outcome> {
        let &TwoClasses { data, targets, weights } = rows;
        let Some(kept) = weights.and_then(Weights::positive_rows) else {
            return self.run(&Binary { data, targets, weights, params: self, control });
        };
        let data = data.take(&kept)?;
        let targets = targets.take(&kept);
        let weights = weights.map(|w| w.take(&kept)).transpose()?;
        self.run(&Binary { data: &data, targets: (&targets).into(), weights: weights.as_ref(), params: self, control })
    }

    fn run(&self, binary: &Binary<'_>) -> Result<Outcome> {
        match self.0.method {
            Method::Usvc => {
                let radii = vec![self.radius(); binary.targets.len()];
                let solution = binary.usvc(&radii)?;
                Ok(Outcome { history: vec![solution.objective], solution, radii })
            }
            Method::Tsvc | Method::Psvm => total::fit(binary),
            Method::Ausvc => Ok(adaptive::fit(binary)?.outcome),
            Method::Mpsvc => margin::fit(binary),
        }
    }
}

/// The radii of the rows `kept` among all rows; those without weight have none (NaN).
fn spread_out(radii: &[f64], kept: &[usize], n: usize) -> Vec<f64> {
    let mut all = vec![f64::NAN; n];
    kept.iter().zip(radii).for_each(|(&i, r)| all[i] = *r);
    all
}
