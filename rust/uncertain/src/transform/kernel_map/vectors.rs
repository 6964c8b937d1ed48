//! The vectors of the feature space that rows contribute, by their inner products with a pivot.

use std::borrow::Cow;

use crate::data::covariance::{Factor, Structure};
use crate::data::{ElementType, GaussianArray, Rows};
use crate::error::Result;
use crate::kernel::PointKernel;
use crate::memory::zeros;

/// phi(point), or J(point) direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pivot<'a> {
    pub point: &'a [f64],
    pub direction: Option<&'a [f64]>,
}

/// A_i with A_i A_i' = S_i, d x r.
#[derive(Debug)]
enum Root {
    /// S = 0, r = 0.
    None,
    /// n x d standard deviations, r = d.
    Diagonal(Vec<f64>),
    /// n x (d r), or for all rows the same d r numbers.
    Factor { values: Rows, r: usize, shared: bool },
}

#[derive(Debug)]
pub(super) struct Vectors<'a> {
    kernel: PointKernel,
    data: &'a GaussianArray,
    /// The means, which every pivot reads again.
    points: Cow<'a, [f64]>,
    /// Half way between the ends of every feature.
    middle: Vec<f64>,
    root: Root,
}

/// Buffers for [`Vectors::entries`].
pub(super) struct Scratch {
    gradient: Vec<f64>,
    out: Vec<f64>,
}

impl<'a> Vectors<'a> {
    pub(super) fn new(kernel: PointKernel, data: &'a GaussianArray) -> Result<Self> {
        let (n, d) = (data.n_rows(), data.n_features());
        let covariances = data.covariances();
        let root = match covariances.structure() {
            Structure::Zero => Root::None,
            Structure::Isotropic | Structure::Diagonal => {
                let mut std = zeros(n, d)?;
                std.chunks_exact_mut(d).enumerate().for_each(|(row, out)| covariances.variances(row, out));
                std.iter_mut().for_each(|v| *v = v.sqrt());
                Root::Diagonal(std)
            }
            Structure::Factor(Factor { factor, rank, diagonal: None }) => {
                Root::Factor { values: factor.stored_as(ElementType::F64), r: rank, shared: false }
            }
            Structure::Dense if covariances.common().is_some() => {
                Root::Factor { values: Rows::from_owned(covariances.sqrt(0, d)?, 1, d * d), r: d, shared: true }
            }
            Structure::Factor(_) | Structure::Dense => {
                Root::Factor { values: Rows::from_owned(data.roots()?, n, d * d), r: d, shared: false }
            }
        };
        let points = data.means().contiguous();
        let (mut low, mut high) = (vec![f64::INFINITY; d], vec![f64::NEG_INFINITY; d]);
        for point in points.chunks_exact(d) {
            for j in 0..d {
                (low[j], high[j]) = (low[j].min(point[j]), high[j].max(point[j]));
            }
        }
        let middle = low.iter().zip(&high).map(|(low, high)| low + (high - low) / 2.0).collect();
        Ok(Self { kernel, data, points, middle, root })
    }

    pub(super) fn n_rows(&self) -> usize {
        self.data.n_rows()
    }

    /// r: columns of every A_i.
    pub(super) fn columns(&self) -> usize {
        match &self.root {
            Root::None => 0,
            Root::Diagonal(_) => self.data.n_features(),
            Root::Factor { r, .. } => *r,
        }
    }

    pub(super) fn scratch(&self) -> Scratch {
        Scratch { gradient: vec![0.0; self.data.n_features()], out: vec![0.0; self.columns() + 1] }
    }

    /// Column `column` of A_i.
    pub(super) fn direction(&self, row: usize, column: usize, out: &mut [f64]) {
        let d = out.len();
        match &self.root {
            Root::None => out.fill(0.0),
            Root::Diagonal(std) => {
                out.fill(0.0);
                out[column] = std[row * d + column];
            }
            Root::Factor { values, r, shared } => {
                let a = values.row(if *shared { 0 } else { row });
                (0..d).for_each(|j| out[j] = a[j * r + column]);
            }
        }
    }

    /// The inner products of phi(x_i), J(x_i) A_i e_1, ... with the pivot: value and, times A_i', gradient of
    /// the function that the pivot is.
    #[inline]
    pub(super) fn entries<'s>(&self, row: usize, pivot: &Pivot<'_>, scratch: &'s mut Scratch) -> &'s [f64] {
        let Scratch { gradient, out } = scratch;
        let (first, rest) = out.split_at_mut(1);
        first[0] = self.kernel.against(self.point(row), pivot.point, pivot.direction, gradient);
        match &self.root {
            Root::None => {}
            Root::Diagonal(std) => {
                let std = &std[row * gradient.len()..];
                rest.iter_mut().zip(std.iter().zip(&*gradient)).for_each(|(o, (s, g))| *o = s * g);
            }
            Root::Factor { values, r, shared } => {
                rest.fill(0.0);
                let a = values.row(if *shared { 0 } else { row });
                for (line, g) in a.chunks_exact(*r).zip(&*gradient) {
                    rest.iter_mut().zip(line).for_each(|(o, a)| *o += a * g);
                }
            }
        }
        out
    }

    /// The squared lengths of the vectors of a row, r + 1 numbers.
    pub(super) fn squares(&self, row: usize, scratch: &mut Scratch, direction: &mut [f64], out: &mut [f64]) {
        let point = self.point(row);
        for (column, out) in out.iter_mut().enumerate() {
            if column > 0 {
                self.direction(row, column - 1, direction);
            }
            let pivot = Pivot { point, direction: (column > 0).then_some(&*direction) };
            *out = self.entries(row, &pivot, scratch)[column];
        }
    }

    /// An order of the vectors (row, column) that depends neither on that of the rows nor on that of the features: by their distance from the middle.
    pub(super) fn precedes(&self, (a, i): (usize, usize), (b, j): (usize, usize)) -> bool {
        let (x, z) = (self.point(a), self.point(b));
        let different = x.iter().zip(z).map(|(x, z)| x.total_cmp(z)).find(|order| order.is_ne());
        let distance = |point: &[f64]| point.iter().zip(&self.middle).map(|(x, m)| (x - m) * (x - m)).sum::<f64>();
        distance(x).total_cmp(&distance(z)).then(different.unwrap_or(i.cmp(&j))).is_lt()
    }

    /// The mean of a row.
    pub(super) fn point(&self, row: usize) -> &[f64] {
        let d = self.data.n_features();
        &self.points[row * d..(row + 1) * d]
    }
}
