//! Several solvers that share every pass over the rows.
//!
//! The problem of all rows, those without a fold, and those of the other classes each need some passes. Reading the
//! rows (or a message to a cluster) costs the same for one request as for many, so each solver runs on a thread of its own
//! and waits with its requests until all that still run have some; the last to come sends them all. The requests stand in
//! the order of the solvers, and the answer to one does not depend on the others.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::{Request, RowSums};
use crate::control::Control;
use crate::error::{Error, Result};

#[derive(Default)]
struct State {
    running: usize,
    waiting: usize,
    requests: Vec<Vec<Request>>,
    sums: Vec<Option<Result<Vec<Vec<f64>>>>>,
}

struct SharedPass<'a> {
    rows: &'a dyn RowSums,
    control: &'a Control,
    state: Mutex<State>,
    answered: Condvar,
}

/// The rows as one of the solvers sees them.
struct SharedRows<'a> {
    pass: &'a SharedPass<'a>,
    place: usize,
}

/// Gives the place up, also while a panic unwinds: the others must not wait for it.
impl Drop for SharedRows<'_> {
    fn drop(&mut self) {
        let mut state = self.pass.lock();
        state.running -= 1;
        self.pass.run_if_complete(&mut state);
    }
}

impl RowSums for SharedRows<'_> {
    fn sums(&self, requests: &[Request], _: &Control) -> Result<Vec<Vec<f64>>> {
        let mut state = self.pass.lock();
        state.requests[self.place] = requests.to_vec();
        state.waiting += 1;
        self.pass.run_if_complete(&mut state);
        loop {
            if let Some(sums) = state.sums[self.place].take() {
                return sums;
            }
            state = self.pass.answered.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl SharedPass<'_> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One pass, if nobody is missing. The lock is held meanwhile: all others wait for this anyway.
    fn run_if_complete(&self, state: &mut State) {
        if state.waiting == 0 || state.waiting < state.running {
            return;
        }
        let all: Vec<Request> = state.requests.iter().flatten().cloned().collect();
        let mut sums = self.control.check().and_then(|()| self.rows.sums(&all, self.control)).map(Vec::into_iter);
        for (requests, place) in state.requests.iter_mut().zip(&mut state.sums) {
            if requests.is_empty() {
                continue;
            }
            *place = Some(match &mut sums {
                Ok(sums) => Ok(sums.take(requests.len()).collect()),
                Err(error) => Err(error.clone()),
            });
            requests.clear();
        }
        state.waiting = 0;
        self.answered.notify_all();
    }
}

/// The results of the jobs, in their order; their passes over the rows are shared.
pub(crate) fn share_passes<J: Send, T: Send>(
    rows: &dyn RowSums,
    jobs: Vec<J>,
    control: &Control,
    work: impl Fn(J, &dyn RowSums) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let n = jobs.len();
    let state = State { running: n, waiting: 0, requests: vec![vec![]; n], sums: (0..n).map(|_| None).collect() };
    let pass = SharedPass { rows, control, state: Mutex::new(state), answered: Condvar::new() };
    thread::scope(|scope| {
        let run = |(place, job): (usize, J)| {
            let (rows, work) = (SharedRows { pass: &pass, place }, &work);
            scope.spawn(move || work(job, &rows))
        };
        let threads: Vec<_> = jobs.into_iter().enumerate().map(run).collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        let broken = || Error::Internal("a solver ended without a result".into());
        ended.map(|result| result.unwrap_or_else(|_| Err(broken()))).collect::<Vec<_>>().into_iter().collect()
    })
}
