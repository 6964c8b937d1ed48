//! Threads from Python: two C symbols by which threadpoolctl sees and limits our pools.
//!
//! `python/uncertain/_threads.py` registers the controller that looks them up in this library; C
//! symbols, because threadpoolctl knows a library by its file alone. `n_jobs` itself is counted by
//! the core ([`parallel::threads_for`]).

use std::ffi::c_int;

use pyo3::prelude::*;
use uncertain::parallel;

use crate::error::core_error;
use crate::error::exceptions::ParameterError;

/// The caller's `n_jobs`, of any type.
pub(crate) type Jobs<'py> = Option<Bound<'py, PyAny>>;

/// The number of threads a call will use for this `n_jobs`; `None` is left to the core's default.
pub(crate) fn resolve(n_jobs: Jobs<'_>) -> PyResult<Option<usize>> {
    let Some(given) = n_jobs else { return Ok(None) };
    let n: i64 = given.extract().map_err(|_| {
        let text = given.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
        ParameterError::new_err(format!("n_jobs = {text}: must be a number of threads, -1 for all processors, or None"))
    })?;
    parallel::threads_for(n).map(Some).map_err(core_error)
}

/// The number of threads that a call with `n_jobs` uses.
#[pyfunction]
pub(crate) fn effective_n_jobs(n_jobs: Jobs<'_>) -> PyResult<usize> {
    Ok(resolve(n_jobs)?.unwrap_or_else(parallel::default_threads))
}

/// The name of the instruction set in use.
#[pyfunction]
pub(crate) fn instruction_set() -> PyResult<&'static str> {
    parallel::instruction_set().map_err(core_error)
}

/// The number of threads used when a call does not ask for another.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn uncertain_get_num_threads() -> c_int {
    c_int::try_from(parallel::default_threads()).unwrap_or(c_int::MAX)
}

/// Set an upper limit on the threads of later calls in this process; 0 or less removes it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn uncertain_set_num_threads(n_threads: c_int) {
    parallel::set_thread_limit(usize::try_from(n_threads).unwrap_or(0));
}
