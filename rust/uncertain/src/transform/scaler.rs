//! Standardisation of Gaussians: x -> (x - m) / s elementwise, hence S -> D S D with D = diag(1 / s).
//!
//! m_j is the weighted mean of the means. s_j^2 is their weighted variance (divided by the sum of
//! the weights, as scikit-learn's StandardScaler does) and, with [`Spread::Total`], plus the
//! weighted mean of the variances S_jj: by the law of total variance, the variance of a draw from
//! the data. A feature that does not vary keeps its scale, s_j = 1. Missing features do not count.

use serde::{Deserialize, Serialize};

use crate::control::Control;
use crate::data::validate::{Rule, elements};
use crate::data::{Dataset, GaussianArray, Incomplete, Rows, Weights};
use crate::error::{Error, Result};
use crate::moments::{Moments, moments};
use crate::named::named;
use crate::readable::readable;
use crate::state::{About, Arrays, Fitted, Parameters, Parts, Predictor, RemoteRows, Valid};
use crate::sums::{Request, RowSums};

/// Which variance is scaled to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Spread {
    /// That of the means.
    #[default]
    Means,
    /// That of the means plus the mean variance of the rows.
    Total,
}

named!(Spread, "spread");

readable! {
    /// Shifts and scales every feature; covariances move along.
    #[derive(Debug, Clone, PartialEq)]
    pub struct GaussianScaler {
        /// Offset of every feature.
        mean: Vec<f64> => &[f64],
        /// Divisor of every feature.
        scale: Vec<f64> => &[f64],
    }
}

impl GaussianScaler {
    /// A scaler with this mean and scale per feature (finite, scale > 0).
    pub fn new(mean: Vec<f64>, scale: Vec<f64>) -> Result<Self> {
        if mean.is_empty() || mean.len() != scale.len() {
            return Err(Error::shape("scale of a scaler", mean.len(), scale.len()));
        }
        for (what, values, fine) in [
            ("mean of a scaler", &mean, mean.iter().position(|x| !x.is_finite())),
            ("scale of a scaler", &scale, scale.iter().position(|x| !(x.is_normal() && *x > 0.0))),
        ] {
            if let Some(j) = fine {
                return Err(Error::Data(format!("{what}: feature {j} is {:e}, not a usable number", values[j])));
            }
        }
        Ok(Self { mean, scale })
    }

