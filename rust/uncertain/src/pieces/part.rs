//! [`Part`]: a piece of the rows of a fit, with what is known of them, that answers questions.

use crate::control::Control;
use crate::data::{Collapse, GaussianArray, Incomplete, Kind, Labels, Targets, Weights};
use crate::deconvolution::{self, with_target};
use crate::error::{Error, Result};
use crate::objective::{self, LocalRows, Partitions, Request};
use crate::parallel;
use crate::readable::readable;

use super::flat::{answers, questions_of};
use super::moments::{Moments, sums};
use super::question::{Problem, Question};
use super::scatter::scatter;

readable! {
    /// Rows of positive weight, and what a fit may want to know of them.
    #[derive(Debug, Clone)]
    pub struct Part {
        /// The rows.
        data: GaussianArray,
        /// All but the weights.
        known: Known,
        weights: Option<Weights>,
        /// Of all numbers, with 52 bits: the same rows have the same.
        checksum: f64 => f64,
    }
}

/// What is known of the rows of a part; every list has one element per row.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// n x d marks of missing features.
    pub missing: Option<Vec<bool>>,
    /// Classes.
    pub codes: Option<Vec<u32>>,
    /// Numbers to predict.
    pub targets: Option<Vec<f64>>,
    /// Their variances.
    pub variances: Option<Vec<f64>>,
    /// Weights > 0.
    pub weights: Option<Vec<f64>>,
    /// Folds of a calibration.
    pub folds: Option<Vec<u32>>,
}

impl Part {
    /// Rows with what is known of them.
    ///
    /// # Errors
    /// No rows, lists of other lengths, weights that are not > 0.
    pub fn new(data: GaussianArray, known: Known) -> Result<Self> {
        let n = data.n_rows();
        if n == 0 {
            return Err(Error::Data("a piece without rows".into()));
        }
        let missing = match known.missing {
            Some(marks) => Incomplete::new(&data, &marks)?.missing().is_some().then_some(marks),
            None => None,
        };
        let lengths = [
            ("labels", known.codes.as_ref().map(Vec::len)),
            ("targets", known.targets.as_ref().map(Vec::len)),
            ("variances of the targets", known.variances.as_ref().map(Vec::len)),
            ("sample_weight", known.weights.as_ref().map(Vec::len)),
            ("folds", known.folds.as_ref().map(Vec::len)),
        ];
        if let Some((what, len)) = lengths.into_iter().find_map(|(what, len)| Some((what, len.filter(|l| *l != n)?))) {
            return Err(Error::shape(what, format!("{n}, one per row"), len));
        }
        let weights = known.weights.map(Weights::new).transpose()?;
        if weights.as_ref().is_some_and(|weights| weights.contains(&0.0)) {
            return Err(Error::Data("rows of weight 0 must be left out of a piece".into()));
        }
        let known = Known { missing, weights: None, ..known };
        let mut part = Self { data, known, weights, checksum: 0.0 };
        part.checksum = part.hash();
        Ok(part)
    }

