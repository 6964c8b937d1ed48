//! Benches of every hot path: `cargo bench -p uncertain-learn`, or `make bench` for the whole comparison.
//!
//! Data is made from a fixed seed, sizes are in the ids, and throughput is in bytes of rows read, so
//! that a pass can be put beside a plain sum of the same memory (`memory/sum`).

use criterion::Criterion;

mod data;
mod features;
mod fit;
mod gram;
mod huber;
mod loss;
mod memory;
mod pass;
mod predict;
mod sgd;
mod smo;
mod subspace;

fn main() {
    let mut criterion = Criterion::default().sample_size(10).without_plots().configure_from_args();
    memory::bench(&mut criterion);
    pass::bench(&mut criterion);
    loss::bench(&mut criterion);
    subspace::bench(&mut criterion);
    sgd::bench(&mut criterion);
    fit::bench(&mut criterion);
    gram::bench(&mut criterion);
    smo::bench(&mut criterion);
    huber::bench(&mut criterion);
    features::bench(&mut criterion);
    predict::bench(&mut criterion);
    criterion.final_summary();
}
