//! Ends of a long call from outside: signals that wait for Python, and the deadline of the calling thread.

use std::cell::Cell;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use uncertain::Error;

use crate::error::core_error;

thread_local! {
    /// When calls from this thread end, finished or not.
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Calls of the core from this thread end with an UncertainError once so many seconds from now are over; None: they end
/// by themselves.
#[pyfunction]
pub(crate) fn stop_after(seconds: Option<f64>) -> PyResult<()> {
    let time = seconds.map(Duration::try_from_secs_f64).transpose();
    let time = time.map_err(|why| PyValueError::new_err(why.to_string()))?;
    DEADLINE.set(time.and_then(|time| Instant::now().checked_add(time)));
    Ok(())
}

/// The error of a signal that waits, or of the deadline once it is over.
pub(crate) fn look(py: Python<'_>) -> PyResult<()> {
    py.check_signals()?;
    if DEADLINE.get().is_some_and(|end| Instant::now() >= end) {
        return Err(core_error(Error::Data("it did not end within time_limit".into())));
    }
    Ok(())
}
