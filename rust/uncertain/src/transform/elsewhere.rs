//! The distribution of features whose rows lie elsewhere, for what is made of it.

use crate::control::Control;
use crate::deconvolution::{self, Fitted, Mixture, Params};
use crate::error::Result;
use crate::pieces::{self, Question};
use crate::state::Remote;

/// By passes of EM; `unbiased`, from whether there are gaps: with the degrees of freedom that the parameters take.
pub(super) fn fit_elsewhere(
    em: &Params,
    remote: &Remote<'_>,
    unbiased: impl Fn(bool) -> bool,
    control: &Control,
) -> Result<Fitted> {
    let sample = remote.sample.rows;
    let k = pieces::components_here(em, "the rows")?;
    let seen = pieces::ask(remote.rows, Question::Seen { classes: 0 }, control)?;
    pieces::check_seen(&seen, sample.gaussians().n_features())?;
    let gaps = seen[3..].iter().any(|weight| *weight < seen[1]);
    let ask =
        |mixture: &Mixture| pieces::ask(remote.rows, Question::Em { classes: 0, mixture: mixture.clone() }, control);
    let weights = remote.sample.weights.as_ref();
    let rows = deconvolution::Remote { sample, weights, groups: vec![None], seen: &seen, ask: &ask };
    deconvolution::fit_remote(em, &rows, k, false, unbiased(gaps), control)
}
