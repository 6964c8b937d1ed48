//! Features of the kernel between Gaussians: blocks of random waves and of kernel values with landmarks.

use criterion::{Criterion, Throughput};
use uncertain::data::covariance::Layout;
use uncertain::data::{RowSource, Workspace};
use uncertain::kernel::features::{FeatureMap, Nystroem, RandomFeatures};
use uncertain::probabilistic_kernel::Coupling;
use uncertain::{Control, Kind};

use crate::data::data;

const BLOCK: usize = 256;
const COMPONENTS: usize = 500;

/// `features/...`: one thread, one block of rows, 500 frequencies (1000 features) or 500 landmarks; rows per second.
pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("features");
    for (kind, d) in [(Kind::Zero, 10), (Kind::Diagonal, 10), (Kind::Full, 10), (Kind::Diagonal, 50)] {
        let data = data(kind, Layout::Packed, 2 * COMPONENTS, d).rows;
        let sigma = (d as f64).sqrt();
        for coupling in [Coupling::Shared, Coupling::Independent] {
            let random = FeatureMap::Random(RandomFeatures::new(d, COMPONENTS, sigma, coupling, 0).unwrap());
            let nystroem = Nystroem::fit(&data, COMPONENTS, sigma, coupling, 0, &Control::new()).unwrap();
            for (name, map) in [("random", random), ("nystroem", FeatureMap::Nystroem(nystroem))] {
                let prepared = map.prepare(&data).unwrap();
                let mut out = vec![0.0; BLOCK * map.n_columns()];
                let mut workspace = Workspace::default();
                group.throughput(Throughput::Elements(BLOCK as u64));
                group.bench_function(format!("{name}/{}-{d}/{coupling:?}", kind.name()), |b| {
                    b.iter(|| prepared.fill(0..BLOCK, &mut workspace, &mut out).unwrap());
                });
            }
        }
    }
    group.finish();
}
