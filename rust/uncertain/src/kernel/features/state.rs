//! Feature maps in files and other languages: `frequencies` and `noise` of random features, or the landmarks as rows
//! and their `basis`.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::{Approximation, FeatureMap, Nystroem, RandomFeatures};
use crate::control::Control;
use crate::data::{GaussianArray, Incomplete, Rows};
use crate::error::Result;
use crate::kernel::probabilistic_rbf::{Bandwidth, Coupling};
use crate::number;
use crate::parallel;
use crate::params::{check_at_least_one, params};
use crate::state::{About, Arrays, Fitted, OfMixtures, Parts, Predictor, Training, Valid, as_mixtures};

params! {
    /// Those of a map that is drawn for some rows.
    pub struct Params {
        /// Which map.
        approximation: Approximation = Approximation::Random,
        /// Frequencies, or landmark rows at most.
        n_components: usize = 100,
        /// Bandwidth of the kernel, > 0, or [`Bandwidth::Median`].
        #[serde(with = "number::median")]
        sigma: Bandwidth as impl Into<Bandwidth> = Bandwidth::Fixed(1.0),
        /// Coupling of the kernel.
        coupling: Coupling = Coupling::Shared,
        /// Seed of frequencies or landmarks.
        seed: u64 = 0,
    }
}

impl Params {
    fn ranges(&self) -> Result<()> {
        self.sigma.check()?;
        check_at_least_one("n_components", self.n_components)
    }
}

/// What the arrays of a map do not say.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Header {
    /// Random features, for this bandwidth where it is known.
    Random {},
    /// Landmarks.
    Nystroem {
        /// The bandwidth in use.
        #[serde(with = "number")]
        sigma: f64,
        /// The coupling.
        coupling: Coupling,
    },
}

impl FeatureMap {
    pub(crate) fn write(&self, arrays: &mut Arrays) -> Header {
        match self {
            Self::Random(map) => {
                let shape = [map.n_components(), map.n_features()];
                arrays.put("frequencies", &shape, map.frequencies());
                map.noise().into_iter().for_each(|noise| arrays.put("noise", &shape, noise));
                Header::Random {}
            }
            Self::Nystroem(map) => {
                arrays.matrix("basis", map.basis());
                Header::Nystroem { sigma: map.sigma(), coupling: map.coupling() }
            }
        }
    }

    pub(crate) fn read(header: Header, parts: &mut Parts<'_>) -> Result<Self> {
        match header {
            Header::Random {} => {
                let frequencies = parts.matrix("frequencies")?;
                let (n, d) = frequencies.dim();
                let noise = parts.optional_shaped("noise", &[n, d])?;
                let frequencies = frequencies.into_raw_vec_and_offset().0;
                RandomFeatures::from_parts(d, frequencies, noise).map(Self::Random)
            }
            Header::Nystroem { sigma, coupling } => {
                let landmarks = parts.rows()?;
                let basis = parts.matrix("basis")?;
                Nystroem::from_parts(landmarks, sigma, coupling, basis).map(Self::Nystroem)
            }
        }
    }

    /// The landmarks.
    pub(crate) fn rows(&self) -> Option<&GaussianArray> {
        match self {
            Self::Random(_) => None,
            Self::Nystroem(map) => Some(map.landmarks()),
        }
    }
}

/// A map with its bandwidth, which random frequencies do not show.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// The map.
    pub map: FeatureMap,
    /// The bandwidth in use.
    pub sigma: f64,
}

/// What the arrays do not say.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeaturesHeader {
    map: Header,
    #[serde(with = "number")]
    sigma: f64,
}

impl Fitted for Features {
    type Params = Params;
    type Header = FeaturesHeader;
    const OF_MIXTURES: OfMixtures = OfMixtures::Own;

    fn fit(params: &Valid<Params>, training: &Training<'_>, control: &Control) -> Result<Self> {
        let rows = as_mixtures(training.rows)?;
        // Landmarks of mixtures are components, whose features are averaged.
        let data = rows.components();
        let &Params { approximation, n_components, sigma, coupling, seed, threads } = params.params();
        // One row has no distances.
        let single = rows.n_rows() < 2 && sigma == Bandwidth::Median;
        let sigma = if single { 1.0 } else { sigma.resolve_mixtures(&rows)? };
        let map = match approximation {
            Approximation::Random => {
                FeatureMap::Random(RandomFeatures::new(data.n_features(), n_components, sigma, coupling, seed)?)
            }
            Approximation::Nystroem => {
                let fit = || Nystroem::fit(data, n_components, sigma, coupling, seed, control);
                FeatureMap::Nystroem(parallel::install(threads, fit)??)
            }
        };
        Ok(Self { map, sigma })
    }

    fn write(&self, _: &Valid<Params>, arrays: &mut Arrays) -> FeaturesHeader {
        FeaturesHeader { map: self.map.write(arrays), sigma: self.sigma }
    }

    fn read(header: FeaturesHeader, _: &Valid<Params>, parts: &mut Parts<'_>) -> Result<Self> {
        Ok(Self { map: FeatureMap::read(header.map, parts)?, sigma: header.sigma })
    }

    fn rows(&self) -> Option<&GaussianArray> {
        self.map.rows()
    }
}

impl Predictor for Features {
    fn about(&self) -> About {
        About::transform(self.map.n_features()).to(self.map.n_columns()).with_mixtures(OfMixtures::Own)
    }

    fn transform(&self, rows: Incomplete<'_>, control: &Control) -> Result<GaussianArray> {
        let values = self.decision(rows, control)?;
        let width = values.ncols();
        GaussianArray::points(Rows::from_vec(values.into_raw_vec_and_offset().0, width)?)
    }

    fn decision(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        self.map.transform_mixtures(&as_mixtures(rows)?, control)
    }
}
