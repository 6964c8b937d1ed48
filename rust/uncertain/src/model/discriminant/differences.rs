//! Differences of the components' log densities at a point z ~ N(x, S): mean and covariance in closed form.
//!
//! With l_k(z) = log(share_k N(z; mu_k, T_k)) on the features that are there, P_k = T_k^{-1} (zero where a feature
//! is missing), and z = x + e, a difference is a quadratic form of a Gaussian:
//! ```text
//! l_k(z) - l_0(z) = l_k(x) - l_0(x) + g_k'e + e'A_k e,    A_k = (P_0 - P_k) / 2,
//! g_k = (P_0 - P_k) (x - mu_0) + P_k (mu_k - mu_0)
//! mean   l_k(x) - l_0(x) + tr(A_k S)
//! covariance of k and m   g_k'S g_m + 2 tr(A_k S A_m S)
//! ```
//! With one T for all, A = 0 and g does not depend on x: the differences are jointly Gaussian.

use crate::data::Covariances;
use crate::data::covariance::{packed_index, packed_len, unpack_into};
use crate::deconvolution::Mixture;
use crate::error::{Error, Result};
use crate::linalg::{Spd, dot, gemm};

/// The differences of these components to the first of them, on the features that are there.
pub(super) struct Differences {
    d: usize,
    first_mean: Vec<f64>,
    /// A_k of every difference, d x d; none where all are zero.
    curvatures: Option<Vec<Vec<f64>>>,
    /// P_k (mu_k - mu_0)
    slopes: Vec<Vec<f64>>,
}

/// Of the differences at one row.
pub(super) struct Moments {
    /// tr(A_k S): the mean less the value at x.
    pub shifts: Vec<f64>,
    /// Of every difference.
    pub variances: Vec<f64>,
    /// S g_k, and g_k: for what else may be asked.
    images: Vec<f64>,
    gradients: Vec<f64>,
}

/// Memory for [`Differences::moments`].
#[derive(Default)]
pub(super) struct Scratch {
    packed: Vec<f64>,
    dense: Vec<f64>,
    product: Vec<f64>,
}

impl Differences {
    pub(super) fn new(mixture: &Mixture, components: &[usize], known: &[usize]) -> Result<Self> {
        let d = mixture.n_features();
        let precisions = components.iter().map(|&k| precision(mixture, k, known)).collect::<Result<Vec<_>>>()?;
        let first_mean = mixture.mean(components[0]).to_vec();
        let first = &precisions[0];
        let tied = precisions[1..].iter().all(|p| p == first);
        let curvature = |p: &Vec<f64>| first.iter().zip(p).map(|(a, b)| 0.5 * (a - b)).collect::<Vec<f64>>();
        let slope = |(p, &k): (&Vec<f64>, &usize)| {
            let off: Vec<f64> = mixture.mean(k).iter().zip(&first_mean).map(|(a, b)| a - b).collect();
            p.chunks_exact(d).map(|line| dot(line, &off)).collect()
        };
        let slopes = precisions.iter().zip(components).skip(1).map(slope).collect();
        let curvatures = (!tied).then(|| precisions[1..].iter().map(curvature).collect());
        Ok(Self { d, curvatures, slopes, first_mean })
    }

    /// How many.
    pub(super) fn count(&self) -> usize {
        self.slopes.len()
    }

    /// At N(x, S) of this row.
    pub(super) fn moments(&self, x: &[f64], covariances: &Covariances, row: usize, scratch: &mut Scratch) -> Moments {
        let (d, count) = (self.d, self.count());
        let mut gradients = self.slopes.concat();
        let mut images = vec![0.0; count * d];
        let (mut shifts, mut variances) = (vec![0.0; count], vec![0.0; count]);
        if let Some(curvatures) = &self.curvatures {
            let off: Vec<f64> = x.iter().zip(&self.first_mean).map(|(x, m)| x - m).collect();
            scratch.packed.clear();
            scratch.packed.resize(packed_len(d), 0.0);
            covariances.add_to(row, 1.0, d, &mut scratch.packed);
            scratch.dense.resize(d * d, 0.0);
            unpack_into(&scratch.packed, d, &mut scratch.dense);
            scratch.product.resize(d * d, 0.0);
            for (k, a) in curvatures.iter().enumerate() {
                let gradient = &mut gradients[k * d..(k + 1) * d];
                gradient.iter_mut().zip(a.chunks_exact(d)).for_each(|(g, line)| *g += 2.0 * dot(line, &off));
                gemm(a, &scratch.dense, (d, d, d), false, &mut scratch.product);
                let product = &scratch.product;
                shifts[k] = (0..d).map(|i| product[i * d + i]).sum();
                // tr (A S A S) >= 0, but for rounding.
                let twice: f64 = (0..d * d).map(|p| product[p] * product[p % d * d + p / d]).sum();
                variances[k] = 2.0 * twice.max(0.0);
            }
        }
        for k in 0..count {
            let (gradient, image) = (&gradients[k * d..(k + 1) * d], &mut images[k * d..(k + 1) * d]);
            covariances.apply(row, gradient, image);
            variances[k] += dot(gradient, image).max(0.0);
        }
        Moments { shifts, variances, images, gradients }
    }

    /// The covariance of linear differences, a packed triangle.
    pub(super) fn covariance(&self, moments: &Moments) -> Vec<f64> {
        let d = self.d;
        let line = |values: &[f64], k: usize| values[k * d..(k + 1) * d].to_vec();
        (0..self.count())
            .flat_map(|i| (0..=i).map(move |j| (i, j)))
            .map(|(i, j)| dot(&line(&moments.gradients, i), &line(&moments.images, j)))
            .collect()
    }
}

/// T_oo^{-1} of a component, d x d with zeros for what is missing.
fn precision(mixture: &Mixture, component: usize, known: &[usize]) -> Result<Vec<f64>> {
    let (d, m, t) = (mixture.n_features(), known.len(), mixture.covariance(component));
    let singular = || Error::Data(format!("component {component}: its covariance matrix is not positive definite"));
    let t = known.iter().flat_map(|&i| known.iter().map(move |&j| t[packed_index(i, j)])).collect();
    let t = Spd::new(t, m).ok_or_else(singular)?;
    let mut out = vec![0.0; d * d];
    for (at, &j) in known.iter().enumerate() {
        let column = t.solve((0..m).map(|i| f64::from(u8::from(i == at))).collect());
        known.iter().zip(&column).for_each(|(&i, c)| out[i * d + j] = *c);
    }
    Ok(out)
}
