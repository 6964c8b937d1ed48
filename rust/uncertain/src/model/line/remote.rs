//! Lines of rows that other processes hold: the same fit from sums over the rows, which a [`LineRequest`] asks for.

use crate::control::Control;
use crate::data::{Incomplete, Targets};
use crate::deconvolution::{self, Mixture, RemoteEm};
use crate::error::{Error, Result};
use crate::model::law::coordinates::Coordinates;
use crate::model::law::density::refined_remotely;
use crate::model::law::errors::{sums_of_squares, sums_of_stage};
use crate::model::law::likelihood::Freedom;
use crate::model::law::remote::RemoteLine;
use crate::model::noise::Noise;
use crate::params::Valid;
use crate::state::RemoteRows;
use crate::sums::{LineRequest, LineSums};

use super::fit::{self, Question};
use super::rows::{Counted, LineRows};
use super::{LineFit, Params, SharedErrors};

/// Centred and scaled by the density.
fn coordinates(density: &Mixture) -> Coordinates {
    let d = density.n_features();
    let scale = (0..d).map(|j| density.covariance(0)[crate::data::covariance::packed_index(j, j)].sqrt()).collect();
    Coordinates { centre: density.mean(0).to_vec(), scale }
}

/// The sums over some of the rows that a request asks for.
pub(crate) fn answer(
    request: &LineRequest,
    rows: Incomplete<'_>,
    targets: &Targets,
    control: &Control,
) -> Result<Vec<f64>> {
    let counted = Counted::new(rows, targets)?;
    let mut prepared = LineRows::new(&counted, targets, &SharedErrors::default(), &request.density, control)?;
    prepared.weights.iter_mut().for_each(|c| *c *= request.share / prepared.share);
    let coordinates = coordinates(&request.density);
    prepared.rescale(&coordinates);
    let units = fit::Units { law: &request.law, unit: request.unit };
    let parts = units.parts(&prepared, Noise::Normal, false);
    let taken = 0.0;
    let freedom = Freedom { taken, scaled: false, before: &request.before, shares: &[], told: &[] };
    let likelihood = parts.likelihood(&prepared, Some(freedom));
    let density = coordinates.mixture(&request.density);
    match &request.ask {
        LineSums::Likelihood => Ok(likelihood.evaluate(&request.theta, control)?.flat()),
        LineSums::Stage => sums_of_stage(&likelihood, &density, &likelihood.at(&request.theta), control),
        LineSums::Squares { gain } => {
            sums_of_squares(&likelihood, &density, gain, &likelihood.at(&request.theta), control)
        }
    }
}

/// [`fit`](Valid::fit) by passes over rows held by other processes, whose sample is where it starts.
pub(in crate::model) fn fit_remote(
    params: &Valid<Params>,
    remote: &RemoteRows<'_>,
    control: &Control,
) -> Result<LineFit> {
    let (params, sample, targets) = (params.params(), remote.sample.rows(), remote.sample.targets()?);
    if params.outliers.is_some() || params.error_scale.is_some() {
        return Err(Error::Data("outliers= and error_scale= need the rows in one memory; fit a sample of them".into()));
    }
    let rows = RemoteEm::new(&params.em, "the rows", remote.rows, sample, targets.weights(), vec![None], control)?;
    let fitted = deconvolution::fit_remote(&params.em, &rows, false, false, control)?;
    let density = refined_remotely(&fitted.mixture, remote.rows, control)?;
    let (n, total) = (rows.n_rows(0), rows.weight(0));
    let worth = rows.worth(0);
    let share = worth.share(n, total);
    let elsewhere =
        RemoteLine { rows: remote.rows, density: &density, n, share, weight: share * total, worth, control };
    let counted = Counted::new(sample, targets)?;
    let mut prepared = LineRows::new(&counted, targets, &SharedErrors::default(), &density, control)?;
    let coordinates = coordinates(&density);
    prepared.rescale(&coordinates);
    let scaled = coordinates.mixture(&density);
    let direction =
        Coordinates::open_direction(scaled.covariance(0), scaled.covariance(0), n <= scaled.n_features() + 1)?;
    let open = direction.is_some();
    let asked = Question { noise: Noise::Normal, scaled: false, open, profile: None, density: &scaled };
    let fit = fit::fit(&prepared, &asked, Some(&elsewhere), control)?;
    let report = fitted.report();
    let mut fit = fit.restored(&coordinates, &asked, (density.clone(), report), n, &prepared);
    if remote.sample.groups.is_some() {
        // Those of independent rows would be too small.
        fit.covariance.fill(f64::NAN);
    }
    Ok(LineFit { undetermined: direction, ..fit })
}
