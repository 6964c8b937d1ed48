//! The density N(mu, T) of true features at its maximum, from where EM stops.
//!
//! EM moves by the share of the information that readings have of true values. Newton's method ends where the likelihood is
//! largest, wherever EM began, so that fits of the same rows in one memory and in many agree.
//!
//! A row says l = -log|V| / 2 - r'W r / 2 with V = T + S, W = V^{-1}, a = W r; with changes u of mu, E of T
//! ```text
//! first    a'u + tr((a a' - W) E) / 2
//! second   -u'W u - 2 u'W E a + tr(W E W E) / 2 - a'E W E a
//! ```
//! so that sums over rows of W, of products of two elements of W, and of one of W and one or two of a are enough ([`Sums`]).

use crate::control::Control;
use crate::data::covariance::{packed_index, packed_len};
use crate::data::{Incomplete, Kind, Weights};
use crate::deconvolution::Mixture;
use crate::deconvolution::with_target::Sums;
use crate::error::Result;
use crate::linalg::Eigh;
use crate::solver::Status;
use crate::solver::levenberg::{Expansion, Objective, minimise};
use crate::sums::{Request, RowSums};

/// Beyond so many features the matrix of all parameters is too large.
const MOST_FEATURES: usize = 50;
/// Rows times squared elements of a covariance matrix that are few enough for many passes.
const WORK: f64 = 2e9;
const MOST_STEPS: usize = 50;
/// Variance of true values along a direction, in units of each feature's, below which EM's own bound holds it.
const LEAST: f64 = 1e-4;

/// The sums of all rows under a component.
type Ask<'a> = &'a dyn Fn(&Mixture) -> Result<Sums>;

/// Of rows in memory; of mixtures of several Gaussians, limits, exact rows and too many numbers it is EM's.
pub(in crate::model) fn refined(
    em: &Mixture,
    rows: Incomplete<'_>,
    weights: Option<&Weights>,
    control: &Control,
) -> Result<Mixture> {
    let (d, weight) = (em.n_features(), |i: usize| weights.map_or(1.0, |weights| weights[i]));
    let counted: Vec<usize> = (0..rows.n_rows()).filter(|&i| weight(i) > 0.0).collect();
    let exact = rows.gaussians().covariances().kind() == Kind::Zero && rows.missing().is_none();
    let work = counted.len() as f64 * (packed_len(d) as f64).powi(2);
    if em.n_components() > 1 || rows.mixtures().is_some() || rows.limits().is_some() || exact || work > WORK {
        return Ok(em.clone());
    }
    climbed(em, &|mixture| Sums::add_up(mixture, rows, &counted, &weight, control))
}

/// Of rows held by other processes.
pub(in crate::model) fn refined_remotely(em: &Mixture, rows: &dyn RowSums, control: &Control) -> Result<Mixture> {
    let d = em.n_features();
    climbed(em, &|mixture| Sums::from_flat(d, &rows.sum(Request::Density { mixture: mixture.clone() }, control)?))
}

fn climbed(em: &Mixture, ask: Ask<'_>) -> Result<Mixture> {
    let d = em.n_features();
    if d > MOST_FEATURES || !is_wide(em)? {
        return Ok(em.clone());
    }
    let start = [em.mean(0), em.covariance(0)].concat();
    let mut climb = Climb { d, ask };
    let Some(first) = climb.value(&start)? else { return Ok(em.clone()) };
    let none = vec![f64::INFINITY; start.len()];
    let lowest: Vec<f64> = none.iter().map(|x| -x).collect();
    let minimum = minimise(&mut climb, start, first, (&lowest, &none), MOST_STEPS)?;
    let mixture = climb.mixture(&minimum.at)?;
    // Where T loses a direction there is no maximum inside.
    let kept = minimum.status == Status::Converged && is_wide(&mixture)?;
    Ok(if kept { mixture } else { em.clone() })
}

/// Do true values vary in every direction?
fn is_wide(mixture: &Mixture) -> Result<bool> {
    let (d, t) = (mixture.n_features(), mixture.covariance(0));
    let size = |j: usize| t[packed_index(j, j)].sqrt();
    let pairs = (0..d).flat_map(|i| (0..=i).map(move |j| (i, j)));
    let scaled: Vec<f64> = pairs.zip(t).map(|((i, j), t)| t / size(i) / size(j)).collect();
    let mut eigh = Eigh::new(d);
    eigh.packed(&scaled)?;
    Ok(eigh.values[0] > LEAST)
}

