//! Gram matrices per kind and dimension, on one thread: pairs per second.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use uncertain::data::covariance::Layout;
use uncertain::kernel::probabilistic_rbf::{Coupling, RbfOptions, gram};
use uncertain::{Control, Kind, parallel};

use crate::data::data;

/// `gram/...`: rows against as many others, so that every pair is computed.
pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gram");
    let cases = [
        (Kind::Zero, 10, 2000),
        (Kind::Isotropic, 10, 2000),
        (Kind::Diagonal, 10, 2000),
        (Kind::Shared, 10, 2000),
        (Kind::LowRank, 10, 1000),
        (Kind::Full, 2, 2000),
        (Kind::Full, 5, 2000),
        (Kind::Full, 10, 1000),
        (Kind::Full, 16, 600),
        (Kind::Full, 30, 400),
        (Kind::Full, 64, 128),
        (Kind::Full, 96, 64),
        (Kind::Full, 128, 32),
    ];
    for (kind, d, n) in cases {
        let x = data(kind, Layout::Packed, n, d).rows;
        for coupling in [Coupling::Shared, Coupling::Independent] {
            let options = RbfOptions { sigma: (d as f64).sqrt(), coupling, max_bytes: None };
            group.throughput(Throughput::Elements((n * n) as u64));
            group.bench_function(format!("{}-{d}/{coupling:?}", kind.name()), |b| {
                b.iter(|| parallel::install(Some(1), || gram(black_box(&x), Some(&x), &options, &Control::new())));
            });
        }
    }
    group.finish();
}
