//! Memory of the system: large pages for large results, and free memory given back.
//!
//! Linux gives pages of 2 MB for the asking (NumPy asks for its arrays, too); elsewhere nothing happens.

/// Below this many bytes it is not worth asking (NumPy's limit).
#[cfg(target_os = "linux")]
const WORTH: usize = 4 << 20;

/// Size and alignment of a large page, on most machines.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

/// Have these numbers, of which none was written yet, in large pages.
#[cfg(target_os = "linux")]
pub fn in_large_pages(out: &mut [f64]) {
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

/// Nothing on this system.
#[cfg(not(target_os = "linux"))]
pub fn in_large_pages(_: &mut [f64]) {}

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
