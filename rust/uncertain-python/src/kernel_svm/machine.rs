//! What machines of Gaussians and machines of kernel values have in common, whatever they predict.

use std::sync::Arc;

use ndarray::ArrayView2;
use numpy::{PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use uncertain::model::kernel_machine::Basis;
use uncertain::solver::smo::Dense;
use uncertain::{Control, Error, GaussianArray, kernel_svc, kernel_svr, parallel};

use super::row_numbers;
use crate::error::{BorderResult, core_error};
use crate::gaussians::Gaussians;
use crate::{interrupt, threads};

/// X: Gaussians, or (other kernels) a matrix of kernel values.
#[derive(FromPyObject)]
pub enum Input<'py> {
    Rows(PyRef<'py, Gaussians>),
    Values(PyReadonlyArray2<'py, f64>),
}

/// A fitted model of Gaussians: support rows, and an expansion in the kernel with them.
pub trait Model: Send + Sync {
    type Expansion: Send + Sync;
    fn basis(&self) -> &Basis;
    fn expansion(&self) -> &Self::Expansion;
    fn support(expansion: &Self::Expansion) -> &[u32];
}

macro_rules! model {
    ($module:ident) => {
        impl Model for $module::Model {
            type Expansion = $module::Expansion;
            fn basis(&self) -> &Basis {
                &self.basis
            }
            fn expansion(&self) -> &Self::Expansion {
                &self.expansion
            }
            fn support(expansion: &Self::Expansion) -> &[u32] {
                &expansion.support
            }
        }
    };
}
model!(kernel_svc);
model!(kernel_svr);

/// A machine of Gaussians, or of kernel values.
pub enum Machine<M: Model> {
    Rows(Arc<M>),
    Values(Arc<M::Expansion>),
}

impl<M: Model> Machine<M> {
    /// Fitted to whichever of the two `x` is, without the GIL.
    pub fn fit(
        py: Python<'_>,
        x: &Input<'_>,
        report: Option<Py<PyAny>>,
        rows: impl FnOnce(&GaussianArray, &Control) -> Result<M, Error> + Send,
        values: impl FnOnce(&Dense<'_>, &Control) -> Result<M::Expansion, Error> + Send,
    ) -> BorderResult<Self> {
        Ok(match x {
            Input::Rows(x) => {
                let x = &x.inner;
                Self::Rows(Arc::new(interrupt::run(py, report, |control| rows(x, control))?))
            }
            Input::Values(gram) => {
                let Ok(elements) = gram.as_slice() else {
                    return Err(Error::Internal("the kernel matrix is not contiguous".into()).into());
                };
                let gram = Dense::new(elements, gram.shape()[0])?;
                Self::Values(Arc::new(interrupt::run(py, report, |control| values(&gram, control))?))
            }
        })
    }

    /// A question that both kinds answer, without the GIL.
    pub fn answer<T: Send>(
        &self,
        py: Python<'_>,
        x: &Input<'_>,
        n_jobs: Option<i64>,
        rows: impl FnOnce(&M, &GaussianArray, &Control) -> Result<T, Error> + Send,
        values: impl FnOnce(&M::Expansion, ArrayView2<'_, f64>) -> Result<T, Error> + Send,
    ) -> BorderResult<T> {
        let threads = threads::resolve(n_jobs)?;
        match (self, x) {
            (Self::Rows(model), Input::Rows(x)) => {
                let (model, x) = (&**model, &x.inner);
                Ok(interrupt::run(py, None, |c| parallel::install(threads, || rows(model, x, c))?)?)
            }
            (Self::Values(expansion), Input::Values(kernel)) => {
                let kernel = kernel.as_array();
                Ok(py.detach(|| values(expansion, kernel))?)
            }
            _ => Ok(mismatch()?),
        }
    }

    pub fn expansion(&self) -> &M::Expansion {
        match self {
            Self::Rows(model) => model.expansion(),
            Self::Values(expansion) => expansion,
        }
    }

    /// The model of Gaussians, which a file can hold.
    pub fn model(&self) -> PyResult<&M> {
        match self {
            Self::Rows(model) => Ok(model),
            Self::Values(_) => Err(core_error(Error::Data(
                "the model cannot be saved: a model file holds no kernels but the probabilistic one; \
                 pickle the estimator, or fit with kernel=\"probabilistic\""
                    .into(),
            ))),
        }
    }

    /// Features of the Gaussians; None of other kernels.
    pub fn n_features(&self) -> Option<usize> {
        self.model().ok().map(|model| model.basis().rows().n_features())
    }

    /// The support rows, and sigma; None of other kernels.
    pub fn basis(&self) -> Option<(Gaussians, f64)> {
        self.model().ok().map(|model| (model.basis().rows().clone().into(), model.basis().sigma()))
    }

    /// The numbers of the support rows.
    pub fn support<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        row_numbers(py, M::support(self.expansion()))
    }
}

/// What this machine does not answer about.
pub fn mismatch<T>() -> PyResult<T> {
    Err(core_error(Error::Internal("Gaussians for a machine of kernel values, or the reverse".into())))
}
