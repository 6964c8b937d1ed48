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

/// A stop flag and an optional listener; clones share both.
#[derive(Clone, Default)]
pub struct Control {
    stop: Arc<AtomicBool>,
    listener: Option<Listener>,
    task: String,
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

    /// This control, its reports labelled with what is running.
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
