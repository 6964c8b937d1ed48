//! EM from a start to convergence, plain or with extrapolated steps.

use std::ops::Range;

use crate::control::Control;
use crate::deconvolution::passes::Source;
use crate::deconvolution::squarem::extrapolated;
use crate::deconvolution::start::Sample;
use crate::deconvolution::update::{floored_all, updated};
use crate::deconvolution::{Fitted, Group, Mixture, Observed, Params, Task};
use crate::error::{Error, Result};
use crate::simd::mixture::Component;
use crate::solver::Status;

/// `k` components for these rows.
pub(super) fn fit_components(
    params: &Params,
    observed: Observed<'_>,
    rows: Option<Vec<usize>>,
    k: usize,
    unbiased: bool,
    control: &Control,
) -> Result<Fitted> {
    let groups = vec![Group::new(&observed, rows, 0..k)];
    Task { observed, groups, tied: false, unbiased }.fit(params, control)
}

impl Task<'_> {
    /// From the start until it converges.
    pub(super) fn fit(&self, params: &Params, control: &Control) -> Result<Fitted> {
        let scale = Sample::new(&self.observed, None, params.seed).scale();
        let start = self.start(&scale, params.seed)?;
        let sources = self.groups.iter().map(|group| self.observed.source(group.read(), control));
        let sources = sources.collect::<Result<Vec<_>>>()?;
        let shape = Shape {
            groups: self.groups.iter().map(|group| group.components.clone()).collect(),
            tied: self.tied,
            total: self.total_weight(),
            spent: self.spent(),
        };
        Climb::new(&Here { task: self, sources }, shape, params, &scale, control).run(start)
    }
}

/// Passes over the rows of a fit, wherever they are.
pub(super) trait Passes {
    /// The components as these passes know them, their sums one behind the other, and the log-likelihood of each group.
    fn pass(&self, mixture: &Mixture, control: &Control) -> Result<(Vec<Component>, Vec<f64>, Vec<f64>)>;
}

/// Rows in this process.
struct Here<'a> {
    task: &'a Task<'a>,
    sources: Vec<Source<'a>>,
}

impl Passes for Here<'_> {
    fn pass(&self, mixture: &Mixture, control: &Control) -> Result<(Vec<Component>, Vec<f64>, Vec<f64>)> {
        let observed = &self.task.observed;
        let components = observed.components(mixture)?;
        let (mut sums, mut logs) = (vec![], vec![]);
        for (group, source) in self.task.groups.iter().zip(&self.sources) {
            let own = &components[group.components.clone()];
            let mut pass = observed.sums(source, own, control)?;
            if !group.limited.is_empty() {
                let range = group.components.clone();
                let (more, log) = observed.limited_sums(&group.limited, mixture, range, control)?;
                pass.sums.iter_mut().zip(&more).for_each(|(s, x)| *s += x);
                pass.total += log;
            }
            sums.extend(pass.sums);
            logs.push(pass.total);
        }
        Ok((components, sums, logs))
    }
}

/// What is fitted to the rows.
pub(super) struct Shape {
    /// The components of every group, whose shares sum to 1.
    pub groups: Vec<Range<usize>>,
    /// One T for all components.
    pub tied: bool,
    /// The weight of all rows.
    pub total: f64,
    /// Degrees of freedom per component that the scatter is short of.
    pub spent: Vec<f64>,
}

/// A mixture, and what a pass over the rows says about it.
struct Point {
    mixture: Mixture,
    components: Vec<Component>,
    sums: Vec<f64>,
    /// Mean log-likelihood per row, and the penalty of `spent`.
    likelihood: f64,
}

/// One fit on its way.
pub(super) struct Climb<'a> {
    rows: &'a dyn Passes,
    shape: Shape,
    params: &'a Params,
    control: &'a Control,
    /// Unit of every feature.
    scale: &'a [f64],
    /// T is at least diag(floor).
    floor: Vec<f64>,
    passes: usize,
    history: Vec<f64>,
}

/// Where a step led.
enum Step {
    /// Up, or nowhere.
    Up(Point),
    /// Down, which can only be rounding: the point before is as good as it gets.
    Down(Status),
}

impl<'a> Climb<'a> {
    pub(super) fn new(
        rows: &'a dyn Passes,
        shape: Shape,
        params: &'a Params,
        scale: &'a [f64],
        control: &'a Control,
    ) -> Self {
        let floor = scale.iter().map(|d| params.reg * d).collect();
        Self { rows, shape, params, control, scale, floor, passes: 0, history: vec![] }
    }

    pub(super) fn run(mut self, start: Mixture) -> Result<Fitted> {
        let start = self.look(start)?;
        self.keep(&start);
        let (last, status) = if self.params.acceleration.is_some() { self.squarem(start)? } else { self.em(start)? };
        let n_iter = self.passes - 1;
        Ok(Fitted { mixture: last.mixture, history: self.history, n_iter, status, choice: None })
    }

