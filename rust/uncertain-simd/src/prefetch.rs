//! Telling the machine what will be read soon.

use crate::stored::Element;

/// Bytes that come from memory together.
const LINE: usize = 64;

/// Have these numbers on their way to the first-level cache. Nothing happens where there is no instruction for it.
#[inline(always)]
pub fn prefetch<E: Element>(values: &[E]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks(LINE / size_of::<E>()) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction; it reads nothing that the program sees, and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, LINE);
}
