//! Parameters of kernel regression: unchecked, then checked. Only checked ones can fit.

use crate::error::Result;
use crate::kernel::probabilistic_rbf::{Bandwidth, Coupling};
use crate::model::kernel_machine::KernelOrigin;
use crate::number;
use crate::params::{check_not_negative, check_positive, params};
use crate::solver::smo::SmoOptions;

params! {
    pub struct Params {
        /// Price of the loss, > 0.
        #[serde(rename = "C", with = "number")]
        c: f64 = 1.0,
        /// Half the width of the tube without loss, >= 0.
        #[serde(with = "number")]
        epsilon: f64 = 0.1,
        /// Where kernel values come from in fits of any kind of model ([`Step`](crate::step::Step)).
        kernel: KernelOrigin = KernelOrigin::Probabilistic,
        /// Bandwidth of the kernel between Gaussians, > 0, or [`Bandwidth::Median`]; other kernels have none.
        #[serde(with = "number::median")]
        sigma: Bandwidth as impl Into<Bandwidth> = Bandwidth::Fixed(1.0),
        /// Which noise the rows of a pair see.
        coupling: Coupling = Coupling::Shared,
        /// How the solver runs.
        options: SmoOptions = SmoOptions::default() => {
            tol: f64, max_iter: Option<usize>, shrinking: bool, cache_size: usize
        },
    }
}

impl Params {
    fn ranges(&self) -> Result<()> {
        check_positive("C", self.c)?;
        check_not_negative("epsilon", self.epsilon)?;
        self.sigma.check()?;
        self.options.check()
    }
}
