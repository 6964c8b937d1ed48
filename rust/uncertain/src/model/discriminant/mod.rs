//! Gaussian discriminant with known row noise: LDA and QDA for data with error bars.
//!
//! The true values of class c come from sum_k pi_ck N(mu_ck, T_ck), and a row is one noisy reading of one of them:
//! ```text
//! p(x_i | c) = sum_k pi_ck N(x_i; mu_ck, T_ck + S_i),    P(c | x_i) = prior_c p(x_i | c) / sum_c' prior_c' p(x_i | c')
//! ```
//! Parameters by extreme deconvolution per class ([`deconvolution`]); with one T for all (`shared`)
//! and one component it is linear discriminant analysis, with a T per class the quadratic one. For zero
//! covariances both are the classical methods (with maximum-likelihood covariances).
//!
//! A missing feature is one of infinite noise: the densities are those of the features that are there. A row of gaps
//! alone gets the priors.
//!
//! Unlike a prior that is common to all classes, this stays right when the noise itself depends on the class.

mod differences;
mod distribution;
mod points;
mod state;

use ndarray::{Array2, Axis};

use crate::control::Control;
use crate::data::{Incomplete, Labels};
use crate::deconvolution::RemoteEm;
use crate::deconvolution::{self, Components, FittedMixture, Mixture, Observed, PerClass, Report, log_sum};
use crate::error::{Error, Result};
use crate::mixture::normalise_logs;
use crate::number;
use crate::params::{Valid, builder};
use crate::readable::readable;
use crate::state::RemoteRows;

builder! {
    /// Parameters of a fit; one shared covariance by default.
    pub struct Params {
        /// One covariance T for all classes and components?
        #[serde(rename = "shared_covariance")]
        shared: bool = true,
        /// Class probabilities before a row is seen, > 0, which are normalised; `None`: the weighted shares of the classes.
        #[serde(with = "number::list")]
        priors: Option<Vec<f64>> = None,
        /// Everything about EM; the number of components is that of each class and cannot be automatic.
        em: deconvolution::Params = deconvolution::Params::new().reg(None::<f64>),
    }
}

impl Params {
    /// Parameters that can fit, or the first one that is out of range. There must be as many priors as classes, which
    /// the fit checks.
    pub fn check(self) -> Result<ValidParams> {
        self.em.clone().check()?;
        if matches!(self.em.components, Components::Auto) {
            let expected = "an integer >= 1; choose by cross-validation (GridSearchCV)";
            return Err(Error::parameter("n_components", "\"auto\"", expected));
        }
        match self.priors.iter().flatten().find(|p| !(**p > 0.0 && p.is_finite())) {
            Some(bad) => Err(Error::parameter("priors", bad, "finite numbers > 0, one per class")),
            None => Ok(Valid(self)),
        }
    }
}

/// Parameters that have passed [`Params::check`].
pub type ValidParams = Valid<Params>;

