//! Features of the kernel between Gaussians: blocks of random waves.

use criterion::{Criterion, Throughput};
use uncertain::Kind;
use uncertain::data::covariance::Layout;
use uncertain::data::{RowSource, Workspace};
use uncertain::kernel::features::RandomFeatures;
use uncertain::kernel::probabilistic_rbf::Coupling;

use crate::data::data;

const BLOCK: usize = 256;
const COMPONENTS: usize = 500;

/// `features/...`: one thread, one block of rows, 500 frequencies (1000 features); rows per second.
pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("features");
    for (kind, d) in [(Kind::Zero, 10), (Kind::Diagonal, 10), (Kind::Full, 10), (Kind::Diagonal, 50)] {
        let data = data(kind, Layout::Packed, 2 * COMPONENTS, d).rows;
        let sigma = (d as f64).sqrt();
        for coupling in [Coupling::Shared, Coupling::Independent] {
            let map = RandomFeatures::new(d, COMPONENTS, sigma, coupling, 0).unwrap();
            let prepared = map.prepare(&data).unwrap();
            let mut out = vec![0.0; BLOCK * map.n_columns()];
            let mut workspace = Workspace::default();
            group.throughput(Throughput::Elements(BLOCK as u64));
            group.bench_function(format!("random/{}-{d}/{coupling:?}", kind.name()), |b| {
                b.iter(|| prepared.fill(0..BLOCK, &mut workspace, &mut out).unwrap());
            });
        }
    }
    group.finish();
}
