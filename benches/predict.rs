//! Scores and their spreads for new rows.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use uncertain::data::Labels;
use uncertain::data::covariance::Layout;
use uncertain::prelude::*;
use uncertain::{Kind, gsu};

use crate::data::data;

/// `predict/...`: labels, and score distributions.
pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("predict");
    for (kind, n, d) in [(Kind::Diagonal, 200_000, 50), (Kind::Full, 20_000, 40)] {
        let data = data(kind, Layout::Packed, n, d);
        let codes = data.targets.iter().map(|&y| u32::from(y > 0.0)).collect();
        let labels = Labels::new(codes, 2).expect("two classes");
        let params = gsu::Params::new().tol(1e-3).check().expect("valid parameters");
        let model = params.fit(&Dataset::new(&data.rows).with_labels(&labels).unwrap()).expect("valid data");
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(format!("labels-{}-{n}x{d}", kind.name()), |b| {
            b.iter(|| black_box(model.predict(&data.rows).expect("as fitted")));
        });
        group.bench_function(format!("distributions-{}-{n}x{d}", kind.name()), |b| {
            b.iter(|| black_box(model.decision_distribution(&data.rows).expect("as fitted")));
        });
    }
    group.finish();
}
