//! The kernel of a view and the columns of its matrix, computed when they are asked for.
//!
//! | kernel | rows with covariances |
//! |---|---|
//! | rbf | the expected kernel of two Gaussians ([`probabilistic_kernel`](crate::kernel::probabilistic_rbf)) |
//! | linear | the means: E x'z of independent draws is the product of the means |
//! | quadratic, polynomial | refused |
//! | precomputed | the rows are those of the kernel matrix itself |

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::control::Control;
use crate::data::covariance::Kind;
use crate::data::{GaussianArray, distinct};
use crate::error::{Error, Result};
use crate::kernel::probabilistic_rbf::{Coupling, RbfOptions, gram};
use crate::kernel::{PointKernel, median_gamma};
use crate::linalg::dense::Matrix;
use crate::number;

/// The kernel of a view as the caller wishes it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Kernel {
    /// x'z
    Linear,
    /// (x'z)^2
    Quadratic,
    /// (gamma x'z + coef0)^degree
    Polynomial {
        /// At least 1.
        degree: u32,
        /// > 0; `None`: as for `Rbf`.
        #[serde(with = "number::option")]
        gamma: Option<f64>,
        /// >= 0
        #[serde(with = "number")]
        coef0: f64,
    },
    /// exp(-gamma |x - z|^2), of Gaussians its expectation.
    #[serde(alias = "probabilistic")]
    Rbf {
        /// > 0; `None`: 1 / (2 m^2), m the median distance of the distinct rows (error bars included).
        #[serde(with = "number::option")]
        gamma: Option<f64>,
        /// Which noise two rows see.
        coupling: Coupling,
    },
    /// The data are the rows of the kernel matrix.
    Precomputed,
}

impl Kernel {
    /// The kernel with its gamma set, from the rows to fit. Refuses what these rows cannot have.
    pub(super) fn resolved(self, rows: &GaussianArray) -> Result<Self> {
        let uncertain = rows.covariances().kind() != Kind::Zero;
        let refused = |name: &str| {
            Error::Data(format!(
                "kernel = \"{name}\" has no expectation here over rows with error bars: use \"rbf\", or the means alone (collapse(\"zero\"))"
            ))
        };
        match self {
            Self::Quadratic if uncertain => Err(refused("quadratic")),
            Self::Polynomial { .. } if uncertain => Err(refused("polynomial")),
            Self::Precomputed if uncertain => {
                Err(Error::Data("kernel = \"precomputed\": a kernel matrix has no error bars".into()))
            }
            Self::Polynomial { degree, gamma, coef0 } => {
                let gamma = gamma.map_or_else(|| usual_gamma(rows), Ok)?;
                PointKernel::Polynomial { degree, gamma, coef0 }.check()?;
                Ok(Self::Polynomial { degree, gamma: Some(gamma), coef0 })
            }
            Self::Rbf { gamma: None, coupling } => {
                Self::Rbf { gamma: Some(usual_gamma(rows)?), coupling }.resolved(rows)
            }
            Self::Rbf { gamma: Some(gamma), .. } => {
                PointKernel::Rbf { gamma }.check()?;
                Ok(self)
            }
            Self::Linear | Self::Quadratic | Self::Precomputed => Ok(self),
        }
    }

    /// A word for users.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// The scale of a resolved kernel, if it has one.
    #[must_use]
    pub fn gamma(&self) -> Option<f64> {
        match self {
            Self::Polynomial { gamma, .. } | Self::Rbf { gamma, .. } => *gamma,
            Self::Linear | Self::Quadratic | Self::Precomputed => None,
        }
    }

    /// The kernel with this scale, for a model file.
    pub(crate) fn with_gamma(self, found: Option<f64>) -> Result<Self> {
        let kernel = match self {
            Self::Rbf { coupling, .. } => Self::Rbf { gamma: found, coupling },
            Self::Polynomial { degree, coef0, .. } => Self::Polynomial { degree, gamma: found, coef0 },
            Self::Linear | Self::Quadratic | Self::Precomputed => self,
        };
        if kernel.gamma() != found || (found.is_none() && matches!(kernel, Self::Rbf { .. } | Self::Polynomial { .. }))
        {
            return Err(Error::Data(format!("{found:?} is not the scale of a {} kernel", self.name())));
        }
        kernel.point().check()?;
        Ok(kernel)
    }

