//! Mean and standard deviation of the score of an exact point z ~ N(x_i, S_i).
//!
//! The score is that of [`Model::decision`] for zero noise, f(z) = log P(1 | z) - log P(0 | z) or log P(c | z), and depends on
//! z by the differences of the components' log densities ([`Differences`]) alone. Three cases:
//!
//! - two classes of one component: f is the difference, mean and variance in closed form, whatever the covariances;
//! - one T for all components: the differences are jointly Gaussian, and f is averaged over [`POINTS`] fixed points
//!   of that Gaussian, in as many dimensions as there are other components, however many features;
//! - else the points are those of z itself, and the differences found there are shifted and scaled to their exact
//!   means and variances. Without that, a few points far out make up most of a variance in many dimensions.
//!
//! Missing features stay missing: z_o ~ N(x_o, S_oo), and the score is that of z_o.

use std::collections::BTreeMap;
use std::ops::Range;

use ndarray::Array2;

use super::Model;
use super::differences::{Differences, Moments, Scratch};
use super::points::{POINTS, normal_points};
use crate::control::Control;
use crate::data::{Collapse, Covariances, GaussianArray, Incomplete, Rows};
use crate::deconvolution::{Mixture, Observed, log_sum};
use crate::error::{Error, Result};
use crate::linalg::Eigh;
use crate::parallel;

/// Numbers of points held at a time.
const HELD: usize = 1 << 21;

impl Model {
    /// Mean and standard deviation of the score under the uncertainty of each row, both n x 1, or n x C for more than
    /// two classes: of f(z), z ~ N(x_i, S_i), where f(z) is the score of the exact point z.
    ///
    /// That is another question than [`decision`](Self::decision) answers, whose densities contain S_i: there a vague
    /// row has a score near that of the priors, here a mean near the score of its x_i, and a large deviation.
    pub(crate) fn decision_distribution<'a>(
        &self,
        data: impl Into<Incomplete<'a>>,
        control: &Control,
    ) -> Result<(Array2<f64>, Array2<f64>)> {
        let rows = data.into();
        let data = rows.gaussians();
        data.check_features(self.mixture.n_features())?;
        if let Some(row) = (0..data.n_rows()).find(|&row| rows.is_limited(row)) {
            return Err(Error::Data(format!(
                "row {row} has a limit, and a distribution of scores needs readings; probabilities and scores take limits"
            )));
        }
        let exact = data.collapse(Collapse::Zero)?;
        let mut means = self.decision(Incomplete::from_parts(&exact, rows.missing(), None), control)?;
        let mut stds = Array2::zeros(means.dim());
        if matches!(data.covariances(), Covariances::Zero) {
            return Ok((means, stds));
        }
        let d = data.n_features();
        let mut patterns: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for i in 0..data.n_rows() {
            let known = (0..d).filter(|&j| !rows.is_missing(i, j)).collect();
            patterns.entry(known).or_default().push(i);
        }
        let spread = Spread::new(self, data, rows.missing())?;
        let width = means.ncols();
        for (known, members) in patterns {
            if known.is_empty() {
                continue;
            }
            let differences = Differences::new(&self.mixture, &spread.components, &known)?;
            for members in members.chunks(spread.at_once()) {
                control.check()?;
                let found = spread.evaluate(&differences, members, control)?;
                for (&i, found) in members.iter().zip(found.chunks_exact(2 * width)) {
                    for c in 0..width {
                        means[[i, c]] += found[c];
                        stds[[i, c]] = found[width + c];
                    }
                }
            }
        }
        Ok((means, stds))
    }
}

/// Terms that do not depend on which features are there.
struct Spread<'a> {
    data: &'a GaussianArray,
    missing: Option<&'a [bool]>,
    /// Components with a share.
    components: Vec<usize>,
    /// Distribution of these components.
    mixture: Mixture,
    /// Have all components the same T?
    tied: bool,
    /// The components of every class.
    classes: Vec<Range<usize>>,
    /// Standard normal points, for the dimensions in which they are needed.
    points: Vec<f64>,
    dims: usize,
    /// Scores per row.
    width: usize,
}

