//! Extreme deconvolution: the distribution behind noisy rows.
//!
//! Model (Bovy, Hogg, Roweis, "Extreme deconvolution", Annals of Applied Statistics 5, 2011,
//! <https://doi.org/10.1214/10-AOAS439>): row i is one reading x_i = z_i + e_i with known noise e_i ~ N(0, S_i) of an
//! unknown z_i, and z_i comes from the mixture sum_k pi_k N(mu_k, T_k). So x_i ~ sum_k pi_k N(mu_k, T_k + S_i), and EM
//! finds pi, mu, T. With M = T_k + S_i, a = M^{-1} (x_i - mu_k) and q the share of component k in row i:
//! ```text
//! E: b = mu + T a,   B = T - T M^{-1} T                  mean and covariance of z_i given x_i and k
//! M: pi <- mean q,   mu <- mean_q b,   T <- mean_q [ (b - mu)(b - mu)' + B ]
//! ```
//! In terms of the sums n = sum q, s = sum q a / n, G = sum q (a a' - M^{-1}) / n, and with T = Q Q', the update is
//! ```text
//! mu <- mu + T s,    T <- Q [ I + Q'(G - s s')Q ] Q'
//! ```
//! so a pass over the rows needs neither b nor B, and rounding is relative to T in every direction.
//!
//! Regularisation: T >= reg diag(D) as matrices, D the scale of the features (`start`). Cutting eigenvalues (in units
//! of D) at reg from below is the exact M step under that constraint, so the likelihood still never falls, which
//! adding reg to the diagonal would not promise.
//!
//! A missing feature is one with infinite variance: zero rows and columns of M^{-1}, computed by leaving it out.
//! EM is slow where noise dominates: T then moves by a share T / (T + S) of the way. `squarem` extrapolates its steps, and
//! keeps an extrapolation only if the likelihood did not fall. Where one component explains all rows (of a class) and
//! that takes more than twenty passes, L-BFGS goes on with the same sums (`factors`).
//!
//! Maximum likelihood makes T too small: it overlooks that mu and T are estimates, most of all in directions where
//! noise dominates, whose variance it may put at zero. A denoiser hardly feels it; the error bars of imputed values are
//! little else than T. Where asked for ("unbiased", one component; by the imputer, and by the denoiser for rows with gaps), every step therefore divides the sum of squares by
//! n - d - 1 instead of n, which is EM for the likelihood times |T|^{(d + 1)/2}. Without noise that is the mean of T's
//! inverse Wishart posterior under Jeffreys' prior, so that N(mu, T) has the covariance of the predictive distribution
//! (up to 1 + 1/n); with noise it keeps T away from the edge, as Chung, Gelman, Rabe-Hesketh, Liu, Dorie, "Weakly
//! informative prior for point estimation of covariance matrices in hierarchical models", Journal of Educational and
//! Behavioral Statistics 40, 2015, <https://doi.org/10.3102/1076998615570945>, do with an exponent of 1/2.
//!
//! Rows with labels see the components of their class only; `tied` components share one T.
//!
//! Few rows of many features, and rows whose matrices would take too long, get a T of few directions where the denoiser
//! asks for it (`factor_analysis`).
//!
//! Used by the denoiser, the imputer, the discriminant and the regression with errors in both.

mod choose;
mod classes;
mod climb;
mod factor_analysis;
mod factors;
mod fit;
mod limited;
mod observed;
mod params;
mod passes;
mod prepare;
mod remote;
mod squarem;
mod start;
mod state;
mod task;
mod truncated;
mod update;
mod whitened;
pub(crate) mod with_target;

pub use params::{Acceleration, Choice, Components, FittedMixture, Params, Report, ValidParams};
pub use state::ReportHeader;

pub use crate::mixture::Mixture;
pub(crate) use crate::mixture::log_sum;
pub(crate) use classes::PerClass;
pub(crate) use factor_analysis::FactorAnalysis;
pub(crate) use observed::Observed;
pub(crate) use remote::{RemoteEm, fit_remote, sums_of_partition};
use task::{Group, Task};
