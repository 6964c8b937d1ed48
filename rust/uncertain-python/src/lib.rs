//! The Python extension `uncertain._uncertain`: convert, call, convert. No arithmetic, no decisions.
//!
//! One file per concern, one line per exported item here. `error.rs` is the only place that turns
//! errors into exceptions; every long call releases the GIL (`py.detach`).

use pyo3::prelude::*;

mod arrow_in;
mod arrow_lists;
mod arrow_out;
mod deconvolution;
mod error;
mod features;
mod file;
mod gaussians;
mod gsu;
mod huber;
mod interrupt;
mod kernel_svm;
mod kernels;
mod losses;
mod numpy_in;
mod regression;
mod robust;
mod rows;
mod supervision;
mod threads;
mod transforms;

#[pymodule(gil_used = false)]
mod _uncertain {
    #[pymodule_export]
    use super::deconvolution::{
        denoise, discriminant_distribution, discriminant_log_proba, fit_denoiser, fit_discriminant, fit_imputer,
        impute, mixture_log_likelihood,
    };
    #[pymodule_export]
    use super::features::{apply_features, draw_features};
    #[pymodule_export]
    use super::file::{model_from_bytes, model_to_bytes, read_model, write_model};
    #[pymodule_export]
    use super::gaussians::Gaussians;
    #[pymodule_export]
    use super::gsu::{GsuModel, GsuParams, group_folds};
    #[pymodule_export]
    use super::huber::{HuberModel, HuberParams, HuberView};
    #[pymodule_export]
    use super::kernel_svm::{FeatureSvc, FeatureSvcParams, KernelSvc, KernelSvcParams, KernelSvr, KernelSvrParams};
    #[pymodule_export]
    use super::kernels::{median_pair_distance, probabilistic_rbf};
    #[pymodule_export]
    use super::losses::expected_hinge;
    #[pymodule_export]
    use super::regression::{fit_gsu_regression, linear_scores};
    #[pymodule_export]
    use super::robust::{MinimaxParams, RobustParams};
    #[pymodule_export]
    use super::rows::Rows;
    #[pymodule_export]
    use super::threads::effective_n_jobs;
    #[pymodule_export]
    use super::transforms::{fit_kernel_map, fit_scaler, map_kernel, project_subspace, scale};
}
