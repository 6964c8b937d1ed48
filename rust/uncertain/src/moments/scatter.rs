//! How rows scatter around the centers of their classes, fold by fold: what covariances of classes are made of.

use crate::control::Control;
use crate::data::GaussianArray;
use crate::data::covariance::{packed_index, packed_len};
use crate::error::{Error, Result};
use crate::parallel;
use crate::sums::{Request, RowSums};

/// Parts whose sums are held at once: they may be large.
const PARTS: usize = 8;

/// Weight, mean and covariance (packed) of some rows; the covariance is that of a draw from a random row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowMoments {
    pub weight: f64,
    pub mean: Vec<f64>,
    pub cov: Vec<f64>,
}

impl RowMoments {
    /// Of all rows of these together.
    pub(crate) fn pooled(of: &[Self]) -> Self {
        let (d, len) = of.first().map_or((0, 0), |one| (one.mean.len(), one.cov.len()));
        let weight: f64 = of.iter().map(|one| one.weight).sum();
        let share = |one: &Self| if weight > 0.0 { one.weight / weight } else { 0.0 };
        let mut all = Self { weight, mean: vec![0.0; d], cov: vec![0.0; len] };
        for one in of {
            all.mean.iter_mut().zip(&one.mean).for_each(|(m, x)| *m += share(one) * x);
        }
        for one in of {
            let off: Vec<f64> = one.mean.iter().zip(&all.mean).map(|(x, m)| x - m).collect();
            add_square(&mut all.cov, &off, share(one));
            all.cov.iter_mut().zip(&one.cov).for_each(|(c, x)| *c += share(one) * x);
        }
        all
    }

    /// From weight, sum c off and the triangle of sum c (off off' + S).
    fn from_sums(sums: &[f64], center: &[f64]) -> Self {
        let (weight, (first, second)) = (sums[0], sums[1..].split_at(center.len()));
        let times = if weight > 0.0 { 1.0 / weight } else { 0.0 };
        let off: Vec<f64> = first.iter().map(|x| x * times).collect();
        let mut cov: Vec<f64> = second.iter().map(|x| x * times).collect();
        add_square(&mut cov, &off, -1.0);
        Self { weight, mean: center.iter().zip(&off).map(|(c, x)| c + x).collect(), cov }
    }
}

/// cov + c off off'
fn add_square(cov: &mut [f64], off: &[f64], c: f64) {
    for j in 0..off.len() {
        (0..=j).for_each(|k| cov[packed_index(j, k)] += c * off[j] * off[k]);
    }
}

/// Of the rows of every class, fold by fold; `centers` are near their means.
pub(crate) fn moments_by_class(
    rows: &dyn RowSums,
    classes: usize,
    folds: usize,
    centers: &[f64],
    control: &Control,
) -> Result<Vec<Vec<RowMoments>>> {
    let d = centers.len() / classes;
    let sums = rows.sum(Request::Scatter { classes, folds, centers: centers.to_vec() }, control)?;
    let width = 1 + d + packed_len(d);
    if sums.len() != classes * folds * width {
        return Err(Error::shape("sums of the rows", format!("{d} features"), sums.len()));
    }
    let of_class = |(own, center): (&[f64], &[f64])| {
        own.chunks_exact(width).map(|sums| RowMoments::from_sums(sums, center)).collect()
    };
    Ok(sums.chunks_exact(folds * width).zip(centers.chunks_exact(d)).map(of_class).collect())
}

/// The sums, class by class and fold by fold.
pub(crate) fn scatter(
    data: &GaussianArray,
    classes: usize,
    folds: usize,
    centers: &[f64],
    class_of: impl Fn(usize) -> usize + Sync,
    fold_of: impl Fn(usize) -> Result<usize> + Sync,
    weight: impl Fn(usize) -> f64 + Sync,
) -> Result<Vec<f64>> {
    let d = data.n_features();
    let width = 1 + d + packed_len(d);
    let parts = parallel::map_parts_at_most(data.n_rows(), PARTS, |part| -> Result<Vec<f64>> {
        let (mut sums, mut off) = (vec![0.0; classes * folds * width], vec![0.0; d]);
        for row in part {
            let (class, c) = (class_of(row), weight(row));
            let center = &centers[class * d..(class + 1) * d];
            off.iter_mut().zip(&*data.means().row(row)).zip(center).for_each(|((off, x), m)| *off = x - m);
            let at = (class * folds + fold_of(row)?) * width;
            let (first, second) = sums[at..at + width].split_at_mut(1 + d);
            first[0] += c;
            first[1..].iter_mut().zip(&off).for_each(|(sum, off)| *sum += c * off);
            add_square(second, &off, c);
            data.covariances().add_to(row, c, d, second);
        }
        Ok(sums)
    })?;
    let mut all = vec![0.0; classes * folds * width];
    for part in parts {
        all.iter_mut().zip(part?).for_each(|(a, b)| *a += b);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Covariances, Rows};
    use crate::testing::Numbers;

    const D: usize = 3;

    /// Far off, so that sums around 0 would lose the covariance.
    fn data() -> GaussianArray {
        let mut numbers = Numbers::new(5);
        let x = (0..50 * D).map(|_| 1e6 + numbers.normal()).collect();
        let s = (0..50 * D).map(|_| 0.5 + numbers.normal().abs()).collect();
        GaussianArray::new(Rows::from_vec(x, D).unwrap(), Covariances::from_std(Rows::from_vec(s, D).unwrap())).unwrap()
    }

    #[test]
    fn spreads_of_parts_are_those_of_all_rows() {
        let (data, weight) = (data(), |row: usize| 1.0 + (row % 4) as f64);
        let centers = vec![1e6; 2 * D];
        let sums = scatter(&data, 2, 3, &centers, |row| row % 2, |row| Ok(row % 3), weight).unwrap();
        let width = 1 + D + packed_len(D);
        let found: Vec<RowMoments> =
            sums.chunks_exact(width).map(|sums| RowMoments::from_sums(sums, &centers[..D])).collect();
        let all = RowMoments::pooled(&found);
        let total: f64 = (0..50).map(weight).sum();
        assert!((all.weight - total).abs() < 1e-12);
        for j in 0..D {
            let mean: f64 = (0..50).map(|i| weight(i) * data.means().at(i, j)).sum::<f64>() / total;
            assert!((all.mean[j] - mean).abs() < 1e-8);
            for k in 0..=j {
                let other: f64 = (0..50).map(|i| weight(i) * data.means().at(i, k)).sum::<f64>() / total;
                let cov = |i: usize| (data.means().at(i, j) - mean) * (data.means().at(i, k) - other);
                let mut own = [0.0; D];
                let noise = |i: usize, own: &mut [f64; D]| {
                    data.covariances().variances(i, own);
                    if j == k { own[j] } else { 0.0 }
                };
                let expected: f64 = (0..50).map(|i| weight(i) * (cov(i) + noise(i, &mut own))).sum::<f64>() / total;
                assert!((all.cov[packed_index(j, k)] - expected).abs() < 1e-8, "{j} {k}");
            }
        }
    }
}
