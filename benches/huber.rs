//! Huber regression: the reduction with one refinement, and with ten.

use std::hint::black_box;

use criterion::Criterion;
use uncertain::Kind;
use uncertain::data::covariance::Layout;
use uncertain::huber::Params;
use uncertain::ndarray::{Array1, Axis};
use uncertain::prelude::*;

use crate::data::data;

/// `huber/...`: fits to 500 points of 5 features whose target is their class, a tenth of them flipped.
pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("huber");
    let data = data(Kind::Zero, Layout::Packed, 500, 5);
    let flipped = |(i, y): (usize, &f64)| if i % 10 == 0 { -y } else { *y };
    let targets: Array1<f64> = data.targets.iter().enumerate().map(flipped).collect();
    let rows = Dataset::partial(&data.rows, &targets.insert_axis(Axis(1)), 0).expect("a target per row");
    for refinements in [1, 10] {
        let params = Params { alpha: 1e-5, delta: 0.05, max_refinements: refinements, ..Params::new() };
        let fit = || params.fit(black_box(&rows));
        group.bench_function(format!("{refinements}-refinements-500x5"), |b| b.iter(fit));
    }
    group.finish();
}
