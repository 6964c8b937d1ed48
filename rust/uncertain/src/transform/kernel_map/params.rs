//! Parameters of a kernel map by name, and the map in files and other languages: `points` and `directions` (rank x
//! features) and `factor` (rank x rank).

use super::{KernelMap, KernelMapOptions};
use crate::control::Control;
use crate::data::{Dataset, GaussianArray, Incomplete};
use crate::error::Result;
use crate::kernel::{KernelName, PointKernel, median_gamma};
use crate::number;
use crate::parallel;
use crate::params::params;
use crate::state::{About, Arrays, Fitted, Parts, Predictor, Valid, header};

params! {
    /// Parameters of the kernels stand side by side; those that it does not have are ignored.
    pub struct Params {
        /// The kernel.
        kernel: KernelName = KernelName::Rbf,
        /// Its scale; `None` is the median heuristic ([`median_gamma`]).
        #[serde(with = "number::median")]
        gamma: Option<f64> = None,
        /// Of the polynomial kernel.
        degree: u32 = 3,
        /// Of the polynomial kernel.
        #[serde(with = "number")]
        coef0: f64 = 1.0,
        /// As [`KernelMapOptions::tol`].
        #[serde(with = "number")]
        tol: f64 = KernelMapOptions::default().tol,
        /// As [`KernelMapOptions::max_rank`].
        max_rank: Option<usize> = None,
    }
}

impl From<PointKernel> for Params {
    /// Parameters of a map of this kernel.
    fn from(kernel: PointKernel) -> Self {
        let mut params = Self { kernel: kernel.into(), gamma: kernel.gamma(), ..Self::default() };
        if let PointKernel::Polynomial { degree, coef0, .. } = kernel {
            (params.degree, params.coef0) = (degree, coef0);
        }
        params
    }
}

impl Params {
    /// [`fit`](crate::Fit::fit), and what the map makes of the same rows, whose coordinates the choice of pivots has computed
    /// (to rounding the same ones).
    ///
    /// # Errors
    /// Errors of both.
    pub fn fit_transform(&self, data: &Dataset) -> Result<(KernelMap, GaussianArray)> {
        <KernelMap as Fitted>::fit_transform(&self.clone().check()?, data, &self.control)
    }

    fn ranges(&self) -> Result<()> {
        self.options().check()?;
        PointKernel::new(self.kernel.name(), self.degree, self.gamma.unwrap_or(1.0), self.coef0).map(drop)
    }

    fn options(&self) -> KernelMapOptions {
        KernelMapOptions { tol: self.tol, max_rank: self.max_rank }
    }

    /// The kernel, for these rows.
    fn resolved(&self, data: &GaussianArray) -> Result<PointKernel> {
        let with = |gamma| PointKernel::new(self.kernel.name(), self.degree, gamma, self.coef0);
        match (self.gamma, with(1.0)?.gamma()) {
            (None, Some(_)) => with(median_gamma(data, 0)?),
            (gamma, _) => with(gamma.unwrap_or(1.0)),
        }
    }
}

header! { kernel: PointKernel, #[serde(with = "number")] error: f64 }

impl Fitted for KernelMap {
    type Params = Params;
    type Header = Header;

    fn fit(params: &Valid<Params>, data: &Dataset, control: &Control) -> Result<Self> {
        let (data, params) = (data.complete()?, params.params());
        let kernel = params.resolved(data)?;
        parallel::install(control.threads(), || Self::fit(data, kernel, &params.options(), control))?
    }

    fn fit_transform(params: &Valid<Params>, data: &Dataset, control: &Control) -> Result<(Self, GaussianArray)> {
        let (data, params) = (data.complete()?, params.params());
        let kernel = params.resolved(data)?;
        parallel::install(control.threads(), || Self::fit_transform(data, kernel, &params.options(), control))?
    }

    fn write(&self, _: &Valid<Params>, arrays: &mut Arrays) -> Header {
        let (rank, d) = (self.rank(), self.n_features());
        arrays.put("points", &[rank, d], self.points());
        arrays.put("directions", &[rank, d], self.directions());
        arrays.put("factor", &[rank, rank], self.lower());
        Header { kernel: self.kernel(), error: self.error() }
    }

    fn read(header: Header, _: &Valid<Params>, parts: &mut Parts<'_>) -> Result<Self> {
        let points = parts.matrix("points")?;
        let (rank, d) = points.dim();
        let directions = parts.shaped("directions", &[rank, d])?;
        let lower = parts.shaped("factor", &[rank, rank])?;
        Self::new(header.kernel, d, points.into_raw_vec_and_offset().0, directions, lower, header.error)
    }

    fn usual_params(&self) -> Params {
        self.kernel().into()
    }
}

impl Predictor for KernelMap {
    fn about(&self) -> About {
        About::transform(self.n_features()).to(self.rank())
    }

    fn transform(&self, rows: Incomplete<'_>, control: &Control) -> Result<GaussianArray> {
        self.transform(rows.complete()?, control)
    }
}
