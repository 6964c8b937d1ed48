//! Several solvers that share every pass over the rows.
//!
//! The problem of all rows, those without a fold, and those of the other classes each need some passes. Reading the
//! rows (or asking a cluster) costs the same for one question as for many, so each solver runs on a thread of its own and
//! waits with its question until all that still run have one; the last to come asks for all. Whoever asks, the
//! questions stand in the order of the solvers, and the answer to one does not depend on the others.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::state::Elsewhere;

use super::{Question, ask_all};

#[derive(Default)]
struct State {
    running: usize,
    waiting: usize,
    questions: Vec<Vec<Question>>,
    answers: Vec<Option<Result<Vec<Vec<f64>>>>>,
}

struct Table<'a> {
    rows: &'a dyn Elsewhere,
    control: &'a Control,
    state: Mutex<State>,
    turn: Condvar,
}

/// One solver's place at the table.
pub(crate) struct Share<'a> {
    table: &'a Table<'a>,
    place: usize,
}

/// Gives the place up, also while a panic unwinds: the others must not wait for it.
impl Drop for Share<'_> {
    fn drop(&mut self) {
        let mut state = self.table.lock();
        state.running -= 1;
        self.table.ask_if_complete(&mut state);
    }
}

impl Share<'_> {
    /// The answers to these questions about all rows.
    pub(super) fn ask(&self, questions: Vec<Question>) -> Result<Vec<Vec<f64>>> {
        let mut state = self.table.lock();
        state.questions[self.place] = questions;
        state.waiting += 1;
        self.table.ask_if_complete(&mut state);
        loop {
            if let Some(answer) = state.answers[self.place].take() {
                return answer;
            }
            state = self.table.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Table<'_> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One pass, if nobody is missing. The lock is held meanwhile: all others wait for this anyway.
    fn ask_if_complete(&self, state: &mut State) {
        if state.waiting == 0 || state.waiting < state.running {
            return;
        }
        let all: Vec<Question> = state.questions.iter().flatten().cloned().collect();
        let mut answers =
            self.control.check().and_then(|()| ask_all(self.rows, &all, self.control)).map(Vec::into_iter);
        for (questions, place) in state.questions.iter_mut().zip(&mut state.answers) {
            if questions.is_empty() {
                continue;
            }
            *place = Some(match &mut answers {
                Ok(answers) => Ok(answers.take(questions.len()).collect()),
                Err(error) => Err(error.clone()),
            });
            questions.clear();
        }
        state.waiting = 0;
        self.turn.notify_all();
    }
}

/// What the jobs find, in their order; their passes over the rows are shared.
pub(crate) fn together<J: Send, T: Send>(
    rows: &dyn Elsewhere,
    jobs: Vec<J>,
    control: &Control,
    work: impl Fn(J, &Share<'_>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let n = jobs.len();
    let state = State { running: n, waiting: 0, questions: vec![vec![]; n], answers: (0..n).map(|_| None).collect() };
    let table = Table { rows, control, state: Mutex::new(state), turn: Condvar::new() };
    thread::scope(|scope| {
        let run = |(place, job): (usize, J)| {
            let (share, work) = (Share { table: &table, place }, &work);
            scope.spawn(move || work(job, &share))
        };
        let threads: Vec<_> = jobs.into_iter().enumerate().map(run).collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        let broken = || Error::Internal("a solver ended without a result".into());
        ended.map(|result| result.unwrap_or_else(|_| Err(broken()))).collect::<Vec<_>>().into_iter().collect()
    })
}
