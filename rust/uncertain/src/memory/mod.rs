//! Memory for large results: an error instead of an abort where there is none, and large pages.
//!
//! New memory is made by the system where it is first written: page by page, each time a fault and 4 KB of zeros.
//! For a result that is written once, that can take longer than computing it. Pages of 2 MB make 512 times
//! fewer faults (`uncertain_simd::in_large_pages`).

use std::sync::atomic::{AtomicUsize, Ordering};

use uncertain_simd::in_large_pages;

pub use uncertain_simd::give_back;

use crate::error::{Error, Result};

/// An error, in place of the abort that would follow, if there is no memory for so many rows of so many bytes.
pub fn ask(n_rows: usize, row_bytes: usize) -> Result<()> {
    let bytes = n_rows.checked_mul(row_bytes);
    match bytes {
        Some(bytes) if is_there(bytes) => Ok(()),
        _ => Err(Error::OutOfMemory(format!(
            "no memory for {n_rows} rows of {} numbers ({}): take fewer rows, or keep them in a file (in Python \
             uncertain.fit(..., memory=\"2GB\"))",
            row_bytes / size_of::<f64>(),
            bytes
                .map_or_else(|| "more than can be addressed".to_owned(), |b| format!("{:.1} MB", b as f64 / 1048576.0))
        ))),
    }
}

/// Could so many bytes be had right now?
fn is_there(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

/// Bytes of memory that the system has left (`MemAvailable` of /proc/meminfo), where it tells and files may be read.
pub(crate) fn left() -> Option<u64> {
    if !cfg!(feature = "files") {
        return None;
    }
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib.saturating_mul(1024))
}

/// Bytes that a fit may keep beside its rows to save time in every pass.
static KEPT: AtomicUsize = AtomicUsize::new(UNBOUNDED);
const UNBOUNDED: usize = 1 << 29;

/// From now on, fits of this process keep at most so many bytes beside their rows to save time, 512 MB by default; the
/// number before. Results have the same bits.
pub fn keep_at_most(bytes: usize) -> usize {
    KEPT.swap(bytes, Ordering::Relaxed)
}

pub(crate) fn kept() -> usize {
    KEPT.load(Ordering::Relaxed)
}

/// May so many bytes for each row, which are expensive to compute anew, be kept? Unless a bound was set, all that there is
/// memory for.
pub(crate) fn keeps(n_rows: usize, row_bytes: usize) -> bool {
    let bytes = n_rows.saturating_mul(row_bytes);
    bytes <= kept() || (kept() == UNBOUNDED && is_there(bytes))
}

/// `n_rows` x `width` zeros, or an error instead of an abort when there is no memory for them.
pub fn zeros(n_rows: usize, width: usize) -> Result<Vec<f64>> {
    typed_zeros(n_rows, width)
}

/// [`zeros`] of another type.
pub fn typed_zeros<T: Copy + Default>(n_rows: usize, width: usize) -> Result<Vec<T>> {
    ask(n_rows, width.saturating_mul(size_of::<T>()))?;
    Ok(vec![T::default(); n_rows * width])
}

/// An error instead of an abort where there is no memory for so many bytes of `what`, which are not kept.
pub fn afford(what: &str, bytes: usize) -> Result<()> {
    if is_there(bytes) { Ok(()) } else { Err(Error::OutOfMemory(format!("no memory for {what}: {bytes} bytes"))) }
}

/// [`zeros`] that are going to be written once, all of them.
pub(crate) fn fresh_zeros(n_rows: usize, width: usize) -> Result<Vec<f64>> {
    let mut out = zeros(n_rows, width)?;
    in_large_pages(&mut out);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_of_every_size() {
        for (n, width) in [(0, 3), (1, 1), (1000, 525), (1_000_000, 1), (300_000, 5)] {
            let out = fresh_zeros(n, width).unwrap();
            assert!(out.len() == n * width && out.iter().all(|x| *x == 0.0));
        }
        assert!(fresh_zeros(usize::MAX, 2).is_err());
        assert!(afford("nothing", 0).is_ok());
        let why = afford("the landmarks", usize::MAX).unwrap_err().to_string();
        assert!(why.contains(&format!("the landmarks: {} bytes", usize::MAX)), "{why}");
    }
}
