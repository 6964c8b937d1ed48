//! Two classes whose rows have a covariance matrix each; probabilities, and how sure they are of a blurred row.
//!
//! `cargo run --release -p uncertain-learn --example classify`
#![allow(clippy::print_stdout)]

use uncertain::gsu;
use uncertain::ndarray::{Array2, Array3, arr1, arr2};
use uncertain::prelude::*;

fn main() -> Result<()> {
    // Rows on two parallel lines, each blurred along a direction of its own: 0.6 along (cos, sin), 0.1 across it.
    let codes: Vec<u32> = (0..60).map(|i| i % 2).collect();
    let along = |i: usize| i as f64 / 10.0;
    let means = Array2::from_shape_fn((60, 2), |(i, j)| match j {
        0 => along(i) - 3.0,
        _ => 0.5 * along(i) - 2.0 + 2.0 * f64::from(codes[i]),
    });
    let covariances = Array3::from_shape_fn((60, 2, 2), |(i, j, k)| {
        let direction = [along(i).cos(), along(i).sin()];
        let across = if j == k { 0.01 } else { 0.0 };
        across + (0.36 - 0.01) * direction[j] * direction[k]
    });
    let data = Dataset::classification(GaussianArray::from_cov(means, covariances)?, codes)?;

    let model = gsu::Params::new().alpha(1e-3).probability(true).fit(&data)?;
    let fit = &model.fits[0];
    println!("objective {:.6}, certified within {:.1e} of the optimum", fit.objective, fit.gap);
    assert!(fit.gap <= 1e-6);

    // The same point, measured well and badly.
    let new = GaussianArray::from_std(arr2(&[[0.0, 0.5], [0.0, 0.5]]), arr1(&[0.05, 2.0]))?;
    let probability = model.predict_proba(&new)?;
    println!("P(class 1): {:.3} measured well, {:.3} measured badly", probability[[0, 1]], probability[[1, 1]]);
    assert!((probability[[1, 1]] - 0.5).abs() < (probability[[0, 1]] - 0.5).abs());
    Ok(())
}

#[cfg(test)]
#[test]
fn runs() {
    main().unwrap();
}
