//! Two classes whose rows have a covariance matrix each; probabilities, and how sure they are of a blurred row.
//!
//! `cargo run --release -p uncertain-learn --example classify`
#![allow(clippy::print_stdout)]

use uncertain::{Control, Covariances, GaussianArray, Labels, Names, Rows, gsu};

fn main() -> uncertain::Result<()> {
    // Rows on two parallel lines, each blurred along another direction.
    let (mut means, mut matrices, mut codes) = (vec![], vec![], vec![]);
    for i in 0..60_u32 {
        let (class, t) = (i % 2, f64::from(i) / 10.0);
        let (cos, sin) = (t.cos(), t.sin());
        means.extend([t - 3.0, 0.5 * t - 2.0 + 2.0 * f64::from(class)]);
        // 0.6 along (cos, sin), 0.1 across it.
        let (long, short) = (0.36, 0.01);
        let mixed = (long - short) * cos * sin;
        matrices.extend([long * cos * cos + short * sin * sin, mixed, mixed, long * sin * sin + short * cos * cos]);
        codes.push(class);
    }
    let covariances = Covariances::from_cov(Rows::from_vec(matrices, 4)?, &Names::default())?;
    let rows = GaussianArray::new(Rows::from_vec(means, 2)?, covariances)?;
    let labels = Labels::new(codes, 2)?;

    let params = gsu::Params::new().alpha(1e-3).probability(true).check()?;
    let model = params.fit(&rows, &labels, &Control::new())?;
    let fit = &model.fits[0];
    println!("objective {:.6}, certified within {:.1e} of the optimum", fit.objective, fit.gap);
    assert!(fit.gap <= 1e-6);

    // One point with a small and a large error.
    let point = Rows::from_vec([0.0, 0.5].repeat(2), 2)?;
    let new = GaussianArray::new(point, Covariances::from_std(Rows::from_vec(vec![0.05, 2.0], 1)?))?;
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
