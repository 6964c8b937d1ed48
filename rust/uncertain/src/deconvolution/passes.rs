//! Passes over the rows of a fit, which keep the packs that the vector kernels read.

use crate::control::Control;
use crate::data::Weights;
use crate::deconvolution::{Observed, log_sum};
use crate::error::Result;
use crate::memory;
use crate::parallel;
use crate::simd::mixture::{Component, Shape, Sums, Workspace};
use crate::simd::{LANES, Pack};

/// Sums of a pass for EM: per component the packed triangle of d + 1 rows (G n, then s n and n), and
/// the sum of weighted log densities.
pub(crate) struct Pass {
    pub sums: Vec<f64>,
    pub total: f64,
}

/// Rows for many passes: as packs where they may be kept, which saves cutting them into lanes every time.
pub(crate) struct PackedRows<'r> {
    rows: Option<&'r [usize]>,
    count: usize,
    /// Part by part, as `parallel::map_parts` cuts them, so that both ways give the same bits.
    packs: Option<Vec<Vec<Pack>>>,
}

/// Kept packs per call of a kernel.
const KEPT_PACKS: usize = 128;

/// The sums of one part.
struct Partial {
    sums: Vec<Pack>,
    total: [f64; LANES],
    workspace: Workspace,
}

impl Partial {
    fn add(&mut self, shape: Shape, components: &[Component], rows: &[Pack]) {
        let Self { sums, total, workspace } = self;
        Sums { shape, components, rows, workspace, sums, total }.run();
    }

    fn pass(self) -> Pass {
        Pass { sums: self.sums.iter().map(|lanes| lanes.0.iter().sum()).collect(), total: self.total.iter().sum() }
    }
}

impl Observed<'_> {
    /// These rows (`None`: all) for many passes.
    pub(crate) fn source<'r>(&self, rows: Option<&'r [usize]>, control: &Control) -> Result<PackedRows<'r>> {
        self.source_below(memory::kept(), rows, control)
    }

    /// Packs for one pass.
    pub(super) fn passing<'r>(&self, rows: Option<&'r [usize]>) -> PackedRows<'r> {
        PackedRows { rows, count: rows.map_or(self.data.n_rows(), <[usize]>::len), packs: None }
    }

    /// Packs of no more than so many bytes; beyond, every pass makes them anew.
    fn source_below<'r>(&self, bytes: usize, rows: Option<&'r [usize]>, control: &Control) -> Result<PackedRows<'r>> {
        let count = rows.map_or(self.data.n_rows(), <[usize]>::len);
        // The weights of parts of rows change from pass to pass, and are in the packs.
        if self.parts.is_some() || count.div_ceil(LANES).saturating_mul(self.shape.width() * size_of::<Pack>()) > bytes
        {
            return Ok(PackedRows { rows, count, packs: None });
        }
        let parts = parallel::map_parts(count, |part| -> Result<Vec<Pack>> {
            let mut packs = Vec::with_capacity(part.len().div_ceil(LANES) * self.shape.width());
            self.blocks(rows, part, control, |block, _| {
                packs.extend_from_slice(block);
                Ok(())
            })?;
            Ok(packs)
        })?;
        Ok(PackedRows { rows, count, packs: Some(parts.into_iter().collect::<Result<_>>()?) })
    }

    /// One pass of EM with these components.
    pub(crate) fn sums(&self, source: &PackedRows<'_>, components: &[Component], control: &Control) -> Result<Pass> {
        if self.parts.is_some() {
            return self.sums_over_parts(source, components, control);
        }
        let len = components.len() * self.shape.sums_len();
        let start = || Partial { sums: vec![Pack::ZERO; len], total: [0.0; LANES], workspace: Workspace::default() };
        let parts: Vec<Result<Pass>> = match &source.packs {
            Some(kept) => parallel::map_jobs(kept.iter().collect(), |packs: &Vec<Pack>| {
                let mut partial = start();
                for block in packs.chunks(KEPT_PACKS * self.shape.width()) {
                    control.check()?;
                    partial.add(self.shape, components, block);
                }
                Ok(partial.pass())
            })?,
            None => parallel::map_parts(source.count, |part| {
                let mut partial = start();
                self.blocks(source.rows, part, control, |block, _| {
                    partial.add(self.shape, components, block);
                    Ok(())
                })?;
                Ok(partial.pass())
            })?,
        };
        let mut all = Pass { sums: vec![0.0; len], total: 0.0 };
        for part in parts {
            let part = part?;
            all.sums.iter_mut().zip(&part.sums).for_each(|(a, b)| *a += b);
            all.total += part.total;
        }
        Ok(all)
    }
}

