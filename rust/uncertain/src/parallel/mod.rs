//! Threads: pools of this crate, fixed partitions, results that do not depend on the number of threads.
//!
//! Why the sums are reproducible: rows are cut into parts by their number alone, every part is
//! summed in row order, and the parts are added in order. Threads only decide who computes what.
//!
//! So it may be decided late. Waking a pool takes longer than predicting a few rows: a pass over `FEW_ROWS` or fewer
//! that is not on a pool yet begins on the calling thread, and hands over what is left after a `MOMENT`.
//! Rejected: an estimate of each pass's operations, which every caller would have to know.
//!
//! Without the feature `threads` the calling thread does it all (`alone.rs`).

#[cfg(not(feature = "threads"))]
#[path = "alone.rs"]
mod pool;
#[cfg(feature = "threads")]
mod pool;

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use uncertain_simd::{Level, SWITCH};

use crate::error::{Error, Result};
use crate::memory;

pub(crate) use pool::iter;

/// Rows below which a separate part is not worth waking a thread for.
const MIN_PART_ROWS: usize = 256;
/// Rows up to which a pass may be over before a pool has woken.
const FEW_ROWS: usize = 512;
/// Numbers that a part of light work reads at least, some microseconds of it.
const FEW_NUMBERS: usize = 1 << 14;
/// How long it may take on the calling thread: several times what waking a pool does.
const MOMENT: Duration = Duration::from_micros(100);
/// At most so many parts: enough to balance 16 threads, few enough that their partial sums
/// (one gradient or Hessian each) stay small.
const MAX_PARTS: usize = 64;

/// Memory that a thread takes to start: its stack, and a little.
pub const THREAD_BYTES: usize = 3 << 20;

static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// The number of threads used when nobody asks for another: the smallest of the processors this
/// process may use, `UNCERTAIN_NUM_THREADS`, `OMP_NUM_THREADS`, and [`set_thread_limit`].
#[must_use]
pub fn default_threads() -> usize {
    let available = pool::available();
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
    let available = pool::available();
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
    instruction_set()?;
    let (mut work, mut result) = (Some(work), None);
    let threads = threads.unwrap_or_else(default_threads).max(1);
    pool::enter(threads, &mut || result = work.take().map(|work| work()))?;
    result.ok_or_else(|| Error::Internal("a pool returned without a result".into()))
}

thread_local! {
    /// The threads that passes which begin on this thread may use.
    static OFFERED: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Run `work` on this thread; those of its parallel loops that are worth it use a pool of `threads`. For predictions,
/// whose rows may be few.
pub fn offer<T>(threads: Option<usize>, work: impl FnOnce() -> T) -> T {
    /// Puts it back, also while a panic unwinds.
    struct Before(Option<usize>);
    impl Drop for Before {
        fn drop(&mut self) {
            OFFERED.set(self.0);
        }
    }
    let _before = Before(OFFERED.replace(threads));
    work()
}

/// `work` on each of some jobs, the results in their order, on the pool of the enclosing [`install`] or the default one.
pub(crate) fn map_jobs<J: Send, T: Send>(jobs: Vec<J>, work: impl Fn(J) -> T + Sync) -> Result<Vec<T>> {
    map_jobs_of(usize::MAX, jobs, &work)
}

/// `work` of each number below `count`, at most `running` at a time and no more than there are threads, the results in
/// order; the first error in that order wins. For work with parallel loops inside, which help where threads are idle.
///
/// Why not `map_jobs`: a thread that waits inside one job would begin others on top of it, as many as there are.
pub(crate) fn map_side_by_side<T: Send>(
    count: usize,
    running: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results: Vec<Mutex<Option<Result<T>>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let worker = |_: usize| {
        // They begin in order, so those before one that failed all end.
        while !failed.load(Ordering::Relaxed) {
            let k = next.fetch_add(1, Ordering::Relaxed);
            let Some(slot) = results.get(k) else { break };
            let result = work(k);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    };
    run(|| pool::indexed(0..pool::threads().min(running).min(count), &worker))?;
    let done = results.into_iter().filter_map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner));
    let done: Vec<T> = done.collect::<Result<_>>()?;
    if done.len() == count { Ok(done) } else { Err(Error::Internal("a part of the work was not done".into())) }
}

