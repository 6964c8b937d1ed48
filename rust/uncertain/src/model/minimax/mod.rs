//! The minimax probability machine: the hyperplane whose worst-case accuracy is best.
//!
//! Each class is known by its mean and covariance only. Of all distributions with these moments, the worst one
//! puts the share 1 / (1 + kappa^2) on the wrong side, with the same kappa for both classes and
//!
//! ```text
//! 1 / kappa = min |S_+^(1/2) w| + |S_-^(1/2) w|   s.t.  w'(mu_+ - mu_-) = 1,     accuracy kappa^2 / (1 + kappa^2)
//! b from  w'mu_+ + b = kappa |S_+^(1/2) w|
//! ```
//!
//! The covariance of a class of uncertain rows is that of a draw from a random row: scatter of the means
//! plus the mean covariance of the rows. A small multiple of I is added to both, the exact answer to
//! covariances known only to within so much in the Frobenius norm; without it fewer rows than features have
//! many planes without any spread along w.
//! Method: the fixed point w ~ (S_+ / s_+ + S_- / s_-)^-1 (mu_+ - mu_-), which majorises the square roots and
//! never raises the sum.
//! Source: G. Lanckriet, L. El Ghaoui, C. Bhattacharyya, M. Jordan, A Robust Minimax Approach to
//! Classification, JMLR 3, 2002.

mod params;
mod remote;
mod state;

use crate::control::Control;
use crate::data::covariance::{packed_index, packed_len};
use crate::data::{GaussianArray, Labels};
use crate::error::{Error, Result};
use crate::linalg::Spd;
use crate::model::linear::{LinearClassifier, NearFold, TwoClasses, fit_one_vs_rest};
use crate::moments::RowMoments;
use crate::solver::{Solution, Status};

pub use params::{Params, ValidParams};

/// A fitted machine.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Model {
    /// The hyperplanes and all predictions; the reports' objective is 1 / kappa.
    pub linear: LinearClassifier,
    /// Per hyperplane the share of either class that is on its side whatever the distributions.
    pub worst_case_accuracy: Vec<f64>,
}

/// Mean and covariance (packed) of a class.
struct Moments {
    mean: Vec<f64>,
    cov: Vec<f64>,
}

impl Moments {
    /// The mean variance of a feature.
    fn variance(&self, d: usize) -> f64 {
        (0..d).map(|j| self.cov[packed_index(j, j)]).sum::<f64>() / d as f64
    }
}

impl From<RowMoments> for Moments {
    fn from(RowMoments { mean, cov, .. }: RowMoments) -> Self {
        Self { mean, cov }
    }
}

/// kappa^2 / (1 + kappa^2)
fn worst_case_accuracy(solution: &Solution) -> f64 {
    let kappa2 = solution.objective.powi(-2);
    if solution.objective > 0.0 { kappa2 / (1.0 + kappa2) } else { 1.0 }
}

impl ValidParams {
    /// Fit to rows with labels, one class against the rest if there are more than two.
    pub(crate) fn fit(&self, data: &GaussianArray, labels: &Labels, control: &Control) -> Result<Model> {
        let Params { calibration, seed, .. } = self.0;
        let fit = |rows: &TwoClasses<'_>, _: Option<&NearFold<'_>>, control: &Control| {
            let solution = self.fit_rows(rows, control)?;
            let accuracy = worst_case_accuracy(&solution);
            Ok((solution, accuracy))
        };
        let (linear, worst_case_accuracy) = fit_one_vs_rest(data, labels, &calibration, seed, None, control, fit)?;
        Ok(Model { linear, worst_case_accuracy })
    }

    /// One hyperplane.
    fn fit_rows(&self, rows: &TwoClasses<'_>, control: &Control) -> Result<Solution> {
        let [minus, plus] = [-1.0, 1.0].map(|sign| moments(rows, sign));
        self.separate(minus, plus, control)
    }

    /// The hyperplane between two classes.
    fn separate(&self, mut minus: Moments, mut plus: Moments, control: &Control) -> Result<Solution> {
        let d = plus.mean.len();
        let variance = (minus.variance(d) + plus.variance(d)) / 2.0;
        for cov in [&mut minus.cov, &mut plus.cov] {
            (0..d).for_each(|j| cov[packed_index(j, j)] += self.0.ridge * variance);
        }
        self.solve(&minus, &plus, control)
    }

