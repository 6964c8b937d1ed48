//! The allocator of the extension: the system's, with a reserve for the moment when that has nothing left.
//!
//! Why: where a small allocation fails, Rust ends the process, and with it the interpreter and the user's work. Every
//! allocation of a size that users choose asks first and is refused with its bytes; the thousands of small ones
//! cannot ask. For them [`Reserve`] holds memory that was asked of the system but never touched, so that it takes
//! address space and no RAM. When the system has nothing left, that is given back, the allocation tried again, and the
//! shortage reported to the core: running work ends at its next look at its control, as `MemoryError`. What is left
//! becomes a smaller reserve; the next call takes a large one again, or is refused.
//!
//! A worker that gets nothing even then waits, for as long as it takes: its caller sees that ([`is_anyone_waiting`]),
//! raises `MemoryError` and goes on; when memory is free again, the worker ends by itself. A caller of its own cannot
//! wait; there the process ends as it would without all this.
//!
//! Cost: one comparison per allocation.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use uncertain::shortage;

/// The largest that is to be had is taken. Between two looks at the control, work makes no more small allocations
/// than fit into the first of them; with the last one it can at least tell what happened.
const SIZES: [usize; 5] = [64 << 20, 32 << 20, 16 << 20, 8 << 20, 2 << 20];

/// Where the reserve is; at most one place is filled for longer than a moment.
static PLACES: [AtomicPtr<u8>; SIZES.len()] = [const { AtomicPtr::new(null_mut()) }; SIZES.len()];

/// Callers that can raise an error while their workers wait.
static CALLERS: AtomicUsize = AtomicUsize::new(0);
/// Workers that wait for memory, and for a caller that sees it.
static WAITING: AtomicUsize = AtomicUsize::new(0);
/// How often such a caller went on without them.
static LEFT: AtomicUsize = AtomicUsize::new(0);

/// How long a worker waits before it asks again.
const PAUSE: Duration = Duration::from_millis(5);

#[global_allocator]
static ALLOCATOR: Reserve = Reserve;

struct Reserve;

// SAFETY: every pointer comes from `System` with the caller's own layout and goes back to it with the same; a request
// that failed changed nothing (`realloc` included), so it may be made again.
unsafe impl GlobalAlloc for Reserve {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those of `System`; so in all four methods.
        or_reserve(|| unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        or_reserve(|| unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        or_reserve(|| unsafe { System.realloc(old, layout, size) })
    }

    #[inline]
    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(old, layout) }
    }
}

#[inline]
fn or_reserve(allocate: impl Fn() -> *mut u8) -> *mut u8 {
    let found = allocate();
    if found.is_null() { from_reserve(&allocate) } else { found }
}

#[cold]
fn from_reserve(allocate: &dyn Fn() -> *mut u8) -> *mut u8 {
    if shortage::may_refuse() {
        return null_mut();
    }
    shortage::report();
    give_back(0);
    let found = allocate();
    if !found.is_null() {
        // What is left of it may have to help once more before the work has ended.
        hold();
        return found;
    }
    if !shortage::is_worker() || CALLERS.load(Ordering::Relaxed) == 0 {
        return found;
    }
    let left = LEFT.load(Ordering::Relaxed);
    WAITING.fetch_add(1, Ordering::Relaxed);
    let mut seen = false;
    loop {
        thread::sleep(PAUSE);
        let found = allocate();
        if !seen && (!found.is_null() || LEFT.load(Ordering::Relaxed) != left) {
            seen = true;
            WAITING.fetch_sub(1, Ordering::Relaxed);
        }
        if !found.is_null() {
            return found;
        }
    }
}

fn layout(place: usize) -> Layout {
    Layout::from_size_align(SIZES[place], align_of::<u128>()).unwrap_or(Layout::new::<u128>())
}

/// Free the places from this one on.
fn give_back(first: usize) {
    for (place, held) in PLACES.iter().enumerate().skip(first) {
        let memory = held.swap(null_mut(), Ordering::AcqRel);
        if !memory.is_null() {
            // SAFETY: `hold` put it there, from `System` with the same layout; the swap gave it to us alone.
            unsafe { System.dealloc(memory, layout(place)) };
        }
    }
}

/// Have a reserve again, the largest possible; false where there is no memory for any. Ends the shortage if there is.
pub(crate) fn take() -> bool {
    let held = hold();
    if held {
        shortage::end();
    }
    held
}

fn hold() -> bool {
    for (place, held) in PLACES.iter().enumerate() {
        if !held.load(Ordering::Acquire).is_null() {
            return true;
        }
        // SAFETY: the layout is not empty.
        let memory = unsafe { System.alloc(layout(place)) };
        if memory.is_null() {
            continue;
        }
        // Instead of a smaller one; and another thread may have been faster.
        give_back(place);
        if held.compare_exchange(null_mut(), memory, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            // SAFETY: it was allocated above with this layout, and nobody has seen it.
            unsafe { System.dealloc(memory, layout(place)) };
        }
        return true;
    }
    false
}

/// Does some worker wait for memory? Then its caller has to go on without it.
pub(crate) fn is_anyone_waiting() -> bool {
    let waiting = WAITING.load(Ordering::Relaxed) > 0;
    if waiting {
        LEFT.fetch_add(1, Ordering::Relaxed);
    }
    waiting
}

/// A caller that looks at [`is_anyone_waiting`], as long as this lives.
pub(crate) struct Caller;

impl Caller {
    pub(crate) fn new() -> Self {
        CALLERS.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        CALLERS.fetch_sub(1, Ordering::Relaxed);
    }
}
