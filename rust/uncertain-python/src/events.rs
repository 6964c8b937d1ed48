//! Messages of a long call to the thread that called from Python: progress, and requests about rows elsewhere.

use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use uncertain::sums::{Request, RowSums, add_partitions, encode, split_sums};
use uncertain::{Control, Error, Progress};

use crate::deadline::look;
use crate::error::core_error;

pub(crate) enum Event {
    Progress(Progress),
    /// For the function of Python that reaches the other processes.
    Requests {
        bytes: Vec<u8>,
        reply: Sender<Vec<f64>>,
    },
    /// For the thread that called from Python; what it raises ends the work.
    Call(Call),
    Done,
}

pub(crate) type Call = Box<dyn FnOnce(Python<'_>) -> PyResult<()> + Send>;

/// An exception of Python in work on the thread that called from it.
pub(crate) type Raised = Arc<Mutex<Option<PyErr>>>;

/// Reaches functions of Python, which run on the thread that called from it.
pub(crate) enum Messenger {
    /// From another thread, by requests.
    Elsewhere(Sender<Event>),
    /// From that thread itself.
    Here(Raised),
}

impl Messenger {
    /// Remember what ends the work.
    pub(crate) fn end(raised: &Raised, error: PyErr) -> Error {
        raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        Error::Interrupted
    }

    /// Result of `function` on the thread that called from Python.
    pub(crate) fn call<T: Send + 'static>(
        &self,
        function: impl FnOnce(Python<'_>) -> PyResult<T> + Send + 'static,
    ) -> uncertain::Result<T> {
        let events = match self {
            Self::Elsewhere(events) => events,
            Self::Here(raised) => {
                let called = Python::attach(|py| look(py).and_then(|()| function(py)));
                return called.map_err(|error| Self::end(raised, error));
            }
        };
        let (reply, answer) = mpsc::channel();
        let call = move |py: Python<'_>| -> PyResult<()> {
            let value = function(py)?;
            // The work has ended meanwhile, if nobody takes it.
            let _ = reply.send(value);
            Ok(())
        };
        events.send(Event::Call(Box::new(call))).map_err(|_| Error::Interrupted)?;
        answer.recv().map_err(|_| Error::Interrupted)
    }
}

impl RowSums for Messenger {
    fn sums(&self, requests: &[Request], control: &Control) -> uncertain::Result<Vec<Vec<f64>>> {
        control.check()?;
        let Self::Elsewhere(events) = self else {
            return Err(Error::Internal("rows held by other processes are asked for from a worker".into()));
        };
        let (reply, answer) = mpsc::channel();
        let event = Event::Requests { bytes: encode(requests)?, reply };
        // Nobody hears, or answers, where Python raised: that ends the fit.
        events.send(event).map_err(|_| Error::Interrupted)?;
        split_sums(&answer.recv().map_err(|_| Error::Interrupted)?, requests.len())
    }
}

/// Result of a function of Python: a list of buffers in the order of the partitions.
pub(crate) fn answered(py: Python<'_>, answer: &Py<PyAny>, requests: &[u8]) -> PyResult<Vec<f64>> {
    let buffers: Vec<PyReadonlyArray1<'_, f64>> = answer.bind(py).call1((PyBytes::new(py, requests),))?.extract()?;
    let buffers: Vec<Vec<f64>> = buffers.iter().map(|buffer| buffer.as_array().to_vec()).collect();
    add_partitions(requests, &buffers).map_err(core_error)
}
