//! [`Targets`]: the number that belongs to every row, and how well it is known.

use crate::data::weights::{Weights, supervision};
use crate::error::{Error, Result};
use crate::readable::readable;

readable! {
    /// Targets of a regression: a number per row, its variance if it is uncertain itself, and a weight if rows
    /// count differently.
    ///
    /// ```
    /// use uncertain::data::Targets;
    ///
    /// # fn main() -> uncertain::Result<()> {
    /// let targets = Targets::new(vec![1.0, 3.0])?.with_variances(vec![0.01, 0.04])?.with_weights(vec![1.0, 2.0])?;
    /// assert_eq!(targets.len(), 2);
    /// assert!(Targets::new(vec![1.0, f64::NAN]).is_err());
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct Targets {
        /// The numbers.
        values: Vec<f64> => &[f64],
        /// Their variances, where they were given.
        variances: Option<Vec<f64>> => Option<&[f64]>,
        /// Covariances of their errors with those of the features, n x d, where they were given.
        feature_covariances: Option<Vec<f64>> => Option<&[f64]>,
        /// Which of them are limits, where some are.
        limits: Option<Vec<i8>> => Option<&[i8]>,
        /// The weights, where they were given.
        weights: Option<Weights> => Option<&Weights>,
    }
}

impl Targets {
    /// Targets from finite numbers.
    pub fn new(values: Vec<f64>) -> Result<Self> {
        if values.is_empty() {
            return Err(Error::Data("there are no rows to fit".into()));
        }
        match values.iter().position(|y| !y.is_finite()) {
            Some(row) => Err(Error::NotFinite { what: "targets".into(), row, column: 0, value: values[row] }),
            None => Ok(Self { values, variances: None, feature_covariances: None, limits: None, weights: None }),
        }
    }

    /// These targets with one variance >= 0 per row, that of the target's error.
    pub fn with_variances(self, variances: Vec<f64>) -> Result<Self> {
        let what = || "variances of the targets".to_owned();
        if variances.len() != self.len() {
            return Err(Error::shape(what(), format!("{}, one per row of data", self.len()), variances.len()));
        }
        for (row, &value) in variances.iter().enumerate() {
            if !value.is_finite() {
                return Err(Error::NotFinite { what: what(), row, column: 0, value });
            }
            if value < 0.0 {
                return Err(Error::Negative { what: what(), row, column: 0, value });
            }
        }
        Ok(Self { variances: Some(variances), ..self })
    }

    /// These targets, whose errors go with those of the `d` features: n x d covariances, row by row. Whether they
    /// fit to the variances on both sides is seen where the three come together.
    pub fn with_feature_covariances(self, covariances: Vec<f64>, d: usize) -> Result<Self> {
        let what = || "covariances of targets and features".to_owned();
        if covariances.len() != self.len() * d {
            return Err(Error::shape(what(), format!("{} x {d}", self.len()), covariances.len()));
        }
        if let Some(at) = covariances.iter().position(|c| !c.is_finite()) {
            return Err(Error::NotFinite { what: what(), row: at / d, column: at % d, value: covariances[at] });
        }
        Ok(Self { feature_covariances: Some(covariances), ..self })
    }

    /// These targets, of which some are limits: -1 where the reading is below the number, +1 where it is above, 0
    /// where it is the number.
    pub fn with_limits(self, limits: Vec<i8>) -> Result<Self> {
        if limits.len() != self.len() {
            return Err(Error::shape("limits", format!("{}, one per row of data", self.len()), limits.len()));
        }
        if let Some(row) = limits.iter().position(|l| !(-1..=1).contains(l)) {
            let value = limits[row];
            return Err(Error::Data(format!(
                "limits: row {row} is {value}; a limit is -1 (below), 0 (none) or 1 (above)"
            )));
        }
        let any = limits.iter().any(|l| *l != 0);
        Ok(Self { limits: any.then_some(limits), ..self })
    }

    /// These targets with one weight >= 0 per row; at least one must be positive.
    pub fn with_weights(self, weights: Vec<f64>) -> Result<Self> {
        let weights = Weights::new(weights)?;
        weights.check_rows(self.len())?;
        Ok(Self { weights: Some(weights), ..self })
    }

    /// These targets with numbers added.
    pub(crate) fn shifted(&self, by: &[f64]) -> Result<Self> {
        let values = self.values.iter().zip(by).map(|(y, by)| y + by).collect();
        Ok(Self { values: Self::new(values)?.values, ..self.clone() })
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Never: a fit needs rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Weight of a row (1 without weights).
    #[must_use]
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[row])
    }

    /// The targets of the rows with these numbers.
    ///
    /// # Errors
    /// All of them have weight 0. Panics when a number is out of range, as slices do.
    pub fn take(&self, rows: &[usize]) -> Result<Self> {
        let pick = |values: &[f64]| rows.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        Ok(Self {
            values: pick(&self.values),
            variances: self.variances().map(pick),
            limits: self.limits.as_ref().map(|limits| rows.iter().map(|&i| limits[i]).collect()),
            feature_covariances: self.feature_covariances.as_ref().map(|crossed| {
                let d = crossed.len() / self.len();
                rows.iter().flat_map(|&i| &crossed[i * d..(i + 1) * d]).copied().collect()
            }),
            weights: self.weights().map(|w| w.take(rows)).transpose()?,
        })
    }

    /// Targets of the components of mixtures, whose rows are `rows`, with their shares of a row.
    pub(crate) fn for_components(&self, rows: &[u32], shares: &[f64]) -> Result<Self> {
        let numbers: Vec<usize> = rows.iter().map(|&row| row as usize).collect();
        let weights = numbers.iter().zip(shares).map(|(&i, v)| self.weight(i) * v).collect();
        Self { weights: None, ..self.clone() }.take(&numbers)?.with_weights(weights)
    }

    /// Do the targets belong to `n_rows` rows?
    pub fn check_rows(&self, n_rows: usize) -> Result<()> {
        if self.len() == n_rows {
            return Ok(());
        }
        Err(Error::shape("targets", format!("{n_rows}, one per row of data"), self.len()))
    }
}

supervision!(Targets);

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Result<Targets>) -> String {
        result.expect_err("must be refused").to_string()
    }

    #[test]
    fn bad_targets_are_refused_with_their_row() {
        assert!(message(Targets::new(vec![])).contains("no rows"));
        assert!(message(Targets::new(vec![1.0, f64::INFINITY])).contains("row 1"));
        let targets = Targets::new(vec![1.0, 2.0]).unwrap();
        assert!(message(targets.clone().with_variances(vec![1.0])).contains("expected 2"));
        assert!(message(targets.clone().with_variances(vec![1.0, -1.0])).contains("row 1"));
        assert!(message(targets.clone().with_variances(vec![f64::NAN, 1.0])).contains("row 0"));
        assert!(message(targets.clone().with_weights(vec![1.0])).contains("2 weights"));
        assert!(targets.check_rows(3).unwrap_err().to_string().contains("expected 3"));
    }
}