impl Observed<'_> {
    /// Of these rows, or parts of rows, with these log densities: the weight that each has in its row, times that of the
    /// row, and the sum of weight times log density of all rows.
    pub(super) fn likelihood(&self, numbers: &[usize], mut logs: Vec<f64>) -> (Vec<f64>, f64) {
        let together = |a: &usize, b: &usize| self.parts.is_some_and(|parts| parts[*a] == parts[*b]);
        let (mut total, mut first) = (0.0, 0);
        for own in numbers.chunk_by(together) {
            let logs = &mut logs[first..first + own.len()];
            first += own.len();
            let of_row: f64 = own.iter().map(|&c| self.weight(c)).sum();
            logs.iter_mut().zip(own).for_each(|(log, &c)| *log += (self.weight(c) / of_row).ln());
            let all = log_sum(logs);
            total += of_row * all;
            logs.iter_mut().for_each(|log| *log = of_row * (*log - all).exp());
        }
        (logs, total)
    }

    /// [`sums`](Self::sums) where rows are mixtures of parts: EM over pairs of a part c and a component k, with shares
    ///
    /// ```text
    /// q_ick = v_ic pi_k N(x_ic; mu_k, T_k + S_ic) / sum over c and k of the same
    /// ```
    /// which are those of the components in part c, times the weight that part c has in row i under this mixture. So a
    /// first pass finds these weights, and a second one is as for rows.
    fn sums_over_parts(&self, source: &PackedRows<'_>, components: &[Component], control: &Control) -> Result<Pass> {
        let logs = self.plain_densities(source.rows, components, control)?;
        let number = |at: usize| source.rows.map_or(at, |rows| rows[at]);
        let numbers: Vec<usize> = (0..source.count).map(number).collect();
        let (weights, total) = self.weights_of_parts(&numbers, &logs, components.len());
        let weighted = Observed { weights: Some(&weights), parts: None, ..*self };
        let Pass { sums, .. } = weighted.sums(&weighted.passing(source.rows), components, control)?;
        Ok(Pass { sums, total })
    }

    /// The weights of all rows' parts, from the log densities of these under k components each, and their log-likelihood.
    pub(super) fn weights_of_parts(&self, numbers: &[usize], logs: &[f64], k: usize) -> (Weights, f64) {
        let (shares, total) = self.likelihood(numbers, logs.chunks_exact(k).map(log_sum).collect());
        let mut weights = vec![0.0; self.data.n_rows()];
        numbers.iter().zip(shares).for_each(|(&c, share)| weights[c] = share);
        (Weights::from_shares(weights), total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Covariances, GaussianArray, Rows};
    use crate::deconvolution::Mixture;
    use crate::deconvolution::prepare::prepared;
    use crate::testing::Numbers;

    #[test]
    fn kept_packs_give_the_same_bits() {
        let (n, d) = (1500, 3);
        let mut numbers = Numbers::new(2);
        let mut take = |len: usize| (0..len).map(|_| numbers.normal()).collect::<Vec<f64>>();
        let stds = take(n * d).iter().map(|x| x.abs()).collect();
        let covariances = Covariances::from_std(Rows::from_vec(stds, d).unwrap());
        let data = GaussianArray::new(Rows::from_vec(take(n * d), d).unwrap(), covariances).unwrap();
        let mixture =
            Mixture::from_packed(vec![0.5, 0.5], take(2 * d), [1.0, 0.1, 2.0, 0.0, 0.2, 1.5].repeat(2), d).unwrap();
        let observed = Observed::new(&data, None, None);
        let components = prepared(&mixture, observed.noise(), data.covariances()).unwrap();
        let control = Control::new();
        let some: Vec<usize> = (0..n).filter(|i| i % 3 != 0).collect();
        for rows in [None, Some(some.as_slice())] {
            let [kept, made] = [usize::MAX, 0].map(|bytes| {
                let source = observed.source_below(bytes, rows, &control).unwrap();
                assert_eq!(source.packs.is_some(), bytes > 0);
                let pass = observed.sums(&source, &components, &control).unwrap();
                (pass.sums, pass.total)
            });
            assert_eq!(kept, made);
            assert!(kept.1.is_finite());
        }
    }
}
