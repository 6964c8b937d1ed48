//! The eigendecompositions of `SubspaceProjector`: one per row, in parallel.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use uncertain::Kind;
use uncertain::data::covariance::Layout;
use uncertain::prelude::*;
use uncertain::transform::{Project, SubspaceProjector};

use crate::data::data;

/// `subspace/...`: full covariances, 95 % of every trace kept.
pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("subspace");
    for (n, d) in [(10_000, 8), (2_000, 32), (500, 64)] {
        let data = data(Kind::Full, Layout::Packed, n, d);
        let projector = SubspaceProjector::new(0.95, Project::Covariance).expect("a valid share");
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(format!("eigendecompositions-{n}x{d}"), |b| {
            b.iter(|| black_box(projector.transform(&data.rows).expect("valid data")));
        });
    }
    group.finish();
}
