//! Huber regression in files and other languages: the rows of the fit, `coef` (views x rows x outputs), for each output k
//! `thresholds.k`, `removed.k` and `removed_residuals.k`, and `platt` (outputs x 2) where there are probabilities.
//!
//! A graph given as a matrix is left behind: predictions do not need it, and a new fit asks for it.

use ndarray::{Array2, Array3, Axis};

use super::{FittedView, Graph, Machine, Model, Operator, Outcome, Params, Sparse, ValidParams};
use crate::control::Control;
use crate::data::{Dataset, GaussianArray, Incomplete, SquareMatrix};
use crate::error::{Error, Result};
use crate::model::platt::Sigmoid;
use crate::state::{About, Arrays, Fitted, OfMixtures, Parts, Predictor, header};

header! {
    n_classes: usize,
    n_labelled: usize,
    /// The scale of the kernel of each view.
    gammas: Vec<Option<f64>>,
    /// Divisors of the features of each view; none in files of older versions.
    #[serde(default)]
    scales: Vec<Option<Vec<f64>>>,
    outcomes: Vec<Outcome>,
}

impl TryFrom<&SquareMatrix> for Operator {
    type Error = Error;

    fn try_from(matrix: &SquareMatrix) -> Result<Self> {
        Ok(match matrix.clone() {
            SquareMatrix::Dense(matrix) => Self::Dense { n: matrix.nrows(), values: matrix.into_iter().collect() },
            SquareMatrix::Sparse { starts, indices, values } => Self::Sparse(Sparse::new(starts, indices, values)?),
        })
    }
}

/// The parameters with the caller's matrices in their views.
fn with_graphs(params: &ValidParams, graphs: &[Option<SquareMatrix>]) -> Result<ValidParams> {
    let mut params = params.params().clone();
    for (view, given) in params.views.iter_mut().zip(graphs) {
        if let (Graph::Given { matrix, .. }, Some(given)) = (&mut view.graph, given) {
            *matrix = given.try_into()?;
        }
    }
    params.check()
}

impl Fitted for Machine {
    type Params = Params;
    type Header = Header;
    const OF_MIXTURES: OfMixtures = OfMixtures::Refused;

    fn fit(params: &ValidParams, data: &Dataset, control: &Control) -> Result<Self> {
        let rows = data.complete()?;
        let params = with_graphs(params, &data.graphs)?;
        let groups = data.groups.as_deref();
        let model = params.fit(rows, &data.outputs, data.weights.as_ref(), groups, control)?;
        Self::new(model, Some(rows.clone()), data.n_classes)
    }

    fn write(&self, _: &ValidParams, arrays: &mut Arrays) -> Header {
        let model = self.model();
        let n = model.parts.first().map_or(0, |part| part.coef.nrows());
        let coef: Vec<f64> = model.parts.iter().flat_map(|part| part.coef.iter().copied()).collect();
        arrays.put("coef", &[model.parts.len(), n, model.outcomes.len()], coef);
        for (k, outcome) in model.outcomes.iter().enumerate() {
            let removed: Vec<f64> = outcome.removed.iter().map(|row| *row as f64).collect();
            arrays.vector(format!("thresholds.{k}"), &outcome.thresholds);
            arrays.vector(format!("removed.{k}"), &removed);
            arrays.vector(format!("removed_residuals.{k}"), &outcome.removed_residuals);
        }
        Sigmoid::write(model.platt.as_deref(), arrays);
        Header {
            n_classes: self.n_classes(),
            n_labelled: model.n_labelled,
            gammas: model.parts.iter().map(|part| part.kernel.gamma()).collect(),
            scales: model.parts.iter().map(|part| part.scales.clone()).collect(),
            outcomes: model.outcomes.clone(),
        }
    }

    fn read(header: Header, params: &ValidParams, parts: &mut Parts<'_>) -> Result<Self> {
        let Header { n_classes, n_labelled, gammas, mut scales, mut outcomes } = header;
        let views = &params.params().views;
        let coef = parts.tensor("coef")?;
        let &[m, n, outputs] = coef.shape.as_slice() else {
            return Err(Error::ModelFile(format!("coefficients of shape {:?}", coef.shape)));
        };
        if n == 0 || outputs == 0 || m != views.len() || m != gammas.len() || outputs != outcomes.len() {
            return Err(Error::ModelFile(format!("a model cannot have {outputs} outputs of {m} views on {n} rows")));
        }
        if scales.is_empty() {
            scales = vec![None; m];
        }
        if scales.len() != m {
            return Err(Error::ModelFile(format!("scales of {} views of {m}", scales.len())));
        }
        let coef = Array3::from_shape_vec((m, n, outputs), coef.values)
            .map_err(|e| Error::Internal(format!("checked shape: {e}")))?;
        let mut of_views = vec![];
        for (((view, gamma), scales), coef) in views.iter().zip(gammas).zip(scales).zip(coef.axis_iter(Axis(0))) {
            let (columns, weight, kernel) = (view.columns.clone(), view.weight, view.kernel.with_gamma(gamma)?);
            of_views.push(FittedView { columns, kernel, scales, weight, coef: coef.to_owned() });
        }
        for (k, outcome) in outcomes.iter_mut().enumerate() {
            outcome.thresholds = parts.shaped(&format!("thresholds.{k}"), &[outcome.history.len() + 1])?;
            let removed = parts.row_numbers(&format!("removed.{k}"), n)?;
            outcome.removed_residuals = parts.shaped(&format!("removed_residuals.{k}"), &[removed.len()])?;
            outcome.removed = removed.into_iter().map(|row| row as usize).collect();
            let dropped = outcome.history.iter().try_fold(0_usize, |sum, step| sum.checked_add(step.dropped));
            if dropped != Some(outcome.removed.len()) {
                let count = outcome.removed.len();
                return Err(Error::ModelFile(format!("{count} removed labels are not those of its refinements")));
            }
        }
        let platt = Sigmoid::read(outputs, parts)?;
        let model = Model { parts: of_views, outcomes, platt, n_labelled };
        Self::new(model, parts.optional_rows(), n_classes)
    }

    fn rows(&self) -> Option<&GaussianArray> {
        self.rows()
    }
}

impl Predictor for Machine {
    fn about(&self) -> About {
        About::model(self.n_features(), self.n_classes()).with_mixtures(OfMixtures::Refused)
    }

    fn decision(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        self.decision(rows.complete()?, control)
    }

    fn decision_distribution(&self, rows: Incomplete<'_>, control: &Control) -> Result<(Array2<f64>, Array2<f64>)> {
        self.decision_distribution(rows.complete()?, control)
    }

    fn predict_proba(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        self.predict_proba(rows.complete()?, control)
    }
}
