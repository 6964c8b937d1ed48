//! Whole fits to a certified relative gap of 1e-6.

use std::hint::black_box;

use criterion::Criterion;
use uncertain::data::covariance::Layout;
use uncertain::solver::{Options, SolverKind, fit_linear};
use uncertain::{Control, Kind};

use crate::data::data;

/// `fit/...`: small enough to be repeated; the large fits are in benches/python.
pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fit");
    for kind in [Kind::Zero, Kind::Isotropic, Kind::Diagonal, Kind::LowRank, Kind::Full, Kind::Shared] {
        let data = data(kind, Layout::Packed, 10_000, 16);
        for solver in [SolverKind::Newton, SolverKind::Lbfgs] {
            group.bench_function(format!("{}-10000x16/{}", kind.name(), solver.name()), |b| {
                b.iter(|| {
                    let fit = fit_linear(&data.problem(), solver, &Options::default(), None, &Control::new());
                    black_box(fit.expect("a valid problem"))
                });
            });
        }
    }
    group.finish();
}
