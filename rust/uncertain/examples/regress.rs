//! A line through points with error bars in both coordinates, one of them wrong; saved and read again.
//!
//! `cargo run --release -p uncertain-learn --example regress`
#![allow(clippy::print_stdout)]

use uncertain::file::{Saved, load_from_bytes, save_to_bytes};
use uncertain::loss::LossKind;
use uncertain::step::Step;
use uncertain::{Control, Covariances, GaussianArray, Rows, Targets, gsu_regression};

fn main() -> uncertain::Result<()> {
    // y = 3 x - 1 with a ripple; the last target is a slip of the pen.
    let x: Vec<f64> = (0..30).map(|i| 0.2 * f64::from(i)).collect();
    let mut y: Vec<f64> = x.iter().map(|x| 3.0 * x - 1.0 + 0.1 * (9.0 * x).sin()).collect();
    y[29] = -60.0;
    let n = x.len();
    let errors = Covariances::from_std(Rows::from_vec(vec![0.05; n], 1)?);
    let rows = GaussianArray::new(Rows::from_vec(x, 1)?, errors)?;
    let targets = Targets::new(y)?.with_variances(vec![0.01; n])?;

    let control = Control::new();
    let fit = |loss| gsu_regression::Params::new().alpha(1e-6).loss(loss).check()?.fit(&rows, &targets, &control);
    let squared = fit(LossKind::Squared)?;
    let huber = fit(LossKind::Huber { delta: 0.3 })?;
    println!("slope 3: {:.3} by squared loss, {:.3} by Huber's", squared.coef[0], huber.coef[0]);
    assert!((huber.coef[0] - 3.0).abs() < 0.05 && (squared.coef[0] - 3.0).abs() > 0.5);

    let new = GaussianArray::new(Rows::from_vec(vec![2.0], 1)?, Covariances::from_std(Rows::from_vec(vec![0.2], 1)?))?;
    let (mean, std) = huber.predict_distribution(&new)?;
    println!("at 2.0 +- 0.2: {:.2} +- {:.2}", mean[0], std[0]);

    let saved = Saved::new(vec![Step::from_model(huber)], vec![]);
    let again = load_from_bytes(&save_to_bytes(&saved)?)?;
    assert_eq!(again.predict_targets(&new)?, mean);
    Ok(())
}

#[cfg(test)]
#[test]
fn runs() {
    main().unwrap();
}
