//! Covariances cut down to the directions in which a row is really uncertain.
//!
//! S_i = sum_k lambda_k v_k v_k', eigenvalues descending. Kept are the first d_i pairs, the fewest
//! whose share of the trace exceeds p. Source: the linear subspaces of SVM-GSU (Tzelepis, Mezaris,
//! Patras, "Linear maximum margin classifier for learning from uncertain data", section 3.2,
//! <https://doi.org/10.1109/TPAMI.2017.2772235>), in two variants:
//!
//! - [`Project::Covariance`]: the mean stays, S_i is truncated.
//! - [`Project::Both`], the paper's literal z_i = P_i x_i: the mean becomes P_i'P_i x_i as well, with
//!   the rows of P_i the kept v_k. It throws away the part of the mean outside of the subspace (all
//!   of it for a row without uncertainty), which can cost a lot of accuracy.
//!
//! The result is the cheapest kind that holds it: a full matrix becomes a factor with columns
//! sqrt(lambda_k) v_k, zero-padded to the largest d_i (with p = 1, the numerical rank); a factor
//! keeps being one; diagonal stays diagonal and shared stays shared.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::control::Control;
use crate::data::covariance::{Diagonal, Factor, Structure, packed_len};
use crate::data::{Covariances, GaussianArray, Incomplete, Kind, Rows, Unit};
use crate::error::{Error, Result};
use crate::linalg::Eigh;
use crate::memory::zeros;
use crate::named::named;
use crate::number;
use crate::parallel;
use crate::readable::readable;
use crate::state::{About, Parameters, Predictor, Valid};

/// Part that is projected on the subspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Project {
    /// The covariance alone.
    #[default]
    Covariance,
    /// Mean and covariance.
    Both,
}

named!(Project, "project");

readable! {
    /// Keeps the leading eigenpairs of every row's covariance. Nothing is learned from the data.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct SubspaceProjector {
        /// The share p of the trace.
        #[serde(with = "number")]
        variance: f64 => f64,
        /// Part that is projected.
        project: Project => Project,
    }
}

impl SubspaceProjector {
    /// `variance` in (0, 1]: the share p of the trace that must be exceeded; 1 keeps everything.
    pub fn new(variance: f64, project: Project) -> Result<Self> {
        if variance > 0.0 && variance <= 1.0 {
            Ok(Self { variance, project })
        } else {
            Err(Error::parameter("variance", variance, "above 0 and at most 1"))
        }
    }

    /// The projected Gaussians. `Err(Interrupted)` soon after `control` is stopped.
    pub(crate) fn transform(&self, data: &GaussianArray, control: &Control) -> Result<GaussianArray> {
        let everything = self.variance == 1.0;
        match (data.covariances().structure(), data.covariances().common()) {
            (Structure::Dense, None) => self.eigenpairs(data, control),
            // Nothing to cut off, and already as cheap as can be.
            _ if everything => Ok(data.clone()),
            (Structure::Dense, Some(triangle)) => self.shared(data, triangle, control),
            (Structure::Factor(_), _) => self.eigenpairs(data, control),
            (Structure::Zero, _) if self.project == Project::Covariance => Ok(data.clone()),
            (Structure::Zero | Structure::Isotropic | Structure::Diagonal, _) => self.axes(data, control),
        }
    }

    /// How many of these eigenvalues (descending) are kept.
    fn kept(&self, values: impl Iterator<Item = f64> + Clone) -> usize {
        let total: f64 = values.clone().map(|v| v.max(0.0)).sum();
        // Rounding error of a zero eigenvalue.
        let noise = values.clone().count() as f64 * f64::EPSILON * values.clone().next().unwrap_or(0.0);
        let mut sum = 0.0;
        let mut kept = 0;
        for value in values {
            if value <= noise.max(0.0) || (kept > 0 && sum > self.variance * total) {
                break;
            }
            sum += value;
            kept += 1;
        }
        kept
    }

