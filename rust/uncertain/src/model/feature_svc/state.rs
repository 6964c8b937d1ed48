//! The classifier in files and other languages: its map, `coef` (pairs x features), `intercept`, and `platt` (pairs x 2)
//! where there are probabilities.

use ndarray::Array2;

use super::{Model, Params, ValidParams};
use crate::control::Control;
use crate::data::{Dataset, Incomplete};
use crate::error::{Error, Result};
use crate::kernel::features::RandomFeatures;
use crate::model::FitReport;
use crate::model::platt::Sigmoid;
use crate::number;
use crate::state::{About, Arrays, Fitted, OfMixtures, Parts, Predictor, as_mixtures, header};

header! {
    n_classes: usize,
    #[serde(with = "number")]
    sigma: f64,
    fits: Vec<FitReport>,
    memory: u64,
}

impl Fitted for Model {
    type Params = Params;
    type Header = Header;
    const OF_MIXTURES: OfMixtures = OfMixtures::Own;

    fn fit(params: &ValidParams, data: &Dataset, control: &Control) -> Result<Self> {
        params.fit(as_mixtures(data.rows())?, data.labels()?, control)
    }

    fn write(&self, _: &ValidParams, arrays: &mut Arrays) -> Header {
        self.map.write(arrays);
        arrays.matrix("coef", &self.coef);
        arrays.vector("intercept", &self.intercept);
        Sigmoid::write(self.platt.as_deref(), arrays);
        let &Self { n_classes, sigma, memory, .. } = self;
        Header { n_classes, sigma, fits: self.fits.clone(), memory }
    }

    fn read(header: Header, _: &ValidParams, parts: &mut Parts<'_>) -> Result<Self> {
        let (k, pairs) = (header.n_classes, header.fits.len());
        if k < 2 || k > pairs + 1 || pairs != k * (k - 1) / 2 {
            return Err(Error::ModelFile(format!("a classifier of {k} classes cannot have {pairs} reports of pairs")));
        }
        let map = RandomFeatures::read(parts)?;
        let coef = parts.shaped_matrix("coef", [pairs, map.n_columns()])?;
        let intercept = parts.shaped("intercept", &[pairs])?;
        let platt = Sigmoid::read(pairs, parts)?;
        let mut model = Self::from_parts(map, header.sigma, k, coef, intercept, platt)?;
        (model.fits, model.memory) = (header.fits, header.memory);
        Ok(model)
    }
}

impl Predictor for Model {
    fn about(&self) -> About {
        About::model(self.map.n_features(), self.n_classes).with_mixtures(OfMixtures::Own)
    }

    fn decision(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        self.decision(as_mixtures(rows)?, control)
    }

    fn predict_proba(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        self.predict_proba(as_mixtures(rows)?, control)
    }
}
