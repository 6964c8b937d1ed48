//! Trees in files and other languages: `scale` (d) of the error columns, `baseline` (scores), `sizes` (trees: how many nodes
//! each has) and, over the nodes of all trees, `column`, `value`, `right` and `missing_left` ([`TreeArrays`]).

use ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};

use super::{Columns, ErrorColumns, Link, Model, Params, TreeArrays};
use crate::control::Control;
use crate::data::Incomplete;
use crate::error::{Error, Result};
use crate::state::{Answers, Arrays, Fitted, Parameters, Parts, Training, Valid};

impl Parameters for Params {
    fn check(self) -> Result<Valid<Self>> {
        Ok(Valid(self))
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    columns: Columns,
    link: Link,
    factors: [f64; 2],
}

impl Fitted for Model {
    type Params = Params;
    type Header = Header;

    fn fit(_: &Valid<Params>, _: &Training<'_>, _: &Control) -> Result<Self> {
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
        Self::new(columns, baseline, nodes.trees(&sizes)?, header.link, header.factors)
    }

    fn answers(&self) -> &dyn Answers {
        self
    }
}

impl Answers for Model {
    fn n_features(&self) -> Option<usize> {
        Some(self.n_features())
    }

    fn n_classes(&self) -> Option<usize> {
        Some(self.n_classes())
    }

    fn takes_gaps(&self) -> bool {
        true
    }

    fn decision(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        match self.n_classes() {
            0 => Ok(ndarray::Array1::from_vec(self.predict(rows, control)?).insert_axis(Axis(1))),
            _ => self.scores(rows, control),
        }
    }

    fn predict_proba(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        self.predict_proba(rows, control)
    }
}
