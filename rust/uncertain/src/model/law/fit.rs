//! From rows and targets to a law.

use std::ops::Range;

use crate::control::Control;
use crate::data::weights::Worth;
use crate::data::{Incomplete, Modes, Weights};
use crate::error::{Error, Result};
use crate::linalg::Spd;
use crate::model::clusters;
use crate::model::error_scale::{check_features, fit_features};
use crate::model::law::bias;
use crate::model::law::coordinates::Coordinates;
use crate::model::law::errors::covariance;
use crate::model::law::family::{Observation, Weighted};
use crate::model::law::family_rows::FamilyRows;
use crate::model::law::likelihood::Likelihood;
use crate::model::law::newton::{Maximum, Problem, square};
use crate::model::law::profile::intervals;
use crate::model::law::scaled_noise::ScaledNoise;
use crate::model::law::truths::Truths;
use crate::model::law::{Estimates, FamilyKind, Model, ValidParams};
use crate::model::shared_features;
use crate::parallel;
use crate::solver::Status;
use crate::special::quantile;

/// Data of a fit.
#[derive(Debug, Clone)]
pub struct Observations<'a> {
    /// Readings of the features.
    pub rows: Incomplete<'a>,
    /// Counts, sizes, times, or the numbers of classes.
    pub targets: Vec<f64>,
    /// Times that were not reached.
    pub censored: Option<Vec<bool>>,
    /// Terms of the linear predictors with coefficient 1.
    pub offsets: Option<Vec<f64>>,
    /// Weights of the rows.
    pub weights: Option<Weights>,
    /// Groups of rows that depend on one another: standard errors are those of independent groups.
    pub groups: Option<Vec<u32>>,
    /// Classes of the families that have some, else 0.
    pub n_classes: usize,
    /// Errors that rows share, of their linear predictors and of their features.
    pub modes: Modes,
}

impl Observations<'_> {
    fn row(&self, i: usize) -> Weighted {
        Weighted {
            seen: Observation { y: self.targets[i], censored: self.censored.as_ref().is_some_and(|c| c[i]) },
            offset: self.offsets.as_ref().map_or(0.0, |offsets| offsets[i]),
            weight: self.weights.as_ref().map_or(1.0, |weights| weights[i]),
        }
    }

    fn check(&self, kind: FamilyKind) -> Result<()> {
        let (n, family) = (self.rows.n_rows(), kind.name());
        let sizes = [
            ("targets", Some(self.targets.len())),
            ("event", self.censored.as_ref().map(Vec::len)),
            ("offset", self.offsets.as_ref().map(Vec::len)),
            ("groups", self.groups.as_ref().map(Vec::len)),
        ];
        if let Some((what, Some(len))) = sizes.into_iter().find(|(_, len)| len.is_some_and(|len| len != n)) {
            return Err(Error::shape(what, format!("{n}, one per row of data"), len));
        }
        self.rows.check_with(self.weights.as_ref())?;
        self.modes.check(n, self.rows.gaussians().n_features())?;
        if let Some(offsets) = &self.offsets
            && let Some(row) = offsets.iter().position(|o| !o.is_finite())
        {
            return Err(Error::NotFinite { what: "offset".into(), row, column: 0, value: offsets[row] });
        }
        if self.censored.as_ref().is_some_and(|censored| censored.iter().any(|c| *c)) && !kind.is_survival() {
            return Err(Error::Data(format!("event: the family {family:?} has no times that were not reached")));
        }
        for (row, &y) in self.targets.iter().enumerate() {
            if let Some(why) = kind.family().refusal(y) {
                return Err(Error::Data(format!("target: row {row} is {y}; {why} (family {family:?})")));
            }
        }
        let counts = |i: usize| self.row(i).weight > 0.0;
        let kept: Vec<usize> = (0..n).filter(|&i| counts(i)).collect();
        if kind.is_classifier() {
            for class in 0..self.n_classes.max(2) {
                if !kept.iter().any(|&i| self.targets[i] == class as f64) {
                    let what = "a law of classes needs rows of each of at least 2 classes";
                    return Err(Error::Data(format!("{what}; class {class} (counted from 0) has no row with weight")));
                }
            }
        }
        if kept.iter().all(|&i| self.row(i).seen.censored) {
            return Err(Error::Data("event: no event was seen, so nothing tells how long it takes".into()));
        }
        if kept.len() < 2 {
            return Err(Error::Data(format!("a law needs more than one row, but n_samples = {}", kept.len())));
        }
        Ok(())
    }

    /// The rows that count.
    fn without_weightless(&self) -> Result<Option<(Vec<usize>, Weights)>> {
        let kept = self.weights.as_ref().and_then(|w| Some((w, w.positive_rows()?)));
        kept.map(|(w, kept)| Ok((kept.clone(), w.take(&kept)?))).transpose()
    }
}

