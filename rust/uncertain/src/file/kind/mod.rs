//! The steps a file may hold: what each writes into the header, and into tensors.

pub(super) mod discriminant;
pub(super) mod feature_svc;
mod gaussians;
pub(super) mod gsu;
pub(super) mod huber;
mod huber_params;
mod kernel;
pub(super) mod kernel_map;
pub(super) mod kernel_svc;
pub(super) mod kernel_svr;
mod linear;
pub(super) mod minimax;
pub(super) mod mixture;
pub(super) mod regression;
mod report;
pub(super) mod robust;
pub(super) mod scaler;
pub(super) mod subspace;

use serde::{Deserialize, Serialize};

use super::container::Tensor;
use super::saved::Step;
use crate::error::Result;
use crate::transform::{GaussianDenoiser, GaussianImputer};

/// What the header says about a step; the closed list of what a file may hold.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum StepHeader {
    Scaler(scaler::Header),
    Subspace(subspace::Header),
    #[serde(rename = "kernel map")]
    KernelMap(kernel_map::Header),
    Denoiser(mixture::Header),
    Imputer(mixture::Header),
    Gsu(gsu::Header),
    #[serde(rename = "kernel-svc")]
    KernelSvc(kernel_svc::Header),
    #[serde(rename = "feature-svc")]
    FeatureSvc(feature_svc::Header),
    #[serde(rename = "kernel-svr")]
    KernelSvr(kernel_svr::Header),
    #[serde(rename = "gsu regression")]
    Regression(regression::Header),
    Robust(robust::Header),
    Minimax(minimax::Header),
    Discriminant(Box<discriminant::Header>),
    Huber(huber::Header),
}

/// The tensors of a step by name.
pub(super) type Tensors = Vec<(&'static str, Tensor)>;

/// Reads the tensor of this name, which must have this shape.
pub(super) type TakeTensor<'a> = dyn FnMut(&str, &[usize]) -> Result<Vec<f64>> + 'a;

impl Step {
    pub(super) fn write(&self) -> (StepHeader, Tensors) {
        match self {
            Self::Scaler(scaler) => {
                let (header, tensors) = scaler::write(scaler);
                (StepHeader::Scaler(header), tensors)
            }
            Self::Subspace(projector) => (StepHeader::Subspace(subspace::write(projector)), vec![]),
            Self::KernelMap(map) => {
                let (header, tensors) = kernel_map::write(map);
                (StepHeader::KernelMap(header), tensors)
            }
            Self::Denoiser(denoiser) => {
                let (header, tensors) = mixture::write(denoiser.mixture());
                (StepHeader::Denoiser(header), tensors)
            }
            Self::Imputer(imputer) => {
                let (header, tensors) = mixture::write(imputer.mixture());
                (StepHeader::Imputer(header), tensors)
            }
            Self::Gsu { model, params } => {
                let (header, tensors) = gsu::write(model, params);
                (StepHeader::Gsu(header), tensors)
            }
            Self::KernelSvc { model, params } => {
                let (header, tensors) = kernel_svc::write(model, params);
                (StepHeader::KernelSvc(header), tensors)
            }
            Self::FeatureSvc { model, params } => {
                let (header, tensors) = feature_svc::write(model, params);
                (StepHeader::FeatureSvc(header), tensors)
            }
            Self::KernelSvr { model, params } => {
                let (header, tensors) = kernel_svr::write(model, params);
                (StepHeader::KernelSvr(header), tensors)
            }
            Self::Regression { model, params } => {
                let (header, tensors) = regression::write(model, params);
                (StepHeader::Regression(header), tensors)
            }
            Self::Robust { model, params } => {
                let (header, tensors) = robust::write(model, params);
                (StepHeader::Robust(header), tensors)
            }
            Self::Minimax { model, params } => {
                let (header, tensors) = minimax::write(model, params);
                (StepHeader::Minimax(header), tensors)
            }
            Self::Discriminant { model, params, report } => {
                let (header, tensors) = discriminant::write(model, params, report);
                (StepHeader::Discriminant(Box::new(header)), tensors)
            }
            Self::Huber { machine, params } => {
                let (header, tensors) = huber::write(machine, params);
                (StepHeader::Huber(header), tensors)
            }
        }
    }

    pub(super) fn read(header: StepHeader, take: &mut TakeTensor<'_>) -> Result<Self> {
        match header {
            StepHeader::Scaler(header) => scaler::read(&header, take).map(Self::Scaler),
            StepHeader::Subspace(header) => subspace::read(&header).map(Self::Subspace),
            StepHeader::KernelMap(header) => kernel_map::read(header, take).map(|map| Self::KernelMap(Box::new(map))),
            StepHeader::Denoiser(header) => mixture::read(&header, take).map(GaussianDenoiser::new).map(Self::Denoiser),
            StepHeader::Imputer(header) => mixture::read(&header, take).map(GaussianImputer::new).map(Self::Imputer),
            StepHeader::Gsu(header) => gsu::read(header, take).map(|(model, params)| Self::gsu(model, params)),
            StepHeader::KernelSvc(header) => {
                kernel_svc::read(header, take).map(|(model, params)| Self::kernel_svc(model, params))
            }
            StepHeader::FeatureSvc(header) => {
                feature_svc::read(header, take).map(|(model, params)| Self::feature_svc(model, params))
            }
            StepHeader::KernelSvr(header) => {
                kernel_svr::read(header, take).map(|(model, params)| Self::kernel_svr(model, params))
            }
            StepHeader::Regression(header) => {
                regression::read(header, take).map(|(model, params)| Self::regression(model, params))
            }
            StepHeader::Robust(header) => robust::read(header, take).map(|(model, params)| Self::robust(model, params)),
            StepHeader::Minimax(header) => minimax::read(header, take)
                .map(|(model, params)| Self::Minimax { model: Box::new(model), params: Box::new(params) }),
            StepHeader::Discriminant(header) => discriminant::read(*header, take)
                .map(|(model, params, report)| Self::discriminant(model, params, report)),
            StepHeader::Huber(header) => {
                huber::read(header, take).map(|(machine, params)| Self::huber(machine, params))
            }
        }
    }
}
