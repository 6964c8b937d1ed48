//! Kernels between rows with error bars: a Gram matrix, the machine on it, and a kernel map in front of any linear model.
//!
//! `cargo run --release -p uncertain-learn --example kernel`
#![allow(clippy::print_stdout)]

use uncertain::kernel_svc;
use uncertain::kernels::{self, Coupling, PointKernel, RbfOptions};
use uncertain::ndarray::Array2;
use uncertain::prelude::*;
use uncertain::robust::{self, Bound, Method};
use uncertain::transform::KernelMapParams;

fn main() -> Result<()> {
    // A ring of 20 rows around 20 others: no plane tells them apart.
    let codes: Vec<u32> = (0..40).map(|i| i % 2).collect();
    let means = Array2::from_shape_fn((40, 2), |(i, j)| {
        let (radius, angle) = (if codes[i] == 0 { 1.0 } else { 2.5 }, 0.7 * i as f64);
        radius * [angle.cos(), angle.sin()][j]
    });
    let rows = GaussianArray::from_std(means, Array2::from_elem((40, 2), 0.1))?;
    let data = Dataset::classification(&rows, &codes)?;

    // One noise for both rows of a pair, and one for each.
    let shared = kernels::probabilistic_rbf(&rows, &rows, 1.0)?;
    let options = RbfOptions { coupling: Coupling::Independent, ..RbfOptions::new(1.0) };
    let independent = options.gram(&rows, &rows)?;
    println!("K(x, x): {:.3} with one noise, {:.3} with two", shared[[0, 0]], independent[[0, 0]]);

    let machine = kernel_svc::Params::new().c(10.0).sigma(1.0).fit(&data)?;
    assert_eq!(machine.predict(&rows)?.to_vec(), codes);

    // x1^2, x1 x2 and x2^2 as features of a linear model that keeps every row right with a probability of 90 %.
    let (map, mapped) = KernelMapParams::from(PointKernel::Quadratic).fit_transform(&data)?;
    assert_eq!(map.rank(), 3);
    let params = robust::Params::new().c(10.0).method(Method::Usvc).confidence(Some(0.9)).bound(Bound::Chebyshev);
    let model = params.fit(&Dataset::classification(&mapped, &codes)?)?;
    assert_eq!(model.predict(&map.transform(&rows)?)?.to_vec(), codes);
    println!("robust machine on {} features: gap {:.1e}", map.rank(), model.linear.fits[0].gap);
    Ok(())
}

#[cfg(test)]
#[test]
fn runs() {
    main().unwrap();
}
