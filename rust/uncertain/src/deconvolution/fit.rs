//! From checked parameters and rows to a mixture.

use crate::control::Control;
use crate::data::{Incomplete, Weights};
use crate::deconvolution::choose;
use crate::deconvolution::climb::fit_components;
use crate::deconvolution::{Components, Fitted, Group, Limited, Observed, Task, ValidParams};
use crate::error::{Error, Result};
use crate::parallel;

impl ValidParams {
    /// The mixture behind these rows.
    ///
    /// # Errors
    /// Weights of other rows, a feature that is missing in every row, fewer rows than components, numbers that
    /// overflow, [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn fit<'a>(
        &self,
        rows: impl Into<Incomplete<'a>>,
        weights: Option<&Weights>,
        control: &Control,
    ) -> Result<Fitted> {
        self.fit_rows(rows.into(), weights, false, control)
    }

    /// The same for rows whose last number may be a limit: -1 where its reading is below it, +1 above, 0 where it was read.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit); [`Components::Auto`]; fewer numbers that were read than components.
    pub(crate) fn fit_limited(
        &self,
        rows: Incomplete<'_>,
        limits: &[i8],
        weights: Option<&Weights>,
        control: &Control,
    ) -> Result<Fitted> {
        rows.check_with(weights)?;
        if let Some((weights, kept)) = weights.and_then(|w| Some((w, w.positive_rows()?))) {
            let (data, missing) = rows.take(&kept)?;
            let rows = Incomplete::from_parts(&data, missing.as_deref());
            let limits: Vec<i8> = kept.iter().map(|&i| limits[i]).collect();
            return self.fit_limited(rows, &limits, Some(&weights.take(&kept)?), control);
        }
        let Components::Fixed(k) = self.0.components else {
            return Err(Error::parameter("n_components", "\"auto\"", "an integer >= 1 where targets are limits"));
        };
        let (read, others): (Vec<usize>, Vec<usize>) = (0..limits.len()).partition(|&i| limits[i] == 0);
        if read.is_empty() {
            return Err(Error::Data("every target is a limit, so nothing is known of their size".into()));
        }
        let limited = others.into_iter().map(|row| Limited { row, below: limits[row] < 0 }).collect();
        let groups = vec![Group { rows: Some(read), components: 0..k, limited }];
        let observed = Observed::in_plain_coordinates(rows, weights);
        let task = Task { observed, groups, tied: false, unbiased: false };
        parallel::install(self.0.threads, || task.fit(&self.0, control))?
    }

    /// The same; `unbiased`: with the degrees of freedom that the parameters take ([`Task::spent`]).
    pub(crate) fn fit_rows(
        &self,
        rows: Incomplete<'_>,
        weights: Option<&Weights>,
        unbiased: bool,
        control: &Control,
    ) -> Result<Fitted> {
        rows.check_with(weights)?;
        if let Some((weights, kept)) = weights.and_then(|w| Some((w, w.positive_rows()?))) {
            // The start must not see rows without weight either.
            let (data, missing) = rows.take(&kept)?;
            let rows = Incomplete::from_parts(&data, missing.as_deref());
            return self.fit_rows(rows, Some(&weights.take(&kept)?), unbiased, control);
        }
        let (params, observed) = (&self.0, Observed::of(rows, weights));
        parallel::install(params.threads, || match params.components {
            Components::Fixed(k) => fit_components(params, observed, None, k, unbiased, control),
            Components::Auto => {
                let choice = choose::by_likelihood(params, observed, params.max_components, control)?;
                let fitted = fit_components(params, observed, None, choice.n_components, unbiased, control)?;
                Ok(Fitted { choice: Some(choice), ..fitted })
            }
        })?
    }
}
