//! Kernel machines: SMO on a matrix in memory and on computed rows, predictions, distributions of scores.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use uncertain::data::Labels;
use uncertain::data::covariance::Layout;
use uncertain::kernel::probabilistic_rbf::{RbfOptions, gram};
use uncertain::kernel_svc::{Model, Params};
use uncertain::prelude::*;
use uncertain::solver::smo::Dense;
use uncertain::{Control, GaussianArray, Kind};

use crate::data::data;

const N: usize = 1000;

/// Diagonal error bars in five dimensions: two overlapping classes, most rows support rows.
fn problem() -> (GaussianArray, Labels) {
    let data = data(Kind::Diagonal, Layout::Packed, N, 5);
    let codes = data.targets.iter().map(|&y| u32::from(y > 0.0)).collect();
    (data.rows, Labels::new(codes, 2).expect("codes 0 and 1"))
}

fn params() -> Params {
    Params::new().sigma(2.0).control(Control::new().with_threads(1))
}

fn fitted() -> (GaussianArray, Model) {
    let (rows, labels) = problem();
    let model = params()
        .check()
        .and_then(|p| p.fit(&Dataset::new(&rows).with_labels(&labels).unwrap()))
        .expect("a valid problem");
    (rows, model)
}

/// `kernel-svc/...`: per fit, or per row predicted.
pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("kernel-svc");
    let (rows, labels) = problem();
    let kernel = gram(&rows, None, &RbfOptions::new(2.0), &Control::new()).expect("fits in memory");
    let dense = Dense::new(kernel.as_slice().expect("standard layout"), N).expect("a finite matrix");
    for (name, tol, c) in [("1e-3", 1e-3, 1.0), ("1e-9", 1e-9, 1.0), ("1e-9-C-10", 1e-9, 10.0)] {
        let params = params().c(c).tol(tol).check().expect("valid parameters");
        group.bench_function(format!("smo-{N}/tol-{name}"), |b| {
            b.iter(|| params.fit_kernel(black_box(&dense), &labels, &Control::new()));
        });
    }
    for (name, cache_size) in [("matrix", 1 << 30), ("rows", 1 << 21)] {
        let params = params().cache_size(cache_size).check().expect("valid parameters");
        group.bench_function(format!("fit-{N}/{name}"), |b| {
            b.iter(|| params.fit(&Dataset::new(black_box(&rows)).with_labels(&labels).unwrap()));
        });
    }
    let (rows, model) = fitted();
    group.throughput(Throughput::Elements(N as u64));
    group.bench_function(format!("predict-{N}"), |b| b.iter(|| model.predict(black_box(&rows))));
    let few = rows.slice(0..10);
    group.throughput(Throughput::Elements(10));
    group.bench_function("distribution-10", |b| {
        b.iter(|| model.decision_distribution(black_box(&few)));
    });
    group.finish();
}
