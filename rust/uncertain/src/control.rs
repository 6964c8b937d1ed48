//! How the outside talks to running work: a stop flag and a progress report.
//!
//! The crate installs no signal handler. Whoever starts a fit keeps a [`Control`] and raises the
//! flag; solvers look at it once per iteration and once per block of rows, so that a fit over
//! many gigabytes ends within milliseconds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// One line of progress, sent once per iteration of a solver.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The running task, such as `"class 2 of 3"`.
    pub task: String,
    /// Iterations (passes, or SGD steps) done.
    pub iteration: usize,
    /// Objective value at this point.
    pub objective: f64,
    /// Certified relative duality gap; NaN where the solver does not know it.
    pub gap: f64,
}

type Listener = Arc<dyn Fn(&Progress) + Send + Sync>;

/// How work is run: a stop flag, an optional listener, and a number of threads. Clones share flag and listener.
///
/// ```
/// use uncertain::ndarray::arr2;
/// use uncertain::prelude::*;
/// use uncertain::{Control, Error, gsu};
///
/// # fn main() -> Result<()> {
/// let rows = GaussianArray::from_std(arr2(&[[0.0], [1.0], [4.0], [5.0]]), arr2(&[[0.1], [0.2], [0.1], [0.2]]))?;
/// let data = Dataset::classification(rows, [0, 0, 1, 1])?;
/// let control = Control::new().with_threads(1).with_listener(|p| println!("{}: {} {:e}", p.task, p.iteration, p.gap));
/// let params = gsu::Params::new().control(control.clone());
/// assert!(params.fit(&data)?.fits[0].gap <= 1e-6);
///
/// control.stop(); // from another thread, a signal handler, the listener
/// assert_eq!(params.fit(&data).err(), Some(Error::Interrupted));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Control {
    stop: Arc<AtomicBool>,
    listener: Option<Listener>,
    task: String,
    threads: Option<usize>,
}

/// Always: how a fit is run is no part of its parameters, which are compared.
impl PartialEq for Control {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Control {
    /// A control without a stop request or a listener.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// This control with a listener for progress; it must return quickly.
    #[must_use]
    pub fn with_listener(mut self, listener: impl Fn(&Progress) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// The same control for so many threads; `None` leaves it to
    /// [`default_threads`](crate::parallel::default_threads). Results have the same bits for any number.
    #[must_use]
    pub fn with_threads(mut self, threads: impl Into<Option<usize>>) -> Self {
        self.threads = threads.into();
        self
    }

    /// How many threads the work may use, where that was said.
    #[must_use]
    pub fn threads(&self) -> Option<usize> {
        self.threads
    }

    /// The same control, its reports labelled with what is running.
    #[must_use]
    pub fn with_task(&self, task: impl Into<String>) -> Self {
        Self { task: task.into(), ..self.clone() }
    }

    /// This stop flag without the listener, for preparatory work.
    #[must_use]
    pub fn quiet(&self) -> Self {
        Self { listener: None, ..self.clone() }
    }

    /// Ask the work to end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Has [`Control::stop`] been called?
    #[must_use]
    pub fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// `Err(Interrupted)` once [`Control::stop`] has been called.
    pub fn check(&self) -> Result<()> {
        if self.should_stop() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Tell the listener, if there is one.
    pub fn report(&self, iteration: usize, objective: f64, gap: f64) {
        if let Some(listener) = &self.listener {
            listener(&Progress { task: self.task.clone(), iteration, objective, gap });
        }
    }
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").field("stop", &self.should_stop()).field("task", &self.task).finish()
    }
}