/// Minus the log-likelihood by mu and the packed T.
struct Climb<'a> {
    d: usize,
    ask: Ask<'a>,
}

impl Climb<'_> {
    fn mixture(&self, at: &[f64]) -> Result<Mixture> {
        Mixture::from_packed(vec![1.0], at[..self.d].to_vec(), at[self.d..].to_vec(), self.d)
    }
}

impl Objective for Climb<'_> {
    type State = Sums;

    fn value(&mut self, at: &[f64]) -> Result<Option<(f64, Sums)>> {
        let Ok(mixture) = self.mixture(at) else { return Ok(None) };
        let sums = (self.ask)(&mixture)?;
        Ok(sums.log_likelihood.is_finite().then_some((-sums.log_likelihood, sums)))
    }

    fn derivatives(&mut self, at: &[f64], sums: &Sums) -> Result<Expansion> {
        let d = self.d;
        let of_t = (0..d).flat_map(|j| (0..=j).map(move |k| Place::Covariance(j, k)));
        let places: Vec<Place> = (0..d).map(Place::Mean).chain(of_t).collect();
        let p = at.len();
        let gradient: Vec<f64> = places.iter().map(|place| -sums.first(*place)).collect();
        let hessian: Vec<f64> = (0..p * p).map(|at| -sums.second(places[at / p], places[at % p])).collect();
        let diagonal = (0..p).map(|j| hessian[j * p + j].abs()).collect();
        Ok(Expansion { gradient, hessian, diagonal, beside: 0.0 })
    }

    fn negligible(&self, _: f64) -> f64 {
        1e-22
    }

    fn noise(&self, value: f64) -> f64 {
        1e-14 * value.abs()
    }

    fn report(&self, _: usize, _: f64) {}
}

/// An element of mu or T.
#[derive(Clone, Copy)]
enum Place {
    Mean(usize),
    Covariance(usize, usize),
}

impl Sums {
    /// sum c W_p W_q, for packed places.
    fn ww(&self, p: usize, q: usize) -> f64 {
        self.products[p * Self::width(self.m) + q]
    }

    /// sum c W_p (a a')_q
    fn waa(&self, p: usize, q: usize) -> f64 {
        self.ww(p, packed_len(self.m) + q)
    }

    /// sum c W_p a_i
    fn wa(&self, p: usize, i: usize) -> f64 {
        self.ww(p, 2 * packed_len(self.m) + i)
    }

    /// sum c W_p
    fn w(&self, p: usize) -> f64 {
        self.wa(p, self.m)
    }

    fn first(&self, place: Place) -> f64 {
        match place {
            Place::Mean(j) => self.linear[j],
            Place::Covariance(j, k) => {
                let p = packed_index(j, k);
                both(j, k) * (self.linear[self.m + p] - self.w(p))
            }
        }
    }

    fn second(&self, p: Place, q: Place) -> f64 {
        let at = |j: usize, k: usize| packed_index(j, k);
        match (p, q) {
            (Place::Mean(i), Place::Mean(j)) => -self.w(at(i, j)),
            (Place::Mean(i), Place::Covariance(j, k)) | (Place::Covariance(j, k), Place::Mean(i)) => {
                -both(j, k) * (self.wa(at(i, j), k) + self.wa(at(i, k), j))
            }
            (Place::Covariance(j, k), Place::Covariance(l, n)) => {
                let trace = self.ww(at(j, n), at(k, l)) + self.ww(at(j, l), at(k, n));
                let form = self.waa(at(j, l), at(k, n))
                    + self.waa(at(j, n), at(k, l))
                    + self.waa(at(k, l), at(j, n))
                    + self.waa(at(k, n), at(j, l));
                both(j, k) * both(l, n) * (trace - form)
            }
        }
    }
}

/// Off-diagonal elements stand for two.
fn both(j: usize, k: usize) -> f64 {
    if j == k { 0.5 } else { 1.0 }
}
