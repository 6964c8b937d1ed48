//! The form in which the pairs of a Gram matrix are computed: what its two sides agree on.

use crate::data::covariance::Structure;
use crate::data::{Covariances, GaussianArray};
use crate::kernel::probabilistic_rbf::Coupling;
use crate::simd::pairs::Spread;

/// How the pairs of a Gram matrix are computed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    pub d: usize,
    pub spread: Spread,
    pub coupling: Coupling,
}

impl Form {
    /// The cheapest form that holds both arrays.
    pub(super) fn cheapest(x: &GaussianArray, z: Option<&GaussianArray>, coupling: Coupling) -> Self {
        let d = x.n_features();
        let one_matrix = |a: &Covariances, b: &Covariances| a.common().is_some() && a.common() == b.common();
        let other = z.unwrap_or(x);
        let spread = if coupling == Coupling::Shared && one_matrix(x.covariances(), other.covariances()) {
            Spread::None // all roots are one and the same: U = 0
        } else {
            spread(x, d).max(spread(other, d))
        };
        Self { d, spread, coupling }
    }

    /// Numbers per row.
    pub(super) fn width(&self) -> usize {
        self.d + self.spread.len(self.d)
    }
}

fn spread(array: &GaussianArray, d: usize) -> Spread {
    match array.covariances().structure() {
        Structure::Zero => Spread::None,
        Structure::Isotropic => Spread::Isotropic,
        _ if d == 1 => Spread::Isotropic,
        Structure::Diagonal => Spread::Diagonal,
        Structure::Factor(_) | Structure::Dense => Spread::Dense,
    }
}
