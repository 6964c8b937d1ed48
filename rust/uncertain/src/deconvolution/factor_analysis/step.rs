//! A step of EM: the sums of a pass over the rows, and the regression that they make.

use super::row::RowPosterior;
use super::{FactorAnalysis, unusable};
use crate::control::Control;
use crate::deconvolution::Observed;
use crate::error::Result;
use crate::linalg::{Spd, gemm};
use crate::parallel;

impl FactorAnalysis {
    /// The sums of a pass over all rows: of z - mu squared (d), times (y, 1) (d x (r + 1)), of (y, 1) squared ((r + 1)^2), and
    /// the log-likelihood.
    pub(super) fn sums(&self, observed: &Observed<'_>, control: &Control) -> Result<Vec<f64>> {
        let (d, r) = (self.d(), self.rank());
        let parts = parallel::map_parts(observed.data.n_rows(), |part| -> Result<Vec<f64>> {
            let mut sums = vec![0.0; d + d * (r + 1) + (r + 1) * (r + 1) + 1];
            let mut row = RowPosterior::new(d, r);
            let (mut of_y, mut images) = (vec![0.0; r * r], vec![0.0; d * r]);
            for i in part {
                control.check()?;
                row.look(self, observed, i)?;
                self.add(&row, observed.weight(i), (&mut of_y, &mut images), &mut sums);
            }
            Ok(sums)
        })?;
        Ok(parallel::added(parts.into_iter().collect::<Result<_>>()?))
    }

    fn add(&self, row: &RowPosterior, w: f64, (of_y, images): (&mut [f64], &mut [f64]), sums: &mut [f64]) {
        let (d, r) = (self.d(), self.rank());
        row.covariance(of_y);
        gemm(&self.loadings, of_y, (d, r, r), false, images);
        let (squares, rest) = sums.split_at_mut(d);
        let (products, rest) = rest.split_at_mut(d * (r + 1));
        let y = &row.y;
        for j in 0..d {
            let (f, image) = (&self.loadings[j * r..][..r], &images[j * r..][..r]);
            let common: f64 = f.iter().zip(y).map(|(f, y)| f * y).sum();
            let shown = self.specific[j] * row.a[j];
            let own = common + shown * (row.off[j] - common);
            let k = row.kept(j);
            let spread: f64 = f.iter().zip(image).map(|(f, i)| f * i).sum();
            squares[j] += w * (own * own + k * k * spread + self.specific[j] * k);
            let product = &mut products[j * (r + 1)..][..=r];
            for p in 0..r {
                product[p] += w * (own * y[p] + k * image[p]);
            }
            product[r] += w * own;
        }
        for p in 0..=r {
            let mine = if p < r { y[p] } else { 1.0 };
            for q in 0..=r {
                let other = if q < r { y[q] } else { 1.0 };
                let together = if p < r && q < r { of_y[p * r + q] } else { 0.0 };
                rest[p * (r + 1) + q] += w * (mine * other + together);
            }
        }
        rest[(r + 1) * (r + 1)] += w * row.log_density;
    }

    /// The M step from the sums of a pass here.
    pub(super) fn moved(&self, sums: &[f64], floor: &[f64]) -> Result<Self> {
        let (d, r) = (self.d(), self.rank());
        let (squares, rest) = sums.split_at(d);
        let (products, rest) = rest.split_at(d * (r + 1));
        let of_y = &rest[..(r + 1) * (r + 1)];
        let total = of_y[(r + 1) * (r + 1) - 1];
        let of_y = Spd::new(of_y.to_vec(), r + 1).ok_or_else(unusable)?;
        let mut next = self.clone();
        for j in 0..d {
            let product = &products[j * (r + 1)..][..=r];
            let slopes = of_y.solve(product.to_vec());
            let explained: f64 = slopes.iter().zip(product).map(|(b, p)| b * p).sum();
            next.specific[j] = ((squares[j] - explained) / total).max(floor[j]);
            next.mean[j] += slopes[r];
            next.loadings[j * r..][..r].copy_from_slice(&slopes[..r]);
        }
        Ok(next)
    }
}
