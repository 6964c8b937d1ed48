//! The Python extension `uncertain._uncertain`: convert, call, convert. No arithmetic, no decisions.
//!
//! One file per concern, one line per exported item here. `error.rs` is the only place that turns
//! errors into exceptions; every long call releases the GIL (`py.detach`).

use pyo3::prelude::pymodule;

mod arrow_capsule;
mod arrow_in;
mod arrow_lists;
mod arrow_out;
mod curve;
mod deadline;
mod draws;
mod error;
mod events;
mod file;
mod fitted;
mod folds;
mod gaussians;
mod interrupt;
mod kernels;
mod losses;
mod mixtures;
mod numpy_in;
mod pieces;
mod rows;
mod threads;

#[pymodule(gil_used = false)]
mod _uncertain {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::curve::{curve_moments, fit_curve};
    #[pymodule_export]
    use super::deadline::stop_after;
    #[pymodule_export]
    use super::draws::mixtures_from_draws;
    #[pymodule_export]
    use super::file::{average, members_of, model_from_bytes, model_to_bytes, read_model, write_model};
    #[pymodule_export]
    use super::fitted::{Fitted, check_parameters, fit, fit_transform, parameter_names, penalty_path};
    #[pymodule_export]
    use super::folds::group_folds;
    #[pymodule_export]
    use super::gaussians::Gaussians;
    #[pymodule_export]
    use super::kernels::{median_pair_distance, probabilistic_rbf};
    #[pymodule_export]
    use super::losses::expected_hinge;
    #[pymodule_export]
    use super::mixtures::Mixtures;
    #[pymodule_export]
    use super::pieces::{Part, merged_sums, partial_sums};
    #[pymodule_export]
    use super::rows::{Rows, give_memory_back, keep_at_most};
    #[pymodule_export]
    use super::threads::{effective_n_jobs, instruction_set};

    #[pymodule_init]
    fn start(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::threads::instruction_set()?;
        Ok(())
    }
}