    /// The rows.
    #[must_use]
    pub fn rows(&self) -> Incomplete<'_> {
        Incomplete::from_parts(&self.data, self.known.missing.as_deref(), None)
    }

    /// What is known of them.
    #[must_use]
    pub fn known(&self) -> Known {
        Known { weights: self.weights.as_ref().map(|w| w.to_vec()), ..self.known.clone() }
    }

    /// The same knowledge of other rows: those that a transform made of these.
    ///
    /// # Errors
    /// Another number of rows.
    pub fn moved(&self, data: GaussianArray, missing: Option<Vec<bool>>) -> Result<Self> {
        Self::new(data, Known { missing, ..self.known() })
    }

    /// The same knowledge of rows that have their target as the last feature.
    ///
    /// # Errors
    /// No targets.
    pub fn with_target(&self) -> Result<Self> {
        let mut targets = Targets::new(self.targets()?.to_vec())?;
        if let Some(variances) = &self.known.variances {
            targets = targets.with_variances(variances.clone())?;
        }
        let (data, missing) = with_target::Joint::of(self.rows(), &targets)?.into_parts();
        self.moved(data, missing)
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.data.n_rows()
    }

    fn hash(&self) -> f64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut add = |bits: u64| hash = (hash ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let mut add_rows = |rows: &crate::data::Rows| {
            for (_, segment) in rows.segments(0..rows.n_rows()) {
                segment.iter().for_each(|x| add(x.to_bits()));
            }
        };
        add_rows(self.data.means());
        self.data.covariances().fields().iter().for_each(|field| add_rows(&field.values));
        [&self.known.codes, &self.known.folds].into_iter().flatten().flatten().for_each(|code| add(u64::from(*code)));
        [&self.known.targets, &self.known.variances].into_iter().flatten().flatten().for_each(|x| add(x.to_bits()));
        self.weights.iter().flat_map(|w| w.iter()).for_each(|x| add(x.to_bits()));
        self.known.missing.iter().flatten().for_each(|gone| add(u64::from(*gone)));
        (hash >> 12) as f64
    }

    /// The answers to questions in flat form, as one buffer.
    ///
    /// # Errors
    /// Questions of another version, or about what is not known here; [`Error::Interrupted`].
    pub fn answer(&self, questions: &[f64], threads: Option<usize>, control: &Control) -> Result<Vec<f64>> {
        let questions = questions_of(questions)?;
        let all = parallel::install(threads, || {
            questions.iter().map(|question| self.answer_one(question, control)).collect::<Result<Vec<_>>>()
        })??;
        Ok(answers(self.n_rows(), self.checksum, &all))
    }

    fn answer_one(&self, question: &Question, control: &Control) -> Result<Vec<f64>> {
        control.check()?;
        match question {
            Question::Counts { classes, folds } => self.counts(*classes, *folds),
            Question::Moments { center } => self.moments(center),
            Question::Targets { center } => self.target_moments(*center),
            Question::Value { of, x, epsilon, hessian } => self.value(of, x, *epsilon, *hessian, control),
            Question::Scores { class, every, planes } => self.scores(*class, *every, planes),
            Question::Em { classes, mixture } => {
                self.check_width(mixture.n_features())?;
                let groups = self.groups(*classes)?;
                deconvolution::sums_of_part(self.rows(), self.weights.as_ref(), &groups, mixture, control)
            }
            Question::Seen { classes } => self.seen(*classes),
            Question::Scatter { classes, folds, centers } => {
                self.check_width(centers.len() / (*classes).max(1))?;
                let (class_of, fold_of) = (self.class_of(*classes)?, |row: usize| self.fold(row, *folds));
                scatter(&self.data, *classes, *folds, centers, class_of, fold_of, |row| self.weight(row))
            }
            Question::Law { mixture, coef } => {
                self.check_width(mixture.n_features())?;
                self.check_width(coef.len() + 1)?;
                let (all, weight): (Vec<usize>, _) = ((0..self.n_rows()).collect(), |row: usize| self.weight(row));
                Ok(with_target::Sums::of(coef, mixture, self.rows(), &all, &weight, control)?.flat())
            }
            Question::Residuals { mixture, unit, changes } => {
                self.check_width(mixture.n_features())?;
                let weight = |row: usize| self.weight(row);
                let found = with_target::Residuals::of(mixture, self.rows(), &weight, control)?;
                Ok(found.sums(changes, *unit, &weight)?.concat())
            }
        }
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[row])
    }

    fn check_width(&self, d: usize) -> Result<()> {
        self.data.check_features(d)
    }

    fn codes(&self) -> Result<&[u32]> {
        self.known.codes.as_deref().ok_or_else(|| Error::Data("the rows have no classes".into()))
    }

    fn targets(&self) -> Result<&[f64]> {
        self.known.targets.as_deref().ok_or_else(|| Error::Data("the rows have no targets".into()))
    }

    /// The class of every row, below `classes`; one for all with 0.
    fn class_of(&self, classes: usize) -> Result<impl Fn(usize) -> usize + Sync> {
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
        let class_of = self.class_of(classes)?;
        let mut groups = vec![vec![]; classes];
        (0..self.n_rows()).for_each(|row| groups[class_of(row)].push(row));
        Ok(groups.into_iter().map(Some).collect())
    }

    /// The fold of a row, below `folds`.
    fn fold(&self, row: usize, folds: usize) -> Result<usize> {
        let fold = self.known.folds.as_ref().filter(|_| folds > 1).map_or(0, |all| all[row] as usize);
        if fold < folds { Ok(fold) } else { Err(Error::Data(format!("row {row} is in fold {fold} of {folds}"))) }
    }

    fn counts(&self, classes: usize, folds: usize) -> Result<Vec<f64>> {
        let class_of = self.class_of(classes)?;
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
            let mut out = self.seen_by(0..self.n_rows());
            out.extend(sums(rows, &weight, Moments::First)?);
            return Ok(out);
        }
        self.check_width(center.len())?;
        let mut out = sums(rows, &weight, Moments::Second(center))?;
        out.extend(sums(rows, &weight, Moments::Inner)?);
        Ok(out)
    }

    /// Per feature the weight of these rows that have it.
    fn seen_by(&self, rows: impl Iterator<Item = usize> + Clone) -> Vec<f64> {
        let gaps = self.rows();
        let seen = |j: usize| rows.clone().filter(|&i| !gaps.is_missing(i, j)).map(|i| self.weight(i)).sum();
        (0..self.data.n_features()).map(seen).collect()
    }

    fn seen(&self, classes: usize) -> Result<Vec<f64>> {
        let mut out = vec![];
        for group in self.groups(classes)? {
            let rows: Vec<usize> = group.unwrap_or_else(|| (0..self.n_rows()).collect());
            let total: f64 = rows.iter().map(|&i| self.weight(i)).sum();
            let squares: f64 = rows.iter().map(|&i| self.weight(i).powi(2)).sum();
            out.extend([rows.len() as f64, total, squares]);
            out.extend(self.seen_by(rows.iter().copied()));
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
        out[5] = self.known.variances.iter().flatten().filter(|t| **t > 0.0).count() as f64;
        Ok(out)
    }

    fn value(&self, of: &Problem, x: &[f64], epsilon: f64, hessian: bool, control: &Control) -> Result<Vec<f64>> {
        self.check_width(x.len().saturating_sub(1))?;
        let targets: Vec<f64> = match of.class {
            Some(class) => self.codes()?.iter().map(|&code| if code as usize == class { 1.0 } else { -1.0 }).collect(),
            None => self.targets()?.iter().map(|y| (y - of.center) / of.scale).collect(),
        };
        let variances = self.known.variances.as_ref().filter(|_| of.class.is_none());
        let variances = variances.map(|t| t.iter().map(|t| t / (of.scale * of.scale)).collect());
        let weights = of.held_out.map_or_else(|| self.weights.clone(), |fold| Some(self.without(fold)));
        let points = of.loss.is_of_points().then(|| self.data.collapse(Collapse::Zero)).transpose()?;
        let problem = objective::Problem {
            data: points.as_ref().unwrap_or(&self.data),
            targets: &targets,
            weights: weights.as_ref(),
            alpha: 0.0,
            fit_intercept: true,
            loss: &*of.loss.build(self.n_rows(), variances),
        };
        LocalRows::share(problem, of.share).sums(&[Request::Value { x, epsilon, hessian }], control)
    }

    /// The weights, zero for the rows of a fold.
    fn without(&self, fold: usize) -> Weights {
        let held_out = |row: usize| self.known.folds.as_ref().is_some_and(|folds| folds[row] as usize == fold);
        let weight = |row| if held_out(row) { 0.0 } else { self.weight(row) };
        Weights::of_share((0..self.n_rows()).map(weight).collect())
    }

    fn scores(&self, class: usize, every: usize, planes: &[Vec<f64>]) -> Result<Vec<f64>> {
        let Some(folds) = &self.known.folds else { return Err(Error::Data("the rows are in no folds".into())) };
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
