//! EM from a start to convergence, plain or with extrapolated steps; where these take long, L-BFGS goes on.

use std::collections::VecDeque;
use std::ops::Range;

use crate::control::Control;
use crate::deconvolution::factors::Factors;
use crate::deconvolution::passes::PackedRows;
use crate::deconvolution::squarem::extrapolated;
use crate::deconvolution::start::{Sample, Scales};
use crate::deconvolution::update::{floor, floored_all, updated};
use crate::deconvolution::{FittedMixture, Group, Mixture, Observed, Params, Task};
use crate::error::{Error, Result};
use crate::simd::dot;
use crate::simd::mixture::Component;
use crate::solver::{CurvaturePair, MEMORY, Status, direction};

/// Passes after which EM with jumps leaves the rest to L-BFGS, where that can take over.
const SLOW: usize = 20;
/// Steps of L-BFGS in a row that win no more than `tol`, before it ends.
const IDLE: usize = 2;
/// Passes of one line search, and the Wolfe conditions' sufficient increase and decrease of the slope.
const TRIALS: usize = 20;
const INCREASE: f64 = 1e-4;
const CURVATURE: f64 = 0.9;

/// `k` components for these rows.
pub(super) fn fit_components(
    params: &Params,
    observed: Observed<'_>,
    rows: Option<Vec<usize>>,
    k: usize,
    unbiased: bool,
    control: &Control,
) -> Result<FittedMixture> {
    let groups = vec![Group::new(&observed, rows, 0..k)];
    Task { observed, groups, tied: false, unbiased }.fit(params, control)
}

impl Task<'_> {
    /// From the start until it converges.
    pub(super) fn fit(&self, params: &Params, control: &Control) -> Result<FittedMixture> {
        let scales = Sample::new(&self.observed, None, params.seed).scales()?;
        let start = self.start(&scales.scale, params.seed)?;
        let sources = self.groups.iter().map(|group| self.observed.source(group.read(), control));
        let sources = sources.collect::<Result<Vec<_>>>()?;
        let shape = Shape {
            groups: self.groups.iter().map(|group| group.components.clone()).collect(),
            tied: self.tied,
            total: self.groups.iter().map(|group| self.weight(group)).sum(),
            rows: self.groups.iter().map(|group| self.effective_rows(group)).collect(),
            spent: self.spent(),
            smooth: self.groups.iter().all(|group| group.limited.is_empty()),
            exact: self.observed.is_exact() && self.groups.iter().all(|group| group.components.len() == 1),
        };
        Climb::new(&Here { task: self, sources }, shape, params, scales, control).run(start)
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
    sources: Vec<PackedRows<'a>>,
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

/// Parameters that are fitted to the rows.
pub(super) struct Shape {
    /// The components of every group, whose shares sum to 1.
    pub groups: Vec<Range<usize>>,
    /// One T for all components.
    pub tied: bool,
    /// The weight of all rows.
    pub total: f64,
    /// The effective number of rows of every group.
    pub rows: Vec<f64>,
    /// Degrees of freedom per component that the scatter is short of.
    pub spent: Vec<f64>,
    /// Are the sums those of the likelihood's gradient? Of rows with limits they need not be.
    pub smooth: bool,
    /// Is the first step the answer? Of exact rows, under one component each.
    pub exact: bool,
}

/// A mixture, and what a pass over the rows says about it.
struct Point {
    mixture: Mixture,
    components: Vec<Component>,
    sums: Vec<f64>,
    /// Mean log-likelihood per row, and the penalty of `spent`.
    likelihood: f64,
}

/// A point in the coordinates of [`Factors`].
struct Place {
    u: Vec<f64>,
    point: Point,
    /// Minus the likelihood's gradient.
    fall: Vec<f64>,
}

/// One fit on its way.
pub(super) struct Climb<'a> {
    rows: &'a dyn Passes,
    shape: Shape,
    params: &'a Params,
    control: &'a Control,
    /// Unit of every feature.
    scale: Vec<f64>,
    /// Component after component: T is at least diag(floor).
    floor: Vec<f64>,
    /// The rise per row at which it ends.
    tol: f64,
    passes: usize,
    history: Vec<f64>,
}