    /// Step by step.
    fn em(&mut self, mut here: Point) -> Result<(Point, Status)> {
        while self.passes <= self.params.max_iter {
            let next = match self.step(&here)? {
                Step::Up(next) => next,
                Step::Down(status) => return Ok((here, status)),
            };
            let rise = next.likelihood - here.likelihood;
            here = next;
            if rise <= self.params.tol {
                return Ok((here, Status::Converged));
            }
        }
        Ok((here, Status::MaxIterations))
    }

    /// Two steps, then a jump along them; without it if it leads down from the first. The jump's pass
    /// is that of the next first step, so that a cycle costs two passes, and three where the jump fails.
    fn squarem(&mut self, mut here: Point) -> Result<(Point, Status)> {
        let mut most = 1.0;
        while self.passes <= self.params.max_iter {
            let first = match self.step(&here)? {
                Step::Up(first) => first,
                Step::Down(status) => return Ok((here, status)),
            };
            if self.passes > self.params.max_iter {
                let done = first.likelihood - here.likelihood <= self.params.tol;
                return Ok((first, if done { Status::Converged } else { Status::MaxIterations }));
            }
            let second = self.moved(&first)?;
            let next = match self.jump(&here.mixture, &first, &second, &mut most)? {
                Some(next) => next,
                None if self.passes > self.params.max_iter => return Ok((first, Status::MaxIterations)),
                None => match self.climb(&first, second)? {
                    Step::Up(next) => next,
                    Step::Down(status) => return Ok((first, status)),
                },
            };
            let rise = next.likelihood - here.likelihood;
            here = next;
            if rise <= self.params.tol {
                return Ok((here, Status::Converged));
            }
        }
        Ok((here, Status::MaxIterations))
    }

    /// The point that three mixtures in a row lead to, unless it is below the second of them. Jumps may become
    /// longer by a factor of 4 while they succeed at full length, and shorter when they fail.
    fn jump(&mut self, here: &Mixture, first: &Point, second: &Mixture, most: &mut f64) -> Result<Option<Point>> {
        const GROWTH: f64 = 4.0;
        let three = [here, &first.mixture, second];
        let Some((mixture, length)) = extrapolated(three, &self.shape.groups, self.scale, *most)? else {
            return Ok(None);
        };
        let found = match floored_all(&mixture, &self.floor).and_then(|mixture| self.look(mixture)) {
            Ok(point) => Some(point),
            // What cannot be computed so far out is no error of the data.
            Err(Error::Data(_)) => None,
            Err(other) => return Err(other),
        };
        if length >= *most {
            *most *= GROWTH;
        }
        match found.filter(|point| point.likelihood >= first.likelihood) {
            Some(point) => {
                self.keep(&point);
                Ok(Some(point))
            }
            None => {
                *most = (length / GROWTH).max(1.0);
                Ok(None)
            }
        }
    }

    fn step(&mut self, here: &Point) -> Result<Step> {
        let next = self.moved(here)?;
        self.climb(here, next)
    }

    /// A step of EM from `here` leads to `next`.
    fn climb(&mut self, here: &Point, next: Mixture) -> Result<Step> {
        let next = self.look(next)?;
        let fall = here.likelihood - next.likelihood;
        if fall > 0.0 {
            let rounding = fall <= 1e-9 * (1.0 + here.likelihood.abs());
            return Ok(Step::Down(if rounding { Status::Converged } else { Status::NoProgress }));
        }
        self.keep(&next);
        Ok(Step::Up(next))
    }

    /// The M step.
    fn moved(&self, here: &Point) -> Result<Mixture> {
        let Shape { groups, tied, spent, .. } = &self.shape;
        updated(&here.mixture, &here.components, &here.sums, groups, *tied, &self.floor, spent)
    }

    /// The E step.
    fn look(&mut self, mixture: Mixture) -> Result<Point> {
        self.passes += 1;
        let (components, sums, logs) = self.rows.pass(&mixture, self.control)?;
        let mut likelihood = logs.iter().fold(0.0, |sum, log| sum + log / self.shape.total);
        for (k, spent) in self.shape.spent.iter().enumerate().filter(|(_, spent)| **spent > 0.0) {
            likelihood += 0.5 * spent / self.shape.total * mixture.log_det(k)?;
        }
        if !likelihood.is_finite() {
            return Err(Error::Data(
                "the likelihood of the rows cannot be computed: scale the features, or raise reg_covar".into(),
            ));
        }
        Ok(Point { mixture, components, sums, likelihood })
    }

    fn keep(&mut self, point: &Point) {
        self.control.report(self.history.len(), point.likelihood, f64::NAN);
        self.history.push(point.likelihood);
    }
}
