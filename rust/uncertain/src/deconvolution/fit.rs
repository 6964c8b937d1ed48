//! EM from a start to convergence.

use std::ops::Range;

use crate::control::Control;
use crate::data::GaussianArray;
use crate::deconvolution::choose::{self, Choice};
use crate::deconvolution::prepare::prepared;
use crate::deconvolution::start::Sample;
use crate::deconvolution::update::updated;
use crate::deconvolution::{Mixture, Observed};
use crate::error::{Error, Result};
use crate::parallel;
use crate::solver::Status;
use crate::transform::check_weights;

/// How many components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Components {
    /// As many.
    Fixed(usize),
    /// By cross-validated likelihood, at most as many.
    Auto {
        /// The largest number that is tried.
        most: usize,
    },
}

/// Parameters of extreme deconvolution.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Params {
    /// Number of components.
    pub components: Components,
    /// Stop when the mean log-likelihood per row rises by no more than this in one step, >= 0.
    pub tol: f64,
    /// Steps at most, >= 1.
    pub max_iter: usize,
    /// T is at least this part of the features' scale in every direction, in (0, 1).
    pub reg: f64,
    /// Seed of the start, and of the folds of [`Components::Auto`].
    pub seed: u64,
    /// Threads; `None` is the environment's default.
    pub threads: Option<usize>,
}

impl Default for Params {
    fn default() -> Self {
        Self { components: Components::Fixed(1), tol: 1e-6, max_iter: 1000, reg: 1e-6, seed: 0, threads: None }
    }
}

/// A fitted mixture and the way to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// What was found.
    pub mixture: Mixture,
    /// Mean log-likelihood per row, at the start and after every step; it never falls.
    pub history: Vec<f64>,
    /// How it ended.
    pub status: Status,
    /// Cross-validated log-likelihoods behind the number of components, where it was chosen.
    pub choice: Option<Choice>,
}

impl Params {
    /// In range?
    pub fn check(&self) -> Result<()> {
        let least = match self.components {
            Components::Fixed(k) => k,
            Components::Auto { most } => most,
        };
        if least == 0 {
            return Err(Error::parameter("n_components", 0, "at least 1"));
        }
        if !(self.tol >= 0.0 && self.tol.is_finite()) {
            return Err(Error::parameter("tol", self.tol, "a finite number >= 0"));
        }
        if self.max_iter == 0 {
            return Err(Error::parameter("max_iter", 0, "at least 1"));
        }
        if !(self.reg >= 1e-12 && self.reg < 1.0) {
            return Err(Error::parameter("reg_covar", self.reg, "at least 1e-12 and below 1"));
        }
        if self.threads == Some(0) {
            return Err(Error::parameter("threads", 0, "at least 1"));
        }
        Ok(())
    }

    /// The mixture behind these rows; `missing` (n x d) marks features that are not there.
    ///
    /// # Errors
    /// Parameters or weights out of range, fewer rows than components, numbers that overflow, [`Error::Interrupted`].
    pub fn fit(
        &self,
        data: &GaussianArray,
        missing: Option<&[bool]>,
        weights: Option<&[f64]>,
        control: &Control,
    ) -> Result<Fitted> {
        self.check()?;
        check_weights(weights, data.n_rows())?;
        let observed = Observed::new(data, missing, weights);
        parallel::install(self.threads, || match self.components {
            Components::Fixed(k) => self.fit_components(observed, None, k, control),
            Components::Auto { most } => {
                let choice = choose::by_likelihood(self, observed, most, control)?;
                let fitted = self.fit_components(observed, None, choice.n_components, control)?;
                Ok(Fitted { choice: Some(choice), ..fitted })
            }
        })?
    }

    pub(super) fn fit_components(
        &self,
        observed: Observed<'_>,
        rows: Option<Vec<usize>>,
        k: usize,
        control: &Control,
    ) -> Result<Fitted> {
        let groups = vec![Group { rows, components: 0..k }];
        Task { observed, groups, tied: false }.fit(self, control)
    }
}

