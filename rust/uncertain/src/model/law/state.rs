//! The law in files and other languages: the distribution of true features; `law` and `naive` (p), `covariance` and
//! `naive_covariance` (p x p) in the order intercept, coefficients, further parameters; `log_likelihood` (1).

use ndarray::Array2;

use super::{Estimates, ModeEstimates, Model, Observations, Params, ValidParams};
use crate::control::Control;
use crate::data::{Dataset, Incomplete};
use crate::deconvolution::{Mixture, ReportHeader};
use crate::density::Densities;
use crate::error::{Error, Result};
use crate::model::error_scale::check_factors;
use crate::solver::Status;
use crate::state::{About, Arrays, Fitted, OfMixtures, Parameters, Parts, Predictor, column, header};

impl Parameters for Params {
    fn check(self) -> Result<ValidParams> {
        Self::check(self)
    }

    fn control_mut(&mut self) -> Option<&mut Control> {
        self.em.control_mut()
    }
}

header! { n_classes: usize, n_iter: usize, status: Status, progress: Option<ReportHeader> }

/// Most classes and thresholds of a file.
const MOST_CLASSES: usize = 1 << 20;

impl Fitted for Model {
    type Params = Params;
    type Header = Header;
    const OF_MIXTURES: OfMixtures = OfMixtures::Own;

    fn fit(params: &ValidParams, data: &Dataset, control: &Control) -> Result<Self> {
        let (rows, offsets, modes) = (data.rows(), data.offsets.clone(), data.modes.clone());
        let problem = if params.params().family.is_classifier() {
            let labels = data.labels()?;
            let n_classes = labels.n_classes();
            if n_classes < 2 {
                return Err(Error::Data("a law of classes needs at least 2 classes, got 1 class".into()));
            }
            Observations {
                rows,
                targets: labels.codes().iter().map(|&code| f64::from(code)).collect(),
                censored: None,
                offsets,
                weights: labels.weights().cloned(),
                groups: labels.groups().map(<[u32]>::to_vec),
                n_classes,
                modes,
            }
        } else {
            let targets = data.targets()?;
            Observations {
                rows,
                targets: targets.values().to_vec(),
                censored: targets.limits().map(|limits| limits.iter().map(|limit| *limit > 0).collect()),
                offsets,
                weights: targets.weights().cloned(),
                groups: data.groups.clone(),
                n_classes: 0,
                modes,
            }
        };
        params.fit(&problem, control)
    }

    fn write(&self, _: &ValidParams, arrays: &mut Arrays) -> Header {
        self.mixture.write(arrays);
        let p = self.law.values.len();
        arrays.vector("law", &self.law.values);
        arrays.put("covariance", &[p, p], self.law.covariance.clone());
        arrays.vector("naive", &self.naive.values);
        arrays.put("naive_covariance", &[p, p], self.naive.covariance.clone());
        arrays.vector("log_likelihood", &[self.log_likelihood]);
        if let Some(ModeEstimates { values, covariance, with_law }) = &self.modes {
            let k = values.len();
            arrays.vector("modes", values);
            arrays.put("modes_covariance", &[k, k], covariance.clone());
            arrays.put("modes_law_covariance", &[k, p], with_law.clone());
        }
        if !self.feature_error_scale.is_empty() {
            let (factors, stds): (Vec<f64>, Vec<f64>) = self.feature_error_scale.iter().copied().unzip();
            arrays.vector("feature_error_scale", &factors);
            arrays.vector("feature_error_scale_std", &stds);
        }
        self.profile.iter().for_each(|ends| arrays.aside("profile", ends));
        let progress = self.report.as_ref().map(|report| report.write(arrays));
        Header { n_classes: self.n_classes, n_iter: self.n_iter, status: self.status, progress }
    }

    fn read(header: Header, params: &ValidParams, parts: &mut Parts<'_>) -> Result<Self> {
        let (family, mixture) = (params.params().family, Mixture::read(parts)?);
        let Header { n_classes, n_iter, status, progress } = header;
        let classes = if family.is_classifier() { 2..MOST_CLASSES } else { 0..1 };
        if !classes.contains(&n_classes) || (n_classes > 2 && family == super::FamilyKind::Binomial) {
            let why = format!("a law of the family {:?} cannot have {n_classes} classes", family.name());
            return Err(Error::ModelFile(why));
        }
        let n_extra = family.family().n_extra(n_classes);
        let p = usize::from(family.has_intercept()) + mixture.n_features() + n_extra;
        let mut estimates = |values: &str, covariance: &str| -> Result<Estimates> {
            let values = parts.shaped(values, &[p])?;
            let extra = &values[p - n_extra..];
            let sound = if family == super::FamilyKind::Ordinal {
                extra.windows(2).all(|pair| pair[0] < pair[1])
            } else {
                extra.iter().all(|value| *value > 0.0)
            };
            if !sound {
                let why = format!("{extra:?} cannot be thresholds or dispersions of {:?}", family.name());
                return Err(Error::ModelFile(why));
            }
            Ok(Estimates { values, covariance: parts.shaped(covariance, &[p, p])? })
        };
        let law = estimates("law", "covariance")?;
        let naive = estimates("naive", "naive_covariance")?;
        let modes = match parts.optional("modes")? {
            None => None,
            Some(tensor) => {
                let values = tensor.values;
                let k = values.len();
                let covariance = parts.shaped("modes_covariance", &[k, k])?;
                Some(ModeEstimates { values, covariance, with_law: parts.shaped("modes_law_covariance", &[k, p])? })
            }
        };
        let feature_error_scale = match params.params().error_scale {
            None => vec![],
            Some(_) => {
                let (name, d) = ("feature_error_scale", [mixture.n_features()]);
                let (factors, stds) = (parts.shaped(name, &d)?, parts.shaped("feature_error_scale_std", &d)?);
                check_factors(&factors)?;
                factors.into_iter().zip(stds).collect()
            }
        };
        let log_likelihood = parts.shaped("log_likelihood", &[1])?[0];
        let report = progress.map(|progress| progress.read(parts)).transpose()?;
        Ok(Self {
            family,
            n_classes,
            mixture,
            law,
            naive,
            profile: None,
            modes,
            feature_error_scale,
            log_likelihood,
            n_iter,
            status,
            report,
        })
    }
}

impl Predictor for Model {
    fn about(&self) -> About {
        About::model(self.mixture().n_features(), self.n_classes()).with_limits().with_mixtures(OfMixtures::Own)
    }

    /// Of two classes the mean predictor; of a regression its prediction.
    fn decision(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        Ok(column(if self.family().is_classifier() {
            self.predictors(rows, control)?.moments().0
        } else {
            self.targets(rows, control)?.0
        }))
    }

    fn decision_distribution(&self, rows: Incomplete<'_>, control: &Control) -> Result<(Array2<f64>, Array2<f64>)> {
        let (means, stds) = if self.family().is_classifier() {
            self.predictors(rows, control)?.moments()
        } else if self.family().is_survival() {
            return Err(Error::Data("a time has a median, and no mean and standard deviation".into()));
        } else {
            self.targets(rows, control)?
        };
        Ok((column(means), column(stds)))
    }

    fn predict_proba(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        self.probabilities(rows, control)
    }

    /// Of the linear predictor.
    fn densities(&self, rows: Incomplete<'_>, control: &Control) -> Result<Densities> {
        self.predictors(rows, control)
    }
}
