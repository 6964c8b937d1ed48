//! Steps as named arrays with a small header in JSON: for model files and other languages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::*;
use crate::error::{Error, Result};
use crate::state::{
    Arrays, Fitted, FittedStep, NamedTensor, Parts, RowsHeader, TakeTensor, Tensor, Valid, read_rows, write_rows,
};

/// Header of a step in a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepHeader {
    kind: String,
    params: Box<RawValue>,
    state: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<RowsHeader>,
}

impl StepHeader {
    pub(super) fn kind(&self) -> &str {
        &self.kind
    }
}

/// As they are written.
impl PartialEq for StepHeader {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.params.get() == other.params.get()
            && self.state.get() == other.state.get()
            && self.rows == other.rows
    }
}

#[doc(hidden)]
impl Step {
    /// Inverse of [`arrays`](Self::arrays), for kinds without rows; parameters by the names that users write.
    ///
    /// # Errors
    /// Whatever does not make a model of this kind.
    pub fn from_arrays(kind: &str, params: &str, header: &str, arrays: Vec<(String, Tensor)>) -> Result<Self> {
        of_kind!(kind, Model => from_arrays::<Model>(params, header, arrays).map(Self::from))
    }

    /// Inverse of [`write`](Self::write).
    pub(crate) fn read(header: &StepHeader, step: usize, take: &mut TakeTensor<'_>) -> Result<Self> {
        let kind = header.kind.as_str();
        if !Self::KINDS.contains(&kind) {
            return Err(Error::ModelFile(unknown(kind).to_string()));
        }
        of_kind!(kind, Model => read::<Model>(header, step, take).map(Self::from))
    }

    /// All arrays but those of [`rows`](Self::rows), and the rest as JSON text: what it knows about itself.
    ///
    /// # Errors
    /// Internal errors only.
    pub fn arrays(&self) -> Result<(String, Vec<NamedTensor>)> {
        let mut arrays = Arrays::default();
        let header = each!(self, with => json(&with.model.write(&with.params, &mut arrays)))?;
        Ok((header, arrays.into_inner()))
    }

    /// The rows of the fit that belong to it.
    #[must_use]
    pub fn rows(&self) -> Option<&crate::GaussianArray> {
        each!(self, with => with.model.rows())
    }

    /// Its header in a file.
    pub(crate) fn header(&self) -> Result<StepHeader> {
        let mut arrays = Arrays::default();
        let (params, state) =
            each!(self, with => (raw(&with.params)?, raw(&with.model.write(&with.params, &mut arrays))?));
        let rows = self.rows().map(|rows| write_rows(rows, &mut arrays));
        Ok(StepHeader { kind: self.kind().to_owned(), params, state, rows })
    }

    /// How many numbers it is made of, which says how long a row may take.
    #[must_use]
    pub fn n_numbers(&self) -> usize {
        self.tensors().iter().map(|named| named.tensor.values.len()).sum()
    }

    /// Its tensors in a file.
    pub(crate) fn tensors(&self) -> Vec<NamedTensor> {
        let mut arrays = Arrays::default();
        each!(self, with => {
            with.model.write(&with.params, &mut arrays);
        });
        if let Some(rows) = self.rows() {
            write_rows(rows, &mut arrays);
        }
        arrays.into_inner().into_iter().filter(|named| !named.aside).collect()
    }
}

fn read<M: Fitted>(header: &StepHeader, step: usize, take: &mut TakeTensor<'_>) -> Result<FittedStep<M>> {
    let params: Valid<M::Params> = parsed(&header.params)?;
    let state: M::Header = parsed(&header.state)?;
    let rows = header.rows.as_ref().map(|rows| read_rows(rows, &mut Parts::new(step, None, take))).transpose()?;
    let mut parts = Parts::new(step, rows, take);
    let model = M::read(state, &params, &mut parts).map_err(|error| match error {
        error @ (Error::ModelFile(_) | Error::Internal(_)) => error,
        other => Error::ModelFile(other.to_string()),
    })?;
    if parts.optional_rows().is_some() {
        return Err(Error::ModelFile(format!("step {step} has rows that do not belong to it")));
    }
    Ok(FittedStep { model, params })
}

fn from_arrays<M: Fitted>(params: &str, header: &str, arrays: Vec<(String, Tensor)>) -> Result<FittedStep<M>> {
    let params = checked::<M>(params)?;
    let state = serde_json::from_str(header).map_err(|e| Error::Data(format!("header of a model: {e}")))?;
    let mut left: BTreeMap<String, Tensor> = arrays.into_iter().collect();
    let model = M::read(state, &params, &mut Parts::new(0, None, &mut |name| Ok(left.remove(name))))?;
    match left.keys().next() {
        Some(name) => Err(Error::Data(format!("the array {name} does not belong to the model"))),
        None => Ok(FittedStep { model, params }),
    }
}

fn parsed<T: serde::de::DeserializeOwned>(json: &RawValue) -> Result<T> {
    serde_json::from_str(json.get()).map_err(|e| Error::ModelFile(format!("its description is not understood ({e})")))
}

fn json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|e| Error::Internal(format!("header of a model: {e}")))
}

fn raw<T: Serialize>(value: &T) -> Result<Box<RawValue>> {
    let text = json(value)?;
    RawValue::from_string(text).map_err(|e| Error::Internal(format!("header of a model: {e}")))
}