/// Rows that share components: all rows, or those of a class.
pub(crate) struct Group {
    /// `None`: all.
    pub rows: Option<Vec<usize>>,
    pub components: Range<usize>,
}

/// What is to be fitted.
pub(crate) struct Task<'a> {
    pub observed: Observed<'a>,
    pub groups: Vec<Group>,
    /// One T for all components.
    pub tied: bool,
}

impl Task<'_> {
    /// EM until it converges.
    pub fn fit(&self, params: &Params, control: &Control) -> Result<Fitted> {
        let scale = Sample::new(&self.observed, None, params.seed).scale();
        let floor: Vec<f64> = scale.iter().map(|d| params.reg * d).collect();
        let mut mixture = self.start(&scale, params.seed)?;
        let total = self.total_weight();
        let (mut history, mut before) = (vec![], None::<Mixture>);
        let mut status = Status::MaxIterations;
        for iteration in 0.. {
            let components = prepared(&mixture, &self.observed)?;
            let (mut sums, mut likelihood) = (vec![], 0.0);
            for group in &self.groups {
                let own = &components[group.components.clone()];
                let pass = self.observed.sums(group.rows.as_deref(), own, control)?;
                sums.extend(pass.sums);
                likelihood += pass.total / total;
            }
            if !likelihood.is_finite() {
                return Err(Error::Data(
                    "the likelihood of the rows cannot be computed: scale the features, or raise reg_covar".into(),
                ));
            }
            let last = history.last().copied();
            if let (Some(last), Some(kept)) = (last, before.take())
                && likelihood < last
            {
                // A fall can only be rounding: then the point before is as good as it gets.
                let rounding = last - likelihood <= 1e-9 * (1.0 + last.abs());
                status = if rounding { Status::Converged } else { Status::NoProgress };
                mixture = kept;
                break;
            }
            control.report(iteration, likelihood, f64::NAN);
            history.push(likelihood);
            if last.is_some_and(|last| likelihood - last <= params.tol) {
                status = Status::Converged;
                break;
            }
            if iteration == params.max_iter {
                break;
            }
            let groups: Vec<_> = self.groups.iter().map(|g| g.components.clone()).collect();
            let next = updated(&mixture, &components, &sums, &groups, self.tied, &floor)?;
            before = Some(std::mem::replace(&mut mixture, next));
        }
        Ok(Fitted { mixture, history, status, choice: None })
    }

    fn start(&self, scale: &[f64], seed: u64) -> Result<Mixture> {
        let d = scale.len();
        let (mut weights, mut means, mut covariances) = (vec![], vec![], vec![]);
        for group in &self.groups {
            let k = group.components.len();
            let count = self.rows(group).filter(|&i| self.observed.weight(i) > 0.0).take(k).count();
            if count < k {
                return Err(Error::Data(format!("{k} components need at least as many rows, but there are {count}")));
            }
            let sample = Sample::new(&self.observed, group.rows.as_deref(), seed);
            let (w, m, c) = sample.components(k, scale, seed);
            weights.extend(w);
            means.extend(m);
            covariances.extend(c);
        }
        if self.tied {
            // The same for all from the beginning: their mean.
            let (k, len) = (weights.len(), covariances.len() / weights.len());
            let mean: Vec<f64> =
                (0..len).map(|p| (0..k).map(|c| covariances[c * len + p]).sum::<f64>() / k as f64).collect();
            covariances = mean.repeat(k);
        }
        Ok(Mixture::unchecked(weights, means, covariances, d))
    }

    fn rows<'b>(&'b self, group: &'b Group) -> impl Iterator<Item = usize> + 'b {
        let count = group.rows.as_ref().map_or(self.observed.data.n_rows(), Vec::len);
        (0..count).map(|at| group.rows.as_ref().map_or(at, |rows| rows[at]))
    }

    fn total_weight(&self) -> f64 {
        self.groups.iter().flat_map(|g| self.rows(g)).map(|i| self.observed.weight(i)).sum()
    }
}