    /// K between rows of `x` and of `z`, row-major; a precomputed kernel has none.
    pub(super) fn between(&self, x: &GaussianArray, z: &GaussianArray, control: &Control) -> Result<Array2<f64>> {
        match *self {
            Self::Rbf { coupling, .. } => {
                // The caller has counted the memory.
                let options = RbfOptions { coupling, max_bytes: Some(u64::MAX), ..RbfOptions::new(self.sigma()) };
                gram(x, Some(z), &options, control)
            }
            _ => self.point().gram(x.means(), Some(z.means()), control),
        }
    }

    /// The kernel of points (precomputed: there is none, and nobody asks).
    fn point(&self) -> PointKernel {
        let gamma = self.gamma().unwrap_or(1.0);
        match *self {
            Self::Linear | Self::Precomputed => PointKernel::Linear,
            Self::Quadratic => PointKernel::Quadratic,
            Self::Polynomial { degree, coef0, .. } => PointKernel::Polynomial { degree, gamma, coef0 },
            Self::Rbf { .. } => PointKernel::Rbf { gamma },
        }
    }

    pub(super) fn sigma(&self) -> f64 {
        (0.5 / self.gamma().unwrap_or(0.5)).sqrt()
    }
}

/// The default of every kernel with a scale.
fn usual_gamma(rows: &GaussianArray) -> Result<f64> {
    // Without two different points every scale is as good as another.
    if distinct(rows).len() < 2 { Ok(1.0) } else { median_gamma(rows, 0) }
}

/// The kernel matrix of the rows of a view.
pub(super) struct Source<'a> {
    kernel: Kernel,
    rows: GaussianArray,
    /// Number of each row in the data (and so the column of a precomputed kernel).
    order: &'a [usize],
    /// All of it, where single columns would repeat expensive preparations.
    all: Option<Array2<f64>>,
}

impl<'a> Source<'a> {
    /// `kernel` is resolved.
    pub(super) fn new(
        kernel: Kernel,
        rows: GaussianArray,
        order: &'a [usize],
        max_bytes: Option<u64>,
        control: &Control,
    ) -> Result<Self> {
        let mut source = Self { kernel, rows, order, all: None };
        if let (true, Kernel::Rbf { coupling, .. }) = (stored(&kernel, &source.rows), kernel) {
            let options = RbfOptions { coupling, max_bytes, ..RbfOptions::new(kernel.sigma()) };
            source.all = Some(gram(&source.rows, None, &options, control)?);
        }
        Ok(source)
    }

    pub(super) fn n(&self) -> usize {
        self.rows.n_rows()
    }

    /// The most that the rank can be.
    pub(super) fn largest_rank(&self) -> usize {
        match self.kernel {
            Kernel::Linear => self.n().min(self.rows.n_features()),
            _ => self.n(),
        }
    }

    /// A factor R with K = R R' that needs no work: the means, for the linear kernel.
    pub(super) fn features(&self) -> Result<Option<Matrix>> {
        if self.kernel != Kernel::Linear || self.rows.n_features() > self.n() {
            return Ok(None);
        }
        let (n, d) = (self.n(), self.rows.n_features());
        let mut out = Matrix::zeros(n, d)?;
        for i in 0..n {
            let row = self.rows.means().row(i);
            row.iter().enumerate().for_each(|(j, x)| out.values[j * n + i] = *x);
        }
        Ok(Some(out))
    }