impl ValidParams {
    /// Fit to labelled rows; the second part of the result tells how EM went.
    pub(crate) fn fit<'a>(
        &self,
        data: impl Into<Incomplete<'a>>,
        labels: &Labels,
        control: &Control,
    ) -> Result<(Model, FittedMixture)> {
        let rows = data.into();
        labels.check_rows(rows.gaussians().n_rows())?;
        labels.check_every_class()?;
        rows.check_with(labels.weights())?;
        let n_classes = labels.n_classes();
        for class in 0..n_classes {
            if let Some(j) = rows.unseen(labels.class_rows(class).into_iter()) {
                return Err(Error::Data(format!(
                    "feature {j} is missing in every row of class {class} (counted from 0), so nothing can be learned \
                     about it there; leave the feature out"
                )));
            }
        }
        let shares = self.priors(labels)?;
        let per_class = PerClass { shares: &shares, tied: self.0.shared, unbiased: false };
        let fitted = Valid(self.0.em.clone()).fit_classes(rows, labels, per_class, control)?;
        let model = Model { report: Some(fitted.report()), ..Model::new(fitted.mixture.clone(), n_classes)? };
        Ok((model, fitted))
    }

    /// [`fit`](Self::fit) by passes over rows held by other processes.
    fn fit_remote(&self, remote: &RemoteRows<'_>, control: &Control) -> Result<Model> {
        let (sample, labels) = (remote.sample.rows(), remote.sample.labels()?);
        let classes = labels.n_classes();
        let groups = (0..classes).map(|class| Some(labels.class_rows(class))).collect();
        let rows = RemoteEm::new(&self.0.em, "every class", remote.rows, sample, labels.weights(), groups, control)?;
        let fitted = deconvolution::fit_remote(&self.0.em, &rows, self.0.shared, false, control)?;
        let weights: Vec<f64> = (0..classes).map(|class| rows.weight(class)).collect();
        let total: f64 = weights.iter().sum();
        let shares = match &self.0.priors {
            None => weights.iter().map(|weight| weight / total).collect(),
            Some(_) => self.priors(labels)?,
        };
        let mixture =
            fitted.mixture.weighted(|component| shares[component * classes / fitted.mixture.n_components()])?;
        Ok(Model { report: Some(fitted.report()), ..Model::new(mixture, classes)? })
    }

    fn priors(&self, labels: &Labels) -> Result<Vec<f64>> {
        let Some(priors) = &self.0.priors else {
            let shares = labels.shares();
            return match shares.iter().position(|share| !(*share > 0.0)) {
                None => Ok(shares),
                Some(class) => Err(Error::Data(format!(
                    "sample_weight: the rows of class {class} (counted from 0) weigh so little beside the others that \
                     their share of all weight is no number; pass priors, or weights that differ by less than 1e300"
                ))),
            };
        };
        if priors.len() != labels.n_classes() {
            return Err(Error::shape("priors", format!("{}, one per class", labels.n_classes()), priors.len()));
        }
        let sum: f64 = priors.iter().sum();
        Ok(priors.iter().map(|p| p / sum).collect())
    }
}

readable! {
    /// A fitted discriminant.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Model {
        /// Components of class 0, then those of class 1, ...; shares are those of all rows, and sum to 1.
        mixture: Mixture => &Mixture,
        /// Number of classes.
        n_classes: usize => usize,
        /// How the fit went, where there was one.
        report: Option<Report> => Option<&Report>,
    }
}

impl Model {
    /// From all components, equally many per class, class by class.
    pub fn new(mixture: Mixture, n_classes: usize) -> Result<Self> {
        let components = mixture.n_components();
        if n_classes < 2 || !components.is_multiple_of(n_classes) {
            return Err(Error::shape("components", format!("as many for each of {n_classes} classes"), components));
        }
        Ok(Self { mixture, n_classes, report: None })
    }

