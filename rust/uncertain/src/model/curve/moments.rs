//! Predictions of a fitted curve: moments of f(z) over what x leaves open, or f(x) and its slope there.

use std::f64::consts::{PI, SQRT_2};

use crate::error::{Error, Result};
use crate::linalg::dot;

use super::evaluate::Evaluator;
use super::integral::{EXPECTED, REACH};
use super::quadrature::product;
use super::terms::Term;

/// Mean and standard deviation of f over the terms of each row: what x alone tells of the true y.
pub(super) fn over_terms(
    evaluator: &Evaluator<'_>,
    terms: &[Term],
    n_rows: usize,
    parameters: &[f64],
) -> Result<(Vec<f64>, Vec<f64>)> {
    let q = evaluator.q;
    let (mut mean, mut square, mut total) = (vec![0.0; n_rows * q], vec![0.0; n_rows * q], vec![0.0; n_rows]);
    // Moments about one value of the row: its size may be far above its spread.
    let mut about: Vec<Option<Vec<f64>>> = vec![None; n_rows];
    for k in 0..=terms.iter().map(|term| term.rank).max().unwrap_or(0) {
        let rule: Vec<(Vec<f64>, f64)> = match k {
            0 => vec![(vec![], 0.0)],
            // Equal steps: a curve may have edges.
            1 => (-64..=64).map(|i| f64::from(i) * REACH / 64.0).map(|v| (vec![v], -0.5 * v * v)).collect(),
            _ => {
                let n = if k == 2 { 25 } else { 15 };
                let to_prior = |(t, log): (Vec<f64>, f64)| {
                    let square = dot(&t, &t);
                    (t.iter().map(|t| SQRT_2 * t).collect(), log - square - 0.5 * k as f64 * PI.ln())
                };
                product(n, k)?.into_iter().map(to_prior).collect()
            }
        };
        let own: Vec<&Term> = terms.iter().filter(|term| term.rank == k).collect();
        for block in own.chunks(1 + 100_000 / rule.len()) {
            let mut z = vec![];
            block.iter().for_each(|term| rule.iter().for_each(|(v, _)| term.place(v, &mut z)));
            let values = evaluator.values(&z, parameters)?;
            for (at, f) in values.chunks_exact(q).enumerate() {
                let (term, (v, log)) = (block[at / rule.len()], &rule[at % rule.len()]);
                let share = (term.log_weight + log).exp();
                if f.iter().any(|f| !f.is_finite()) {
                    if v.iter().all(|v| v.abs() <= EXPECTED) {
                        let z = &z[at * evaluator.d..(at + 1) * evaluator.d];
                        return Err(Error::Data(format!(
                            "curve: it returned {f:?} at x = {z:?}, parameters {parameters:?}, a likely true value of row {}",
                            term.row
                        )));
                    }
                    continue;
                }
                total[term.row] += share;
                let about = about[term.row].get_or_insert_with(|| f.to_vec());
                for o in 0..q {
                    let away = f[o] - about[o];
                    mean[term.row * q + o] += share * away;
                    square[term.row * q + o] += share * away * away;
                }
            }
        }
    }
    for (row, about) in about.iter().enumerate() {
        for (o, about) in about.iter().flatten().enumerate() {
            let at = row * q + o;
            mean[at] /= total[row];
            square[at] = (square[at] / total[row] - mean[at] * mean[at]).max(0.0).sqrt();
            mean[at] += about;
        }
    }
    Ok((mean, square))
}

/// f at the reading itself, and the deviation that its errors leave to first order.
pub(super) fn straight(
    evaluator: &Evaluator<'_>,
    terms: &[Term],
    n_rows: usize,
    parameters: &[f64],
) -> Result<(Vec<f64>, Vec<f64>)> {
    let q = evaluator.q;
    let (mut mean, mut std) = (vec![0.0; n_rows * q], vec![0.0; n_rows * q]);
    for k in 0..=terms.iter().map(|term| term.rank).max().unwrap_or(0) {
        let own: Vec<&Term> = terms.iter().filter(|term| term.rank == k).collect();
        let z: Vec<f64> = own.iter().flat_map(|term| term.centre.iter().copied()).collect();
        let directions: Vec<f64> = own.iter().flat_map(|term| term.root.iter().copied()).collect();
        let values = evaluator.values(&z, parameters)?;
        let slopes = if k > 0 { evaluator.along(&z, &directions, k, parameters, &values)? } else { vec![] };
        for (at, f) in values.iter().enumerate() {
            let place = own[at / q].row * q + at % q;
            mean[place] = *f;
            std[place] = slopes.get(at * k..(at + 1) * k).map_or(0.0, |s| dot(s, s).sqrt());
        }
    }
    Ok((mean, std))
}
