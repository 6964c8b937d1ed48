//! [`GaussianArray`]: n rows, each a Gaussian N(x_i, S_i) in d dimensions.

use std::collections::HashMap;
use std::ops::Range;

use crate::data::covariance::{Field, Kind};
use crate::data::validate::{Names, Rule, elements};
use crate::data::{Covariances, Rows};
use crate::error::{Error, Result};
use crate::memory;
use crate::readable::readable;

readable! {
    /// n Gaussians in d dimensions: means (n x d) and covariances of one [`Kind`](crate::data::Kind).
    ///
    /// Cheap to clone and to slice: both share the memory.
    ///
    /// ```
    /// use uncertain::{Collapse, Covariances, GaussianArray, Kind, Rows};
    ///
    /// # fn main() -> uncertain::Result<()> {
    /// // Two rows with two features each, and a standard deviation beside every number.
    /// let means = Rows::from_vec(vec![1.0, 2.0, 3.0, 4.0], 2)?;
    /// let errors = Rows::from_vec(vec![0.1, 0.2, 0.3, 0.4], 2)?;
    /// let data = GaussianArray::new(means, Covariances::from_std(errors))?;
    /// assert_eq!(data.covariances().kind(), Kind::Diagonal);
    ///
    /// // The variance of the score w'x of row 1: w'S w = 0.3^2 + 0.4^2.
    /// assert!((data.covariances().quad(1, &[1.0, 1.0]) - 0.25).abs() < 1e-15);
    ///
    /// // Two points with one error bar per row, or with none.
    /// assert_eq!(data.collapse(Collapse::Isotropic)?.covariances().kind(), Kind::Isotropic);
    /// assert_eq!(data.sample(10, 42)?.n_rows(), 20);
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug, Clone)]
    pub struct GaussianArray {
        /// The means, n x d.
        means: Rows => &Rows,
        /// The covariances.
        covariances: Covariances => &Covariances,
        /// Repairs while reading the data (tiny negative eigenvalues set to zero), for the user.
        warnings: Vec<String> => &[String],
    }
}

impl PartialEq for GaussianArray {
    /// Equal numbers in the same kind; warnings do not count.
    fn eq(&self, other: &Self) -> bool {
        self.means == other.means && self.covariances == other.covariances
    }
}

impl GaussianArray {
    /// Exact points: every covariance is zero.
    pub fn points(means: Rows) -> Result<Self> {
        Self::new(means, Covariances::Zero)
    }

    /// Gaussians with these means and covariances, checked: every number finite, variances >= 0,
    /// matrices symmetric and positive semi-definite within the tolerances of
    /// [`covariance`](crate::data::covariance). Good data is not copied.
    ///
    /// The first offending row is the error; tiny negative eigenvalues are set to zero and told in
    /// [`warnings`](Self::warnings).
    pub fn new(means: Rows, covariances: Covariances) -> Result<Self> {
        Self::new_named(means, covariances, &Names::default())
    }

    /// [`GaussianArray::new`] whose errors and warnings use the caller's names for the columns.
    pub fn new_named(means: Rows, covariances: Covariances, names: &Names) -> Result<Self> {
        covariances.check_shape(means.n_rows(), means.width(), names)?;
        elements(&means, &names.means, Rule::Finite)?;
        let (covariances, warnings) = covariances.checked(means.width(), names)?;
        Ok(Self { means, covariances, warnings })
    }

    /// From parts that are known to be valid, such as computed from a checked array.
    pub(crate) fn from_checked(means: Rows, covariances: Covariances) -> Self {
        Self { means, covariances, warnings: vec![] }
    }

    /// Keep warnings of the arrays this one was made from, each once.
    pub(crate) fn add_warnings<'a>(&mut self, warnings: impl Iterator<Item = &'a String>) {
        for warning in warnings {
            if !self.warnings.contains(warning) {
                self.warnings.push(warning.clone());
            }
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.means.n_rows()
    }

    /// Dimension d of every Gaussian.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.means.width()
    }

    /// Have the rows as many features as those that something was fitted on?
    pub(crate) fn check_features(&self, expected: usize) -> Result<()> {
        if self.n_features() == expected {
            return Ok(());
        }
        let got = format!("{} features", self.n_features());
        Err(Error::shape("data", format!("{expected} features, as in the data this was fitted on"), got))
    }

    /// Rows `range`, sharing the memory.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        Self::from_checked(self.means.slice(range.clone()), self.covariances.slice(range))
    }

    /// The rows with these numbers, copied.
    pub fn take(&self, rows: &[usize]) -> Result<Self> {
        if let Some(&row) = rows.iter().find(|&&i| i >= self.n_rows()) {
            return Err(Error::Data(format!("row {row} does not exist: there are {} rows", self.n_rows())));
        }
        memory::ask(rows.len(), self.row_bytes())?;
        Ok(Self::from_checked(self.means.take(rows), self.covariances.take(rows)))
    }

    /// Bytes of a row with its covariance; a matrix that all rows share does not count.
    #[must_use]
    pub fn row_bytes(&self) -> usize {
        let own = |field: &Field| if field.shared { 0 } else { field.values.row_bytes() };
        self.means.row_bytes() + self.covariances.fields().iter().map(own).sum::<usize>()
    }

    /// The array whose covariances consist of these [`fields`](Covariances::fields), by name: rows that were written
    /// to a file, part by part, and are read there. The numbers came out of checked arrays and are not looked at again.
    ///
    /// ```
    /// use uncertain::{Covariances, GaussianArray, Rows};
    ///
    /// # fn main() -> uncertain::Result<()> {
    /// let means = Rows::from_vec(vec![1.0, 2.0], 1)?;
    /// let data = GaussianArray::new(means.clone(), Covariances::from_std(Rows::from_vec(vec![0.1, 0.3], 1)?))?;
    /// let fields = data.covariances().fields().into_iter().map(|field| (field.name.to_string(), field.values));
    /// assert_eq!(GaussianArray::from_fields(data.covariances().kind(), means, fields.collect())?, data);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A field of the kind is missing, or of another size.
    pub fn from_fields(kind: Kind, means: Rows, fields: Vec<(String, Rows)>) -> Result<Self> {
        let mut named: HashMap<String, Rows> = fields.into_iter().collect();
        let covariances = Covariances::from_fields(kind, &mut |name| named.remove(name), means.width())
            .ok_or_else(|| Error::Data(format!("covariances of the kind {} lack one of their arrays", kind.name())))?;
        covariances.check_shape(means.n_rows(), means.width(), &Names::default())?;
        Ok(Self::from_checked(means, covariances))
    }
}