    /// P(c | x_i), n x C.
    pub(crate) fn predict_proba<'a>(&self, data: impl Into<Incomplete<'a>>, control: &Control) -> Result<Array2<f64>> {
        Ok(self.log_proba(data, control)?.mapv_into(f64::exp))
    }

    /// log P(1 | x_i) - log P(0 | x_i), n x 1; for more than two classes log P of each, n x C.
    pub(crate) fn decision<'a>(&self, data: impl Into<Incomplete<'a>>, control: &Control) -> Result<Array2<f64>> {
        let logs = self.log_proba(data, control)?;
        if self.n_classes > 2 {
            return Ok(logs);
        }
        Ok((&logs.column(1) - &logs.column(0)).insert_axis(Axis(1)))
    }

    /// log P(c | x_i), n x C: exact under the model.
    pub(crate) fn log_proba<'a>(&self, data: impl Into<Incomplete<'a>>, control: &Control) -> Result<Array2<f64>> {
        let mut logs = self.log_joint(data, control)?;
        normalise_logs(&mut logs, self.n_classes)?;
        self.matrix(logs)
    }

    /// log p(c, x_i), row by row those of all classes.
    fn log_joint<'a>(&self, data: impl Into<Incomplete<'a>>, control: &Control) -> Result<Vec<f64>> {
        let rows = data.into();
        rows.gaussians().check_features(self.mixture.n_features())?;
        let logs = Observed::from_rows(rows, None).log_densities(None, &self.mixture, control)?;
        let k = self.mixture.n_components() / self.n_classes;
        Ok(if k == 1 { logs } else { logs.chunks_exact(k).map(log_sum).collect() })
    }

    /// Rows of one number per class.
    fn matrix(&self, values: Vec<f64>) -> Result<Array2<f64>> {
        Array2::from_shape_vec((values.len() / self.n_classes, self.n_classes), values)
            .map_err(|e| Error::Internal(format!("log probabilities: {e}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Covariances, GaussianArray, Rows};
    use crate::testing::Numbers;

    /// Two classes in two dimensions whose noise has very different sizes.
    fn problem(n: usize) -> (GaussianArray, Labels) {
        let mut numbers = Numbers::new(4);
        let (mut x, mut s, mut codes) = (vec![], vec![], vec![]);
        for i in 0..n {
            let class = i % 2;
            let std = [0.2, 2.0][i / 2 % 2];
            let a = numbers.normal() + 2.0 * class as f64;
            let b = 0.5 * a + numbers.normal();
            x.extend([a + std * numbers.normal(), b + std * numbers.normal()]);
            s.push(std);
            codes.push(class as u32);
        }
        let covariances = Covariances::from_std(Rows::from_vec(s, 1).unwrap());
        (GaussianArray::new(Rows::from_vec(x, 2).unwrap(), covariances).unwrap(), Labels::new(codes, 2).unwrap())
    }

    #[test]
    fn probabilities_of_rows_far_from_every_class_sum_to_one() {
        let (data, labels) = problem(400);
        let (model, _) = Params::default().check().unwrap().fit(&data, &labels, &Control::new()).unwrap();
        for size in [1e3, 1e8, 1e16, 1e60] {
            let far = Rows::from_vec(vec![size, -size, 0.3 * size, size], 2).unwrap();
            for std in [0.1, 1e-3 * size, size] {
                let covariances = Covariances::from_std(Rows::from_vec(vec![std; 2], 1).unwrap());
                let rows = GaussianArray::new(far.clone(), covariances).unwrap();
                for row in model.predict_proba(&rows, &Control::new()).unwrap().outer_iter() {
                    assert!((row.sum() - 1.0).abs() < 1e-14 && row.iter().all(|p| (0.0..=1.0).contains(p)), "{row}");
                }
            }
        }
    }

    #[test]
    fn rows_beyond_all_numbers_are_refused_not_classified() {
        let (data, labels) = problem(400);
        let (model, _) = Params::default().check().unwrap().fit(&data, &labels, &Control::new()).unwrap();
        for (size, std) in [(1e155, 0.1), (1e155, 0.0), (1e300, 1e3), (f64::MAX, 0.1)] {
            let means = Rows::from_vec(vec![0.0, 0.0, size, 1.0], 2).unwrap();
            let covariances = Covariances::from_std(Rows::from_vec(vec![std; 2], 1).unwrap());
            let rows = GaussianArray::new(means, covariances).unwrap();
            let control = Control::new();
            let why = model.predict_proba(&rows, &control).unwrap_err().to_string();
            assert!(why.starts_with("row 1"), "{why}");
            assert!(model.decision(&rows, &control).is_err());
            assert!(model.decision(&rows.slice(0..1), &control).is_ok());
        }
        // The centre, known to nothing: variances of the differences overflow.
        for (shared, k) in [(true, 1), (true, 2), (false, 2)] {
            let em = deconvolution::Params { components: Components::Fixed(k), ..Default::default() };
            let params = Params { shared, priors: None, em };
            let (model, _) = params.check().unwrap().fit(&data, &labels, &Control::new()).unwrap();
            for std in [1e60, 1e154, 1e160] {
                let covariances = Covariances::from_std(Rows::from_vec(vec![0.1, std], 1).unwrap());
                let Ok(rows) = GaussianArray::new(Rows::from_vec(vec![0.0; 4], 2).unwrap(), covariances) else {
                    continue;
                };
                match model.decision_distribution(&rows, &Control::new()) {
                    Ok((means, stds)) => assert!(means.iter().chain(&stds).all(|x| x.is_finite()), "{means} {stds}"),
                    Err(why) => assert!(why.is_about_data(), "{why}"),
                }
            }
        }
    }

    #[test]
    fn probabilities_are_those_of_the_densities_and_sum_to_one() {
        let (data, labels) = problem(400);
        for (shared, k) in [(true, 1), (false, 1), (false, 2), (true, 2)] {
            let em = deconvolution::Params { components: Components::Fixed(k), ..Default::default() };
            let params = Params { shared, priors: Some(vec![1.0, 3.0]), em };
            let (model, fitted) = params.check().unwrap().fit(&data, &labels, &Control::new()).unwrap();
            assert!(fitted.history.windows(2).all(|h| h[1] >= h[0]));
            let log = model.log_proba(&data, &Control::new()).unwrap();
            let mixture = model.mixture();
            assert!((mixture.weights()[..k].iter().sum::<f64>() - 0.25).abs() < 1e-12);
            for (i, row) in log.outer_iter().enumerate() {
                assert!((row.iter().map(|x| x.exp()).sum::<f64>() - 1.0).abs() < 1e-12);
                // 2 x 2 densities by hand.
                let joint = |c: usize| -> f64 {
                    (c * k..(c + 1) * k)
                        .map(|j| {
                            let (t, m, x) = (mixture.covariance(j), mixture.mean(j), data.means().row(i));
                            let s = data.covariances().quad(i, &[1.0, 0.0]);
                            let (a, b, d) = (t[0] + s, t[1], t[2] + s);
                            let (det, r0, r1) = (a * d - b * b, x[0] - m[0], x[1] - m[1]);
                            let quad = (d * r0 * r0 - 2.0 * b * r0 * r1 + a * r1 * r1) / det;
                            mixture.weights()[j] * (-0.5 * quad).exp() / det.sqrt()
                        })
                        .sum()
                };
                let expected = joint(1) / (joint(0) + joint(1));
                assert!((row[1].exp() - expected).abs() < 1e-12);
            }
            if shared {
                let all = (0..2 * k).map(|j| mixture.covariance(j));
                assert!(all.clone().zip(all.skip(1)).all(|(a, b)| a == b));
            }
        }
    }

    #[test]
    fn without_noise_it_is_pooled_and_own_covariances() {
        let (data, labels) = problem(100);
        let exact = data.collapse(crate::data::Collapse::Zero).unwrap();
        let fit = |shared| {
            let params = Params::new().shared(shared).check().unwrap();
            params.fit(&exact, &labels, &Control::new()).unwrap().0
        };
        let (linear, quadratic) = (fit(true), fit(false));
        let mut pooled = [0.0; 3];
        for class in 0..2 {
            let rows: Vec<_> = (0..100).filter(|i| i % 2 == class).map(|i| exact.means().row(i)).collect();
            let mean = |f: &dyn Fn(&[f64]) -> f64| rows.iter().map(|r| f(r)).sum::<f64>() / 50.0;
            let (a, b) = (mean(&|r| r[0]), mean(&|r| r[1]));
            let own =
                [mean(&|r| (r[0] - a).powi(2)), mean(&|r| (r[0] - a) * (r[1] - b)), mean(&|r| (r[1] - b).powi(2))];
            for j in 0..3 {
                pooled[j] += own[j] / 2.0;
                assert!((quadratic.mixture().covariance(class)[j] - own[j]).abs() < 1e-12);
            }
            assert!((linear.mixture().mean(class)[0] - a).abs() < 1e-12);
        }
        (0..3).for_each(|j| assert!((linear.mixture().covariance(1)[j] - pooled[j]).abs() < 1e-12));
    }

    #[test]
    fn what_cannot_be_fitted_is_refused() {
        let (data, labels) = problem(10);
        let refused = |params: Params| {
            let fit = params.check().and_then(|params| params.fit(&data, &labels, &Control::new()));
            fit.unwrap_err().to_string()
        };
        assert!(refused(Params { priors: Some(vec![1.0]), ..Params::new() }).contains("priors"));
        assert!(refused(Params { priors: Some(vec![1.0, 0.0]), ..Params::new() }).contains("priors"));
        let components = |components| deconvolution::Params { components, ..Default::default() };
        assert!(refused(Params { em: components(Components::Fixed(6)), ..Params::new() }).contains("6 components"));
        assert!(refused(Params { em: components(Components::Auto), ..Params::new() }).contains("auto"));
    }
}
