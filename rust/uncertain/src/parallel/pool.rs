//! Pools of threads (rayon's), for the feature `threads`. `alone.rs` has the same functions without threads.
//!
//! Why not rayon's global pool: it does not survive `fork()` (the child hangs without a word) and
//! cannot be resized, so `n_jobs` would mean nothing. Pools here are kept by (process id, size);
//! a forked child finds none under its own id and builds its own, and the inherited one is never
//! touched (dropping it would join threads that do not exist in the child).
//!
//! Why `indexed` and `enter` take `dyn` closures: every closure type that reaches rayon compiles a copy of its
//! joins, jobs and collectors, which was more than a quarter of this crate's LLVM IR. A virtual call per part of the
//! rows does not show in the benches; inside a part the work is as concrete as it was.

use std::collections::HashMap;
use std::fmt::Display;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::THREAD_BYTES;
use crate::error::{Error, Result};
use crate::memory;

/// Parallel iterators, for work on the threads of the pool that it is called on.
pub(crate) use rayon::prelude as iter;

use iter::{IntoParallelIterator, ParallelIterator};

/// Pools by (process id, threads).
type Pools = HashMap<(u32, usize), Arc<ThreadPool>>;

static POOLS: Mutex<Option<Pools>> = Mutex::new(None);

/// Processors that this process may use.
pub(super) fn available() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Is this a thread of a pool?
pub(super) fn is_inside() -> bool {
    rayon::current_thread_index().is_some()
}

/// Threads of the pool that this is called on.
pub(super) fn threads() -> usize {
    rayon::current_num_threads()
}

/// `work` on a pool of so many threads.
pub(super) fn enter(threads: usize, work: &mut (dyn FnMut() + Send)) -> Result<()> {
    pool(threads)?.install(work);
    Ok(())
}

/// `work` of each number, on the threads of the pool that this is called on.
pub(super) fn indexed(numbers: Range<usize>, work: &(dyn Fn(usize) + Sync)) {
    numbers.into_par_iter().for_each(work);
}

fn pool(threads: usize) -> Result<Arc<ThreadPool>> {
    let key = (std::process::id(), threads);
    let mut guard = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let pools = guard.get_or_insert_with(HashMap::new);
    if let Some(pool) = pools.get(&key) {
        return Ok(Arc::clone(pool));
    }
    let no_pool = |why: &dyn Display| {
        let few = "there is too little memory, or there are too many threads; n_jobs=1 needs the fewest";
        Error::OutOfMemory(format!("no pool of {threads} threads ({why}): {few}"))
    };
    // A thread that starts without any memory ends the process: its variables are the C library's business.
    memory::afford("threads", threads * THREAD_BYTES).map_err(|why| no_pool(&why))?;
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|i| format!("uncertain-{i}"))
        .build()
        .map_err(|e| no_pool(&e))?;
    let pool = Arc::new(pool);
    pools.insert(key, Arc::clone(&pool));
    Ok(pool)
}
