//! From draws to mixtures: posterior chains, bootstraps, realisations of a measurement become rows of a few Gaussian
//! components ([`MixtureArray`]).
//!
//! Every row is an EM fit of its own to its draws, with 1, 2, ... components as long as draws that the fit has not seen
//! become more likely; rows are spread over threads. A row of a thousand draws in two dimensions takes about .4
//! milliseconds, since a pass is a vector kernel over packs of eight draws, its sums are all that an M step needs, and
//! every third step jumps ahead along them (SQUAREM).
//!
//! - Held out are alternating tenths of a row's draws, not single ones: draws of a chain are like their neighbours, and
//!   single ones would choose components for wiggles of the chain. The chosen number is fitted again to all draws.
//! - A further component starts where the fit so far is worst (the least likely tenth of the draws), or all start as
//!   clusters (bisection across the longest axis, then k-means); a few steps decide which.
//! - Draws are shifted by their mean and divided by the deviation of each feature first; T >= 1e-4 in these units keeps a
//!   component from closing in on draws that a chain repeats.
//! - Weights of draws: those under a prior that is to be divided out, 1 / prior(draw).
//!
//! Rejected: held-out likelihood over several folds (the second digit of a choice that costs .001 a draw if wrong),
//! variational mixtures (a prior on weights, for the same answer), kernel density estimates (as many components as draws).

mod model;
mod row;

use crate::data::covariance::{Diagonal, packed_len};
use crate::data::{Covariances, GaussianArray, MixtureArray, Rows, Unit};
use crate::error::{Error, Result};
use crate::memory;
use crate::named::named;
use crate::parallel;
use crate::params::params;

use row::Row;

/// Components of a row at most, where their number is chosen.
pub const MOST_COMPONENTS: usize = 4;

/// Criterion of a further component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Criterion {
    /// Draws that the fit has not seen.
    #[default]
    Draws,
    /// How much nearer the shape gets: for points that are no draws but stand for a known distribution.
    Shape,
}

named!(Criterion, "criterion");

params! {
    /// How mixtures are fitted to draws.
    pub struct Params {
        /// Components of every row; `None`: chosen for each, up to [`MOST_COMPONENTS`].
        n_components: Option<usize> = None,
        /// Criterion of a further component.
        criterion: Criterion = Criterion::Draws,
    }
}

impl Params {
    fn ranges(&self) -> Result<()> {
        crate::params::check_at_least_one("n_components", self.n_components)
    }
}

/// Mixtures, and how many rows have fewer components than were asked for, since their draws are too few.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FromDraws {
    /// A row for every list of draws.
    pub mixtures: MixtureArray,
    /// Rows with fewer components than asked for.
    pub n_fewer: usize,
}

impl Params {
    /// A mixture for every row's draws: row i has the draws `offsets[i] .. offsets[i + 1]`, whose weights, where there are
    /// any, are `weights` >= 0.
    ///
    /// ```
    /// use uncertain::draws;
    /// use uncertain::ndarray::Array1;
    ///
    /// # fn main() -> uncertain::Result<()> {
    /// // Two hundred draws around 0 and as many around 5, in turn.
    /// let values: Array1<f64> = (0..400).map(|k| f64::from(k % 2) * 5.0 + f64::from(k * 37 % 101) / 101.0).collect();
    /// let rows = draws::Params::new().fit(values, &[0, 400], None)?.mixtures;
    /// assert!(rows.components().n_rows() >= 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A row with less than two draws, a number that is not finite, weights that are negative or all zero,
    /// [`Error::Interrupted`].
    pub fn fit(&self, draws: impl Into<Rows>, offsets: &[usize], weights: Option<&[f64]>) -> Result<FromDraws> {
        self.ranges()?;
        let (draws, control) = (&draws.into(), &self.control);
        check(draws, offsets, weights)?;
        let (n, d) = (offsets.len() - 1, draws.width());
        let (asked, criterion) = (self.n_components, self.criterion);
        let parts = parallel::install(control.threads(), || {
            parallel::map_fine(n, |rows| {
                let mut row = Row::new(d, criterion);
                let mut found = vec![];
                for i in rows {
                    control.check()?;
                    row.load(draws, offsets[i]..offsets[i + 1], weights);
                    found.push(row.fit(asked));
                }
                Ok(found)
            })
        })?;
        let parts: Vec<Vec<Fit>> = parts?;
        collect(parts.into_iter().flatten().collect(), d, asked)
    }
}

