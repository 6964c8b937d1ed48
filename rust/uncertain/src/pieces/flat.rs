//! Questions and answers as flat numbers.
//!
//! ```text
//! questions: VERSION, how many, then for each its kind, its length and its numbers
//! answers:   VERSION, rows, checksum, then for each question the length of its answer and the answer
//! ```

use super::HEADER;
use super::question::Question;
use super::reader::{Reader, broken};
use crate::error::{Error, Result};

/// Of questions and answers; both sides must have the same.
pub const VERSION: f64 = 1.0;

fn check_version(found: f64) -> Result<()> {
    if found == VERSION {
        return Ok(());
    }
    Err(Error::Data(format!(
        "questions of version {found} meet version {VERSION}: install the same version of uncertain everywhere"
    )))
}

/// All questions in one buffer.
#[must_use]
pub fn questions(all: &[Question]) -> Vec<f64> {
    let mut flat = vec![VERSION, all.len() as f64];
    for question in all {
        let (kind, numbers) = question.flat();
        flat.extend([kind, numbers.len() as f64]);
        flat.extend(numbers);
    }
    flat
}

/// Inverse of [`questions`].
pub(super) fn questions_of(flat: &[f64]) -> Result<Vec<Question>> {
    let mut reader = Reader::new(flat);
    check_version(reader.number()?)?;
    let n = reader.count()?;
    (0..n)
        .map(|_| {
            let kind = reader.number()?;
            let numbers = reader.list()?;
            Question::of_flat(kind, &mut Reader::new(&numbers))?.ok_or_else(broken)
        })
        .collect()
}

/// One answer per question, of a piece with so many rows and this checksum.
pub(super) fn answers(rows: usize, checksum: f64, all: &[Vec<f64>]) -> Vec<f64> {
    let mut flat = vec![VERSION, rows as f64, checksum];
    for answer in all {
        flat.push(answer.len() as f64);
        flat.extend(answer);
    }
    flat
}

/// The answers of a buffer.
pub(super) fn sections(flat: &[f64], questions: usize) -> Result<Vec<Vec<f64>>> {
    let mut reader = Reader::new(flat);
    check_version(reader.take(HEADER)?[0])?;
    let all = (0..questions).map(|_| reader.list()).collect::<Result<Vec<_>>>()?;
    if reader.rest().is_empty() { Ok(all) } else { Err(broken()) }
}

/// The answers of all pieces to `questions` as one, added in their order.
///
/// # Errors
/// Buffers that do not answer these questions, or of another version.
pub fn merged(questions: &[f64], pieces: &[Vec<f64>]) -> Result<Vec<f64>> {
    let questions = questions_of(questions)?;
    let mut rows = 0.0;
    let mut total: Vec<Vec<f64>> = vec![];
    for piece in pieces {
        let next = sections(piece, questions.len())?;
        rows += piece[1];
        if total.is_empty() {
            total = next;
            continue;
        }
        for ((question, total), next) in questions.iter().zip(&mut total).zip(&next) {
            question.add(total, next)?;
        }
    }
    if total.is_empty() {
        return Err(Error::Data("no rows: every piece is empty".into()));
    }
    Ok(answers(rows as usize, 0.0, &total))
}
