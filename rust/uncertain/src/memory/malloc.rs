//! The allocator of [`Spilling`](super::Spilling) for libraries that take one as functions of C: NumPy for its arrays.
//!
//! What a fit makes of columns in Python is as long as the table, too: squared error bars, codes, masks.

use std::ffi::c_void;

use super::spilling::{block, release, size};

/// What `mmap` gives is aligned to more than any number.
const ALIGN: usize = 16;

/// `malloc`.
///
/// # Safety
/// As that of C.
pub unsafe extern "C" fn malloc(_: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: as that of C.
    block(bytes, ALIGN).map_or_else(|| unsafe { libc::malloc(bytes) }, <*mut u8>::cast)
}

/// `calloc`.
///
/// # Safety
/// As that of C.
pub unsafe extern "C" fn calloc(_: *mut c_void, count: usize, each: usize) -> *mut c_void {
    let found = count.checked_mul(each).and_then(|bytes| block(bytes, ALIGN));
    // SAFETY: as that of C, which knows what to do about an overflow.
    found.map_or_else(|| unsafe { libc::calloc(count, each) }, <*mut u8>::cast)
}

/// `realloc`: a block that was memory grows there.
///
/// # Safety
/// As that of C, for blocks of these functions.
pub unsafe extern "C" fn realloc(context: *mut c_void, old: *mut c_void, bytes: usize) -> *mut c_void {
    let Some(had) = size(old.cast()) else {
        // SAFETY: it is no mapping, so it is of C's allocator.
        return unsafe { libc::realloc(old, bytes) };
    };
    // SAFETY: two live blocks with so many bytes each; the old one is released once.
    unsafe {
        let new = malloc(context, bytes);
        if !new.is_null() {
            std::ptr::copy_nonoverlapping(old.cast::<u8>(), new.cast::<u8>(), had.min(bytes));
            release(old.cast());
        }
        new
    }
}

/// `free`; NumPy tells the size.
///
/// # Safety
/// As that of C, for blocks of these functions.
pub unsafe extern "C" fn free(_: *mut c_void, old: *mut c_void, _: usize) {
    if !release(old.cast()) {
        // SAFETY: it is no mapping, so it is of C's allocator.
        unsafe { libc::free(old) }
    }
}
