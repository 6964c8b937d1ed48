//! A line through points with error bars in both coordinates: the law between the true values, the prediction from readings with
//! a wrong one among them, and a model file.
//!
//! `cargo run --release -p uncertain-learn --example regress`
#![allow(clippy::print_stdout)]

use uncertain::file::{Saved, load_from_bytes, save_to_bytes};
use uncertain::losses::LossKind;
use uncertain::ndarray::{Array1, Axis, arr2};
use uncertain::prelude::*;
use uncertain::step::Step;
use uncertain::{gsu_regression, mixture_regression};

fn main() -> Result<()> {
    // y = 3 x - 1; readings of x are off by up to 0.3, those of y by 0.1.
    let truth: Array1<f64> = (0..30).map(|i| 0.2 * f64::from(i)).collect();
    let x: Array1<f64> = truth.iter().enumerate().map(|(i, x)| x + 0.3 * (5.0 * i as f64).sin()).collect();
    let mut y: Array1<f64> = truth.iter().map(|x| 3.0 * x - 1.0 + 0.1 * (9.0 * x).sin()).collect();
    let rows = GaussianArray::from_std(x.insert_axis(Axis(1)), Array1::from_elem(30, 0.2))?;
    let data = Dataset::regression(&rows, &y)?.with_target_variances([0.005; 30])?;

    // The law between true values: a least-squares line through the readings would be flatter.
    let model = mixture_regression::Params::new().fit(&data)?;
    let law = model.law().expect("one component");
    println!("law: {:.3} x {:+.3}, scatter {:.3}", law.coef[0], law.intercept, law.scatter);
    assert!((law.coef[0] - 3.0).abs() < 0.1);

    // The prediction from a reading; the last target is a slip of the pen.
    y[29] = -60.0;
    let data = Dataset::regression(&rows, &y)?;
    let fit = |loss| gsu_regression::Params::new().alpha(1e-6).loss(loss).fit(&data);
    let (squared, huber) = (fit(LossKind::Squared)?, fit(LossKind::Huber { delta: 0.3 })?);
    println!("slope of predictions: {:.3} by squared loss, {:.3} by Huber's", squared.coef[0], huber.coef[0]);
    assert!(huber.coef[0] > 2.7 && squared.coef[0] < 1.0);

    let new = GaussianArray::from_std(arr2(&[[2.0]]), arr2(&[[0.2]]))?;
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
