//! Long calls: the GIL released, Ctrl-C within a moment, progress on the caller's thread.
//!
//! Design. The work runs on a separate worker thread (and from there on the core's pools); the
//! thread that called from Python waits with the GIL released, wakes every [`STEP`] to ask Python for
//! pending signals, and hands progress to an optional Python callback. Python runs signal handlers
//! on the main thread only, so this thread must be the one that waits. On a signal, or when the
//! callback raises, the [`Control`]'s flag goes up and the Python exception is raised as it came: once the worker
//! has ended (solvers look at the flag once per block of rows), or after [`PATIENCE`]. A worker inside a long call of
//! the linear algebra library, which looks at no flag, is left alone: it owns all that it uses, ends when that call
//! does, and frees its memory then.
//!
//! Work shorter than the start of a worker, such as the prediction of a few rows, is done by the calling thread.
//!
//! Rejected: another signal handler (it would fight the caller's), and `check_signals` from
//! inside the solvers (the pure crate knows nothing of Python, and the pool's threads could not
//! run the handlers anyway).
//!
//! A deadline of the calling thread (`deadline.rs`) ends its calls in the same way.
//!
//! A panic in the work is a bug in the core: it ends as a `RuntimeError` and never unwinds into Python.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::PoisonError;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use uncertain::parallel::THREAD_BYTES;
use uncertain::{Control, Error, memory};

use crate::deadline::look;
use crate::error::core_error;
use crate::events::{Event, Messenger, Raised, answered};

/// Interval between signal checks.
const STEP: Duration = Duration::from_millis(20);

/// Operations that take longer than a moment.
const WORTH_A_WORKER: f64 = 3e7;

/// Operations, estimated roughly, that may be over before a worker has begun.
const FEW: f64 = 3e6;

/// How long the worker may take to notice, and how often it is looked at.
const PATIENCE: Duration = Duration::from_millis(100);
/// See [`PATIENCE`].
const LOOK: Duration = Duration::from_millis(2);

/// Says that the work is over when dropped, so also while a panic unwinds.
struct Bell(Sender<Event>);

impl Drop for Bell {
    fn drop(&mut self) {
        // The receiver is gone when the caller was interrupted; then nobody needs to hear it.
        let _ = self.0.send(Event::Done);
    }
}

/// Run `work` with the GIL released; `report(task, iteration, objective, gap)` is called for each
/// progress message, on the calling thread.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    report: Option<Py<PyAny>>,
    work: impl FnOnce(&Control) -> uncertain::Result<T> + Send + 'static,
) -> PyResult<T> {
    run_asking(py, report, None, move |control, _| work(control))
}

/// [`run`] of work that needs sums over rows held by other processes; `answer(requests)`, called on the calling thread,
/// gives a list of buffers.
pub(crate) fn run_asking<T: Send + 'static>(
    py: Python<'_>,
    report: Option<Py<PyAny>>,
    answer: Option<Py<PyAny>>,
    work: impl FnOnce(&Control, Messenger) -> uncertain::Result<T> + Send + 'static,
) -> PyResult<T> {
    let (events, inbox) = mpsc::channel();
    let mut control = Control::new();
    if report.is_some() {
        let events = events.clone();
        control = control.with_listener(move |progress| {
            let _ = events.send(Event::Progress(progress.clone()));
        });
    }
    let messenger = Messenger::Elsewhere(events.clone());
    py.detach(move || {
        // A thread that starts without any memory ends the process: its variables are the C library's business.
        let no_thread = |why: String| core_error(Error::OutOfMemory(format!("no thread to run on ({why})")));
        memory::afford("a thread", THREAD_BYTES).map_err(|why| no_thread(why.to_string()))?;
        let (bell, own) = (Bell(events), control.clone());
        let worker = thread::Builder::new()
            .name("uncertain-call".into())
            .spawn(move || {
                let _bell = bell;
                work(&own, messenger)
            })
            .map_err(|why| no_thread(why.to_string()))?;
        if let Err(raised) = attend(inbox, report.as_ref(), answer.as_ref()) {
            control.stop();
            if ends_soon(&worker) {
                drop(worker.join());
            }
            return Err(raised);
        }
        match worker.join() {
            Ok(result) => result.map_err(core_error),
            Err(panic) => Err(internal(panic.as_ref())),
        }
    })
}

