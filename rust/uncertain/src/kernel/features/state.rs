//! Random features in files and other languages: their `frequencies` and `noise`.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::RandomFeatures;
use crate::control::Control;
use crate::data::{Dataset, GaussianArray, Incomplete, Rows};
use crate::error::Result;
use crate::kernel::probabilistic_rbf::{Bandwidth, Coupling};
use crate::number;
use crate::params::{check_at_least_one, params};
use crate::state::{About, Arrays, Fitted, OfMixtures, Parts, Predictor, Valid, as_mixtures};

params! {
    pub struct Params {
        /// Frequencies.
        n_components: usize = 100,
        /// Bandwidth of the kernel, > 0, or [`Bandwidth::Median`].
        #[serde(with = "number::median")]
        sigma: Bandwidth as impl Into<Bandwidth> = Bandwidth::Fixed(1.0),
        /// Coupling of the kernel.
        coupling: Coupling = Coupling::Shared,
        /// Seed of the frequencies.
        seed: u64 = 0,
    }
}

impl Params {
    fn ranges(&self) -> Result<()> {
        self.sigma.check()?;
        check_at_least_one("n_components", self.n_components)
    }
}

impl RandomFeatures {
    pub(crate) fn write(&self, arrays: &mut Arrays) {
        let shape = [self.n_components(), self.n_features()];
        arrays.put("frequencies", &shape, self.frequencies());
        self.noise().into_iter().for_each(|noise| arrays.put("noise", &shape, noise));
    }

    pub(crate) fn read(parts: &mut Parts<'_>) -> Result<Self> {
        let frequencies = parts.matrix("frequencies")?;
        let (n, d) = frequencies.dim();
        let noise = parts.optional_shaped("noise", &[n, d])?;
        Self::from_parts(d, frequencies.into_raw_vec_and_offset().0, noise)
    }
}

/// A map with its bandwidth, which random frequencies do not show.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// The map.
    pub map: RandomFeatures,
    /// The bandwidth in use.
    pub sigma: f64,
}

/// Parameters that are no arrays.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeaturesHeader {
    #[serde(with = "number")]
    sigma: f64,
}

impl Fitted for Features {
    type Params = Params;
    type Header = FeaturesHeader;
    const OF_MIXTURES: OfMixtures = OfMixtures::Own;

    fn fit(params: &Valid<Params>, data: &Dataset, _: &Control) -> Result<Self> {
        let rows = as_mixtures(data.rows())?;
        let &Params { n_components, sigma, coupling, seed, .. } = params.params();
        // One row has no distances.
        let single = rows.n_rows() < 2 && sigma == Bandwidth::Median;
        let sigma = if single { 1.0 } else { sigma.resolve_mixtures(&rows)? };
        Ok(Self { map: RandomFeatures::new(rows.n_features(), n_components, sigma, coupling, seed)?, sigma })
    }

    fn write(&self, _: &Valid<Params>, arrays: &mut Arrays) -> FeaturesHeader {
        self.map.write(arrays);
        FeaturesHeader { sigma: self.sigma }
    }

    fn read(header: FeaturesHeader, _: &Valid<Params>, parts: &mut Parts<'_>) -> Result<Self> {
        Ok(Self { map: RandomFeatures::read(parts)?, sigma: header.sigma })
    }
}

impl Predictor for Features {
    fn about(&self) -> About {
        About::transform(self.map.n_features()).to(self.map.n_columns()).with_mixtures(OfMixtures::Own)
    }

    fn transform(&self, rows: Incomplete<'_>, control: &Control) -> Result<GaussianArray> {
        let values = self.decision(rows, control)?;
        let width = values.ncols();
        GaussianArray::exact(Rows::from_vec(values.into_raw_vec_and_offset().0, width)?)
    }

    fn decision(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        self.map.transform_mixtures(&as_mixtures(rows)?, control)
    }
}