impl<'a> Spread<'a> {
    fn new(model: &Model, data: &'a GaussianArray, missing: Option<&'a [bool]>) -> Result<Self> {
        let (all, d) = (&model.mixture, model.mixture.n_features());
        let components: Vec<usize> = (0..all.n_components()).filter(|&k| all.weights()[k] > 0.0).collect();
        let of = |part: &dyn Fn(usize) -> Vec<f64>| components.iter().flat_map(|&k| part(k)).collect::<Vec<f64>>();
        let weights = of(&|k| vec![all.weights()[k]]);
        let mixture =
            Mixture::from_packed(weights, of(&|k| all.mean(k).to_vec()), of(&|k| all.covariance(k).to_vec()), d)?;
        let closed = components.len() == 2;
        let tied = components.iter().all(|&k| all.covariance(k) == all.covariance(components[0]));
        let dims = match (closed, tied) {
            (true, _) => 0,
            (_, true) => components.len() - 1,
            _ => d,
        };
        let k = all.n_components() / model.n_classes;
        let up_to = |class: usize| components.iter().take_while(|c| **c < class * k).count();
        let classes = (0..model.n_classes).map(|class| up_to(class)..up_to(class + 1)).collect();
        let width = if model.n_classes > 2 { model.n_classes } else { 1 };
        Ok(Self { data, missing, mixture, tied, classes, points: normal_points(dims), dims, width, components })
    }

    /// One component per class and two classes: nothing to average.
    fn closed(&self) -> bool {
        self.components.len() == 2
    }

    /// Rows whose points fit into the memory.
    fn at_once(&self) -> usize {
        let each = if self.tied || self.closed() { 1 } else { POINTS * self.dims.max(self.components.len()) };
        (HELD / each).max(1)
    }

    /// The mean less the score at x, then the deviation, of every score of these rows.
    fn evaluate(&self, differences: &Differences, members: &[usize], control: &Control) -> Result<Vec<f64>> {
        let closed = self.closed();
        let sampled = if closed || self.tied { vec![] } else { self.sampled(members, control)? };
        let centre = self.logs_at_means(members, control)?;
        let (j, count) = (self.components.len(), differences.count());
        let workspace = || (Scratch::default(), Eigh::new(count));
        parallel::new_rows_with(members.len(), 2 * self.width, workspace, |(scratch, eigh), at, out| {
            let row = members[at];
            let x = self.data.means().row(row);
            let moments = differences.moments(&x, self.data.covariances(), row, scratch);
            if !moments.variances.iter().chain(&moments.shifts).all(|v| v.is_finite()) {
                return Err(Error::Data(format!(
                    "row {row}: the deviation of its score is more than a number can hold; look at its units"
                )));
            }
            if closed {
                (out[0], out[1]) = (moments.shifts[0], moments.variances[0].sqrt());
                return Ok(());
            }
            if moments.variances.iter().all(|v| *v == 0.0) {
                return Ok(());
            }
            let logs = &centre[at * j..(at + 1) * j];
            let mut values = if self.tied {
                self.gaussian(differences, &moments, eigh)?
            } else {
                sampled[at * POINTS * count..(at + 1) * POINTS * count].to_vec()
            };
            matched(&mut values, &moments, logs);
            self.summarise(&values, logs, out);
            Ok(())
        })
    }

    /// log (share N(x; mu_k, T_k)) of the components with a share.
    fn logs_at_means(&self, members: &[usize], control: &Control) -> Result<Vec<f64>> {
        let exact = GaussianArray::from_checked(self.data.means().take(members), Covariances::Zero);
        let missing = self.marks(members, 1);
        let rows = Incomplete::from_parts(&exact, missing.as_deref(), None);
        Observed::from_rows(rows, None).log_densities(None, &self.mixture, control)
    }

    /// The marks of these rows, each so many times.
    fn marks(&self, members: &[usize], times: usize) -> Option<Vec<bool>> {
        let d = self.data.n_features();
        let missing = self.missing?;
        Some(members.iter().flat_map(|&i| missing[i * d..(i + 1) * d].repeat(times)).collect())
    }

