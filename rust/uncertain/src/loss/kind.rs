//! [`LossKind`]: the losses that users choose by name, with their parameters.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{
    ExpectedEpsilonInsensitive, ExpectedHinge, ExpectedHuber, ExpectedSquared, ExpectedSquaredHinge, Hinge, Loss,
    NoisyTargets, TargetKind,
};
use crate::error::{Error, Result};
use crate::number;
use crate::params::{check_not_negative, check_positive};

/// A loss by name. A variant, its element of [`ALL`](Self::ALL) and its arms below are all that a new choice needs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, strum::EnumCount, strum::IntoStaticStr)]
#[serde(remote = "Self", deny_unknown_fields, rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum LossKind {
    /// E max(0, 1 - y f): SVM-GSU.
    ExpectedHinge,
    /// max(0, 1 - y m): the ordinary SVM.
    Hinge,
    /// E max(0, 1 - y f)^2: the squared hinge.
    SquaredHinge,
    /// E max(0, |y - f| - epsilon): support vector regression.
    EpsilonInsensitive {
        /// Half the width of the tube, >= 0, in units of y.
        #[serde(with = "number")]
        epsilon: f64,
    },
    /// E of (y - f)^2 / 2 up to |y - f| = delta, straight beyond.
    Huber {
        /// > 0, in units of y.
        #[serde(with = "number")]
        delta: f64,
    },
    /// E (y - f)^2 / 2: ridge regression.
    Squared,
}

impl Serialize for LossKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

/// The loss of this name, with the parameters that users begin with.
impl std::str::FromStr for LossKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::parameter("loss", format!("{name:?}"), format!("one of {names}"))
        })
    }
}

/// A name alone is enough.
impl<'de> Deserialize<'de> for LossKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        // Between processes as it is; where people read and write, a name is enough.
        if !deserializer.is_human_readable() {
            return Self::deserialize(deserializer);
        }
        let value = Value::deserialize(deserializer)?;
        match value.as_str() {
            Some(name) => name.parse().map_err(serde::de::Error::custom),
            None => Self::deserialize(value).map_err(serde::de::Error::custom),
        }
    }
}

impl LossKind {
    /// All of them, with parameters such as users begin with.
    pub const ALL: [Self; <Self as strum::EnumCount>::COUNT] = [
        Self::ExpectedHinge,
        Self::Hinge,
        Self::SquaredHinge,
        Self::EpsilonInsensitive { epsilon: 0.1 },
        Self::Huber { delta: 1.35 },
        Self::Squared,
    ];

    /// The name users write.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The loss itself, of targets with these variances where it takes real ones.
    pub fn build(self, variances: Option<Vec<f64>>) -> Box<dyn Loss> {
        fn noisy<L: Loss + Clone + 'static>(loss: L, variances: Option<Vec<f64>>) -> Box<dyn Loss> {
            match variances {
                Some(variances) => Box::new(NoisyTargets::new(loss, variances)),
                None => Box::new(loss),
            }
        }
        match self {
            Self::ExpectedHinge => Box::new(ExpectedHinge),
            Self::Hinge => Box::new(Hinge),
            Self::SquaredHinge => Box::new(ExpectedSquaredHinge),
            Self::EpsilonInsensitive { epsilon } => noisy(ExpectedEpsilonInsensitive { epsilon }, variances),
            Self::Huber { delta } => noisy(ExpectedHuber { delta }, variances),
            Self::Squared => noisy(ExpectedSquared, variances),
        }
    }

    /// The loss of residuals divided by `scale`, and the power of `scale` that it is to be multiplied with.
    pub fn scaled(self, scale: f64) -> (Self, i32) {
        match self {
            Self::EpsilonInsensitive { epsilon } => (Self::EpsilonInsensitive { epsilon: epsilon / scale }, 1),
            Self::Huber { delta } => (Self::Huber { delta: delta / scale }, 2),
            Self::Squared => (self, 2),
            Self::ExpectedHinge | Self::Hinge | Self::SquaredHinge => (self, 0),
        }
    }

    /// Are its parameters in range?
    ///
    /// # Errors
    /// The first one that is not.
    pub fn check(self) -> Result<()> {
        match self {
            Self::EpsilonInsensitive { epsilon } => check_not_negative("epsilon", epsilon),
            Self::Huber { delta } => check_positive("delta", delta),
            Self::ExpectedHinge | Self::Hinge | Self::SquaredHinge | Self::Squared => Ok(()),
        }
    }

    /// [`check`](Self::check), for a model whose targets are of this kind.
    ///
    /// # Errors
    /// A loss of other targets, a parameter out of range.
    pub fn check_for(self, targets: TargetKind) -> Result<()> {
        let fits = |kind: Self| kind.build(None).targets() == targets;
        if !fits(self) {
            let names: Vec<_> = Self::ALL.into_iter().filter(|kind| fits(*kind)).map(Self::name).collect();
            return Err(Error::parameter("loss", format!("{:?}", self.name()), format!("one of {}", names.join(", "))));
        }
        self.check()
    }
}
