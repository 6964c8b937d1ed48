//! What this machine's memory gives: a plain sum over the same bytes as the big passes read.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use uncertain::parallel;

use crate::pass::BIG;

/// `memory/sum`.
pub(crate) fn bench(criterion: &mut Criterion) {
    let (n, d) = BIG;
    let values = vec![1.0_f64; 2 * n * d];
    let mut group = criterion.benchmark_group("memory");
    group.throughput(Throughput::Bytes(8 * values.len() as u64));
    for threads in [1, parallel::default_threads()] {
        group.bench_function(format!("sum/{threads}-threads"), |b| {
            b.iter(|| {
                let parts = || parallel::map_parts(n, |r| sum(&values[2 * d * r.start..2 * d * r.end]));
                let parts = parallel::install(Some(threads), parts).and_then(|parts| parts).expect("a pool");
                black_box(parts.into_iter().sum::<f64>())
            });
        });
    }
    group.finish();
}

/// 32 partial sums: enough independent additions that memory, not the adder, is the limit.
fn sum(values: &[f64]) -> f64 {
    let mut partial = [0.0; 32];
    for chunk in values.chunks_exact(32) {
        partial.iter_mut().zip(chunk).for_each(|(p, v)| *p += v);
    }
    partial.iter().sum()
}
