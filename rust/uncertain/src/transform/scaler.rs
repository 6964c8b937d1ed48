//! Standardisation of Gaussians: x -> (x - m) / s elementwise, hence S -> D S D with D = diag(1 / s).
//!
//! m_j is the weighted mean of the means. s_j^2 is their weighted variance (divided by the sum of
//! the weights, as scikit-learn's StandardScaler does) and, with [`Spread::Total`], plus the
//! weighted mean of the variances S_jj: by the law of total variance, the variance of a draw from
//! the data. A feature that does not vary keeps its scale, s_j = 1. Missing features do not count.

use crate::memory::zeros;
use crate::data::covariance::{Diagonal, Full, Isotropic, Layout, LowRank, Shared, packed_len};
use crate::data::validate::{Rule, elements};
use crate::data::{Covariances, GaussianArray, Incomplete, Rows, Unit, Weights};
use crate::error::{Error, Result};
use crate::named::named;
use crate::parallel;

/// Which variance is scaled to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Spread {
    /// That of the means.
    #[default]
    Means,
    /// That of the means plus the mean variance of the rows.
    Total,
}

named!(Spread, "spread");

/// Shifts and scales every feature; covariances move along.
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianScaler {
    mean: Vec<f64>,
    scale: Vec<f64>,
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
    pub fn fit<'a>(rows: impl Into<Incomplete<'a>>, weights: Option<&Weights>, spread: Spread) -> Result<Self> {
        let rows = rows.into();
        let data = rows.gaussians();
        let (n, d) = (data.n_rows(), data.n_features());
        if n == 0 {
            return Err(Error::Data("no rows to fit a scaler on".into()));
        }
        rows.check_with(weights)?;
        let weight = |row: usize| weights.map_or(1.0, |w| w[row]);
        let total: Vec<f64> = (0..d).map(|j| (0..n).filter(|&i| !rows.is_missing(i, j)).map(weight).sum()).collect();
        let weighted_sum = |term: &Term<'_>| {
            weighted_sum(data, &weight, |x, row, out| {
                term(x, row, out);
                (0..d).filter(|&j| rows.is_missing(row, j)).for_each(|j| out[j] = 0.0);
            })
        };
        let mut mean = weighted_sum(&|x, _, out| out.copy_from_slice(x))?;
        mean.iter_mut().zip(&total).for_each(|(m, total)| *m /= total);
        // Two passes: the difference of two large sums would lose the variance of a far-off feature.
        let moments = weighted_sum(&|x, _, out| {
            (0..d).for_each(|j| out[j] = (x[j] - mean[j]) * (x[j] - mean[j]));
        })?;
        let inner = match spread {
            Spread::Means => vec![0.0; d],
            Spread::Total => weighted_sum(&|_, row, out| data.covariances().variances(row, out))?,
        };
        let mut scale = vec![0.0; d];
        for j in 0..d {
            let variance = moments[j] / total[j];
            // What rounding of n additions leaves of a constant feature (the rule of scikit-learn).
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

    /// What is subtracted from every feature.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// What every feature is divided by.
    #[must_use]
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// (x - mean) / scale, and the covariances with it. Standard deviations stay standard
    /// deviations, a shared matrix stays shared, a low-rank factor keeps its rank; isotropic
    /// covariances become diagonal unless all scales are equal, full ones come back packed.
    pub fn transform(&self, data: &GaussianArray) -> Result<GaussianArray> {
        let factor: Vec<f64> = self.scale.iter().map(|s| 1.0 / s).collect();
        self.moved(data, &factor, |x, j| (x - self.mean[j]) / self.scale[j])
    }

    /// x scale + mean, and the covariances with it.
    pub fn inverse_transform(&self, data: &GaussianArray) -> Result<GaussianArray> {
        self.moved(data, &self.scale, |x, j| x * self.scale[j] + self.mean[j])
    }

    fn moved(
        &self,
        data: &GaussianArray,
        factor: &[f64],
        point: impl Fn(f64, usize) -> f64 + Sync,
    ) -> Result<GaussianArray> {
        data.check_features(self.mean.len())?;
        let d = data.n_features();
        let means = mapped(data.means(), d, |x, out| (0..d).for_each(|j| out[j] = point(x[j], j)))?;
        elements(&means, "scaled means", Rule::Finite)?;
        Ok(GaussianArray::from_checked(means, scaled(data.covariances(), factor)?))
    }
}

/// Writes what a row, of this mean and number, contributes to a sum.
type Term<'a> = dyn Fn(&[f64], usize, &mut [f64]) + Sync + 'a;

