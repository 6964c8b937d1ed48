//! Arrays in, arrays out: views of a table whose columns alternate between values and errors, a data set with weights and gaps,
//! and a function that is generic over models.
//!
//! `cargo run --release -p uncertain-learn --example arrays`
#![allow(clippy::print_stdout)]

use ndarray::{Array1, Array2, s};
use uncertain::prelude::*;
use uncertain::{discriminant, gsu, kernel_svc, kernels, ndarray};

/// The share of rows whose class a model finds, whatever the model.
fn accuracy<P: Fit>(params: P, train: &Dataset, test: &GaussianArray, truth: &Array1<u32>) -> Result<f64>
where
    P::Model: Classifier,
{
    let model = params.fit(train)?;
    let labels: Array1<u32> = model.predict(test)?;
    let probabilities: Array2<f64> = model.predict_proba(test)?;
    assert_eq!(probabilities.nrows(), labels.len());
    Ok(labels.iter().zip(truth).filter(|(a, b)| a == b).count() as f64 / truth.len() as f64)
}

fn example(x: &Array2<f64>, sigma: &Array2<f64>, y: &Array1<u32>) -> Result<f64> {
    let train = GaussianArray::from_std(x.slice(s![..;2, ..]), sigma.slice(s![..;2, ..]))?; // every second row
    let data = Dataset::classification(train, y.slice(s![..;2]))?;
    let test = GaussianArray::from_std(x.view(), sigma.view())?;
    let gram: Array2<f64> = kernels::probabilistic_rbf(&test, &test, 1.0)?;
    assert_eq!(gram.dim(), (x.nrows(), x.nrows()));
    accuracy(gsu::Params::new().alpha(1e-3).probability(true), &data, &test, y)
}

fn main() -> Result<()> {
    // Sixty rows of two classes; columns 0 and 2 are values, 1 and 3 their errors. Class 1 lies higher.
    let y: Array1<u32> = (0..60).map(|i| i / 2 % 2).collect();
    let table = Array2::from_shape_fn((60, 4), |(i, column)| match column {
        0 => (i as f64 * 0.7).sin(),
        2 => 2.0 * f64::from(y[i]) + (i as f64 * 1.3).cos(),
        _ => 0.1 + 0.02 * (i % 7) as f64,
    });
    let (x, sigma) = (table.slice(s![.., ..;2]), table.slice(s![.., 1..;2])); // neither is contiguous

    println!("linear: {:.2} of the rows", example(&x.to_owned(), &sigma.to_owned(), &y)?);

    let rows = GaussianArray::from_std(x, sigma)?;
    let weights = Array1::from_shape_fn(60, |i| if i % 5 == 0 { 2.0 } else { 1.0 });
    let data = Dataset::classification(&rows, &y)?.with_weights(&weights)?;
    let kernel = kernel_svc::Params::new().c(10.0).sigma(1.5).probability(true);
    println!("kernel: {:.2} of the rows", accuracy(kernel, &data, &rows, &y)?);

    // The first value of every ninth row was not measured.
    let mask = Array2::from_shape_fn((60, 2), |(i, j)| i % 9 == 0 && j == 0);
    let data = data.with_gaps(&mask)?;
    let model = discriminant::Params::new().fit(&data)?;
    let (score, spread) = model.decision_distribution(&data)?;
    println!("with gaps: row 0 scores {:.1} +- {:.1}", score[[0, 0]], spread[[0, 0]]);
    assert_eq!(model.predict(&data)?.len(), 60);
    Ok(())
}

#[cfg(test)]
#[test]
fn runs() {
    main().unwrap();
}