    /// Mean and scale of these rows; gaps do
    /// not count; a feature must be there in some row.
    pub(crate) fn fit<'a>(rows: impl Into<Incomplete<'a>>, weights: Option<&Weights>, spread: Spread) -> Result<Self> {
        let rows = rows.into();
        let data = rows.gaussians();
        let (n, d) = (data.n_rows(), data.n_features());
        if n == 0 {
            return Err(Error::Data("no rows to fit a scaler on".into()));
        }
        rows.check_with(weights)?;
        let weight = |row: usize| weights.map_or(1.0, |w| w[row]);
        let total: Vec<f64> = (0..d).map(|j| (0..n).filter(|&i| !rows.is_missing(i, j)).map(weight).sum()).collect();
        let mean = means(&moments(rows, &weight, Moments::First)?, &total);
        let second = moments(rows, &weight, Moments::Second(&mean))?;
        let inner = match spread {
            Spread::Means => vec![0.0; d],
            Spread::Total => moments(rows, &weight, Moments::Inner)?,
        };
        Self::from_sums(n, &total, mean, &second, &inner)
    }

    /// [`fit`](Self::fit) by passes over rows held by other processes.
    fn fit_by_sums(rows: &dyn RowSums, spread: Spread, control: &Control) -> Result<Self> {
        let [counts, first] = <[Vec<f64>; 2]>::try_from(
            rows.sums(&[Request::Counts { classes: 0, folds: 1 }, Request::Moments { center: vec![] }], control)?,
        )
        .map_err(|_| Error::Internal("a pass answered too little".into()))?;
        let (total, first) = first.split_at(first.len() / 2);
        if let Some(j) = total.iter().position(|total| *total <= 0.0) {
            return Err(Error::Data(format!("feature {j} is missing in every row")));
        }
        let mean = means(first, total);
        let second = rows.sum(Request::Moments { center: mean.clone() }, control)?;
        let (second, inner) = second.split_at(second.len() / 2);
        let none = vec![0.0; mean.len()];
        let inner = if spread == Spread::Means { &none } else { inner };
        Self::from_sums(counts[0] as usize, total, mean, second, inner)
    }

    /// From sums over n rows: the weight of those that have a feature, its mean, squares around that, and variances.
    fn from_sums(n: usize, total: &[f64], mean: Vec<f64>, second: &[f64], inner: &[f64]) -> Result<Self> {
        let d = mean.len();
        let mut scale = vec![0.0; d];
        for j in 0..d {
            let variance = second[j] / total[j];
            // Spread of a constant feature by rounding of n additions (the rule of scikit-learn).
            let noise = n as f64 * f64::EPSILON;
            let constant = variance.is_finite() && variance <= noise * variance + (noise * mean[j]).powi(2);
            let spread = if constant { 0.0 } else { variance } + (inner[j] / total[j]).max(0.0);
            scale[j] = if spread == 0.0 { 1.0 } else { spread.sqrt() };
            if !(scale[j].is_normal() && mean[j].is_finite()) {
                return Err(Error::Data(format!(
                    "feature {j}: the scale of its values ({:e}) cannot be used",
                    scale[j]
                )));
            }
        }
        Self::new(mean, scale)
    }

    /// (x - mean) / scale, and the covariances with it, as [`Covariances::scaled`](crate::Covariances::scaled) says.
    pub(crate) fn transform(&self, data: &GaussianArray) -> Result<GaussianArray> {
        let factor: Vec<f64> = self.scale.iter().map(|s| 1.0 / s).collect();
        self.moved(data, &factor, |means| means.standardised(&self.mean, &self.scale))
    }

    /// x scale + mean, and the covariances with it.
    pub(crate) fn inverse_transform(&self, data: &GaussianArray) -> Result<GaussianArray> {
        let d = self.mean.len();
        let back = |x: &[f64], out: &mut [f64]| (0..d).for_each(|j| out[j] = x[j] * self.scale[j] + self.mean[j]);
        self.moved(data, &self.scale, |means| means.mapped(d, back))
    }

    fn moved(
        &self,
        data: &GaussianArray,
        factor: &[f64],
        points: impl Fn(&Rows) -> Result<Rows>,
    ) -> Result<GaussianArray> {
        data.check_features(self.mean.len())?;
        let means = points(data.means())?;
        elements(&means, "scaled means", Rule::Finite)?;
        Ok(GaussianArray::from_checked(means, data.covariances().scaled(factor)?))
    }
}

fn means(first: &[f64], total: &[f64]) -> Vec<f64> {
    first.iter().zip(total).map(|(sum, total)| sum / total).collect()
}

/// Parameters of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Which variance is scaled to one.
    pub spread: Spread,
}

impl Parameters for Params {}

impl Fitted for GaussianScaler {
    type Params = Params;
    type Header = ();

    fn fit(params: &Valid<Params>, data: &Dataset, _: &Control) -> Result<Self> {
        Self::fit(data.rows(), data.weights.as_ref(), params.params().spread)
    }

    fn fit_remote(params: &Valid<Params>, remote: &RemoteRows<'_>, control: &Control) -> Result<Self> {
        Self::fit_by_sums(remote.rows, params.params().spread, control)
    }

    fn write(&self, _: &Valid<Params>, arrays: &mut Arrays) {
        arrays.vector("mean", &self.mean);
        arrays.vector("scale", &self.scale);
    }

    fn read((): (), _: &Valid<Params>, parts: &mut Parts<'_>) -> Result<Self> {
        Self::new(parts.vector("mean")?, parts.vector("scale")?)
    }
}

impl Predictor for GaussianScaler {
    fn about(&self) -> About {
        About::transform(self.mean.len()).keeping_gaps()
    }

    fn transform(&self, rows: Incomplete<'_>, _: &Control) -> Result<GaussianArray> {
        self.transform(&*rows.without_fillers()?)
    }

    fn inverse_transform(&self, rows: &GaussianArray) -> Result<GaussianArray> {
        self.inverse_transform(rows)
    }
}