impl ValidParams {
    /// Fit a law.
    pub(crate) fn fit(&self, problem: &Observations<'_>, control: &Control) -> Result<Model> {
        problem.check(self.0.family)?;
        let Some((kept, weights)) = problem.without_weightless()? else {
            return parallel::install(control.threads(), || self.fit_rows(problem, control))?;
        };
        let pick = |values: &[f64]| -> Vec<f64> { kept.iter().map(|&i| values[i]).collect() };
        let taken = problem.rows.take(&kept)?;
        let problem = Observations {
            rows: taken.view(),
            targets: pick(&problem.targets),
            censored: problem.censored.as_ref().map(|c| kept.iter().map(|&i| c[i]).collect()),
            offsets: problem.offsets.as_deref().map(pick),
            weights: Some(weights),
            groups: problem.groups.as_ref().map(|g| kept.iter().map(|&i| g[i]).collect()),
            n_classes: problem.n_classes,
            modes: problem.modes.take(&kept),
        };
        parallel::install(control.threads(), || self.fit_rows(&problem, control))?
    }

    fn fit_rows(&self, problem: &Observations<'_>, control: &Control) -> Result<Model> {
        if self.0.error_scale.is_some() {
            if problem.modes.k > 0 {
                let why = "error_scale= of features is not for laws with errors that rows share (modes=)";
                return Err(Error::Data(why.into()));
            }
            check_features(problem.rows, |i| problem.row(i).weight)?;
        }
        if problem.modes.of_features.is_empty() {
            self.fit_all(problem, control)
        } else {
            self.fit_features(problem, control)
        }
    }