fn check(draws: &Rows, offsets: &[usize], weights: Option<&[f64]>) -> Result<()> {
    let total = draws.n_rows();
    if offsets.first() != Some(&0) || offsets.last() != Some(&total) || offsets.windows(2).any(|w| w[0] > w[1]) {
        return Err(Error::shape(
            "offsets",
            format!("ascending numbers from 0 to {total}"),
            format!("{}", offsets.len()),
        ));
    }
    if weights.is_some_and(|w| w.len() != total) {
        return Err(Error::shape(
            "weights of draws",
            format!("{total}, one per draw"),
            weights.map_or(0, <[f64]>::len),
        ));
    }
    for (row, own) in offsets.windows(2).enumerate() {
        let count = own[1] - own[0];
        if count < 2 {
            return Err(Error::Data(format!(
                "row {row} has {count} draws; a distribution needs two at least: leave the row out, or give its error bar"
            )));
        }
        let mut sum = 0.0;
        for at in own[0]..own[1] {
            if let Some(j) = draws.row(at).iter().position(|x| !x.is_finite()) {
                let (draw, value) = (at - own[0], draws.row(at)[j]);
                return Err(Error::Data(format!(
                    "row {row}, draw {draw}, feature {j} is {value}; draws must be finite numbers: leave this draw out"
                )));
            }
            if let Some(weight) = weights.map(|w| w[at]) {
                if !(weight >= 0.0 && weight.is_finite()) {
                    let draw = at - own[0];
                    return Err(Error::Data(format!(
                        "row {row}, draw {draw} has the weight {weight}; weights of draws must be numbers >= 0"
                    )));
                }
                sum += weight;
            }
        }
        if weights.is_some() && !(sum > 0.0) {
            return Err(Error::Data(format!("row {row}: the weights of all draws are zero")));
        }
    }
    Ok(())
}

/// All rows as one array.
fn collect(fits: Vec<Fit>, d: usize, asked: Option<usize>) -> Result<FromDraws> {
    let total: usize = fits.iter().map(|fit| fit.weights.len()).sum();
    memory::ask(total, size_of::<f64>() * (1 + d + packed_len(d)))?;
    let (mut offsets, mut weights) = (vec![0], Vec::with_capacity(total));
    let (mut means, mut covariances) = (Vec::with_capacity(total * d), Vec::with_capacity(total * packed_len(d)));
    let mut n_fewer = 0;
    for fit in fits {
        n_fewer += usize::from(asked.is_some_and(|k| fit.weights.len() < k));
        weights.extend(fit.weights);
        means.extend(fit.means);
        covariances.extend(fit.covariances);
        offsets.push(weights.len());
    }
    let triangles = Rows::from_owned(covariances, total, packed_len(d));
    let covariances = match d {
        1 => Diagonal { values: triangles, unit: Unit::Variance }.into(),
        _ => Covariances::triangles_unchecked(triangles),
    };
    let components = GaussianArray::from_checked(Rows::from_owned(means, total, d), covariances);
    Ok(FromDraws { mixtures: MixtureArray::new(components, offsets, weights)?, n_fewer })
}

/// Shares, means and packed covariances.
#[derive(Debug, Clone, Default)]
struct Fit {
    weights: Vec<f64>,
    means: Vec<f64>,
    covariances: Vec<f64>,
}

#[cfg(test)]
mod tests;
