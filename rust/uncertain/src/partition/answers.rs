//! The sums of a [`Partition`]: one answer per kind of request.

use super::Partition;
use crate::control::Control;
use crate::data::{Collapse, Kind, Labels, RowTargets, Weights};
use crate::deconvolution::{self, with_target};
use crate::error::{Error, Result};
use crate::mixture::Mixture;
use crate::model::line;
use crate::moments::{Moments, moments, scatter};
use crate::objective::{LocalRows, Problem};
use crate::parallel;
use crate::sums::{LinearProblem, Request, RowSums, decode, pack_sums};

impl RowSums for Partition {
    fn sums(&self, requests: &[Request], control: &Control) -> Result<Vec<Vec<f64>>> {
        requests.iter().map(|request| self.sums_of_one(request, control)).collect()
    }
}

impl Partition {
    /// The sums for requests that another process [encoded](crate::sums::encode), as one buffer.
    pub fn answer(&self, requests: &[u8], threads: Option<usize>, control: &Control) -> Result<Vec<f64>> {
        let requests = decode(requests)?;
        let sums = parallel::install(threads, || self.sums(&requests, control))??;
        Ok(pack_sums(self.n_rows(), self.checksum, &sums))
    }

    fn sums_of_one(&self, request: &Request, control: &Control) -> Result<Vec<f64>> {
        control.check()?;
        match request {
            Request::Counts { classes, folds } => self.counts(*classes, (*folds).max(1)),
            Request::Moments { center } => self.moments(center),
            Request::Targets { center } => self.target_moments(*center),
            Request::Value { problem: Some(problem), x, epsilon, hessian } => {
                let here = Request::Value { problem: None, x: x.clone(), epsilon: *epsilon, hessian: *hessian };
                self.value(problem, x.len(), here, control)
            }
            Request::Value { problem: None, .. } => Err(Error::Data("no problem of these rows is stated".into())),
            Request::Scores { class, every, planes } => self.scores(*class, (*every).max(1), planes),
            Request::Em { classes, mixture } => {
                self.check_width(mixture.n_features())?;
                let groups = self.groups(*classes)?;
                deconvolution::sums_of_partition(self.rows(), self.weights.as_ref(), &groups, mixture, control)
            }
            Request::Presence { classes } => self.presence(*classes),
            Request::Scatter { classes, folds, centers } => {
                let folds = (*folds).max(1);
                self.check_width(centers.len() / (*classes).max(1))?;
                let (class_of, fold_of) = (self.class_by_row(*classes)?, |row: usize| self.fold(row, folds));
                scatter(&self.data, *classes, folds, centers, class_of, fold_of, |row| self.weight(row))
            }
            Request::Density { mixture } => {
                self.check_single(mixture)?;
                let (all, weight): (Vec<usize>, _) = ((0..self.n_rows()).collect(), |row: usize| self.weight(row));
                Ok(with_target::Sums::add_up(mixture, self.rows(), &all, &weight, control)?.flat())
            }
            Request::Line(line) => {
                self.check_single(&line.density)?;
                line::answer(line, self.rows(), &self.known_targets()?, control)
            }
        }
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[row])
    }

    fn check_width(&self, d: usize) -> Result<()> {
        self.data.check_features(d)
    }

    /// One component of these features?
    fn check_single(&self, mixture: &Mixture) -> Result<()> {
        if mixture.n_components() != 1 {
            return Err(Error::Data(format!("a law has one component, not {}", mixture.n_components())));
        }
        self.check_width(mixture.n_features())
    }

    fn codes(&self) -> Result<&[u32]> {
        self.columns.codes.as_deref().ok_or_else(|| Error::Data("the rows have no classes".into()))
    }

    /// The class of every row, below `classes`; one for all with 0.
    fn class_by_row(&self, classes: usize) -> Result<impl Fn(usize) -> usize + Sync> {
        let codes = if classes == 0 { None } else { Some(self.codes()?) };
        if let Some(codes) = codes {
            Labels::new(codes.to_vec(), classes)?;
        }
        Ok(move |row: usize| codes.map_or(0, |codes| codes[row] as usize))
    }

    /// The rows of every class; all of them with 0.
    fn groups(&self, classes: usize) -> Result<Vec<Option<Vec<usize>>>> {
        if classes == 0 {
            return Ok(vec![None]);
        }
        let class_of = self.class_by_row(classes)?;
        let mut groups = vec![vec![]; classes];
        (0..self.n_rows()).for_each(|row| groups[class_of(row)].push(row));
        Ok(groups.into_iter().map(Some).collect())
    }

    /// The fold of a row, below `folds`.
    fn fold(&self, row: usize, folds: usize) -> Result<usize> {
        let fold = self.columns.folds.as_ref().filter(|_| folds > 1).map_or(0, |all| all[row] as usize);
        if fold < folds { Ok(fold) } else { Err(Error::Data(format!("row {row} is in fold {fold} of {folds}"))) }
    }

    fn counts(&self, classes: usize, folds: usize) -> Result<Vec<f64>> {
        let class_of = self.class_by_row(classes)?;
        let mut out = vec![0.0; 3 + 2 * classes.max(1) * folds];
        out[0] = self.n_rows() as f64;
        out[2] = if self.data.covariances().kind() == Kind::Zero { 0.0 } else { out[0] };
        for row in 0..self.n_rows() {
            let at = 3 + 2 * (class_of(row) * folds + self.fold(row, folds)?);
            out[1] += self.weight(row);
            out[at] += 1.0;
            out[at + 1] += self.weight(row);
        }
        Ok(out)
    }

    fn moments(&self, center: &[f64]) -> Result<Vec<f64>> {
        let (rows, weight) = (self.rows(), |row: usize| self.weight(row));
        if center.is_empty() {
            let mut out = self.presence_in(0..self.n_rows());
            out.extend(moments(rows, &weight, Moments::First)?);
            return Ok(out);
        }
        self.check_width(center.len())?;
        let mut out = moments(rows, &weight, Moments::Second(center))?;
        out.extend(moments(rows, &weight, Moments::Inner)?);
        Ok(out)
    }

    /// Per feature the weight of these rows that have it.
    fn presence_in(&self, rows: impl Iterator<Item = usize> + Clone) -> Vec<f64> {
        let gaps = self.rows();
        let seen = |j: usize| rows.clone().filter(|&i| !gaps.is_missing(i, j)).map(|i| self.weight(i)).sum();
        (0..self.data.n_features()).map(seen).collect()
    }

    fn presence(&self, classes: usize) -> Result<Vec<f64>> {
        let mut out = vec![];
        for group in self.groups(classes)? {
            let rows: Vec<usize> = group.unwrap_or_else(|| (0..self.n_rows()).collect());
            let total: f64 = rows.iter().map(|&i| self.weight(i)).sum();
            let squares: f64 = rows.iter().map(|&i| self.weight(i).powi(2)).sum();
            out.extend([rows.len() as f64, total, squares]);
            out.extend(self.presence_in(rows.iter().copied()));
        }
        Ok(out)
    }

    fn target_moments(&self, center: f64) -> Result<Vec<f64>> {
        let mut out = vec![0.0, 0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, 0.0];
        for (row, y) in self.targets()?.iter().enumerate() {
            let (c, off) = (self.weight(row), y - center);
            out[0] += c;
            out[1] += c * off;
            out[2] += c * off * off;
            out[3] = out[3].min(*y);
            out[4] = out[4].max(*y);
        }
        out[5] = self.columns.variances.iter().flatten().filter(|t| **t > 0.0).count() as f64;
        Ok(out)
    }

    fn value(&self, of: &LinearProblem, unknowns: usize, request: Request, control: &Control) -> Result<Vec<f64>> {
        self.check_width(unknowns.saturating_sub(1))?;
        let numbers: Vec<f64>;
        let targets = match of.class {
            Some(class) => RowTargets::Class { codes: self.codes()?, class: class as u32 },
            None => {
                numbers = self.targets()?.iter().map(|y| (y - of.center) / of.scale).collect();
                (&numbers).into()
            }
        };
        let variances = self.columns.variances.as_ref().filter(|_| of.class.is_none());
        let variances = variances.map(|t| t.iter().map(|t| t / (of.scale * of.scale)).collect());
        let weights = of.held_out.map_or_else(|| self.weights.clone(), |fold| Some(self.without(fold)));
        let points = of.loss.is_of_points().then(|| self.data.collapse(Collapse::Zero)).transpose()?;
        let problem = Problem {
            data: points.as_ref().unwrap_or(&self.data),
            targets,
            weights: weights.as_ref(),
            alpha: 0.0,
            fit_intercept: true,
            loss: &*of.loss.build(self.n_rows(), variances),
        };
        LocalRows::share(problem, of.share).sum(request, control)
    }

    /// The weights, zero for the rows of a fold.
    fn without(&self, fold: usize) -> Weights {
        let held_out = |row: usize| self.columns.folds.as_ref().is_some_and(|folds| folds[row] as usize == fold);
        let weight = |row| if held_out(row) { 0.0 } else { self.weight(row) };
        Weights::from_shares((0..self.n_rows()).map(weight).collect())
    }

    fn scores(&self, class: usize, every: usize, planes: &[Vec<f64>]) -> Result<Vec<f64>> {
        let Some(folds) = &self.columns.folds else { return Err(Error::Data("the rows are in no folds".into())) };
        let codes = self.codes()?;
        let mut out = vec![];
        for row in (0..self.n_rows()).step_by(every) {
            let Some(x) = planes.get(folds[row] as usize) else {
                return Err(Error::Data(format!("row {row} is in fold {} of {}", folds[row], planes.len())));
            };
            let Some((b, w)) = x.split_last() else { continue };
            self.check_width(w.len())?;
            let mean = self.data.means().row(row).iter().zip(w).map(|(x, w)| x * w).sum::<f64>() + b;
            let std = self.data.covariances().quad(row, w).max(0.0).sqrt();
            out.extend([mean, std, if codes[row] as usize == class { 1.0 } else { -1.0 }, self.weight(row)]);
        }
        Ok(out)
    }
}