    /// Zero, isotropic, diagonal: the eigenvectors are the axes (the first ones, where variances are equal).
    fn axes(&self, data: &GaussianArray, control: &Control) -> Result<GaussianArray> {
        let (n, d) = (data.n_rows(), data.n_features());
        let both = self.project == Project::Both;
        // Variances, then the mean, side by side.
        let width = if both { 2 * d } else { d };
        let blocks = parallel::map_fine(n, |rows| {
            let mut out = zeros(rows.len(), width)?;
            let mut order: Vec<usize> = (0..d).collect();
            for (row, out) in rows.zip(out.chunks_exact_mut(width)) {
                control.check()?;
                let (variances, mean) = out.split_at_mut(d);
                data.covariances().variances(row, variances);
                order.sort_by(|&a, &b| variances[b].total_cmp(&variances[a]).then(a.cmp(&b)));
                let kept = self.kept(order.iter().map(|&j| variances[j]));
                if both {
                    let x = data.means().row(row);
                    order[..kept].iter().for_each(|&j| mean[j] = x[j]);
                }
                order[kept..].iter().for_each(|&j| variances[j] = 0.0);
            }
            let column = |from: usize| out.chunks_exact(width).flat_map(move |r| &r[from..from + d]).copied();
            let means = if both { column(d).collect() } else { vec![] };
            Ok((Rows::from_vec(column(0).collect(), d)?, Rows::from_vec(means, d)?))
        })?;
        let (variances, means): (Vec<Rows>, Vec<Rows>) = blocks.into_iter().unzip();
        let covariances = match data.covariances().kind() {
            Kind::Zero => Covariances::Zero,
            _ => Diagonal { values: Rows::concat(variances, d)?, unit: Unit::Variance }.into(),
        };
        let means = if both { Rows::concat(means, d)? } else { data.means().clone() };
        Ok(GaussianArray::from_checked(means, covariances))
    }

    fn shared(&self, data: &GaussianArray, triangle: &[f64], control: &Control) -> Result<GaussianArray> {
        let d = data.n_features();
        let mut eigh = Eigh::new(d);
        eigh.packed(triangle)?;
        let kept = self.kept(eigh.values.iter().rev().copied());
        eigh.values[..d - kept].fill(0.0);
        let covariances = Covariances::triangle_unchecked(eigh.function(|x| x));
        let means = if self.project == Project::Both {
            Rows::written(data.n_rows(), d, |row, out| {
                control.check()?;
                let x = data.means().row(row);
                for v in eigh.vectors[(d - kept) * d..].chunks_exact(d) {
                    let c: f64 = v.iter().zip(&*x).map(|(v, x)| v * x).sum();
                    out.iter_mut().zip(v).for_each(|(o, v)| *o += c * v);
                }
                Ok(())
            })?
        } else {
            data.means().clone()
        };
        Ok(GaussianArray::from_checked(means, covariances))
    }

    /// Full and low-rank: an eigendecomposition per row.
    fn eigenpairs(&self, data: &GaussianArray, control: &Control) -> Result<GaussianArray> {
        let d = data.n_features();
        let blocks = parallel::map_fine(data.n_rows(), |rows| self.block(data, rows, control))?;
        let rank = blocks.iter().flat_map(|b| &b.ranks).copied().max().unwrap_or(0);
        let means = match self.moves_means() {
            true => {
                Rows::concat(blocks.iter().map(|b| Rows::from_vec(b.means.clone(), d)).collect::<Result<Vec<_>>>()?, d)?
            }
            false => data.means().clone(),
        };
        if rank == 0 {
            return Ok(GaussianArray::from_checked(means, Covariances::Zero));
        }
        let factors = blocks.into_iter().map(|b| b.padded(d, rank)).collect::<Result<Vec<_>>>()?;
        let factor = Rows::concat(factors, d * rank)?;
        Ok(GaussianArray::from_checked(means, Covariances::factor_unchecked(factor, rank)))
    }

    /// With p = 1 every direction is kept, also those without variance: the projection is the identity.
    fn moves_means(&self) -> bool {
        self.project == Project::Both && self.variance < 1.0
    }

