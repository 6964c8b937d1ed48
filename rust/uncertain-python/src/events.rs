//! What a long call says to the thread that called from Python: its progress, and questions about rows elsewhere.

use std::sync::mpsc::{self, Sender};

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use uncertain::state::Elsewhere;
use uncertain::{Control, Error, Progress, pieces};

use crate::error::core_error;

pub(crate) enum Event {
    Progress(Progress),
    /// For the function of Python that knows rows elsewhere.
    Question {
        questions: Vec<f64>,
        reply: Sender<uncertain::Result<Vec<f64>>>,
    },
    Done,
}

/// Sends questions to the thread that called from Python, where a function of Python answers them.
pub(crate) struct Messenger {
    events: Sender<Event>,
}

impl Messenger {
    pub(crate) fn new(events: Sender<Event>) -> Self {
        Self { events }
    }
}

impl Elsewhere for Messenger {
    fn ask(&self, questions: &[f64], control: &Control) -> uncertain::Result<Vec<f64>> {
        control.check()?;
        let (reply, answer) = mpsc::channel();
        let event = Event::Question { questions: questions.to_vec(), reply };
        // Nobody hears, or answers, where Python raised: that ends the fit.
        self.events.send(event).map_err(|_| Error::Interrupted)?;
        answer.recv().map_err(|_| Error::Interrupted)?
    }
}

/// What a function of Python answers: a list of buffers in the order of the pieces.
pub(crate) fn answered(py: Python<'_>, answer: &Py<PyAny>, questions: &[f64]) -> PyResult<Vec<f64>> {
    let asked = PyArray1::from_slice(py, questions);
    let buffers: Vec<PyReadonlyArray1<'_, f64>> = answer.bind(py).call1((asked,))?.extract()?;
    let buffers: Vec<Vec<f64>> = buffers.iter().map(|buffer| buffer.as_array().to_vec()).collect();
    pieces::merged(questions, &buffers).map_err(core_error)
}
