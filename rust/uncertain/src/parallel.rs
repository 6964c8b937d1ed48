//! Threads: own pools, fixed partitions, results that do not depend on the number of threads.
//!
//! Why not rayon's global pool: it does not survive `fork()` (the child hangs without a word) and
//! cannot be resized, so `n_jobs` would mean nothing. Pools here are kept by (process id, size);
//! a forked child finds none under its own id and builds its own, and the inherited one is never
//! touched (dropping it would join threads that do not exist in the child).
//!
//! Why the sums are reproducible: rows are cut into parts by their number alone, every part is
//! summed in row order, and the parts are added in order. Threads only decide who computes what.
//!
//! Why `indexed` and `enter` take `dyn` closures: every closure type that reaches rayon compiles a copy of its
//! joins, jobs and collectors, which was more than a quarter of this crate's LLVM IR. A virtual call per part of the
//! rows does not show in the benches; inside a part the work is as concrete as it was.

use std::collections::HashMap;
use std::fmt::Display;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use uncertain_simd::{Level, SWITCH};

use crate::error::{Error, Result};
use crate::memory;

/// Rows below which a part of its own is not worth waking a thread for.
const MIN_PART_ROWS: usize = 256;
/// At most so many parts: enough to balance 16 threads, few enough that their partial sums
/// (one gradient or Hessian each) stay small.
const MAX_PARTS: usize = 64;

/// What a thread takes to start: its stack, and a little.
pub const THREAD_BYTES: usize = 3 << 20;

/// Pools by (process id, threads).
type Pools = HashMap<(u32, usize), Arc<ThreadPool>>;

static POOLS: Mutex<Option<Pools>> = Mutex::new(None);
static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// The number of threads used when nobody asks for another: the smallest of the processors this
/// process may use, `UNCERTAIN_NUM_THREADS`, `OMP_NUM_THREADS`, and [`set_thread_limit`].
#[must_use]
pub fn default_threads() -> usize {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let from_environment = ["UNCERTAIN_NUM_THREADS", "OMP_NUM_THREADS"]
        .iter()
        .filter_map(|name| std::env::var(name).ok()?.trim().parse::<usize>().ok())
        .filter(|&n| n > 0);
    let limit = LIMIT.load(Ordering::Relaxed);
    from_environment.chain((limit > 0).then_some(limit)).fold(available, usize::min).max(1)
}

/// Set (0: remove) a process-wide upper limit on [`default_threads`]; for thread-pool controllers.
pub fn set_thread_limit(limit: usize) {
    LIMIT.store(limit, Ordering::Relaxed);
}

/// The number of threads for a signed wish, as scikit-learn's `n_jobs` means it: n > 0 is n threads,
/// -1 every processor this process may use, -2 all but one and so on; 0 is refused. An explicit wish
/// wins over the environment and over [`set_thread_limit`], as OpenMP's `num_threads` clause does.
pub fn threads_for(n_jobs: i64) -> Result<usize> {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let size = usize::try_from(n_jobs.unsigned_abs()).unwrap_or(usize::MAX);
    let wish = match n_jobs {
        0 => return Err(Error::parameter("n_jobs", 0, "a number of threads, -1 for all processors, or None")),
        1.. => size,
        _ => available.saturating_sub(size - 1),
    };
    // More threads than parts of the data would only sleep.
    Ok(wish.clamp(1, MAX_PARTS))
}

/// Run `work` on a pool of `threads` (`None`: [`default_threads`]); parallel loops inside use it.
pub fn install<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> Result<T> {
    let pool = pool(threads.unwrap_or_else(default_threads).max(1))?;
    let (mut work, mut result) = (Some(work), None);
    enter(&pool, &mut || result = work.take().map(|work| work()));
    result.ok_or_else(|| Error::Internal("a pool returned without a result".into()))
}

fn enter(pool: &ThreadPool, work: &mut (dyn FnMut() + Send)) {
    pool.install(work);
}

/// `work(0)`, ..., `work(count - 1)`, on the threads of the pool that this is called on.
fn indexed(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}

/// `work` on each of some jobs, the results in their order, on the pool of the enclosing [`install`] or the default one.
pub(crate) fn map_jobs<J: Send, T: Send>(jobs: Vec<J>, work: impl Fn(J) -> T + Sync) -> Result<Vec<T>> {
    // A slot is locked by one thread only: that which computes its part.
    let jobs: Vec<Mutex<Option<J>>> = jobs.into_iter().map(|job| Mutex::new(Some(job))).collect();
    let results: Vec<Mutex<Option<T>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let one = |k: usize| {
        let job = jobs[k].lock().unwrap_or_else(PoisonError::into_inner).take();
        *results[k].lock().unwrap_or_else(PoisonError::into_inner) = job.map(&work);
    };
    run(|| indexed(jobs.len(), &one))?;
    let result = |slot: Mutex<Option<T>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    let done: Option<Vec<T>> = results.into_iter().map(result).collect();
    done.ok_or_else(|| Error::Internal("a part of the work was not done".into()))
}

/// The name of the instruction set whose kernels are used: `avx512`, `avx2`, or `scalar` for what every machine of the
/// architecture has. It is the best of this machine, or what the environment variable `UNCERTAIN_SIMD` asked for when
/// this was first looked at.
///
/// # Errors
/// [`Error::Parameter`] where that is none of those that this machine has; kernels then use the best one.
pub fn instruction_set() -> Result<&'static str> {
    let refused =
        |(name, known)| Error::parameter(SWITCH, name, format!("one of those that this machine has: {known}"));
    Level::asked().map(Level::name).map_err(refused)
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
    instruction_set()?;
    // A thread that starts without any memory ends the process: its own variables are the C library's business.
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