/// The weighted sum over rows of what `term` writes for (mean of the row, its number).
fn weighted_sum(
    data: &GaussianArray,
    weight: &(impl Fn(usize) -> f64 + Sync),
    term: impl Fn(&[f64], usize, &mut [f64]) + Sync,
) -> Result<Vec<f64>> {
    let d = data.n_features();
    let parts = parallel::map_parts(data.n_rows(), |part| {
        let (mut sum, mut one) = (vec![0.0; d], vec![0.0; d]);
        for (first, segment) in data.means().segments(part) {
            for (k, x) in segment.chunks_exact(d).enumerate() {
                term(x, first + k, &mut one);
                let c = weight(first + k);
                sum.iter_mut().zip(&one).for_each(|(s, x)| *s += c * x);
            }
        }
        sum
    })?;
    Ok(parts.into_iter().fold(vec![0.0; d], |mut total, part| {
        total.iter_mut().zip(part).for_each(|(t, p)| *t += p);
        total
    }))
}

/// A new matrix of the same number of rows, row by row.
fn mapped(rows: &Rows, width: usize, change: impl Fn(&[f64], &mut [f64]) + Sync) -> Result<Rows> {
    let n = rows.n_rows();
    let mut out = zeros(n, width)?;
    parallel::fill_rows(&mut out, width, |part, out| {
        let begin = part.start;
        for (first, segment) in rows.segments(part) {
            let out = &mut out[(first - begin) * width..];
            segment.chunks_exact(rows.width()).zip(out.chunks_exact_mut(width)).for_each(|(x, o)| change(x, o));
        }
        Ok(())
    })?;
    Ok(Rows::from_owned(out, n, width))
}

/// D S_i D for every row, D = diag(factor).
fn scaled(covariances: &Covariances, factor: &[f64]) -> Result<Covariances> {
    let d = factor.len();
    let squares: Vec<f64> = factor.iter().map(|f| f * f).collect();
    let of_unit = |unit| if unit == Unit::Variance { &squares[..] } else { factor };
    let times = |c: &[f64], x: &[f64], out: &mut [f64]| (0..out.len()).for_each(|j| out[j] = x[j] * c[j]);
    let result = match covariances {
        Covariances::Zero => Covariances::Zero,
        Covariances::Isotropic(k) => {
            let (unit, c) = (k.unit, of_unit(k.unit));
            let values = if factor.iter().all(|f| *f == factor[0]) {
                mapped(&k.values, 1, |x, out| out[0] = x[0] * c[0])?
            } else {
                mapped(&k.values, d, |x, out| (0..d).for_each(|j| out[j] = x[0] * c[j]))?
            };
            match values.width() {
                1 => Covariances::Isotropic(Isotropic { values, unit }),
                _ => Covariances::Diagonal(Diagonal { values, unit }),
            }
        }
        Covariances::Diagonal(k) => {
            let c = of_unit(k.unit);
            Covariances::Diagonal(Diagonal { values: mapped(&k.values, d, |x, out| times(c, x, out))?, unit: k.unit })
        }
        Covariances::LowRank(k) => {
            let columns: Vec<f64> = factor.iter().flat_map(|f| vec![*f; k.rank]).collect();
            Covariances::LowRank(LowRank {
                factor: mapped(&k.factor, d * k.rank, |x, out| times(&columns, x, out))?,
                rank: k.rank,
                diagonal: match &k.diagonal {
                    Some(values) => Some(mapped(values, d, |x, out| times(&squares, x, out))?),
                    None => None,
                },
            })
        }
        Covariances::Full(k) => {
            let layout = k.layout;
            let values = mapped(&k.values, packed_len(d), |s, out| {
                for i in 0..d {
                    let line = &s[layout.row_start(i, d)..][..i + 1];
                    let out = &mut out[packed_len(i)..packed_len(i + 1)];
                    (0..=i).for_each(|j| out[j] = factor[i] * line[j] * factor[j]);
                }
            })?;
            Covariances::Full(Full { values, layout: Layout::Packed })
        }
        Covariances::Shared(k) => {
            let pairs = (0..d).flat_map(|i| (0..=i).map(move |j| (i, j)));
            let packed: Vec<f64> = k.packed.iter().zip(pairs).map(|(s, (i, j))| factor[i] * s * factor[j]).collect();
            Covariances::Shared(Shared { packed: packed.into() })
        }
    };
    check_finite(&result)?;
    Ok(result)
}

/// Scaling keeps a good matrix good, but may overflow: 1 / s with s = 1e-200, squared.
fn check_finite(covariances: &Covariances) -> Result<()> {
    let what = "scaled covariances";
    match covariances {
        Covariances::Zero => Ok(()),
        Covariances::Isotropic(Isotropic { values, unit }) | Covariances::Diagonal(Diagonal { values, unit }) => {
            elements(values, what, Rule::of(*unit))
        }
        Covariances::LowRank(k) => {
            elements(&k.factor, what, Rule::Factor)?;
            k.diagonal.as_ref().map_or(Ok(()), |values| elements(values, what, Rule::Variance))
        }
        Covariances::Full(k) => elements(&k.values, what, Rule::Finite),
        Covariances::Shared(k) => match k.packed.iter().position(|x| !x.is_finite()) {
            Some(column) => Err(Error::NotFinite { what: what.into(), row: 0, column, value: k.packed[column] }),
            None => Ok(()),
        },
    }
}
