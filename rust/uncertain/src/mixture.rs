//! [`Mixture`]: shares, means and covariances of Gaussian components.

use ndarray::{ArrayBase, ArrayView2, Data, Ix2, Ix3};
use serde::{Deserialize, Serialize};

use crate::data::covariance::{packed_len, unpack};
use crate::error::{Error, Result};
use crate::linalg::Spd;
use crate::readable::readable;

readable! {
    /// sum_k pi_k N(mu_k, T_k) in d dimensions.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(try_from = "Numbers")]
    pub struct Mixture {
        /// The shares pi.
        weights: Vec<f64> => &[f64],
        /// All means, K x d.
        means: Vec<f64> => &[f64],
        /// All covariances: K packed triangles, one after the other.
        covariances: Vec<f64> => &[f64],
        d: usize,
    }
}

/// Components that another process sent; solvers look at its numbers.
#[derive(Deserialize)]
struct Numbers {
    weights: Vec<f64>,
    means: Vec<f64>,
    covariances: Vec<f64>,
    d: usize,
}

impl TryFrom<Numbers> for Mixture {
    type Error = Error;

    fn try_from(Numbers { weights, means, covariances, d }: Numbers) -> Result<Self> {
        let mixture = Self { weights, means, covariances, d };
        mixture.check_shape()?;
        Ok(mixture)
    }
}

impl Mixture {
    /// K shares (>= 0, sum 1), K x d means and K x d x d covariance matrices (positive definite, of which the lower triangles
    /// are read).
    ///
    /// # Errors
    /// Sizes that do not fit; shares that are none; a number that is not finite; a matrix that is not positive definite.
    ///
    /// ```
    /// use uncertain::deconvolution::Mixture;
    /// use uncertain::ndarray::{arr2, arr3};
    ///
    /// # fn main() -> uncertain::Result<()> {
    /// let mixture = Mixture::new(&[0.3, 0.7], &arr2(&[[0.0], [4.0]]), &arr3(&[[[1.0]], [[0.5]]]))?;
    /// assert_eq!((mixture.n_components(), mixture.mean(1)), (2, &[4.0][..]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn new<S, T>(weights: &[f64], means: &ArrayBase<S, Ix2>, covariances: &ArrayBase<T, Ix3>) -> Result<Self>
    where
        S: Data<Elem = f64>,
        T: Data<Elem = f64>,
    {
        let (k, d) = means.dim();
        if covariances.dim() != (k, d, d) {
            let expected = format!("{k} x {d} x {d}");
            return Err(Error::shape("covariances of a mixture", expected, format!("{:?}", covariances.dim())));
        }
        let triangle = |matrix: ArrayView2<'_, f64>| -> Vec<f64> {
            (0..d).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|at| matrix[at]).collect()
        };
        let packed = covariances.outer_iter().flat_map(triangle).collect();
        Self::from_packed(weights.to_vec(), means.iter().copied().collect(), packed, d)
    }

    /// K shares, K x d means and K packed d x d triangles.
    #[doc(hidden)]
    pub fn from_packed(weights: Vec<f64>, means: Vec<f64>, covariances: Vec<f64>, d: usize) -> Result<Self> {
        let mixture = Self { weights, means, covariances, d };
        mixture.check_shape()?;
        let Self { weights, means, .. } = &mixture;
        let sum: f64 = weights.iter().sum();
        if weights.iter().any(|w| !(*w >= 0.0)) || !((sum - 1.0).abs() <= 1e-9) {
            return Err(Error::Data(format!("shares of a mixture: {weights:?} are not >= 0 with sum 1")));
        }
        if let Some(at) = means.iter().position(|x| !x.is_finite()) {
            let (row, column) = (at / d, at % d);
            return Err(Error::NotFinite { what: "means of a mixture".into(), row, column, value: means[at] });
        }
        for component in 0..mixture.n_components() {
            mixture.root(component)?;
        }
        Ok(mixture)
    }

    fn check_shape(&self) -> Result<()> {
        let (k, d) = (self.weights.len(), self.d);
        // Sizes from another process may be anything.
        let expected = k.checked_mul(d).zip(d.checked_mul(d + 1).and_then(|twice| k.checked_mul(twice / 2)));
        if k > 0 && d > 0 && expected == Some((self.means.len(), self.covariances.len())) {
            return Ok(());
        }
        let expected = format!("{k} x {d} means and {k} packed triangles of covariances");
        Err(Error::shape(
            "components of a mixture",
            expected,
            format!("{} and {}", self.means.len(), self.covariances.len()),
        ))
    }

    /// Every component's share times a factor.
    pub(crate) fn weighted(&self, factor: impl Fn(usize) -> f64) -> Result<Self> {
        let weights = self.weights.iter().enumerate().map(|(k, w)| w * factor(k)).collect();
        Self::from_packed(weights, self.means.clone(), self.covariances.clone(), self.n_features())
    }

    /// From parts that fit together.
    pub(crate) fn unchecked(weights: Vec<f64>, means: Vec<f64>, covariances: Vec<f64>, d: usize) -> Self {
        Self { weights, means, covariances, d }
    }

    /// Number of features.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.d
    }

    /// Number of components.
    #[must_use]
    pub fn n_components(&self) -> usize {
        self.weights.len()
    }

    /// mu of a component.
    #[must_use]
    pub fn mean(&self, component: usize) -> &[f64] {
        &self.means[component * self.d..(component + 1) * self.d]
    }

    /// T of a component, a packed triangle.
    #[must_use]
    pub fn covariance(&self, component: usize) -> &[f64] {
        let len = packed_len(self.d);
        &self.covariances[component * len..(component + 1) * len]
    }

    /// log |T|.
    pub(crate) fn log_det(&self, component: usize) -> Result<f64> {
        let l = self.root(component)?;
        Ok(2.0 * l.iter().step_by(self.d + 1).map(|x| x.ln()).sum::<f64>())
    }

    /// L of T = L L', d x d row-major, zero above the diagonal.
    pub(crate) fn root(&self, component: usize) -> Result<Vec<f64>> {
        let d = self.d;
        let t = Spd::new(unpack(self.covariance(component), d), d).map(|t| t.lower());
        t.filter(|l| l.iter().all(|x| x.is_finite())).ok_or_else(|| {
            Error::Data(format!(
                "component {component} of the mixture: its covariance matrix is not positive definite; raise reg_covar, \
                 or scale the features"
            ))
        })
    }
}

/// log p(k | row) of every row from log p(k, row), k numbers each, in their places.
pub(crate) fn normalise_logs(logs: &mut [f64], k: usize) -> Result<()> {
    for (i, row) in logs.chunks_exact_mut(k).enumerate() {
        // The largest comes off first: beside the log density of a row that is far from every class, -1e20
        // say, the logarithm of a sum is lost in rounding, and probabilities would add up to more than one.
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::NEG_INFINITY {
            return Err(Error::Data(format!(
                "row {i} is so far from every class that the square of its distance is no number any more, so \
                 nothing can be said about its class; look at its units"
            )));
        }
        row.iter_mut().for_each(|x| *x -= largest);
        let evidence = row.iter().map(|x| x.exp()).sum::<f64>().ln();
        row.iter_mut().for_each(|x| *x -= evidence);
    }
    Ok(())
}

/// log sum exp
pub(crate) fn log_sum(logs: &[f64]) -> f64 {
    if let &[log] = logs {
        return log;
    }
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + logs.iter().map(|x| (x - largest).exp()).sum::<f64>().ln()
}