    /// The diagonal.
    pub(super) fn diagonal(&self, control: &Control) -> Result<Vec<f64>> {
        match (&self.all, self.kernel) {
            (Some(all), _) => Ok(all.diag().to_vec()),
            (None, Kernel::Precomputed) => Ok((0..self.n()).map(|i| self.rows.means().at(i, self.order[i])).collect()),
            (None, Kernel::Rbf { coupling: Coupling::Shared, .. }) => Ok(vec![1.0; self.n()]),
            (None, Kernel::Rbf { .. }) if self.rows.covariances().kind() != Kind::Zero => {
                let mut diagonal = Vec::with_capacity(self.n());
                for i in 0..self.n() {
                    control.check()?;
                    let row = self.rows.slice(i..i + 1);
                    diagonal.push(self.kernel.between(&row, &row, control)?[[0, 0]]);
                }
                Ok(diagonal)
            }
            (None, _) => {
                let point = self.kernel.point();
                let row = |i: usize| self.rows.means().row(i);
                Ok((0..self.n()).map(|i| point.value(&row(i), &row(i))).collect())
            }
        }
    }

    /// Some columns, all rows.
    pub(super) fn columns(&self, numbers: &[usize], control: &Control) -> Result<Matrix> {
        let (n, b) = (self.n(), numbers.len());
        if let Some(all) = &self.all {
            let values = numbers.iter().flat_map(|&j| all.row(j).to_vec()).collect();
            return Ok(Matrix { n_rows: n, n_cols: b, values });
        }
        if self.kernel == Kernel::Precomputed {
            // Row j of a symmetric matrix is its column j.
            let row = |j: usize| self.order.iter().map(move |&i| self.rows.means().at(j, i));
            return Ok(Matrix { n_rows: n, n_cols: b, values: numbers.iter().flat_map(|&j| row(j)).collect() });
        }
        let some = self.rows.take(numbers)?;
        let block = self.kernel.between(&some, &self.rows, control)?;
        Ok(Matrix { n_rows: n, n_cols: b, values: block.into_raw_vec_and_offset().0 })
    }

    /// The first rows and columns, as many as asked for.
    pub(super) fn leading(&self, l: usize, control: &Control) -> Result<Matrix> {
        let rows = || self.rows.slice(0..l);
        let values = match (&self.all, self.kernel) {
            (None, Kernel::Rbf { coupling, .. }) => {
                let options =
                    RbfOptions { coupling, max_bytes: Some(u64::MAX), ..RbfOptions::new(self.kernel.sigma()) };
                gram(&rows(), None, &options, control)?
            }
            (None, Kernel::Linear | Kernel::Quadratic | Kernel::Polynomial { .. }) => {
                self.kernel.point().gram(rows().means(), None, control)?
            }
            _ => {
                let numbers: Vec<usize> = (0..l).collect();
                let mut columns = self.columns(&numbers, control)?;
                if l < self.n() {
                    columns = columns.rows(&numbers)?;
                }
                return Ok(columns);
            }
        };
        Ok(Matrix { n_rows: l, n_cols: l, values: values.into_raw_vec_and_offset().0 })
    }

    /// A precomputed matrix must be symmetric.
    pub(super) fn check(&self) -> Result<()> {
        if self.kernel != Kernel::Precomputed {
            return Ok(());
        }
        let at = |i: usize, j: usize| self.rows.means().at(i, self.order[j]);
        for i in 0..self.n() {
            for j in 0..i {
                let (lower, upper) = (at(i, j), at(j, i));
                if (lower - upper).abs() > 1e-8 * (at(i, i).abs() + at(j, j).abs()) {
                    let what = "kernel matrix".into();
                    return Err(Error::NotSymmetric { what, row: 0, i: self.order[j], j: self.order[i], upper, lower });
                }
            }
        }
        Ok(())
    }
}

/// Does a kernel of these rows keep the whole matrix? Dense covariances have square roots that are not to
/// be taken again for every block of columns.
pub(super) fn stored(kernel: &Kernel, rows: &GaussianArray) -> bool {
    let dense = !rows.covariances().structure().is_diagonal();
    matches!(kernel, Kernel::Rbf { .. }) && dense && rows.n_features() > 1
}
