//! [`GaussianArray`]: n rows, each a Gaussian N(x_i, S_i) in d dimensions.

use std::collections::HashMap;
use std::ops::Range;

use ndarray::{Array2, ArrayBase, Data, Ix2, Ix3};

use crate::data::covariance::{Field, Kind};
use crate::data::validate::{Names, Rule, elements};
use crate::data::{Covariances, Element, Rows, SharedBuffer};
use crate::error::{Error, Result};
use crate::linalg::matrix;
use crate::readable::readable;
use crate::{memory, parallel};

readable! {
    /// n Gaussians in d dimensions: means (n x d) and covariances of one [`Kind`](crate::data::Kind).
    ///
    /// Cheap to clone and to slice: both share the memory.
    ///
    /// ```
    /// use uncertain::ndarray::arr2;
    /// use uncertain::{Collapse, GaussianArray, Kind};
    ///
    /// # fn main() -> uncertain::Result<()> {
    /// // Two rows with two features each, and a standard deviation beside every number.
    /// let data = GaussianArray::from_std(arr2(&[[1.0, 2.0], [3.0, 4.0]]), arr2(&[[0.1, 0.2], [0.3, 0.4]]))?;
    /// assert_eq!((data.n_rows(), data.n_features(), data.kind()), (2, 2, Kind::Diagonal));
    ///
    /// // The same points with one error bar per row, or with none.
    /// assert_eq!(data.collapse(Collapse::Isotropic)?.kind(), Kind::Isotropic);
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
    /// Exact points, n x d: every covariance is zero.
    ///
    /// # Errors
    /// As [`from_std`](Self::from_std).
    pub fn exact(means: impl Into<Rows>) -> Result<Self> {
        Self::new(means.into(), Covariances::Zero)
    }

    /// S_i = diag(s_i)^2 from means and standard deviations, both n x d, or s_i^2 I from n standard deviations, one per row.
    ///
    /// Arrays of float32 or float64 and of any layout; an owned one is not copied, a view once.
    ///
    /// # Errors
    /// [`Error::Shape`] for sizes that do not fit; [`Error::NotFinite`] and [`Error::Negative`] name the first number that is
    /// no mean or no standard deviation.
    ///
    /// ```
    /// use uncertain::GaussianArray;
    /// use uncertain::ndarray::{arr1, arr2, s};
    ///
    /// # fn main() -> uncertain::Result<()> {
    /// let table = arr2(&[[1.0, 0.1, 2.0, 0.3], [3.0, 0.1, 4.0, 0.2]]); // value, error, value, error
    /// let rows = GaussianArray::from_std(table.slice(s![.., ..;2]), table.slice(s![.., 1..;2]))?;
    /// assert_eq!(rows.variances()?, arr2(&[[0.1 * 0.1, 0.3 * 0.3], [0.1 * 0.1, 0.2 * 0.2]]));
    /// assert!(GaussianArray::from_std(table.view(), arr1(&[0.1, -0.1])).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_std(means: impl Into<Rows>, std: impl Into<Rows>) -> Result<Self> {
        Self::called("std", means, |_| Ok(Covariances::from_std(std.into())))
    }

    /// S_i = diag(v_i) from means and variances, both n x d, or v_i I from n variances, one per row.
    ///
    /// # Errors
    /// As [`from_std`](Self::from_std).
    pub fn from_var(means: impl Into<Rows>, var: impl Into<Rows>) -> Result<Self> {
        Self::called("var", means, |_| Ok(Covariances::from_var(var.into())))
    }

    /// Means, n x d, and a covariance matrix per row, n x d x d.
    ///
    /// # Errors
    /// As [`from_std`](Self::from_std); a matrix that is not symmetric ([`Error::NotSymmetric`]) or has a negative eigenvalue
    /// ([`Error::NotPositive`]) beyond rounding, by its row. Tiny negative eigenvalues are set to zero and told in
    /// [`warnings`](Self::warnings).
    pub fn from_cov<A, S>(means: impl Into<Rows>, cov: ArrayBase<S, Ix3>) -> Result<Self>
    where
        A: Element,
        S: Data<Elem = A>,
        SharedBuffer: From<Vec<A>>,
    {
        check_square(&cov.shape()[1..])?;
        Self::called("cov", means, |names| Covariances::from_cov(cov.into(), names))
    }

    /// Means, n x d, and one covariance matrix for all rows, d x d.
    ///
    /// # Errors
    /// As [`from_cov`](Self::from_cov).
    pub fn from_shared_cov<S: Data<Elem = f64>>(means: impl Into<Rows>, cov: &ArrayBase<S, Ix2>) -> Result<Self> {
        check_square(cov.shape())?;
        let matrix: Vec<f64> = cov.iter().copied().collect();
        Self::called("cov", means, |names| Covariances::shared(&matrix, names))
    }

    /// Means, n x d, and the inverse of every row's covariance matrix, n x d x d.
    ///
    /// # Errors
    /// As [`from_cov`](Self::from_cov); a matrix that has no inverse.
    pub fn from_precision<A, S>(means: impl Into<Rows>, precision: ArrayBase<S, Ix3>) -> Result<Self>
    where
        A: Element,
        S: Data<Elem = A>,
        SharedBuffer: From<Vec<A>>,
    {
        check_square(&precision.shape()[1..])?;
        Self::called("precision", means, |names| Covariances::from_precision(&precision.into(), names))
    }

    /// S_i = F_i F_i' + diag(v_i) from means (n x d), factors (n x d x r) and variances (n x d; none: no diagonal).
    ///
    /// # Errors
    /// As [`from_std`](Self::from_std).
    pub fn from_factor<A, S>(means: impl Into<Rows>, factor: ArrayBase<S, Ix3>, var: Option<Rows>) -> Result<Self>
    where
        A: Element,
        S: Data<Elem = A>,
        SharedBuffer: From<Vec<A>>,
    {
        let rank = factor.shape()[2];
        Self::called("factor", means, |names| Covariances::from_factor(factor.into(), rank, var, names))
    }

    /// With covariances that errors call so.
    fn called(
        what: &str,
        means: impl Into<Rows>,
        covariances: impl FnOnce(&Names) -> Result<Covariances>,
    ) -> Result<Self> {
        let names = Names { covariances: what.into(), ..Names::default() };
        Self::new_named(means.into(), covariances(&names)?, &names)
    }

    /// Gaussians with these means and covariances, checked: every number finite, variances >= 0,
    /// matrices symmetric and positive semi-definite within the tolerances of
    /// [`covariance`](crate::data::covariance). Good data is not copied.
    ///
    /// The first offending row is the error; tiny negative eigenvalues are set to zero and told in
    /// [`warnings`](Self::warnings).
    #[doc(hidden)]
    pub fn new(means: Rows, covariances: Covariances) -> Result<Self> {
        Self::new_named(means, covariances, &Names::default())
    }

    /// [`GaussianArray::new`] whose errors and warnings use the caller's names for the columns.
    #[doc(hidden)]
    pub fn new_named(means: Rows, covariances: Covariances, names: &Names) -> Result<Self> {
        if means.width() == 0 {
            return Err(Error::shape(names.means.as_str(), "at least one feature", 0));
        }
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

    /// The kind of the covariances.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.covariances.kind()
    }

    /// The variance of every number, n x d: the diagonals of the covariances.
    ///
    /// # Errors
    /// Too little memory.
    pub fn variances(&self) -> Result<Array2<f64>> {
        let values = parallel::new_rows(self.n_rows(), self.n_features(), |row, out| {
            self.covariances.variances(row, out);
            Ok(())
        })?;
        matrix(values, [self.n_rows(), self.n_features()])
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
    /// # Errors
    /// A field of the kind is missing, or of another size.
    #[doc(hidden)]
    pub fn from_fields(kind: Kind, means: Rows, fields: Vec<(String, Rows)>) -> Result<Self> {
        let mut named: HashMap<String, Rows> = fields.into_iter().collect();
        let covariances = Covariances::from_fields(kind, &mut |name| named.remove(name), means.width())
            .ok_or_else(|| Error::Data(format!("covariances of the kind {} lack one of their arrays", kind.name())))?;
        covariances.check_shape(means.n_rows(), means.width(), &Names::default())?;
        Ok(Self::from_checked(means, covariances))
    }
}

/// An error unless these are the sizes of square matrices.
fn check_square(sizes: &[usize]) -> Result<()> {
    match sizes {
        [n, m] if n == m => Ok(()),
        _ => Err(Error::shape("covariances", "d x d matrices", format!("{sizes:?}"))),
    }
}
