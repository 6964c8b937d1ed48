//! The distribution of features of rows held by other processes, for transforms that are made of it.

use crate::control::Control;
use crate::deconvolution::{self, FittedMixture, Params, RemoteEm};
use crate::error::Result;
use crate::state::RemoteRows;

/// By passes of EM; `unbiased`, from whether there are gaps: with the degrees of freedom that the parameters take.
pub(super) fn fit_remote(
    em: &Params,
    remote: &RemoteRows<'_>,
    unbiased: impl Fn(bool) -> bool,
    control: &Control,
) -> Result<FittedMixture> {
    let (sample, weights) = (remote.sample.rows(), remote.sample.weights.as_ref());
    let rows = RemoteEm::new(em, "the rows", remote.rows, sample, weights, vec![None], control)?;
    let gaps = rows.present(0).iter().any(|weight| *weight < rows.weight(0));
    deconvolution::fit_remote(em, &rows, false, unbiased(gaps), control)
}
