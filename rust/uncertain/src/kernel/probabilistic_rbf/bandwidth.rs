//! A bandwidth from the data: the median distance between rows, error bars included.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::{GaussianArray, MixtureArray};
use crate::error::{Error, Result};
use crate::params::check_positive;

/// The bandwidth as the caller wishes it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Bandwidth {
    /// This one.
    Fixed(f64),
    /// [`median_distance`] of the rows.
    Median,
}

impl From<f64> for Bandwidth {
    fn from(sigma: f64) -> Self {
        Self::Fixed(sigma)
    }
}

/// `None` is the median, in JSON the word "median".
impl From<Option<f64>> for Bandwidth {
    fn from(sigma: Option<f64>) -> Self {
        sigma.map_or(Self::Median, Self::Fixed)
    }
}

impl From<Bandwidth> for Option<f64> {
    fn from(sigma: Bandwidth) -> Self {
        match sigma {
            Bandwidth::Fixed(sigma) => Some(sigma),
            Bandwidth::Median => None,
        }
    }
}

impl Bandwidth {
    /// The number for these rows: always the same one, pairs being drawn from one seed.
    pub fn resolve(self, x: &GaussianArray) -> Result<f64> {
        match self {
            Self::Fixed(sigma) => Ok(sigma),
            Self::Median => median_distance(x, 0),
        }
    }

    /// Bandwidth of mixtures: distances between draws of them are those of their moments.
    pub(crate) fn resolve_mixtures(self, x: &MixtureArray) -> Result<f64> {
        match self {
            Self::Fixed(sigma) => Ok(sigma),
            Self::Median => self.resolve(&x.collapse()?),
        }
    }

    /// A usable number, if it is one?
    pub fn check(self) -> Result<()> {
        match self {
            Self::Fixed(sigma) => check_positive("sigma", sigma),
            Self::Median => Ok(()),
        }
    }
}

/// Rows of which all pairs are looked at: the median then does not depend on their order.
const EXACT_ROWS: usize = 2000;
/// Pairs of more rows that are looked at: enough for two digits of the median.
const PAIRS: usize = 4000;

/// The median of sqrt(|x_i - x_j|^2 + tr S_i + tr S_j) over pairs of rows: the root mean square distance of
/// two independent draws.
///
/// All pairs of up to 2000 rows, else 4000 pairs drawn from `seed`.
///
/// # Errors
/// For less than two rows, and when the median is 0 (most rows are the same exact point).
pub fn median_distance(x: &GaussianArray, seed: u64) -> Result<f64> {
    median(x, "sigma", seed)
}

/// [`median_distance`] for the parameter of this name.
pub(crate) fn median(x: &GaussianArray, parameter: &str, seed: u64) -> Result<f64> {
    let (n, d) = (x.n_rows(), x.n_features());
    if n < 2 {
        return Err(Error::Data(format!(
            "{parameter} = \"median\" needs at least two different rows, got {n}; pass a number"
        )));
    }
    let traces: Vec<f64> = (0..n).map(|i| x.covariances().trace(i, d)).collect();
    let distance = |i: usize, j: usize| {
        let squares = x.means().row(i).iter().zip(&*x.means().row(j)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        (squares + traces[i] + traces[j]).sqrt()
    };
    let mut distances: Vec<f64> = if n <= EXACT_ROWS {
        (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| distance(i, j)).collect()
    } else {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let pair = |_| {
            let i = rng.random_range(0..n);
            let j = rng.random_range(0..n - 1);
            (i, if j < i { j } else { j + 1 })
        };
        (0..PAIRS).map(pair).map(|(i, j)| distance(i, j)).collect()
    };
    let middle = distances.len() / 2;
    let (below, upper, _) = distances.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    // Of an even number of distances, the mean of the two in the middle.
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let median = if distances.len().is_multiple_of(2) { lower + (upper - lower) / 2.0 } else { upper };
    if !(median > 0.0 && median.is_finite()) {
        return Err(Error::Data(format!(
            "{parameter} = \"median\": the median distance of the rows is {median}; pass a number"
        )));
    }
    Ok(median)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Covariances, Rows};

    fn line(values: Vec<f64>, std: f64) -> GaussianArray {
        let errors = Rows::from_vec(vec![std; values.len()], 1).unwrap();
        GaussianArray::new(Rows::from_vec(values, 1).unwrap(), Covariances::from_std(errors)).unwrap()
    }

    #[test]
    fn all_pairs_and_their_error_bars_count() {
        // Distances 1, 2, 3, 5, 6, 7 without error bars, the middle ones 3 and 5.
        assert_eq!(median_distance(&line(vec![0.0, 1.0, 3.0, 8.0], 0.0), 0).unwrap(), (3.0 + 5.0) / 2.0);
        // Distances 1, 2, 3: sqrt(2^2 + 2 * 4).
        assert!((median_distance(&line(vec![0.0, 1.0, 3.0], 2.0), 0).unwrap() - 12.0_f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn a_sample_of_many_pairs() {
        // |i - j| of two uniform numbers in (0, 1) has the median 1 - sqrt(1 / 2).
        let uniform = line((0..5000).map(|i| f64::from(i) / 5000.0).collect(), 0.0);
        let median = median_distance(&uniform, 1).unwrap();
        assert!((median - (1.0 - 0.5_f64.sqrt())).abs() < 0.02, "{median}");
        assert_eq!(median, median_distance(&uniform, 1).unwrap());
        assert_ne!(median, median_distance(&uniform, 2).unwrap());
    }

    #[test]
    fn no_scale_in_the_data() {
        assert!(median_distance(&line(vec![1.0], 1.0), 0).is_err());
        assert!(median_distance(&line(vec![1.0; 5], 0.0), 0).unwrap_err().to_string().contains("pass a number"));
    }
}