/// Where a step led.
enum StepOutcome {
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
        scales: Scales,
        control: &'a Control,
    ) -> Self {
        let floor = floor(params, (&shape.groups, &shape.rows, shape.tied), &scales);
        let tol = params.patience(shape.rows.iter().sum());
        Self { rows, shape, params, control, scale: scales.scale, floor, tol, passes: 0, history: vec![] }
    }

    pub(super) fn run(mut self, start: Mixture) -> Result<FittedMixture> {
        let start = self.look(floored_all(&start, &self.floor)?)?;
        self.keep(&start);
        let jumps = self.params.acceleration.is_some() && !self.shape.exact;
        let (last, status) = if jumps { self.squarem(start)? } else { self.em(start)? };
        let n_iter = self.passes - 1;
        Ok(FittedMixture { mixture: last.mixture, history: self.history, n_iter, status, choice: None })
    }

    /// Step by step.
    fn em(&mut self, mut here: Point) -> Result<(Point, Status)> {
        while self.passes <= self.params.max_iter {
            let next = match self.step(&here)? {
                StepOutcome::Up(next) => next,
                StepOutcome::Down(status) => return Ok((here, status)),
            };
            let rise = next.likelihood - here.likelihood;
            here = next;
            if rise <= self.tol {
                return Ok((here, Status::Converged));
            }
        }
        Ok((here, Status::MaxIterations))
    }

    /// Two steps, then a jump along them; without it if it leads down from the first. The jump's pass
    /// is that of the next first step, so that a cycle costs two passes, and three where the jump fails.
    fn squarem(&mut self, mut here: Point) -> Result<(Point, Status)> {
        let mut most = 1.0;
        let mut patient = true;
        while self.passes <= self.params.max_iter {
            if self.passes > SLOW && patient {
                patient = false;
                let converged;
                (here, converged) = self.ascend(here)?;
                if converged {
                    return Ok((here, Status::Converged));
                }
                continue;
            }
            let first = match self.step(&here)? {
                StepOutcome::Up(first) => first,
                StepOutcome::Down(status) => return Ok((here, status)),
            };
            if self.passes > self.params.max_iter {
                let done = first.likelihood - here.likelihood <= self.tol;
                return Ok((first, if done { Status::Converged } else { Status::MaxIterations }));
            }
            let second = self.moved(&first)?;
            let next = match self.jump(&here.mixture, &first, &second, &mut most)? {
                Some(next) => next,
                None if self.passes > self.params.max_iter => return Ok((first, Status::MaxIterations)),
                None => match self.climb(&first, second)? {
                    StepOutcome::Up(next) => next,
                    StepOutcome::Down(status) => return Ok((first, status)),
                },
            };
            let rise = next.likelihood - here.likelihood;
            here = next;
            if rise <= self.tol {
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
        let Some((mixture, length)) = extrapolated(three, &self.shape.groups, &self.scale, *most)? else {
            return Ok(None);
        };
        let found = match floored_all(&mixture, &self.floor).and_then(|mixture| self.look(mixture)) {
            Ok(point) => Some(point),
            // A failure so far out is no error of the data.
            Err(error) if error.is_about_data() => None,
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

    /// L-BFGS from `start` in the coordinates of [`Factors`], and whether it converged.
    fn ascend(&mut self, start: Point) -> Result<(Point, bool)> {
        let Shape { groups, tied, total, spent, smooth, .. } = &self.shape;
        let smooth = *smooth && spent.iter().all(|spent| *spent == 0.0);
        let floor = self.floor.clone();
        let factors = Factors::new(groups, *tied, (&floor, &self.scale), *total);
        let Some(factors) = factors.filter(|_| smooth) else { return Ok((start, false)) };
        let Some(u) = factors.coordinates(&start.mixture) else { return Ok((start, false)) };
        let Some(mut here) = self.place(&factors, u, &start.mixture)? else { return Ok((start, false)) };
        let mut pairs: VecDeque<CurvaturePair> = VecDeque::with_capacity(MEMORY + 1);
        let mut idle = 0;
        while self.passes <= self.params.max_iter && idle < IDLE {
            let p = direction(&here.fall, &pairs, None);
            let Some(next) = self.search(&factors, &here, &p, pairs.is_empty())? else {
                // A stale memory can point nowhere: once more along the gradient.
                if pairs.is_empty() {
                    break;
                }
                pairs.clear();
                continue;
            };
            let s = next.u.iter().zip(&here.u).map(|(a, b)| a - b).collect();
            let y = next.fall.iter().zip(&here.fall).map(|(a, b)| a - b).collect();
            pairs.extend(CurvaturePair::new(s, y));
            if pairs.len() > MEMORY {
                pairs.pop_front();
            }
            let rise = next.point.likelihood - here.point.likelihood;
            idle = if rise <= self.tol { idle + 1 } else { 0 };
            here = next;
            if self.history.last().is_none_or(|last| here.point.likelihood >= *last) {
                self.keep(&here.point);
            }
        }
        let better = here.point.likelihood >= start.likelihood;
        Ok((if better { here.point } else { start }, better && idle == IDLE))
    }

    /// The point with these coordinates, if it can be computed.
    fn place(&mut self, factors: &Factors<'_>, u: Vec<f64>, like: &Mixture) -> Result<Option<Place>> {
        let look = |climb: &mut Self| -> Result<Place> {
            let point = climb.look(factors.mixture(&u, like))?;
            let mut fall = factors.gradient(&u, &point.mixture, &point.components, &point.sums)?;
            fall.iter_mut().for_each(|g| *g = -*g);
            Ok(Place { u: u.clone(), point, fall })
        };
        match look(self) {
            Ok(place) if place.fall.iter().all(|g| g.is_finite()) => Ok(Some(place)),
            Err(error) if !error.is_about_data() => Err(error),
            // A failure so far out is no error of the data.
            _ => Ok(None),
        }
    }

    /// A point along p that satisfies the weak Wolfe conditions, by bisection; or at least a better one.
    fn search(&mut self, factors: &Factors<'_>, here: &Place, p: &[f64], first: bool) -> Result<Option<Place>> {
        let slope = -dot(&here.fall, p);
        if !(slope > 0.0) {
            return Ok(None);
        }
        let (mut low, mut high) = (0.0, f64::INFINITY);
        let mut t = if first { 1.0_f64.min(1.0 / dot(p, p).sqrt()) } else { 1.0 };
        let mut found: Option<Place> = None;
        for _ in 0..TRIALS {
            if self.passes > self.params.max_iter {
                break;
            }
            let u = here.u.iter().zip(p).map(|(u, p)| u + t * p).collect();
            let place = self.place(factors, u, &here.point.mixture)?;
            let rise = place.as_ref().map_or(f64::NEG_INFINITY, |at| at.point.likelihood - here.point.likelihood);
            match place.filter(|_| rise >= INCREASE * t * slope) {
                None => high = t,
                Some(at) => {
                    let steep = -dot(&at.fall, p) > CURVATURE * slope;
                    if found.as_ref().is_none_or(|best| at.point.likelihood >= best.point.likelihood) {
                        found = Some(at);
                    }
                    if !steep {
                        break;
                    }
                    low = t;
                }
            }
            t = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * t };
        }
        Ok(found)
    }

    fn step(&mut self, here: &Point) -> Result<StepOutcome> {
        let next = self.moved(here)?;
        self.climb(here, next)
    }

    /// A step of EM from `here` leads to `next`.
    fn climb(&mut self, here: &Point, next: Mixture) -> Result<StepOutcome> {
        let next = self.look(next)?;
        let fall = here.likelihood - next.likelihood;
        if fall > 0.0 {
            let rounding = fall <= 1e-9 * (1.0 + here.likelihood.abs());
            return Ok(StepOutcome::Down(if rounding { Status::Converged } else { Status::NoProgress }));
        }
        self.keep(&next);
        Ok(StepOutcome::Up(next))
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