    /// The fit where features share no errors.
    pub(super) fn fit_all(&self, problem: &Observations<'_>, control: &Control) -> Result<Model> {
        clusters::check(problem.groups.as_deref())?;
        let kind = self.0.family;
        let corrected = self.0.bias_correction.is_some() && self.0.alpha == 0.0;
        let mut fitted = crate::params::Valid(self.0.em.clone()).fit_rows(
            problem.rows,
            problem.weights.as_ref(),
            corrected,
            &control.with_task("density"),
        )?;
        let scale = match self.0.error_scale {
            None => None,
            Some(_) => {
                let control = control.with_task("error bars");
                Some(fit_features(problem.rows, |i| problem.row(i).weight, &fitted.mixture, &control)?)
            }
        };
        let (read, feature_error_scale) = match &scale {
            None => (problem.rows, vec![]),
            Some(scale) => {
                fitted.mixture = scale.mixture.clone();
                (Incomplete::from_parts(&scale.data, problem.rows.missing(), None), scale.factors.clone())
            }
        };
        let control = &control.with_task("law");
        let mut truths = Truths::new(read, &fitted.mixture, control)?;
        let mut naive = truths.naive(problem.rows)?;
        let mut rows: Vec<Weighted> = (0..truths.n).map(|i| problem.row(i)).collect();
        // Weights are relative: standard errors are those of so many rows, or of the repeated rows that weights count.
        let worth = Worth::from_weights(rows.iter().map(|row| row.weight));
        let share = worth.share(rows.len(), rows.iter().map(|row| row.weight).sum());
        rows.iter_mut().for_each(|row| row.weight *= share);
        let coordinates =
            Coordinates::new(&truths, |i| rows[i].weight, self.0.alpha > 0.0, "leave out a feature, or set alpha > 0")?;
        truths.rescale(&coordinates.centre, &coordinates.scale);
        naive.rescale(&coordinates.centre, &coordinates.scale);
        let mixture = coordinates.mixture(&fitted.mixture);
        let Modes { of_targets, k, .. } = &problem.modes;
        let (d, k) = (truths.d, *k);
        shared_features::check(of_targets, k)?;
        let family = kind.family();
        let (b, extra) = family.start(&rows, problem.n_classes);
        let intercept = kind.has_intercept();
        let start = [if intercept { vec![b] } else { vec![] }, vec![0.0; d + k], extra].concat();
        let n_psi = family.n_extra(problem.n_classes);
        let natural = |theta: &[f64]| family.natural(&theta[theta.len() - n_psi..]);
        let numbers: Vec<usize> = (0..rows.len()).collect();
        let scaled =
            scale.as_ref().map(|_| ScaledNoise::new(read, &numbers, &coordinates.scale, &mixture)).transpose()?;
        let response = FamilyRows::new(family, n_psi, rows.iter().map(|row| row.seen).collect());
        let weights: Vec<f64> = rows.iter().map(|row| row.weight).collect();
        let offsets: Vec<f64> = rows.iter().map(|row| row.offset).collect();
        let likelihood = |truths| Likelihood {
            truths,
            response: &response,
            weights: &weights,
            offsets: Some(&offsets),
            modes: of_targets,
            k,
            crossed: None,
            base: &[],
            intercept,
            n_psi,
            scaled: scaled.as_ref(),
            freedom: None,
        };
        let total: f64 = weights.iter().sum();
        let ridges = [vec![self.0.alpha * total; d], vec![1.0; k]].concat();
        let (low, high) = family.bounds();
        let bounds = |infinite: f64, end: f64| [vec![infinite; start.len() - n_psi], vec![end; n_psi]].concat();
        let (lower, upper) = (bounds(f64::NEG_INFINITY, low), bounds(f64::INFINITY, high));
        let problem_of = |truths| Problem {
            likelihood: likelihood(truths),
            remote: None,
            ridges: &ridges,
            lower: &lower,
            upper: &upper,
            control,
        };
        let (of_truths, of_readings) = (problem_of(&truths), problem_of(&naive));
        let groups = problem.groups.as_deref();
        let whole = coordinates.with_exact(k);
        let estimated = |problem: &Problem<'_>, density, at: &Maximum| -> Result<_> {
            let variances = covariance(problem, density, at, &at.free, groups)?;
            let estimates = whole.restored(&at.theta, &variances, &natural(&at.theta), intercept);
            Ok((variances, estimates))
        };
        let best = of_truths.maximum(start.clone(), None)?;
        let corrects = corrected && k == 0 && best.status == Status::Converged;
        let taken =
            if corrects { bias::corrected(of_truths.likelihood, &response, &best, control)? } else { best.clone() };
        let (variances, law) = estimated(&of_truths, Some(&mixture), &taken)?;
        if !law.is_finite() {
            let why = "coefficients or their variances are more than a number can hold; scale the features";
            return Err(Error::Data(why.into()));
        }
        let first = d + usize::from(intercept);
        let integrated = log_integrated(&best, of_truths.likelihood.modes());
        let (law, modes) = law.split(first, k);
        let naive = of_readings.maximum(start.clone(), None)?;
        let naive = estimated(&of_readings, None, &naive)?.1.split(first, k).0;
        let naive = Some(naive).filter(Estimates::is_finite).unwrap_or_else(|| law.unknown());
        let ends = |level: f64| -> Result<Vec<f64>> {
            let ends = intervals(&of_truths, &best, &variances, quantile(0.5 + 0.5 * level))?;
            // They move with the estimate.
            let by = |j: usize| taken.theta[usize::from(intercept) + j] - best.theta[usize::from(intercept) + j];
            Ok(ends.iter().enumerate().map(|(at, end)| (end + by(at / 2)) / coordinates.scale[at / 2]).collect())
        };
        let profile = self.0.profile.map(ends).transpose()?;
        Ok(Model {
            family: kind,
            n_classes: problem.n_classes,
            report: Some(fitted.report()),
            mixture: fitted.mixture,
            law,
            naive,
            profile,
            modes,
            feature_error_scale,
            log_likelihood: best.at.log / share + integrated,
            n_iter: best.n_iter,
            status: best.status,
        })
    }
}

/// -a'a / 2 - log |I + M'W M| / 2: what Laplace's approximation adds to the log-likelihood at its maximum over a.
fn log_integrated(best: &Maximum, modes: Range<usize>) -> f64 {
    let (numbers, k): (Vec<usize>, usize) = (modes.clone().collect(), modes.len());
    let mut precision = square(&best.at.hessian, &numbers);
    precision.iter_mut().for_each(|h| *h = -*h);
    (0..k).for_each(|a| precision[a * k + a] += 1.0);
    let Some(precision) = Spd::new(precision, k).filter(|_| k > 0) else { return 0.0 };
    -0.5 * best.theta[modes].iter().map(|a| a * a).sum::<f64>() - precision.log_root()
}
