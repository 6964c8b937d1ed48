//! [`Question`]: everything that a fit asks about rows that lie elsewhere.

use super::reader::Reader;
use crate::data::covariance::packed_len;
use crate::deconvolution::Mixture;
use crate::error::{Error, Result};
use crate::loss::{Loss, LossKind, WorstCaseHinge};
use crate::objective::Request;

/// A loss that needs one or two numbers to be told.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum PieceLoss {
    /// One that users choose by name.
    Kind(LossKind),
    /// The hinge of the worst point of an ellipsoid of this radius.
    WorstCase {
        /// In standard deviations.
        radius: f64,
    },
}

impl PieceLoss {
    /// Of so many rows, whose targets have these variances.
    #[must_use]
    pub fn build(self, rows: usize, variances: Option<Vec<f64>>) -> Box<dyn Loss> {
        match self {
            Self::Kind(kind) => kind.build(variances),
            Self::WorstCase { radius } => Box::new(WorstCaseHinge::new(&vec![radius; rows])),
        }
    }

    /// Does it see means alone?
    pub(crate) fn is_of_points(self) -> bool {
        self == Self::Kind(LossKind::Hinge)
    }

    fn flat(self) -> [f64; 2] {
        let kind = match self {
            Self::WorstCase { radius } => return [-1.0, radius],
            Self::Kind(kind) => kind,
        };
        let place = LossKind::ALL.iter().position(|known| known.name() == kind.name()).unwrap_or(0);
        let number = match kind {
            LossKind::EpsilonInsensitive { epsilon } => epsilon,
            LossKind::Huber { delta } => delta,
            _ => 0.0,
        };
        [place as f64, number]
    }

    fn of_flat(reader: &mut Reader<'_>) -> Result<Option<Self>> {
        let (place, number) = (reader.maybe()?, reader.number()?);
        let Some(place) = place else { return Ok(Some(Self::WorstCase { radius: number })) };
        let kind = LossKind::ALL.get(place).map(|kind| match kind {
            LossKind::EpsilonInsensitive { .. } => LossKind::EpsilonInsensitive { epsilon: number },
            LossKind::Huber { .. } => LossKind::Huber { delta: number },
            other => *other,
        });
        Ok(kind.map(Self::Kind))
    }
}

/// The part of a linear problem that its rows must know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Problem {
    /// The class on the positive side; `None` for a regression.
    pub class: Option<usize>,
    /// The fold that is left out.
    pub held_out: Option<usize>,
    /// The loss, in units of `scale`.
    pub loss: PieceLoss,
    /// Of a regression: what is subtracted from its targets.
    pub center: f64,
    /// What they are divided by then.
    pub scale: f64,
    /// 1 / sum of the weights of all rows that are not left out.
    pub share: f64,
}

/// What can be asked about rows; answers of pieces are added, but for what is said otherwise.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Question {
    /// Rows, their weight, rows of a kind that has spread; then rows and weight of every class (one, of a regression),
    /// fold by fold.
    Counts {
        /// Classes.
        classes: usize,
        /// Folds, at least 1.
        folds: usize,
    },
    /// Without `center`: per feature the weight of the rows that have it, then sum c x. With it: sum c (x - center)^2,
    /// then sum c S_jj.
    Moments {
        /// One number per feature, or none.
        center: Vec<f64>,
    },
    /// Of the targets y: weight, sum c (y - center), sum c (y - center)^2, the smallest and the largest y, and the number of
    /// rows whose y has an error.
    Targets {
        /// Near their mean.
        center: f64,
    },
    /// Sums of a linear problem at x = (w, b): those of [`Request::Value`].
    Value {
        /// Which problem.
        of: Problem,
        /// The point.
        x: Vec<f64>,
        /// The smoothing.
        epsilon: f64,
        /// The matrix too?
        hessian: bool,
    },
    /// Row by row, of rows that were held out: mean and standard deviation of the score by the hyperplane of their
    /// fold, target and weight. Answers follow each other.
    Scores {
        /// The class on the positive side.
        class: usize,
        /// One row in so many.
        every: usize,
        /// (w, b) of every fold.
        planes: Vec<Vec<f64>>,
    },
    /// Sums of EM with these components, and the log-likelihood of the rows; with classes, the components are theirs, class
    /// by class, equally many.
    Em {
        /// Classes, or 0: all rows see all components.
        classes: usize,
        /// The components.
        mixture: Mixture,
    },
    /// Per class (or for all rows, with 0): rows, weight, sum of squared weights, then per feature the weight of the rows
    /// that have it.
    Seen {
        /// Classes, or 0.
        classes: usize,
    },
    /// Class by class, fold by fold: weight, sum c off with off = x - center, and the packed triangle of sum c (off off' + S).
    Scatter {
        /// Classes.
        classes: usize,
        /// Folds, at least 1.
        folds: usize,
        /// Near the mean of every class, one after the other.
        centers: Vec<f64>,
    },
    /// Of rows whose last feature is the target, under one component of both: the sums of its law with this slope
    /// (`deconvolution::with_target::Sums`).
    Law {
        /// The component.
        mixture: Mixture,
        /// The slope.
        coef: Vec<f64>,
    },
    /// Of such rows, for every change of the law's scatter s^2: sum c (a^2 - w), sum c w and sum c w^2
    /// (`deconvolution::with_target::Residuals`).
    Residuals {
        /// The component.
        mixture: Mixture,
        /// Of w.
        unit: f64,
        /// Of s^2.
        changes: Vec<f64>,
    },
}

