//! Labels, targets and weights from NumPy arrays; the core checks them.

use numpy::PyReadonlyArray1;
use uncertain::{Labels, Targets, Weights};

use crate::error::BorderResult;

type Numbers<'a, 'py> = Option<&'a PyReadonlyArray1<'py, f64>>;

/// One weight per row, where rows count differently.
pub fn weights(values: Numbers<'_, '_>) -> BorderResult<Option<Weights>> {
    Ok(values.map(|values| Weights::new(values.as_array().to_vec())).transpose()?)
}

/// Class codes with weights and groups.
pub fn labels(
    codes: &PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    weights: Numbers<'_, '_>,
    groups: Option<&PyReadonlyArray1<'_, u32>>,
) -> BorderResult<Labels> {
    let mut labels = Labels::new(codes.as_array().to_vec(), n_classes)?;
    if let Some(weights) = weights {
        labels = labels.with_weights(weights.as_array().to_vec())?;
    }
    if let Some(groups) = groups {
        labels = labels.with_groups(groups.as_array().to_vec())?;
    }
    Ok(labels)
}

/// Numbers with their variances and weights.
pub fn targets(
    values: &PyReadonlyArray1<'_, f64>,
    variances: Numbers<'_, '_>,
    weights: Numbers<'_, '_>,
) -> BorderResult<Targets> {
    let mut targets = Targets::new(values.as_array().to_vec())?;
    if let Some(variances) = variances {
        targets = targets.with_variances(variances.as_array().to_vec())?;
    }
    if let Some(weights) = weights {
        targets = targets.with_weights(weights.as_array().to_vec())?;
    }
    Ok(targets)
}
