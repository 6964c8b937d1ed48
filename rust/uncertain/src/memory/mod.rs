//! Memory for large results: an error instead of an abort where there is none, and large pages.
//!
//! New memory is made by the system where it is first written: page by page, each time a fault and 4 KB of zeros.
//! For a result that is written once, that can take longer than computing it. Pages of 2 MB make 512 times
//! fewer faults. Linux gives them for the asking (NumPy asks for its arrays, too); where it does not, or on
//! other systems, nothing changes but the time. What must not grow with the rows at all goes into files: [`Spilling`].

#[cfg(all(feature = "files", target_os = "linux"))]
pub mod malloc;
#[cfg(feature = "files")]
mod spilling;

#[cfg(feature = "files")]
pub use spilling::{LARGE, Spill, Spilling};

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, Result};

/// Below this many bytes it is not worth asking (NumPy's limit).
#[cfg(target_os = "linux")]
const WORTH: usize = 4 << 20;

/// Size and alignment of a large page, on most machines.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

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

/// Give free memory back to the system.
///
/// An allocator keeps what was freed below something that is still in use. Where large matrices are exchanged for
/// others part by part, on other threads, all of the old ones would stay.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call only concerns memory that nobody has allocated.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Bytes that a fit may keep beside its rows to save time in every pass.
static KEPT: AtomicUsize = AtomicUsize::new(1 << 29);

/// From now on, fits of this process keep at most so many bytes beside their rows to save time, 512 MB by default; the
/// number before. Results have the same bits.
pub fn keep_at_most(bytes: usize) -> usize {
    KEPT.swap(bytes, Ordering::Relaxed)
}

pub(crate) fn kept() -> usize {
    KEPT.load(Ordering::Relaxed)
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
    advise(&mut out);
    Ok(out)
}

#[cfg(target_os = "linux")]
fn advise(out: &mut [f64]) {
    if size_of_val(out) < WORTH {
        return;
    }
    // Whole pages inside the slice only: what stands before and after it in memory is not ours.
    let bytes = out.as_mut_ptr_range();
    let (start, end) = (bytes.start.cast::<u8>(), bytes.end.cast::<u8>());
    let skip = start.align_offset(PAGE);
    let whole = (end.addr() - start.addr()).saturating_sub(skip) / PAGE * PAGE;
    if whole > 0 {
        // SAFETY: the range lies within one live allocation that is borrowed here, and the advice changes no
        // content. A refusal (old kernels, other page sizes) may be ignored.
        unsafe { libc::madvise(start.wrapping_add(skip).cast(), whole, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_: &mut [f64]) {}

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
