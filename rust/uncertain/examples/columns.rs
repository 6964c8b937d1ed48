//! Columns of numbers and of their errors, as a program reads them from a file, become rows with error bars.
//!
//! `cargo run --release -p uncertain-learn --example columns`
#![allow(clippy::print_stdout)]

use uncertain::ndarray::{Array2, Axis, stack};
use uncertain::transform::{GaussianScaler, Spread};
use uncertain::{Covariances, GaussianArray, Rows};

fn main() -> uncertain::Result<()> {
    // Two quantities of five stars, each with its standard error.
    let temperature = vec![5770.0, 4300.0, 6100.0, 3900.0, 5200.0];
    let temperature_error = vec![80.0, 120.0, 90.0, 300.0, 75.0];
    let radius = vec![1.00, 0.71, 1.20, 0.55, 0.86];
    let radius_error = vec![0.02, 0.05, 0.03, 0.20, 0.02];

    let means = table(&[temperature, radius]);
    let errors = table(&[temperature_error, radius_error]);
    let stars = GaussianArray::new(means.into(), Covariances::from_std(errors.into()))?;

    // Standardising moves the error bars along.
    let scaler = GaussianScaler::fit(&stars, None, Spread::Means)?;
    let scaled = scaler.transform(&stars)?;
    let mut variances = vec![0.0; 2];
    for star in 0..scaled.n_rows() {
        scaled.covariances().variances(star, &mut variances);
        let row = scaled.means().row(star);
        println!("{:6.2} +- {:.2}   {:6.2} +- {:.2}", row[0], variances[0].sqrt(), row[1], variances[1].sqrt());
    }

    // Arrays come back the way they went in.
    assert_eq!(scaled.means().to_array().dim(), (5, 2));

    // A negative error is refused, with its place.
    let wrong = Covariances::from_std(Rows::from_vec(vec![-1.0; 10], 2)?);
    println!("refused: {}", GaussianArray::new(stars.means().clone(), wrong).expect_err("negative errors"));
    Ok(())
}

/// Columns side by side.
fn table(columns: &[Vec<f64>]) -> Array2<f64> {
    let views: Vec<_> = columns.iter().map(|column| uncertain::ndarray::aview1(column)).collect();
    stack(Axis(1), &views).expect("columns of one length")
}

#[cfg(test)]
#[test]
fn runs() {
    main().unwrap();
}