    fn solve(&self, minus: &Moments, plus: &Moments, control: &Control) -> Result<Solution> {
        let d = plus.mean.len();
        let apart: Vec<f64> = plus.mean.iter().zip(&minus.mean).map(|(a, b)| a - b).collect();
        if apart.iter().all(|a| *a == 0.0) {
            return Err(Error::Data(
                "the classes have equal means: no hyperplane is better than guessing; use another classifier".into(),
            ));
        }
        let (mut w, mut before) = (vec![], f64::INFINITY);
        let (mut s_plus, mut s_minus) = (1.0, 1.0);
        let mut status = Status::MaxIterations;
        let mut iterations = 0;
        while iterations < self.0.max_iter {
            control.check()?;
            w = toward(&plus.cov, &minus.cov, s_plus, s_minus, &apart, d)?;
            (s_plus, s_minus) = (spread(&plus.cov, &w), spread(&minus.cov, &w));
            iterations += 1;
            let sum = s_plus + s_minus;
            control.report(iterations, sum, f64::NAN);
            if before - sum <= self.0.tol * sum {
                status = Status::Converged;
                break;
            }
            before = sum;
        }
        let objective = s_plus + s_minus;
        let dot = |a: &[f64]| a.iter().zip(&w).map(|(a, w)| a * w).sum::<f64>();
        // Between the means in the ratio of the spreads; in the middle where there is none.
        let share = if objective > 0.0 { s_plus / objective } else { 0.5 };
        let b = share * dot(&apart) - dot(&plus.mean);
        Ok(Solution { w, b, objective, gap: f64::NAN, iterations, status })
    }
}

/// Mean and covariance of a draw from a random row with this target.
fn moments(rows: &TwoClasses<'_>, sign: f64) -> Moments {
    let &TwoClasses { data, targets, weights } = rows;
    let d = data.n_features();
    let weight = |i: usize| weights.map_or(1.0, |c| c[i]);
    let rows: Vec<usize> = (0..data.n_rows()).filter(|&i| targets.at(i) == sign && weight(i) > 0.0).collect();
    let total: f64 = rows.iter().map(|&i| weight(i)).sum();
    let (mut mean, mut cov) = (vec![0.0; d], vec![0.0; packed_len(d)]);
    for &i in &rows {
        let c = weight(i) / total;
        mean.iter_mut().zip(&*data.means().row(i)).for_each(|(m, x)| *m += c * x);
        data.covariances().add_to(i, c, d, &mut cov);
    }
    for &i in &rows {
        let c = weight(i) / total;
        let off: Vec<f64> = data.means().row(i).iter().zip(&mean).map(|(x, m)| x - m).collect();
        for j in 0..d {
            for k in 0..=j {
                cov[packed_index(j, k)] += c * off[j] * off[k];
            }
        }
    }
    Moments { mean, cov }
}

/// (A / a + B / b)^-1 v, scaled to w'v = 1.
fn toward(a_cov: &[f64], b_cov: &[f64], a: f64, b: f64, v: &[f64], d: usize) -> Result<Vec<f64>> {
    // The weights' ratio is what matters; a class without spread along w counts at most so much.
    let largest = a.max(b).max(f64::MIN_POSITIVE);
    let (a, b) = ((a / largest).max(1e-8), (b / largest).max(1e-8));
    let mut matrix = vec![0.0; d * d];
    for j in 0..d {
        for k in 0..=j {
            let at = packed_index(j, k);
            matrix[j * d + k] = a_cov[at] / a + b_cov[at] / b;
        }
    }
    let diagonal = (0..d).map(|j| matrix[j * d + j]).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    for ridge in [0.0, 1e-14, 1e-12, 1e-10] {
        let mut ridged = matrix.clone();
        (0..d).for_each(|j| ridged[j * d + j] += ridge * diagonal);
        if let Some(ridged) = Spd::new(ridged, d) {
            let w = ridged.solve(v.to_vec());
            let scale: f64 = w.iter().zip(v).map(|(w, v)| w * v).sum();
            if scale > 0.0 && scale.is_finite() {
                return Ok(w.iter().map(|w| w / scale).collect());
            }
        }
    }
    Err(Error::Data("the classes' covariances are singular: pass ridge > 0".into()))
}

/// |S^(1/2) w|
fn spread(cov: &[f64], w: &[f64]) -> f64 {
    let d = w.len();
    let row = |j: usize| (0..d).map(|k| cov[packed_index(j, k)] * w[k]).sum::<f64>();
    (0..d).map(|j| w[j] * row(j)).sum::<f64>().max(0.0).sqrt()
}
