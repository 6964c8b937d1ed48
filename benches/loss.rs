//! The expected hinge and its derivatives, many at a time.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use uncertain::loss::{ExpectedHinge, Loss, LossEval, Scores};

/// `loss/...`: a block as the pass makes them.
pub(crate) fn bench(criterion: &mut Criterion) {
    let n = 256;
    let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let m: Vec<f64> = (0..n).map(|i| 0.05 * (i as f64 - 128.0)).collect();
    let v: Vec<f64> = (0..n).map(|i| 0.01 + 0.02 * (i % 17) as f64).collect();
    let mut out = vec![LossEval::default(); n];
    let mut group = criterion.benchmark_group("loss");
    group.throughput(Throughput::Elements(n as u64));
    group.bench_function("expected-hinge-256", |b| {
        let scores = Scores { first: 0, y: &y, m: &m, v: &v, width: 0.0 };
        b.iter(|| ExpectedHinge.eval(black_box(&scores), black_box(&mut out)));
    });
    group.finish();
}