/// [`map_jobs`] that are a pass over so many rows.
///
/// Why `dyn`: there is one copy of all this for each type of jobs and results, not for each closure (see `pool.rs`).
fn map_jobs_of<J: Send, T: Send>(n_rows: usize, jobs: Vec<J>, work: &(dyn Fn(J) -> T + Sync)) -> Result<Vec<T>> {
    // A slot is locked by one thread only: that which computes its part.
    let jobs: Vec<Mutex<Option<J>>> = jobs.into_iter().map(|job| Mutex::new(Some(job))).collect();
    let results: Vec<Mutex<Option<T>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let one = |k: usize| {
        let job = jobs[k].lock().unwrap_or_else(PoisonError::into_inner).take();
        *results[k].lock().unwrap_or_else(PoisonError::into_inner) = job.map(work);
    };
    let begun = if n_rows <= FEW_ROWS && !pool::is_inside() { begin(jobs.len(), &one)? } else { 0 };
    if begun < jobs.len() {
        run(|| pool::indexed(begun..jobs.len(), &one))?;
    }
    let result = |slot: Mutex<Option<T>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    let done: Option<Vec<T>> = results.into_iter().map(result).collect();
    done.ok_or_else(|| Error::Internal("a part of the work was not done".into()))
}

/// The first jobs on this thread, for a [`MOMENT`]: how many they were.
fn begin(count: usize, work: &dyn Fn(usize)) -> Result<usize> {
    instruction_set()?;
    let start = Instant::now();
    let last = (0..count).find(|k| {
        work(*k);
        start.elapsed() > MOMENT
    });
    Ok(last.map_or(count, |k| k + 1))
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

/// Cut `0..n_rows` into at most `most` parts, the same for any number of threads.
pub(crate) fn parts(n_rows: usize, most: usize) -> Vec<Range<usize>> {
    let count = (n_rows / MIN_PART_ROWS).clamp(1, most.clamp(1, MAX_PARTS));
    (0..count).map(|k| (k * n_rows / count)..((k + 1) * n_rows / count)).collect()
}

/// `work` on every part of `0..n_rows` in parallel, the results in row order.
///
/// Runs on the pool of the enclosing [`install`], or on that which is offered ([`offer`]), or on the default one.
#[doc(hidden)]
pub fn map_parts<T: Send>(n_rows: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Result<Vec<T>> {
    map_parts_at_most(n_rows, MAX_PARTS, work)
}

/// [`map_parts`] in at most so many parts, for work whose results are large.
pub(crate) fn map_parts_at_most<T: Send>(
    n_rows: usize,
    most: usize,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Result<Vec<T>> {
    map_jobs_of(n_rows, parts(n_rows, most), &work)
}

/// `work` on the pool of the enclosing [`install`], or on that which is offered ([`offer`]), or on the default one.
pub(crate) fn run<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T> {
    if pool::is_inside() { Ok(work()) } else { install(OFFERED.get(), work) }
}

/// `work` on each of some separate jobs (tiles of a matrix); the first error in their order wins.
pub(crate) fn for_each<J: Send>(jobs: Vec<J>, work: impl Fn(J) -> Result<()> + Sync) -> Result<()> {
    map_jobs(jobs, work)?.into_iter().collect()
}

/// [`map_parts`] for work that is heavy per row and not summed over rows (eigendecompositions):
/// the parts are cut down to single rows. The first error in row order wins.
pub(crate) fn map_fine<T: Send>(n_rows: usize, work: impl Fn(Range<usize>) -> Result<T> + Sync) -> Result<Vec<T>> {
    map_jobs_of(n_rows, fine_parts(n_rows), &work)?.into_iter().collect()
}

/// Fill a row-major matrix of `width` columns in parallel: `work` gets a range of rows and their
/// elements. Work must treat rows independently. The first error in row order wins.
pub(crate) fn fill_rows(
    out: &mut [f64],
    width: usize,
    work: impl Fn(Range<usize>, &mut [f64]) -> Result<()> + Sync,
) -> Result<()> {
    let n_rows = out.len() / width.max(1);
    fill_parts(out, width, fine_parts(n_rows), &work)
}

/// [`fill_rows`] for work that does little more than to read so many numbers per row: its parts are as large as those of
/// [`map_parts`] or larger.
pub(crate) fn fill_light(
    out: &mut [f64],
    width: usize,
    numbers: usize,
    work: impl Fn(Range<usize>, &mut [f64]) -> Result<()> + Sync,
) -> Result<()> {
    let n_rows = out.len() / width.max(1);
    fill_parts(out, width, parts(n_rows, n_rows.saturating_mul(numbers) / FEW_NUMBERS), &work)
}

/// Fills some rows of a matrix, given their numbers.
type Fill<'a> = dyn Fn(Range<usize>, &mut [f64]) -> Result<()> + Sync + 'a;

fn fill_parts(out: &mut [f64], width: usize, parts: Vec<Range<usize>>, work: &Fill<'_>) -> Result<()> {
    let n_rows = out.len() / width.max(1);
    let mut rest = out;
    let mut pieces = vec![];
    for part in parts {
        let (piece, later) = rest.split_at_mut(part.len() * width);
        pieces.push((part, piece));
        rest = later;
    }
    map_jobs_of(n_rows, pieces, &|(part, piece): (Range<usize>, &mut [f64])| work(part, piece))?.into_iter().collect()
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

/// Sums of parts, in their order.
pub(crate) fn added(parts: Vec<Vec<f64>>) -> Vec<f64> {
    let mut parts = parts.into_iter();
    let mut total = parts.next().unwrap_or_default();
    for part in parts {
        total.iter_mut().zip(part).for_each(|(t, x)| *t += x);
    }
    total
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
    fn every_row_is_filled_once_whatever_it_costs() {
        for (n, width, numbers) in [(0, 2, 1), (1, 1, usize::MAX), (3000, 2, 1), (3000, 1, 100), (100_000, 1, 0)] {
            let mut out = vec![0.0; n * width];
            let write = |rows: Range<usize>, out: &mut [f64]| {
                assert_eq!(out.len(), rows.len() * width);
                rows.zip(out.chunks_exact_mut(width))
                    .for_each(|(row, out)| out.iter_mut().for_each(|x| *x += row as f64));
                Ok(())
            };
            fill_light(&mut out, width, numbers, write).unwrap();
            assert!(out.iter().enumerate().all(|(at, x)| *x == (at / width) as f64));
        }
    }

    #[test]
    fn side_by_side_no_more_run_than_said_and_the_first_error_in_order_wins() {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |k: usize| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            let sum: f64 = map_parts(1000, |part| part.map(|i| (i * k) as f64).sum::<f64>())?.iter().sum();
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(sum)
        };
        let expected: Vec<f64> = (0..40).map(|k| (k * 499_500) as f64).collect();
        for (threads, running) in [(1, 9), (4, 2), (4, 1), (3, 9)] {
            most.store(0, Ordering::SeqCst);
            let sums = install(Some(threads), || map_side_by_side(40, running, work)).unwrap();
            assert_eq!(sums.unwrap(), expected);
            assert!(most.load(Ordering::SeqCst) <= running.min(threads));
        }
        let refuse = |k: usize| if k % 7 == 3 { Err(Error::Data(k.to_string())) } else { Ok(k) };
        let first = install(Some(4), || map_side_by_side(40, 4, refuse)).unwrap();
        assert_eq!(first, Err(Error::Data("3".into())));
        assert_eq!(map_side_by_side(0, 4, refuse), Ok(vec![]));
    }

    #[test]
    fn a_signed_wish_is_counted_from_both_ends() {
        let available = pool::available().min(MAX_PARTS);
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

    /// Rows around [`FEW_ROWS`], quick ones and those that the calling thread hands over.
    #[test]
    fn few_rows_have_the_same_results_wherever_they_are_computed() {
        let value = |i: usize, wait: bool| {
            if wait {
                std::thread::sleep(MOMENT / 4);
            }
            (i as f64 + 0.5).ln()
        };
        for n in [0, 1, 2, 63, 64, 65, 255, 256, FEW_ROWS - 1, FEW_ROWS, FEW_ROWS + 1] {
            for wait in [false, n <= 65] {
                let rows = || {
                    new_rows(n, 1, |i, out| {
                        out[0] = value(i, wait);
                        Ok(())
                    })
                };
                let sums = || map_parts(n, |part| part.map(|i| value(i, false)).sum::<f64>()).unwrap();
                let both = || (rows().unwrap(), sums());
                let inside = install(Some(2), both).unwrap();
                let expected: Vec<f64> = (0..n).map(|i| value(i, false)).collect();
                assert_eq!(inside.0, expected);
                assert_eq!(both(), inside);
                assert_eq!(offer(Some(3), both), inside);
            }
        }
    }

    #[cfg(feature = "threads")]
    #[test]
    fn few_quick_rows_stay_on_the_calling_thread_and_slow_ones_leave_it() {
        let here = std::thread::current().id();
        let threads = |n: usize, pause: Duration| {
            let seen = map_fine(n, |rows| {
                std::thread::sleep(pause);
                Ok(rows.map(|_| std::thread::current().id()).collect::<Vec<_>>())
            });
            seen.unwrap().concat()
        };
        assert_eq!(threads(1, 2 * MOMENT), [here]);
        assert_eq!(threads(3, Duration::ZERO)[0], here);
        let slow = threads(3, 2 * MOMENT);
        assert!(slow[0] == here && !slow[1..].contains(&here));
        assert!(!threads(FEW_ROWS + 1, Duration::ZERO).contains(&here));
    }

    #[test]
    fn an_offer_ends_with_its_work() {
        offer(Some(3), || {
            assert_eq!(OFFERED.get(), Some(3));
            offer(None, || assert_eq!(OFFERED.get(), None));
            assert!(std::panic::catch_unwind(|| offer(Some(5), || panic!("of a job"))).is_err());
            assert_eq!(OFFERED.get(), Some(3));
        });
        assert_eq!(OFFERED.get(), None);
    }
}