    fn block(&self, data: &GaussianArray, rows: Range<usize>, control: &Control) -> Result<FactorBlock> {
        let d = data.n_features();
        let mut block = FactorBlock::default();
        let mut pairs = Pairs::new(data.covariances(), d);
        for row in rows {
            control.check()?;
            pairs.compute(row)?;
            let values = &pairs.eigh.values;
            let kept = self.kept(values.iter().rev().copied());
            let columns: Vec<Vec<f64>> = (0..kept).map(|k| pairs.column(row, values.len() - 1 - k)).collect();
            block.ranks.push(kept);
            block.factors.extend((0..d).flat_map(|j| columns.iter().map(move |c| c[j])));
            if self.moves_means() {
                let x = data.means().row(row);
                let mut mean = vec![0.0; d];
                for (c, value) in columns.iter().zip(values.iter().rev()) {
                    // v (v'x) with v = c / sqrt(lambda)
                    let along = c.iter().zip(&*x).map(|(c, x)| c * x).sum::<f64>() / value;
                    mean.iter_mut().zip(c).for_each(|(m, c)| *m += along * c);
                }
                block.means.extend(mean);
            }
        }
        Ok(block)
    }
}

/// The results of a range of rows: factors d x ranks[row], one after the other.
#[derive(Default)]
struct FactorBlock {
    ranks: Vec<usize>,
    factors: Vec<f64>,
    means: Vec<f64>,
}

impl FactorBlock {
    fn padded(self, d: usize, rank: usize) -> Result<Rows> {
        if self.ranks.iter().all(|r| *r == rank) {
            return Rows::from_vec(self.factors, d * rank);
        }
        let mut out = zeros(self.ranks.len(), d * rank)?;
        let mut rest = self.factors.as_slice();
        for (r, out) in self.ranks.iter().zip(out.chunks_exact_mut(d * rank)) {
            for out in out.chunks_exact_mut(rank) {
                let (line, later) = rest.split_at(*r);
                out[..*r].copy_from_slice(line);
                rest = later;
            }
        }
        Rows::from_vec(out, d * rank)
    }
}

/// The eigenpairs of one covariance after the other.
///
/// Of a factor F with fewer columns than rows, those of F'F are enough: F'F u = lambda u gives
/// F u = sqrt(lambda) v, the column we want, at the cost of rank^3 instead of d^3.
struct Pairs<'a> {
    covariances: &'a Covariances,
    narrow: Option<Factor<'a>>,
    d: usize,
    packed: Vec<f64>,
    eigh: Eigh,
}

impl<'a> Pairs<'a> {
    fn new(covariances: &'a Covariances, d: usize) -> Self {
        let narrow = match covariances.structure() {
            Structure::Factor(k) if k.diagonal.is_none() && k.rank < d => Some(k),
            _ => None,
        };
        let size = narrow.map_or(d, |k| k.rank);
        Self { covariances, narrow, d, packed: vec![0.0; packed_len(size)], eigh: Eigh::new(size) }
    }

    fn compute(&mut self, row: usize) -> Result<()> {
        self.packed.fill(0.0);
        match self.narrow {
            Some(k) => {
                for f in k.factor.row(row).chunks_exact(k.rank) {
                    for a in 0..k.rank {
                        let out = &mut self.packed[packed_len(a)..packed_len(a + 1)];
                        out.iter_mut().zip(f).for_each(|(o, b)| *o += f[a] * b);
                    }
                }
            }
            None => self.covariances.add_to(row, 1.0, self.d, &mut self.packed),
        }
        self.eigh.packed(&self.packed)
    }

    /// sqrt(lambda_k) v_k, k counted with ascending eigenvalues.
    fn column(&self, row: usize, k: usize) -> Vec<f64> {
        let size = self.eigh.values.len();
        let vector = &self.eigh.vectors[k * size..(k + 1) * size];
        match self.narrow {
            Some(low) => {
                let dot = |f: &[f64]| f.iter().zip(vector).map(|(f, u)| f * u).sum();
                low.factor.row(row).chunks_exact(low.rank).map(dot).collect()
            }
            None => {
                let root = self.eigh.values[k].max(0.0).sqrt();
                vector.iter().map(|v| root * v).collect()
            }
        }
    }
}

impl Default for SubspaceProjector {
    fn default() -> Self {
        Self { variance: 0.99, project: Project::Covariance }
    }
}

impl Parameters for SubspaceProjector {
    fn check(self) -> Result<Valid<Self>> {
        Self::new(self.variance, self.project).map(Valid)
    }
}

is_its_parameters!(SubspaceProjector);

impl Predictor for SubspaceProjector {
    fn about(&self) -> About {
        About::transform(None)
    }

    fn transform(&self, rows: Incomplete<'_>, control: &Control) -> Result<GaussianArray> {
        self.transform(rows.complete()?, control)
    }
}
