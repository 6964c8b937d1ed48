//! [`Readings`]: rows whose features and target are one reading, as the law's fit sees them: through sums.

use crate::control::Control;
use crate::data::Incomplete;
use crate::data::covariance::packed_len;
use crate::deconvolution::Mixture;
use crate::deconvolution::with_target::{Residuals, Sums, Weight};
use crate::error::Result;
use crate::sums::{Request, RowSums};

/// Beyond so many features the matrix of all parameters is too large.
pub(super) const MOST_FEATURES: usize = 50;
/// Rows times squared elements of a covariance matrix that are few enough for many passes, and for one.
const WORK: [f64; 2] = [2e9, 5e9];
/// Evenly spaced rows that stand for all where those are more.
const MOST_ROWS: f64 = 20_000.0;

/// For every change of s^2 that is asked for: sum c (a^2 - w), sum c w and sum c w^2 ([`Residuals`]).
pub(super) type Scores<'a> = Box<dyn Fn(&[f64]) -> Result<Vec<[f64; 3]>> + 'a>;

/// Of all rows that count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Total {
    pub rows: usize,
    pub weight: f64,
    /// Of squared weights.
    pub squares: f64,
}

impl Total {
    /// So many rows of average weight, at most half of all.
    pub(super) fn degrees(self, degrees: usize) -> f64 {
        (degrees as f64 * self.squares / self.weight).min(self.weight / 2.0)
    }
}

/// What is asked about the rows.
pub(super) trait Readings {
    fn total(&self) -> Total;

    /// Their sums under a component with this slope.
    fn sums(&self, coef: &[f64], joint: &Mixture, control: &Control) -> Result<Sums>;

    /// The same for standard errors: of some rows where all would take long, and of weights that add up to as many rows
    /// as the weights of all are worth, (sum c)^2 / sum c^2.
    fn informative(&self, coef: &[f64], joint: &Mixture, control: &Control) -> Result<Sums>;

    fn scores<'a>(&'a self, joint: &'a Mixture, control: &'a Control) -> Result<Scores<'a>>;

    /// Changes of s^2 that cost hardly more than one.
    fn at_once(&self) -> usize;

    /// Is it cheap to look at all rows, many times?
    fn affordable(&self, d: usize) -> bool {
        affordable(d, self.total().rows)
    }
}

/// Evenly spaced rows of these, few enough for one look at each.
fn thinned(d: usize, counted: &[usize]) -> Vec<usize> {
    if affordable(d, counted.len()) {
        return counted.to_vec();
    }
    let most = counted.len().min((WORK[1] / work(d)).clamp(1.0, MOST_ROWS) as usize);
    (0..most).map(|k| counted[k * counted.len() / most]).collect()
}

/// Is it cheap to look at all rows, many times?
fn affordable(d: usize, n: usize) -> bool {
    d <= MOST_FEATURES && n as f64 * work(d) <= WORK[0]
}

/// Work per row.
fn work(d: usize) -> f64 {
    (packed_len(d + 1) as f64).powi(2)
}

/// Rows in memory.
pub(super) struct LocalReadings<'a> {
    rows: Incomplete<'a>,
    weight: Weight<'a>,
    counted: Vec<usize>,
    total: Total,
}

impl<'a> LocalReadings<'a> {
    pub(super) fn new(rows: Incomplete<'a>, weight: Weight<'a>) -> Self {
        let counted: Vec<usize> = (0..rows.gaussians().n_rows()).filter(|&i| weight(i) > 0.0).collect();
        let (total, squares) = counted.iter().fold((0.0, 0.0), |(t, s), &i| (t + weight(i), s + weight(i).powi(2)));
        let total = Total { rows: counted.len(), weight: total, squares };
        Self { rows, weight, counted, total }
    }

    /// `informative`, of rows that stand for so many.
    fn standing_for(&self, all: Total, coef: &[f64], joint: &Mixture, control: &Control) -> Result<Sums> {
        let some = thinned(coef.len(), &self.counted);
        let share: f64 = some.iter().map(|&i| (self.weight)(i)).sum::<f64>() / all.weight;
        let of_row = |i: usize| (self.weight)(i) * all.weight / all.squares / share;
        Sums::add_up(coef, joint, self.rows, &some, &of_row, control)
    }
}

impl Readings for LocalReadings<'_> {
    fn total(&self) -> Total {
        self.total
    }

    fn sums(&self, coef: &[f64], joint: &Mixture, control: &Control) -> Result<Sums> {
        Sums::add_up(coef, joint, self.rows, &self.counted, self.weight, control)
    }

    fn informative(&self, coef: &[f64], joint: &Mixture, control: &Control) -> Result<Sums> {
        self.standing_for(self.total, coef, joint, control)
    }

    fn scores<'a>(&'a self, joint: &'a Mixture, control: &'a Control) -> Result<Scores<'a>> {
        let found = Residuals::new(joint, self.rows, self.weight, control)?;
        // A row of exact numbers may have any weight w: everything relative to the largest.
        let unit = found.largest();
        Ok(Box::new(move |changes| found.sums(changes, unit, self.weight)))
    }

    fn at_once(&self) -> usize {
        1
    }
}

/// Rows held by other processes, of which some are here.
pub(super) struct RemoteReadings<'a> {
    rows: &'a dyn RowSums,
    sample: LocalReadings<'a>,
    total: Total,
    /// 1 / w of no row is smaller.
    least: f64,
}

impl<'a> RemoteReadings<'a> {
    pub(super) fn new(rows: &'a dyn RowSums, sample: LocalReadings<'a>, total: Total, least: f64) -> Self {
        Self { rows, sample, total, least }
    }
}

impl Readings for RemoteReadings<'_> {
    fn total(&self) -> Total {
        self.total
    }

    fn sums(&self, coef: &[f64], joint: &Mixture, control: &Control) -> Result<Sums> {
        let request = Request::Law { mixture: joint.clone(), coef: coef.to_vec() };
        Sums::from_flat(coef.len() + 1, &self.rows.sum(request, control)?, 1.0)
    }

    fn informative(&self, coef: &[f64], joint: &Mixture, control: &Control) -> Result<Sums> {
        if !self.affordable(coef.len()) {
            return self.sample.standing_for(self.total, coef, joint, control);
        }
        let request = Request::Law { mixture: joint.clone(), coef: coef.to_vec() };
        let times = self.total.weight / self.total.squares;
        Sums::from_flat(coef.len() + 1, &self.rows.sum(request, control)?, times)
    }

    fn scores<'a>(&'a self, joint: &'a Mixture, control: &'a Control) -> Result<Scores<'a>> {
        let unit = 1.0 / self.least;
        Ok(Box::new(move |changes| {
            let request = Request::Residuals { mixture: joint.clone(), unit, changes: changes.to_vec() };
            let found = self.rows.sum(request, control)?;
            Ok(found.chunks_exact(3).map(|sums| [sums[0], sums[1], sums[2]]).collect())
        }))
    }

    fn at_once(&self) -> usize {
        31
    }
}
