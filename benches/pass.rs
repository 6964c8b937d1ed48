//! One pass over the data: value, certified bound and gradient; or the Hessian too.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use uncertain::data::covariance::Layout;
use uncertain::objective::Derivatives;
use uncertain::{Control, Kind, parallel};

use crate::data::{Data, data};

/// Rows and features of the diagonal problem of benches/README.md: 160 MB.
pub(crate) const BIG: (usize, usize) = (200_000, 50);

/// `pass/...`, for every kind of covariance.
pub(crate) fn bench(criterion: &mut Criterion) {
    let cases = [
        ("zero", Kind::Zero, Layout::Packed, 200_000, 50),
        ("isotropic", Kind::Isotropic, Layout::Packed, 200_000, 50),
        ("diagonal", Kind::Diagonal, Layout::Packed, BIG.0, BIG.1),
        ("low-rank", Kind::LowRank, Layout::Packed, 50_000, 50),
        ("full-packed", Kind::Full, Layout::Packed, 20_000, 40),
        ("full-square", Kind::Full, Layout::Square, 20_000, 40),
        ("shared", Kind::Shared, Layout::Packed, 200_000, 50),
    ];
    let mut group = criterion.benchmark_group("pass");
    for (name, kind, layout, n, d) in cases {
        let data = data(kind, layout, n, d);
        let narrow = data.narrow();
        group.throughput(Throughput::Bytes(narrow.bytes()));
        group.bench_function(format!("{name}-{n}x{d}-float32/gradient/1-threads"), |b| {
            b.iter(|| run(&narrow, Derivatives::Gradient, 1));
        });
        group.throughput(Throughput::Bytes(data.bytes()));
        let both = [1, parallel::default_threads()];
        for (want, label) in [(Derivatives::Gradient, "gradient"), (Derivatives::Hessian, "hessian")] {
            for &threads in if want == Derivatives::Gradient { &both[..] } else { &both[1..] } {
                group.bench_function(format!("{name}-{n}x{d}/{label}/{threads}-threads"), |b| {
                    b.iter(|| run(&data, want, threads));
                });
            }
        }
    }
    group.finish();
}

/// Evaluated near the optimum, where most rows still count.
fn run(data: &Data, derivatives: Derivatives, threads: usize) {
    let objective = data.problem().check().expect("a valid problem");
    let d = data.rows.n_features();
    let mut x = vec![0.5 / (d as f64).sqrt(); d + 1];
    x[d] = 0.1;
    let evaluate = || objective.evaluate(&x, 0.0, derivatives, &Control::new());
    black_box(parallel::install(Some(threads), evaluate).and_then(|e| e).expect("finite"));
}
