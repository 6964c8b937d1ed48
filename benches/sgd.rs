//! Stochastic gradient steps: their cost must not depend on the number of rows.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use uncertain::data::covariance::Layout;
use uncertain::solver::{Options, sgd};
use uncertain::{Control, Kind};

use crate::data::data;

const STEPS: usize = 2000;

/// `sgd/...`: 2,000 steps of 64 rows with 20 features. What remains of n is that random rows of a
/// small table are found in the cache.
pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sgd");
    group.throughput(Throughput::Elements(STEPS as u64));
    for n in [10_000, 100_000, 1_000_000] {
        let data = data(Kind::Diagonal, Layout::Packed, n, 20);
        let objective = data.problem().check().expect("a valid problem");
        group.bench_function(format!("steps-{n}x20"), |b| {
            b.iter(|| {
                let mut state = sgd::State::new(20);
                sgd::run(&objective, &mut state, STEPS, &Options::default(), &Control::new()).expect("finite");
                black_box(state)
            });
        });
    }
    group.finish();
}