/// Cut `0..n_rows` into at most `most` parts, the same for any number of threads.
#[must_use]
pub fn parts(n_rows: usize, most: usize) -> Vec<Range<usize>> {
    let count = (n_rows / MIN_PART_ROWS).clamp(1, most.clamp(1, MAX_PARTS));
    (0..count).map(|k| (k * n_rows / count)..((k + 1) * n_rows / count)).collect()
}

/// `work` on every part of `0..n_rows` in parallel, the results in row order.
///
/// Runs on the pool of the enclosing [`install`], or on the default one.
pub fn map_parts<T: Send>(n_rows: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Result<Vec<T>> {
    map_parts_at_most(n_rows, MAX_PARTS, work)
}

/// [`map_parts`] in at most so many parts, for work whose results are large.
pub fn map_parts_at_most<T: Send>(
    n_rows: usize,
    most: usize,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Result<Vec<T>> {
    map_jobs(parts(n_rows, most), work)
}

/// `work` on the pool of the enclosing [`install`], or on the default one.
pub(crate) fn run<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T> {
    if rayon::current_thread_index().is_some() { Ok(work()) } else { install(None, work) }
}

/// `work` on each of some jobs of their own (tiles of a matrix); the first error in their order wins.
pub(crate) fn for_each<J: Send>(jobs: Vec<J>, work: impl Fn(J) -> Result<()> + Sync) -> Result<()> {
    map_jobs(jobs, work)?.into_iter().collect()
}

/// [`map_parts`] for work that is heavy per row and not summed over rows (eigendecompositions):
/// the parts are cut down to single rows. The first error in row order wins.
pub fn map_fine<T: Send>(n_rows: usize, work: impl Fn(Range<usize>) -> Result<T> + Sync) -> Result<Vec<T>> {
    map_jobs(fine_parts(n_rows), work)?.into_iter().collect()
}

/// Fill a row-major matrix of `width` columns in parallel: `work` gets a range of rows and their
/// elements. Work must treat rows independently. The first error in row order wins.
pub fn fill_rows(
    out: &mut [f64],
    width: usize,
    work: impl Fn(Range<usize>, &mut [f64]) -> Result<()> + Sync,
) -> Result<()> {
    let mut rest = out;
    let mut pieces = vec![];
    for part in fine_parts(rest.len() / width.max(1)) {
        let (piece, later) = rest.split_at_mut(part.len() * width);
        pieces.push((part, piece));
        rest = later;
    }
    for_each(pieces, |(part, piece)| work(part, piece))
}

/// A new row-major matrix of `width` columns, made in parallel: `write` puts one row into zeros. The first error in row
/// order wins.
pub(crate) fn new_rows(
    n_rows: usize,
    width: usize,
    write: impl Fn(usize, &mut [f64]) -> Result<()> + Sync,
) -> Result<Vec<f64>> {
    new_rows_with(n_rows, width, || (), |(), row, out| write(row, out))
}

/// [`new_rows`] with a workspace that is made once for many rows.
pub(crate) fn new_rows_with<W>(
    n_rows: usize,
    width: usize,
    workspace: impl Fn() -> W + Sync,
    write: impl Fn(&mut W, usize, &mut [f64]) -> Result<()> + Sync,
) -> Result<Vec<f64>> {
    let mut out = memory::zeros(n_rows, width)?;
    fill_rows(&mut out, width, |rows, out| {
        let mut workspace = workspace();
        rows.zip(out.chunks_exact_mut(width)).try_for_each(|(row, out)| write(&mut workspace, row, out))
    })?;
    Ok(out)
}

fn fine_parts(n_rows: usize) -> Vec<Range<usize>> {
    let count = n_rows.clamp(1, MAX_PARTS);
    (0..count).map(|k| (k * n_rows / count)..((k + 1) * n_rows / count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_every_row_once() {
        for n in [0, 1, 255, 256, 1000, 16_384, 1_000_003] {
            let parts = parts(n, usize::MAX);
            assert_eq!(parts.first().map(|p| p.start), Some(0));
            assert_eq!(parts.last().map(|p| p.end), Some(n));
            assert!(parts.windows(2).all(|w| w[0].end == w[1].start));
            assert!(parts.len() <= MAX_PARTS);
        }
    }

    #[test]
    fn a_signed_wish_is_counted_from_both_ends() {
        let available = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_PARTS);
        assert_eq!(threads_for(3), Ok(3));
        assert_eq!(threads_for(-1), Ok(available));
        assert_eq!(threads_for(-2), Ok((available - 1).max(1)));
        assert_eq!(threads_for(i64::MIN), Ok(1));
        assert_eq!(threads_for(i64::MAX), Ok(MAX_PARTS));
        assert!(threads_for(0).is_err());
    }

    #[test]
    fn results_come_in_row_order_for_any_number_of_threads() {
        let sums =
            |threads| install(Some(threads), || map_parts(10_000, |r| r.map(|i| (i as f64).sqrt()).sum::<f64>()));
        assert_eq!(sums(1), sums(2));
        assert_eq!(sums(1), sums(5));
    }
}
