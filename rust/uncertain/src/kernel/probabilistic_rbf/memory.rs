//! Memory of a Gram matrix, before it is taken.

use crate::data::GaussianArray;
use crate::error::{Error, Result};
use crate::kernel::probabilistic_rbf::Coupling;
use crate::kernel::probabilistic_rbf::form::Form;
use crate::kernel::probabilistic_rbf::tiles;
use crate::{memory, parallel};

/// Where the system does not say how much memory it has left.
const FALLBACK: u64 = 4 << 30;

/// Bytes a Gram matrix may take when nobody says otherwise: half of the memory available now
/// (`MemAvailable` of /proc/meminfo), or 4 GiB where the system does not tell.
pub fn default_max_bytes() -> u64 {
    memory::left().map_or(FALLBACK, |bytes| bytes / 2)
}

/// Bytes that the Gram matrix of `x` and the work on it take.
pub fn gram_bytes(x: &GaussianArray, coupling: Coupling) -> u128 {
    needed(x.n_rows(), None, &Form::cheapest(x, None, coupling))
}

/// Refuse what does not fit. `m`: rows of Z, `None` for a symmetric matrix.
pub(super) fn check(n: usize, m: Option<usize>, form: &Form, max_bytes: Option<u64>) -> Result<()> {
    if max_bytes == Some(u64::MAX) {
        // Asking the system how many threads there are takes longer than a small matrix.
        return Ok(());
    }
    let needed = needed(n, m, form);
    let allowed = max_bytes.unwrap_or_else(default_max_bytes);
    if needed <= u128::from(allowed) {
        return Ok(());
    }
    let source = if max_bytes.is_some() { "max_bytes" } else { "half of the available memory; see max_bytes" };
    Err(Error::Data(format!(
        "the Gram matrix of {n} x {} rows takes {needed} bytes with its workspace, and {allowed} are allowed ({source}): compute it in pieces, slices of the rows of X against Z, or use fewer rows",
        m.unwrap_or(n)
    )))
}

/// Result, rows one by one and in packs, and the threads' workspaces.
fn needed(n: usize, m: Option<usize>, form: &Form) -> u128 {
    let (n, width) = (n as u128, form.width() as u128);
    let (columns, rows) = m.map_or((n, n), |m| (m as u128, n + m as u128));
    let workspaces = parallel::default_threads() as u128 * tiles::workspace_bytes(form) as u128;
    let numbers = n.saturating_mul(columns).saturating_add(2 * rows * width);
    numbers.saturating_mul(8).saturating_add(workspaces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::pairs::Spread;

    #[test]
    fn numbers_are_told_and_do_not_overflow() {
        let form = Form { d: 3, spread: Spread::Dense, coupling: Coupling::Shared };
        assert!(needed(1000, None, &form) >= 8_000_000);
        assert!(needed(1000, Some(10), &form) < 8_000_000);
        let error = check(usize::MAX, None, &form, None).unwrap_err().to_string();
        assert!(error.contains("bytes") && error.contains("slices"), "{error}");
        assert!(check(10, None, &form, Some(100)).is_err());
        assert!(check(10, None, &form, None).is_ok());
        assert!(default_max_bytes() > 1 << 20);
    }
}
