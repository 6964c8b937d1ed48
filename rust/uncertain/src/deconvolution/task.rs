//! Which rows see which components, and where EM starts.

use std::ops::Range;

use crate::control::Control;
use crate::deconvolution::climb::Climb;
use crate::deconvolution::start::Sample;
use crate::deconvolution::{Fitted, Mixture, Observed, Params};
use crate::error::{Error, Result};

/// Rows that share components: all rows, or those of a class.
pub(crate) struct Group {
    /// `None`: all.
    pub rows: Option<Vec<usize>>,
    pub components: Range<usize>,
}

/// What is to be fitted.
pub(crate) struct Task<'a> {
    pub observed: Observed<'a>,
    pub groups: Vec<Group>,
    /// One T for all components.
    pub tied: bool,
}

impl Task<'_> {
    /// From the start until it converges.
    pub fn fit(&self, params: &Params, control: &Control) -> Result<Fitted> {
        let scale = Sample::new(&self.observed, None, params.seed).scale();
        let start = self.start(&scale, params.seed)?;
        Climb::new(self, params, &scale, control)?.run(start)
    }

    fn start(&self, scale: &[f64], seed: u64) -> Result<Mixture> {
        let d = scale.len();
        let (mut weights, mut means, mut covariances) = (vec![], vec![], vec![]);
        for group in &self.groups {
            let k = group.components.len();
            let count = self.rows(group).filter(|&i| self.observed.weight(i) > 0.0).take(k).count();
            if count < k {
                return Err(Error::Data(format!("{k} components need at least as many rows, but there are {count}")));
            }
            let sample = Sample::new(&self.observed, group.rows.as_deref(), seed);
            let (w, m, c) = sample.components(k, scale, seed);
            weights.extend(w);
            means.extend(m);
            covariances.extend(c);
        }
        if self.tied {
            // The same for all from the beginning: their mean.
            let (k, len) = (weights.len(), covariances.len() / weights.len());
            let mean: Vec<f64> =
                (0..len).map(|p| (0..k).map(|c| covariances[c * len + p]).sum::<f64>() / k as f64).collect();
            covariances = mean.repeat(k);
        }
        Ok(Mixture::unchecked(weights, means, covariances, d))
    }

    fn rows<'b>(&'b self, group: &'b Group) -> impl Iterator<Item = usize> + 'b {
        let count = group.rows.as_ref().map_or(self.observed.data.n_rows(), Vec::len);
        (0..count).map(|at| group.rows.as_ref().map_or(at, |rows| rows[at]))
    }

    pub(super) fn total_weight(&self) -> f64 {
        self.groups.iter().flat_map(|g| self.rows(g)).map(|i| self.observed.weight(i)).sum()
    }
}
