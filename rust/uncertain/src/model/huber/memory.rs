//! Memory of a fit, before it is taken.

use crate::error::{Error, Result};
use crate::kernel::probabilistic_rbf::default_max_bytes;
use crate::parallel;

/// The sizes of a fit, and the bytes it may take.
///
/// For rank D of the kernels of m views the largest pieces are R or V (N x D per view), the D x D matrix that is
/// factored, and G0 (l x l) or, for small ranks, its factor. Where few rows have labels V is made for these alone,
/// and the factored matrix stays.
pub(super) struct Budget {
    pub n: usize,
    pub l: usize,
    pub views: usize,
    /// Views whose factors lie in one matrix.
    pub coupled: bool,
    /// Graphs and kernel matrices that are kept whole.
    pub fixed: u128,
    pub max_bytes: Option<u64>,
    allowed: u128,
}

impl Budget {
    pub(super) fn new(
        n: usize,
        l: usize,
        views: usize,
        coupled: bool,
        fixed: u128,
        max_bytes: Option<u64>,
    ) -> Result<Self> {
        let allowed = u128::from(max_bytes.unwrap_or_else(default_max_bytes));
        let out = Self { n, l, views, coupled, fixed, max_bytes, allowed };
        if out.bytes(1) > allowed {
            return Err(out.refusal(0, 0));
        }
        Ok(out)
    }

    /// Bytes of a fit whose kernels have rank `d`.
    pub(super) fn bytes(&self, d: usize) -> u128 {
        let (n, l, m, d) = (self.n as u128, self.l as u128, self.views as u128, d as u128);
        let total = m * d;
        let factored = if self.coupled { total * total } else { d * d };
        let gram = if 2 * total <= l { l * total + 2 * total * total } else { l * l };
        let rest = if self.coupled || Self::few(self.n, self.l) {
            let roots = if self.coupled { factored } else { m * factored };
            roots + gram + l * total
        } else {
            factored.max(gram)
        };
        let tiles = 3 * 128 * n * parallel::default_threads() as u128;
        self.fixed + 8 * (n * total + rest + tiles)
    }

    /// Have so few rows labels that V is made for these alone?
    pub(super) fn few(n: usize, l: usize) -> bool {
        2 * l < n
    }

    /// The largest rank <= `most` that fits.
    pub(super) fn largest_rank(&self, most: usize) -> usize {
        if self.bytes(most) <= self.allowed {
            return most;
        }
        let (mut fits, mut not) = (0, most);
        while fits + 1 < not {
            let middle = fits + (not - fits) / 2;
            if self.bytes(middle) <= self.allowed { fits = middle } else { not = middle }
        }
        fits
    }

    /// A kernel of more than `rank` dimensions does not fit.
    pub(super) fn refusal(&self, view: usize, rank: usize) -> Error {
        let source = if self.max_bytes.is_some() { "max_bytes" } else { "half of the available memory; see max_bytes" };
        let size = match rank {
            0 => format!("takes at least {} bytes", self.bytes(1)),
            _ => format!(
                "takes more than {} bytes (view {view} has a kernel of more than {rank} dimensions), at most {}",
                self.bytes(rank),
                self.bytes(self.n)
            ),
        };
        Error::Data(format!(
            "a fit to {} rows ({} labelled) {size}, and {} are allowed ({source}): take fewer unlabelled rows, a smoother kernel (smaller gamma), or kernel=\"linear\" on features of a random or Nyström map, whose number then is the rank",
            self.n, self.l, self.allowed
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_fit_and_sizes_that_do_not() {
        let tiles = 8 * 3 * 128 * 1000 * parallel::default_threads() as u64;
        let budget = Budget::new(1000, 1000, 1, false, 0, Some(24_000_000 + tiles)).unwrap();
        assert_eq!(budget.largest_rank(1000), 1000);
        let allowed = 2_000_000 + tiles;
        let small = Budget::new(1000, 100, 1, false, 0, Some(allowed)).unwrap();
        let rank = small.largest_rank(1000);
        assert!(rank > 100 && rank < 1000, "{rank}");
        assert!(small.bytes(rank) <= allowed.into() && small.bytes(rank + 1) > allowed.into());
        let said = small.refusal(0, rank).to_string();
        assert!(said.contains(&allowed.to_string()) && said.contains("linear"), "{said}");
        assert!(Budget::new(1_000_000, 10, 1, false, 0, Some(1000)).is_err());
        assert!(Budget::new(1000, 10, 2, true, 0, None).unwrap().bytes(10) > small.bytes(10));
    }
}
