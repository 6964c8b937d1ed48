//! Any numbers as means and error bars: refused with a sentence, or rows whose every verb is sound.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use uncertain::data::{Covariances, Rows};
use uncertain::{Collapse, GaussianArray};

#[derive(Arbitrary, Debug)]
enum Bars {
    None,
    Std,
    OneStdPerRow,
    Var,
    Cov,
    Shared,
    Precision,
    Factor { rank: u8, diagonal: bool },
}

#[derive(Arbitrary, Debug)]
struct Given {
    d: u8,
    bars: Bars,
    /// Matrices as A + A', which some of the symmetric ones are semi-definite among.
    symmetric: bool,
    means: Vec<f64>,
    numbers: Vec<f64>,
}

/// So many numbers, again and again the same where there are too few.
fn cycled(numbers: &[f64], len: usize) -> Vec<f64> {
    if numbers.is_empty() { vec![1.0; len] } else { numbers.iter().copied().cycle().take(len).collect() }
}

fn covariances(given: &Given, n: usize, d: usize) -> uncertain::Result<Covariances> {
    let rows = |width: usize| Rows::from_vec(cycled(&given.numbers, n * width), width);
    let matrices = |n: usize| {
        let mut values = cycled(&given.numbers, n * d * d);
        if given.symmetric {
            for matrix in values.chunks_exact_mut(d * d) {
                let a = matrix.to_vec();
                (0..d * d).for_each(|k| matrix[k] = a[k] + a[k % d * d + k / d]);
            }
        }
        values
    };
    let names = Default::default();
    Ok(match given.bars {
        Bars::None => Covariances::Zero,
        Bars::Std => Covariances::from_std(rows(d)?),
        Bars::OneStdPerRow => Covariances::from_std(rows(1)?),
        Bars::Var => Covariances::from_var(rows(d)?),
        Bars::Cov => Covariances::from_cov(Rows::from_vec(matrices(n), d * d)?, &names)?,
        Bars::Shared => Covariances::shared(&matrices(1), &names)?,
        Bars::Precision => Covariances::from_precision(&Rows::from_vec(matrices(n), d * d)?, &names)?,
        Bars::Factor { rank, diagonal } => {
            let rank = usize::from(rank % 5);
            let variances = if diagonal { Some(rows(d)?) } else { None };
            Covariances::from_factor(rows(d * rank.max(1))?, rank, variances, &names)?
        }
    })
}

fuzz_target!(|given: Given| {
    let d = usize::from(given.d % 7) + 1;
    let n = given.means.len().clamp(1, 12);
    let means = Rows::from_vec(cycled(&given.means, n * d), d).expect("n rows of d numbers");
    let Ok(array) = covariances(&given, n, d).and_then(|covariances| GaussianArray::new(means, covariances)) else {
        return;
    };
    let w: Vec<f64> = (0..d).map(|j| 1.0 - j as f64).collect();
    for row in 0..n {
        let (quad, trace) = (array.covariances().quad(row, &w), array.covariances().trace(row, d));
        assert!(!(quad < 0.0) && !(trace < 0.0), "w'Sw = {quad}, tr S = {trace}");
    }
    assert_eq!(array.slice(0..n), array);
    let reversed: Vec<usize> = (0..n).rev().collect();
    assert_eq!(array.take(&reversed).and_then(|back| back.take(&reversed)).expect("rows that exist").n_rows(), n);
    for to in [Collapse::Zero, Collapse::Isotropic, Collapse::Diagonal] {
        let _ = array.collapse(to).map(|simpler| assert_eq!(simpler.means(), array.means()));
    }
    let _ = (array.dense(), array.to_full(), array.arguments(), array.traces(), array.sample(2, 0));
    let _ = array.columns(&[d - 1]).map(|one| assert_eq!(one.n_features(), 1));
    let _ = GaussianArray::concat(&[array.clone(), array.clone()]).map(|two| assert_eq!(two.n_rows(), 2 * n));
    let _ = GaussianArray::hstack(&[array.clone(), array]).map(|two| assert_eq!(two.n_features(), 2 * d));
});
