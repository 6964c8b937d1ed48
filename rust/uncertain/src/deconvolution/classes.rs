//! Separate components for every class of labelled rows, as the discriminant and the imputer learn them.

use crate::control::Control;
use crate::data::{Incomplete, Labels, Weights};
use crate::deconvolution::{Components, FittedMixture, Group, Observed, Task, ValidParams};
use crate::error::{Error, Result};
use crate::parallel;

/// Parameters that the components of the classes share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PerClass<'a> {
    /// The share of every class in all rows; they sum to 1.
    pub shares: &'a [f64],
    /// One T for all components.
    pub tied: bool,
    /// Count the degrees of freedom that the parameters take?
    pub unbiased: bool,
}

impl ValidParams {
    /// Equally many components per class, class by class, with their shares of all rows.
    pub(crate) fn fit_classes(
        &self,
        rows: Incomplete<'_>,
        labels: &Labels,
        per_class: PerClass<'_>,
        control: &Control,
    ) -> Result<FittedMixture> {
        let Components::Fixed(k) = self.0.components else {
            return Err(Error::parameter(
                "n_components",
                "\"auto\"",
                "an integer >= 1 with a distribution per class (per_class)",
            ));
        };
        if let Some(kept) = labels.weights().and_then(Weights::positive_rows) {
            // The start must not see rows without weight either.
            return self.fit_classes(rows.take(&kept)?.view(), &labels.take(&kept)?, per_class, control);
        }
        let PerClass { shares, tied, unbiased } = per_class;
        let observed = Observed::from_rows(rows, labels.weights());
        let group = |class: usize| Group::new(&observed, Some(labels.class_rows(class)), class * k..(class + 1) * k);
        let groups = (0..labels.n_classes()).map(group).collect();
        let task = Task { observed, groups, tied, unbiased };
        let fitted = parallel::install(control.threads(), || task.fit(&self.0, control))??;
        Ok(FittedMixture { mixture: fitted.mixture.weighted(|component| shares[component / k])?, ..fitted })
    }
}
