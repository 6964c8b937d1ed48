//! From checked parameters and rows to a mixture.

use crate::control::Control;
use crate::data::{Incomplete, Weights};
use crate::deconvolution::choose;
use crate::deconvolution::climb::fit_components;
use crate::deconvolution::factor_analysis::fit_few;
use crate::deconvolution::{Components, FactorAnalysis, FittedMixture, Observed, ValidParams};
use crate::error::Result;
use crate::parallel;

impl ValidParams {
    /// Fits rows that may be mixtures; `unbiased`: with the degrees of freedom that the parameters take ([`Task::spent`]).
    pub(crate) fn fit_rows(
        &self,
        rows: Incomplete<'_>,
        weights: Option<&Weights>,
        unbiased: bool,
        control: &Control,
    ) -> Result<FittedMixture> {
        rows.check_with(weights)?;
        if let Some(mixtures) = rows.mixtures() {
            let parts = mixtures.row_numbers();
            let weights = mixtures.weights_of_components(weights)?;
            let rows = rows.components().with_parts(&parts);
            return self.fit_rows(rows, Some(&weights), unbiased, control);
        }
        if let Some((weights, kept)) = weights.and_then(|w| Some((w, w.positive_rows()?))) {
            // The start must not see rows without weight either.
            return self.fit_rows(rows.take(&kept)?.view(), Some(&weights.take(&kept)?), unbiased, control);
        }
        self.fit_observed(Observed::from_rows(rows, weights), unbiased, control)
    }

    /// Fits rows that all count.
    pub(crate) fn fit_observed(
        &self,
        observed: Observed<'_>,
        unbiased: bool,
        control: &Control,
    ) -> Result<FittedMixture> {
        let params = &self.0;
        parallel::install(control.threads(), || match params.components {
            Components::Fixed(k) => fit_components(params, observed, None, k, unbiased, control),
            Components::Auto => {
                let choice = choose::by_likelihood(params, observed, params.max_components, control)?;
                let fitted = fit_components(params, observed, None, choice.n_components, unbiased, control)?;
                Ok(FittedMixture { choice: Some(choice), ..fitted })
            }
        })?
    }

    /// Fit of a T of few directions; `None`: these do not, see `factor_analysis`.
    pub(crate) fn fit_few_directions(
        &self,
        rows: Incomplete<'_>,
        weights: Option<&Weights>,
        control: &Control,
    ) -> Result<Option<(FactorAnalysis, FittedMixture)>> {
        rows.check_with(weights)?;
        if self.0.components != Components::Fixed(1) || rows.mixtures().is_some() {
            return Ok(None);
        }
        if let Some((weights, kept)) = weights.and_then(|w| Some((w, w.positive_rows()?))) {
            return self.fit_few_directions(rows.take(&kept)?.view(), Some(&weights.take(&kept)?), control);
        }
        let observed = Observed::from_rows(rows, weights);
        parallel::install(control.threads(), || fit_few(&self.0, &observed, control))?
    }
}
