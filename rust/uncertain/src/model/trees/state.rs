//! Trees in files and other languages: `scale` (d) of the error columns, `baseline` (scores), `sizes` (trees: how many nodes
//! each has) and, over the nodes of all trees, `column`, `value`, `right` and `missing_left` ([`TreeArrays`]); where there is a density,
//! the same of its forest as `residual_sizes` and so on, `residual_shares` (leaves, K), `residual_means` and
//! `residual_stds` (K).

use ndarray::Array2;

use super::{Columns, ErrorColumns, Link, Model, Params, ResidualForest, TreeArrays};
use crate::control::Control;
use crate::data::{Dataset, Incomplete};
use crate::error::{Error, Result};
use crate::state::{About, Arrays, Fitted, OfMixtures, Parts, Predictor, Valid, column, header};

header! { columns: Columns, link: Link, factors: [f64; 2] }

impl Fitted for Model {
    type Params = Params;
    type Header = Header;

    fn fit(_: &Valid<Params>, _: &Dataset, _: &Control) -> Result<Self> {
        Err(Error::Data(
            "trees are fitted by scikit-learn (RemeasuredClassifier, RemeasuredRegressor), not here".into(),
        ))
    }

    fn write(&self, _: &Valid<Params>, arrays: &mut Arrays) -> Header {
        let mut nodes = TreeArrays::default();
        let sizes: Vec<f64> = self.trees.iter().map(|tree| tree.write(&mut nodes)).collect();
        arrays.vector("scale", self.columns.scale());
        arrays.vector("baseline", &self.baseline);
        arrays.vector("sizes", &sizes);
        for (name, values) in [
            ("column", nodes.column),
            ("value", nodes.value),
            ("right", nodes.right),
            ("missing_left", nodes.missing_left),
        ] {
            arrays.put(name, &[values.len()], values);
        }
        if let Some(residuals) = &self.residuals {
            residuals.write(arrays);
        }
        Header { columns: self.columns.columns(), link: self.link, factors: self.factors }
    }

    fn read(header: Header, _: &Valid<Params>, parts: &mut Parts<'_>) -> Result<Self> {
        let columns = ErrorColumns::new(header.columns, parts.vector("scale")?)?;
        let (baseline, sizes) = (parts.vector("baseline")?, parts.vector("sizes")?);
        let mut array = |name| parts.vector(name);
        let nodes = TreeArrays {
            column: array("column")?,
            value: array("value")?,
            right: array("right")?,
            missing_left: array("missing_left")?,
        };
        if let Some(b) = baseline.iter().find(|b| !b.is_finite()) {
            return Err(Error::Data(format!("the trees' baseline is {b}")));
        }
        let residuals = ResidualForest::read(parts)?;
        let model = Self::new(columns, baseline, nodes.trees(&sizes)?, header.link, header.factors)?;
        match residuals {
            Some(residuals) => model.with_residuals(residuals),
            None => Ok(model),
        }
    }
}

impl Predictor for Model {
    fn about(&self) -> About {
        About::model(self.n_features(), self.n_classes()).with_gaps().with_mixtures(OfMixtures::Own)
    }

    fn decision(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        match self.n_classes() {
            0 => Ok(column(self.predict(rows, control)?)),
            _ => self.scores(rows, control),
        }
    }

    fn predict_proba(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        self.predict_proba(rows, control)
    }
}