/// [`run`] of work that the calling thread does itself if it has about so few operations to do.
pub(crate) fn run_or_stay<T: Send + 'static>(
    py: Python<'_>,
    operations: f64,
    work: impl FnOnce(&Control) -> uncertain::Result<T> + Send + 'static,
) -> PyResult<T> {
    if operations > FEW {
        return run(py, None, work);
    }
    let done = py.detach(|| panic::catch_unwind(AssertUnwindSafe(|| work(&Control::new()))));
    done.map_err(|panic| internal(panic.as_ref()))?.map_err(core_error)
}

/// [`run_asking`] of work that calls Python often and takes moments between two calls, on the calling thread: a call of a
/// function of Python then costs no change of threads. It looks for signals at each call.
pub(crate) fn run_here<T: Send>(
    py: Python<'_>,
    report: Option<Py<PyAny>>,
    work: impl FnOnce(&Control, Messenger) -> uncertain::Result<T> + Send,
) -> PyResult<T> {
    let raised = Raised::default();
    let mut control = Control::new();
    if let Some(report) = report {
        let (raised, own) = (raised.clone(), control.clone());
        control = control.with_listener(move |p| {
            let told = Python::attach(|py| report.call1(py, (p.task.as_str(), p.iteration, p.objective, p.gap)));
            if let Err(error) = told {
                Messenger::end(&raised, error);
                own.stop();
            }
        });
    }
    let messenger = Messenger::Here(raised.clone());
    let done = py.detach(|| panic::catch_unwind(AssertUnwindSafe(|| work(&control, messenger))));
    if let Some(error) = raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(error);
    }
    done.map_err(|panic| internal(panic.as_ref()))?.map_err(core_error)
}

fn internal(panic: &(dyn Any + Send)) -> PyErr {
    PyRuntimeError::new_err(format!("internal error: {}; please report it", panic_message(panic)))
}

/// Is the work over within [`PATIENCE`]?
fn ends_soon<T>(worker: &JoinHandle<T>) -> bool {
    let asked = Instant::now();
    while !worker.is_finished() && asked.elapsed() < PATIENCE {
        thread::sleep(LOOK);
    }
    worker.is_finished()
}

/// `work` that looks at no flag: on a worker that can be left alone if it has this many operations to do.
pub(crate) fn run_or_leave<T: Send + 'static>(
    py: Python<'_>,
    operations: f64,
    work: impl FnOnce() -> uncertain::Result<T> + Send + 'static,
) -> PyResult<uncertain::Result<T>> {
    if operations < WORTH_A_WORKER {
        return Ok(py.detach(work));
    }
    run(py, None, move |_| Ok(work()))
}

/// Wait for the end of the work; `Err` is what a signal handler or the callback raised, or that the time is over.
/// Returning drops the inbox, and with it requests that wait for an answer.
fn attend(inbox: Receiver<Event>, report: Option<&Py<PyAny>>, answer: Option<&Py<PyAny>>) -> PyResult<()> {
    let mut looked = Instant::now();
    loop {
        match inbox.recv_timeout(STEP.saturating_sub(looked.elapsed())) {
            Ok(Event::Done) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Ok(Event::Progress(p)) => {
                if let Some(report) = report {
                    Python::attach(|py| report.call1(py, (p.task.as_str(), p.iteration, p.objective, p.gap)))?;
                }
            }
            Ok(Event::Requests { bytes, reply }) => {
                let Some(answer) = answer else { continue };
                let sums = Python::attach(|py| answered(py, answer, &bytes))?;
                // The solver has ended meanwhile, if nobody takes the answer.
                let _ = reply.send(sums);
            }
            Ok(Event::Call(call)) => Python::attach(call)?,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if looked.elapsed() >= STEP {
            Python::attach(|py| {
                look(py)?;
                // Exceptions of another thread for this one (`_choice/side_by_side.py`) are raised where code begins.
                py.run(c"pass", None, None)
            })?;
            looked = Instant::now();
        }
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}
