//! [`Spilling`]: an allocator that puts large blocks into files while somebody asks for it.
//!
//! A fit with `memory=` reads its rows from a mapped file. What the core keeps beside each row (codes, targets, weights,
//! scores, the dual variables of an interior-point method, copies of a sample) must not grow with the rows either. So
//! meanwhile every block of [`LARGE`] bytes or more is a file without a name in the same folder, mapped: the system
//! writes its pages to the disk when it needs room. The algorithms do not know.
//!
//! Rejected: a type of its own for whatever there is per row. It would stand in forty places, every new algorithm could
//! forget it, and what rayon collects would not be of it.
//!
//! The space is reserved before the block is used, so that a full disk is seen here, and not when a page is written:
//! a block that finds no space, or no folder, is ordinary memory. A file needs no descriptor once it is mapped.
//! A process that is forked shares these blocks with its parent, as it shares every mapped file: what is handed to
//! others after the fit is small, or never written.
//!
//! A program in Rust has it by `#[global_allocator] static ALLOCATOR: Spilling = Spilling;`, the Python package does.
//! On other systems than Linux it is the system's allocator.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, but for large blocks while a [`Spill`] exists.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spilling;

/// Bytes from which a block goes into a file: so many are worth the calls, and few smaller ones grow with the rows.
pub const LARGE: usize = 1 << 20;

// SAFETY: every block is the system allocator's or a mapping of its own, and goes back to where it came from: mappings
// are listed by their addresses, which the system allocator cannot give meanwhile.
unsafe impl GlobalAlloc for Spilling {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match files::block(layout.size(), layout.align()) {
            Some(block) => block,
            // SAFETY: the caller's layout.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match files::block(layout.size(), layout.align()) {
            Some(block) => block,
            // SAFETY: the caller's layout.
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if layout.size() < LARGE || !files::release(block) {
            // SAFETY: it is no mapping, so it is the system allocator's.
            unsafe { System.dealloc(block, layout) }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.size().max(size) < LARGE || !files::concern(layout.size()) {
            // SAFETY: small blocks, and those of times without files, are the system allocator's.
            return unsafe { System.realloc(block, layout, size) };
        }
        // SAFETY: the size is not zero and does not overflow, by the caller's promise.
        let new = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !new.is_null() {
            // SAFETY: two live blocks with so many bytes each; the old one is released once.
            unsafe {
                std::ptr::copy_nonoverlapping(block, new, layout.size().min(size));
                self.dealloc(block, layout);
            }
        }
        new
    }
}

pub use files::Spill;
#[cfg(target_os = "linux")]
pub(super) use files::{block, release, size};

#[cfg(target_os = "linux")]
mod files {
    use std::os::fd::AsRawFd;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

    use super::LARGE;

    /// What `mmap` aligns to at least, on any machine.
    const ALIGNED: usize = 4096;

    /// The folders of those who ask for files; blocks go to the last one.
    static FOLDERS: RwLock<Vec<(usize, PathBuf)>> = RwLock::new(Vec::new());
    static ASKING: AtomicUsize = AtomicUsize::new(0);
    static NUMBERS: AtomicUsize = AtomicUsize::new(0);
    /// Addresses and bytes of the mapped blocks, and how many there are.
    static BLOCKS: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());
    static COUNT: AtomicUsize = AtomicUsize::new(0);

    /// As long as it lives, large blocks of this process are files in a folder.
    #[derive(Debug)]
    pub struct Spill {
        number: usize,
    }

    impl Spill {
        /// Files in this folder from now on.
        #[must_use]
        pub fn to(folder: &Path) -> Self {
            let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
            FOLDERS.write().unwrap_or_else(PoisonError::into_inner).push((number, folder.to_path_buf()));
            ASKING.fetch_add(1, Ordering::Relaxed);
            Self { number }
        }
    }

    impl Drop for Spill {
        fn drop(&mut self) {
            ASKING.fetch_sub(1, Ordering::Relaxed);
            FOLDERS.write().unwrap_or_else(PoisonError::into_inner).retain(|(number, _)| *number != self.number);
        }
    }

    fn blocks() -> MutexGuard<'static, Vec<(usize, usize)>> {
        BLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A block of zeros in a file; `None` where it is to be, or has to be, ordinary memory.
    pub(in crate::memory) fn block(size: usize, align: usize) -> Option<*mut u8> {
        if size < LARGE || ASKING.load(Ordering::Relaxed) == 0 || align > ALIGNED {
            return None;
        }
        let block = mapped(size)?;
        blocks().push((block.addr(), size));
        COUNT.fetch_add(1, Ordering::Release);
        Some(block)
    }

    fn mapped(size: usize) -> Option<*mut u8> {
        let file = {
            let folders = FOLDERS.read().unwrap_or_else(PoisonError::into_inner);
            tempfile::tempfile_in(&folders.last()?.1).ok()?
        };
        let length = libc::off_t::try_from(size).ok()?;
        // SAFETY: calls about a file that is open here; they answer with a number.
        let mapped = unsafe {
            if libc::fallocate(file.as_raw_fd(), 0, 0, length) != 0 {
                return None;
            }
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(std::ptr::null_mut(), size, protection, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        (mapped != libc::MAP_FAILED).then_some(mapped.cast())
    }

    /// May a block of this size be in a file, or a new one come there?
    pub(super) fn concern(size: usize) -> bool {
        ASKING.load(Ordering::Relaxed) > 0 || size >= LARGE && COUNT.load(Ordering::Acquire) > 0
    }

    /// The bytes of a block that is in a file.
    pub(in crate::memory) fn size(block: *mut u8) -> Option<usize> {
        if COUNT.load(Ordering::Acquire) == 0 {
            return None;
        }
        blocks().iter().find(|(address, _)| *address == block.addr()).map(|(_, size)| *size)
    }

    /// Unmap a block that is in a file; false for any other.
    pub(in crate::memory) fn release(block: *mut u8) -> bool {
        if COUNT.load(Ordering::Acquire) == 0 {
            return false;
        }
        let size = {
            let mut blocks = blocks();
            let Some(at) = blocks.iter().position(|(address, _)| *address == block.addr()) else { return false };
            blocks.swap_remove(at).1
        };
        COUNT.fetch_sub(1, Ordering::Release);
        // SAFETY: a mapping of this size that nobody uses any more.
        unsafe { libc::munmap(block.cast(), size) };
        true
    }
}

#[cfg(not(target_os = "linux"))]
mod files {
    use std::path::Path;

    /// Nothing: blocks are ordinary memory on this system.
    #[derive(Debug)]
    pub struct Spill;

    impl Spill {
        /// Nothing.
        #[must_use]
        pub fn to(_: &Path) -> Self {
            Self
        }
    }

    pub(super) fn block(_: usize, _: usize) -> Option<*mut u8> {
        None
    }

    pub(super) fn concern(_: usize) -> bool {
        false
    }

    pub(super) fn release(_: *mut u8) -> bool {
        false
    }
}