impl Question {
    /// Kind and numbers.
    pub(super) fn flat(&self) -> (f64, Vec<f64>) {
        let maybe = |x: Option<usize>| x.map_or(-1.0, |x| x as f64);
        match self {
            Self::Counts { classes, folds } => (0.0, vec![*classes as f64, *folds as f64]),
            Self::Moments { center } => (1.0, list(center)),
            Self::Targets { center } => (2.0, vec![*center]),
            Self::Value { of, x, epsilon, hessian } => {
                let [loss, number] = of.loss.flat();
                let mut flat = vec![maybe(of.class), maybe(of.held_out), loss, number, of.center, of.scale, of.share];
                flat.extend([*epsilon, f64::from(u8::from(*hessian))]);
                flat.extend(list(x));
                (3.0, flat)
            }
            Self::Scores { class, every, planes } => {
                let mut flat = vec![*class as f64, *every as f64, planes.len() as f64];
                planes.iter().for_each(|x| flat.extend(list(x)));
                (4.0, flat)
            }
            Self::Em { classes, mixture } => {
                let mut flat = vec![*classes as f64];
                flat.extend(flat_mixture(mixture));
                (5.0, flat)
            }
            Self::Seen { classes } => (6.0, vec![*classes as f64]),
            Self::Scatter { classes, folds, centers } => {
                (7.0, [vec![*classes as f64, *folds as f64], list(centers)].concat())
            }
            Self::Law { mixture, coef } => (8.0, [flat_mixture(mixture), list(coef)].concat()),
            Self::Residuals { mixture, unit, changes } => {
                (9.0, [flat_mixture(mixture), vec![*unit], list(changes)].concat())
            }
        }
    }

    /// Inverse of [`flat`](Self::flat); `None` for a kind that is not known here.
    pub(super) fn of_flat(kind: f64, reader: &mut Reader<'_>) -> Result<Option<Self>> {
        Ok(Some(match kind {
            0.0 => Self::Counts { classes: reader.count()?, folds: reader.count()?.max(1) },
            1.0 => Self::Moments { center: reader.list()? },
            2.0 => Self::Targets { center: reader.number()? },
            3.0 => {
                let (class, held_out) = (reader.maybe()?, reader.maybe()?);
                let Some(loss) = PieceLoss::of_flat(reader)? else { return Ok(None) };
                let (center, scale, share) = (reader.number()?, reader.number()?, reader.number()?);
                let of = Problem { class, held_out, loss, center, scale, share };
                let (epsilon, hessian) = (reader.number()?, reader.number()? != 0.0);
                Self::Value { of, x: reader.list()?, epsilon, hessian }
            }
            4.0 => {
                let (class, every, n) = (reader.count()?, reader.count()?.max(1), reader.count()?);
                Self::Scores { class, every, planes: (0..n).map(|_| reader.list()).collect::<Result<_>>()? }
            }
            5.0 => {
                let classes = reader.count()?;
                let Some(mixture) = mixture_of_flat(reader)? else { return Ok(None) };
                Self::Em { classes, mixture }
            }
            6.0 => Self::Seen { classes: reader.count()? },
            7.0 => {
                let (classes, folds) = (reader.count()?, reader.count()?.max(1));
                Self::Scatter { classes, folds, centers: reader.list()? }
            }
            8.0 | 9.0 => {
                let Some(mixture) = mixture_of_flat(reader)?.filter(|one| one.n_components() == 1) else {
                    return Ok(None);
                };
                if kind == 8.0 {
                    Self::Law { mixture, coef: reader.list()? }
                } else {
                    Self::Residuals { mixture, unit: reader.number()?, changes: reader.list()? }
                }
            }
            _ => return Ok(None),
        }))
    }

    /// Add the answer of the rows that come next to that of the rows before.
    pub(super) fn add(&self, total: &mut Vec<f64>, next: &[f64]) -> Result<()> {
        if let Self::Scores { .. } = self {
            total.extend_from_slice(next);
            return Ok(());
        }
        if total.len() != next.len() {
            return Err(Error::Data(format!(
                "one piece of the rows answers with {} numbers, another with {}: have all the same features?",
                total.len(),
                next.len()
            )));
        }
        match self {
            Self::Value { x, epsilon, hessian, .. } => {
                Request::Value { x, epsilon: *epsilon, hessian: *hessian }.add(total, next);
            }
            Self::Targets { .. } => {
                let ends = (total[3].min(next[3]), total[4].max(next[4]));
                add(total, next);
                (total[3], total[4]) = ends;
            }
            _ => add(total, next),
        }
        Ok(())
    }
}

/// Length and numbers.
fn list(x: &[f64]) -> Vec<f64> {
    std::iter::once(x.len() as f64).chain(x.iter().copied()).collect()
}

fn flat_mixture(mixture: &Mixture) -> Vec<f64> {
    let parts = [mixture.weights(), mixture.means(), mixture.covariances()];
    std::iter::once(mixture.n_features() as f64).chain(parts.into_iter().flat_map(list)).collect()
}

/// Inverse of [`flat_mixture`]; `None` for numbers that are none.
fn mixture_of_flat(reader: &mut Reader<'_>) -> Result<Option<Mixture>> {
    let d = reader.count()?;
    let (weights, means, covariances) = (reader.list()?, reader.list()?, reader.list()?);
    let k = weights.len();
    let fits = k > 0 && d > 0 && means.len() == k * d && covariances.len() == k * packed_len(d);
    Ok(fits.then(|| Mixture::unchecked(weights, means, covariances, d)))
}

fn add(total: &mut [f64], next: &[f64]) {
    total.iter_mut().zip(next).for_each(|(a, b)| *a += b);
}
