//! Hyperplanes in files and other languages: `coef` (hyperplanes x features, of a regression features), `intercept`,
//! and `platt` (hyperplanes x 2, the sigmoids' a and b) where there are probabilities.

use ndarray::Array2;

use super::{LinearClassifier, LinearRegressor};
use crate::control::Control;
use crate::data::Incomplete;
use crate::error::{Error, Result};
use crate::model::FitReport;
use crate::model::platt::Sigmoid;
use crate::state::{About, Arrays, Parts, Predictor, column};

impl LinearClassifier {
    pub(in crate::model) fn write(&self, arrays: &mut Arrays) -> Vec<FitReport> {
        arrays.matrix("coef", &self.coef);
        arrays.vector("intercept", &self.intercept);
        Sigmoid::write(self.platt.as_deref(), arrays);
        self.fits.clone()
    }

    pub(in crate::model) fn read(fits: Vec<FitReport>, parts: &mut Parts<'_>) -> Result<Self> {
        let coef = parts.matrix("coef")?;
        let (k, d) = coef.dim();
        if k == 0 || k == 2 || d == 0 {
            return Err(Error::ModelFile(format!("a classifier cannot have {k} hyperplanes in {d} dimensions")));
        }
        if fits.len() != k {
            return Err(Error::ModelFile(format!("it has {} reports for {k} hyperplanes", fits.len())));
        }
        Ok(Self { coef, intercept: parts.shaped("intercept", &[k])?, fits, platt: Sigmoid::read(k, parts)? })
    }
}

impl Predictor for LinearClassifier {
    fn about(&self) -> About {
        About::model(self.n_features(), self.n_classes())
    }

    fn decision(&self, rows: Incomplete<'_>, _: &Control) -> Result<Array2<f64>> {
        self.decision(rows.complete()?)
    }

    fn decision_distribution(&self, rows: Incomplete<'_>, _: &Control) -> Result<(Array2<f64>, Array2<f64>)> {
        self.decision_distribution(rows.complete()?)
    }

    fn predict_proba(&self, rows: Incomplete<'_>, _: &Control) -> Result<Array2<f64>> {
        self.predict_proba(rows.complete()?)
    }
}

impl LinearRegressor {
    pub(in crate::model) fn write(&self, arrays: &mut Arrays) -> FitReport {
        arrays.vector("coef", &self.coef);
        arrays.vector("intercept", &[self.intercept]);
        self.fit.clone()
    }

    pub(in crate::model) fn read(fit: FitReport, parts: &mut Parts<'_>) -> Result<Self> {
        let coef = parts.vector("coef")?;
        if coef.is_empty() {
            return Err(Error::ModelFile("a regression without features".into()));
        }
        Ok(Self { coef, intercept: parts.shaped("intercept", &[1])?[0], fit })
    }
}

impl Predictor for LinearRegressor {
    fn about(&self) -> About {
        About::model(self.n_features(), 0)
    }

    fn decision(&self, rows: Incomplete<'_>, _: &Control) -> Result<Array2<f64>> {
        Ok(column(self.predict(rows.complete()?)?))
    }

    fn decision_distribution(&self, rows: Incomplete<'_>, _: &Control) -> Result<(Array2<f64>, Array2<f64>)> {
        let (means, stds) = self.predict_distribution(rows.complete()?)?;
        Ok((column(means), column(stds)))
    }
}
