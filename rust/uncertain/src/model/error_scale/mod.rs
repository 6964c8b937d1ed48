//! Error bars that are right up to a factor, which is fitted with the law:
//!
//! ```text
//! t_i -> f t_i of targets,    S_i -> F S_i F of features, F diagonal
//! ```
//! Intrinsic scatter and the spread of true values are the same for all rows, so that error bars of different sizes tell a
//! factor from them. The factor of targets is a parameter of the law's likelihood; those of features come with the
//! density of true features from the readings alone ([`features`]); predictions use them ([`read_with`]).

mod features;

use crate::data::{GaussianArray, Incomplete};
use crate::error::{Error, Result};
use crate::named::named;

pub(super) use features::{check as check_features, fit as fit_features};

/// Sizes of error bars, as a ratio of variances, that count as equal.
const EQUAL: f64 = 1.1;

/// Which error bars are right up to a factor only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorScale {
    /// Error bars of the target; the factor is fitted.
    Fit,
    /// Error bars of the features, with a factor each.
    Features,
    /// Error bars of both.
    Both,
}

impl ErrorScale {
    pub(super) fn scales_target(self) -> bool {
        self != Self::Features
    }

    pub(super) fn scales_features(self) -> bool {
        self != Self::Fit
    }
}

named!(ErrorScale, "error_scale");

/// Do the rows tell the factor of the target's error bars, of which these are the variances (`None`: there are none), from the
/// scatter (where one is fitted)?
pub(super) fn check_target(variances: Option<impl Iterator<Item = f64>>, scatter: bool) -> Result<()> {
    let refuse = |why: &str| {
        Err(Error::Data(format!(
            "error_scale=\"fit\": {why}, so that a factor of the error bars and the intrinsic scatter are one and the \
             same to these data; error bars of different sizes would tell them apart, or repeated readings of the same \
             objects (from_replicates)"
        )))
    };
    let Some(variances) = variances else {
        return refuse("the target has no error bars (y_std=)");
    };
    let (least, most) = variances.fold((f64::INFINITY, 0.0f64), |(a, b), v| (a.min(v), b.max(v)));
    match most {
        0.0 => refuse("all error bars of the target are 0"),
        _ if scatter && most <= EQUAL * least => refuse("all error bars of the target are about equal"),
        _ => Ok(()),
    }
}

/// Can a model file have these factors?
pub(super) fn check_factors(factors: &[f64]) -> Result<()> {
    match factors.iter().position(|f| !(*f > 0.0)) {
        None => Ok(()),
        Some(j) => {
            let value = factors[j];
            Err(Error::ModelFile(format!("`feature_error_scale` of feature {j} is {value}; it must be > 0")))
        }
    }
}

/// Factors of the error bars of rows; of none, the rows as they are.
pub(super) fn read_with<T>(
    rows: Incomplete<'_>,
    factors: &[f64],
    say: impl FnOnce(Incomplete<'_>) -> Result<T>,
) -> Result<T> {
    if factors.is_empty() {
        return say(rows);
    }
    rows.gaussians().check_features(factors.len())?;
    let scaled = with_errors_scaled(rows.gaussians(), factors)?;
    say(rows.part(0..scaled.n_rows(), &scaled))
}

/// The rows with F S F.
fn with_errors_scaled(data: &GaussianArray, factors: &[f64]) -> Result<GaussianArray> {
    GaussianArray::new(data.means().clone(), data.covariances().scaled(factors)?)
}
