//! [`WithModes`]: a curve whose targets have errors that rows share, y = f(z; theta) + M_i a + ..., a ~ N(0, I).
//!
//! M_i are k further exact features and a k further parameters, so that integrals, modes and steps stay what they are; the
//! structural likelihood adds -a'a / 2, and -log |H_aa| / 2 of the information about a (Laplace's approximation, which is exact
//! for given theta and sigma where the noise is normal).

use crate::data::Modes;
use crate::error::{Error, Result};
use crate::model::shared_features;

use super::evaluate::Curve;
use super::initial::InitialParameters;
use super::readings::Reading;

pub(super) struct WithModes<'a> {
    pub curve: &'a dyn Curve,
    pub k: usize,
}

impl WithModes<'_> {
    /// The features of the curve itself, and M.
    fn parted(&self, x: &[f64], d: usize) -> (Vec<f64>, Vec<f64>) {
        let own = d - self.k;
        let rows = || x.chunks_exact(d);
        (rows().flat_map(|row| &row[..own]).copied().collect(), rows().flat_map(|row| &row[own..]).copied().collect())
    }
}

impl Curve for WithModes<'_> {
    fn values(&self, x: &[f64], d: usize, parameters: &[f64]) -> Result<Vec<f64>> {
        let ((own, modes), (theta, a)) = (self.parted(x, d), parameters.split_at(parameters.len() - self.k));
        let mut values = self.curve.values(&own, d - self.k, theta)?;
        for (value, row) in values.iter_mut().zip(modes.chunks_exact(self.k)) {
            *value += row.iter().zip(a).map(|(m, a)| m * a).sum::<f64>();
        }
        Ok(values)
    }

    fn by_parameters(&self, x: &[f64], d: usize, parameters: &[f64]) -> Result<Option<Vec<f64>>> {
        let ((own, modes), theta) = (self.parted(x, d), &parameters[..parameters.len() - self.k]);
        let slopes = self.curve.by_parameters(&own, d - self.k, theta)?;
        Ok(slopes.map(|slopes| {
            let rows = slopes.chunks_exact(theta.len()).zip(modes.chunks_exact(self.k));
            rows.flat_map(|(row, modes)| [row, modes]).flatten().copied().collect()
        }))
    }

    fn by_x(&self, x: &[f64], d: usize, parameters: &[f64]) -> Result<Option<Vec<f64>>> {
        let (theta, a) = parameters.split_at(parameters.len() - self.k);
        let slopes = self.curve.by_x(&self.parted(x, d).0, d - self.k, theta)?;
        Ok(slopes.map(|slopes| slopes.chunks_exact(d - self.k).flat_map(|row| [row, a]).flatten().copied().collect()))
    }
}

/// Refuse what cannot be.
pub(super) fn check(modes: &Modes, n: usize, d: usize, q: usize, functional: bool) -> Result<()> {
    modes.check(n, d)?;
    if modes.k == 0 {
        return Ok(());
    }
    let refused = |why: &str| Err(Error::Data(format!("modes: {why}")));
    if !modes.of_features.is_empty() {
        return refused("a curve takes errors that targets share, (n, k), and none that features share");
    }
    if q > 1 {
        return refused("errors that rows share are for curves of one output");
    }
    if functional {
        return refused(
            "truth=\"functional\" has no likelihood that they could be a part of; take truth=\"structural\"",
        );
    }
    shared_features::check(&modes.of_targets, modes.k)
}

/// M beside the features of each reading, as exact ones.
pub(super) fn extend(readings: &mut [Reading], modes: &Modes) {
    let k = modes.k;
    for reading in readings {
        let row = &modes.of_targets[reading.number * k..(reading.number + 1) * k];
        let own = reading.parts.iter_mut().map(|(_, part)| part);
        own.for_each(|part| widen(part, row));
        widen(reading, row);
    }
}

fn widen(reading: &mut Reading, row: &[f64]) {
    reading.x.extend_from_slice(row);
    reading.root.extend(vec![0.0; row.len() * reading.rank]);
}

impl InitialParameters {
    /// With a, which starts at 0.
    pub(super) fn with_modes(&self, k: usize) -> Self {
        let mut all = self.clone();
        all.values.extend(vec![0.0; k]);
        all.lower.extend(vec![f64::NEG_INFINITY; k]);
        all.upper.extend(vec![f64::INFINITY; k]);
        all.fixed.extend(vec![false; k]);
        all.names.extend((0..k).map(|j| format!("mode {j}")));
        all
    }
}