    /// Differences at the points of z, [`POINTS`] x count per row.
    fn sampled(&self, members: &[usize], control: &Control) -> Result<Vec<f64>> {
        let (d, j) = (self.data.n_features(), self.components.len());
        let z = parallel::new_rows(members.len(), POINTS * d, |at, out| {
            let row = members[at];
            let (x, root) = (self.data.means().row(row), self.data.covariances().sqrt(row, d)?);
            crate::linalg::gemm_nt(&self.points, &root, d, out);
            for z in out.chunks_exact_mut(d) {
                z.iter_mut().zip(&*x).for_each(|(z, x)| *z += x);
            }
            Ok(())
        })?;
        let points = GaussianArray::from_checked(Rows::from_owned(z, members.len() * POINTS, d), Covariances::Zero);
        let missing = self.marks(members, POINTS);
        let rows = Incomplete::from_parts(&points, missing.as_deref(), None);
        let logs = Observed::from_rows(rows, None).log_densities(None, &self.mixture, control)?;
        Ok(logs.chunks_exact(j).flat_map(|l| l[1..].iter().map(|x| x - l[0])).collect())
    }

    /// Points of the Gaussian of linear differences, around 0.
    fn gaussian(&self, differences: &Differences, moments: &Moments, eigh: &mut Eigh) -> Result<Vec<f64>> {
        let count = differences.count();
        eigh.packed(&differences.covariance(moments))?;
        // The best coordinates, those of small primes, for the directions of most variance.
        let order: Vec<usize> = (0..count).rev().collect();
        let mut root = vec![0.0; count * count];
        for (to, &from) in order.iter().enumerate() {
            let scale = eigh.values[from].max(0.0).sqrt();
            (0..count).for_each(|i| root[i * count + to] = scale * eigh.vectors[from * count + i]);
        }
        let mut out = vec![0.0; POINTS * count];
        crate::linalg::gemm_nt(&self.points, &root, count, &mut out);
        Ok(out)
    }

    /// The scores of a point with these log densities of the components, up to a constant.
    fn score(&self, logs: &[f64], joint: &mut [f64], out: &mut [f64]) {
        joint.iter_mut().zip(&self.classes).for_each(|(joint, own)| *joint = log_sum(&logs[own.clone()]));
        if self.width == 1 {
            out[0] = joint[1] - joint[0];
        } else {
            let evidence = log_sum(joint);
            out.iter_mut().zip(joint).for_each(|(out, joint)| *out = *joint - evidence);
        }
    }

    /// Mean of the score less that at `logs`, and its deviation, over these differences.
    fn summarise(&self, values: &[f64], logs: &[f64], out: &mut [f64]) {
        let (width, count) = (self.width, logs.len() - 1);
        let (mut own, mut joint) = (vec![0.0; logs.len()], vec![0.0; self.classes.len()]);
        let mut first = vec![0.0; width];
        let centred: Vec<f64> = logs.iter().map(|l| l - logs[0]).collect();
        self.score(&centred, &mut joint, &mut first);
        let mut scores = vec![0.0; POINTS * width];
        for (values, scores) in values.chunks_exact(count).zip(scores.chunks_exact_mut(width)) {
            own[1..].copy_from_slice(values);
            self.score(&own, &mut joint, scores);
            scores.iter_mut().zip(&first).for_each(|(s, f)| *s -= f);
        }
        for c in 0..width {
            let of = |f: &dyn Fn(f64) -> f64| scores.chunks_exact(width).map(|s| f(s[c])).sum::<f64>() / POINTS as f64;
            let mean = of(&|s| s);
            (out[c], out[width + c]) = (mean, of(&|s| (s - mean) * (s - mean)).sqrt());
        }
    }
}

/// Every difference shifted and scaled to its exact mean and variance.
fn matched(values: &mut [f64], moments: &Moments, logs: &[f64]) {
    let count = moments.shifts.len();
    for k in 0..count {
        let of = |values: &[f64], f: &dyn Fn(f64) -> f64| {
            values.chunks_exact(count).map(|v| f(v[k])).sum::<f64>() / POINTS as f64
        };
        let mean = of(values, &|v| v);
        let variance = of(values, &|v| (v - mean) * (v - mean));
        let scale = if variance > 0.0 { (moments.variances[k] / variance).sqrt() } else { 0.0 };
        let centre = logs[k + 1] - logs[0] + moments.shifts[k];
        values.chunks_exact_mut(count).for_each(|v| v[k] = centre + scale * (v[k] - mean));
    }
}
