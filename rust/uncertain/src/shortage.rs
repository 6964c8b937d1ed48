//! Memory that runs out, told by an allocator to the work that can still end in order.
//!
//! Rust ends the process where a small allocation fails, for nothing can be returned from there. An allocator that
//! keeps something in reserve can hand that out instead and [`report`] it: work sees the report where it looks at its
//! [`Control`](crate::Control), and ends with [`Error::OutOfMemory`](crate::Error::OutOfMemory). The Python extension
//! has such an allocator; without one, nothing here is ever reported.
//!
//! Large allocations are another matter: whoever asks in a way that may fail ([`may_fail`]) gets a plain no, and the
//! reserve is not touched.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

static REPORTED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
    static WORKER: Cell<bool> = const { Cell::new(false) };
}

/// For an allocator: the reserve is in use.
pub fn report() {
    REPORTED.store(true, Ordering::Relaxed);
}

/// For an allocator: there is a reserve again.
pub fn end() {
    REPORTED.store(false, Ordering::Relaxed);
}

/// Is the reserve in use?
#[must_use]
pub fn is_reported() -> bool {
    REPORTED.load(Ordering::Relaxed)
}

/// Ask for memory in a way that may fail.
pub fn may_fail<T>(ask: impl FnOnce() -> T) -> T {
    let before = MAY_FAIL.replace(true);
    let found = ask();
    MAY_FAIL.set(before);
    found
}

/// For an allocator: may what is asked for right now be refused?
#[must_use]
pub fn may_refuse() -> bool {
    MAY_FAIL.get()
}

/// This thread works for another one, which can go on without it.
pub fn mark_worker() {
    WORKER.set(true);
}

/// For an allocator: may this thread wait for memory?
#[must_use]
pub fn is_worker() -> bool {
    WORKER.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_of_one_thread_and_end() {
        assert!(!may_refuse() && !is_worker());
        assert!(may_fail(|| may_fail(may_refuse) && may_refuse()));
        assert!(!may_refuse());
        std::thread::spawn(|| {
            mark_worker();
            assert!(is_worker());
        })
        .join()
        .unwrap();
        assert!(!is_worker());
    }
}
