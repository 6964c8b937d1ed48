//! Random features: waves of random frequencies through the rows.
//!
//! With w ~ N(0, I / sigma^2), E cos(w'(a - b)) = exp(-|a - b|^2 / (2 sigma^2)) (Rahimi, Recht, NIPS 2007). The
//! expected kernel is one more expectation, over the rows' noise, so for draws (w_r, e_r), e_r ~ N(0, I),
//! ```text
//! shared:       sqrt(1 / R) [cos, sin](w_r'(x + S^{1/2} e_r))                 one noise e_r moves all rows
//! independent:  sqrt(1 / R) [cos, sin](w_r'x) exp(-w_r'S w_r / 2)             the noise integrated out
//! ```
//! are unbiased: E z_i'z_j = kappa_ij, with |z_i| = 1 exactly for the shared coupling. Row layout: R
//! cosines, then R sines.
//!
//! Design. w'S^{1/2}e and w'S w are linear in the numbers of S^{1/2} and S (packed triangles: d (d + 1) / 2 of
//! them), so the phases of a block of rows are one matrix product [x | spread] T with a table T made once per kind of
//! covariance. A thin factor goes through its own products instead, and a covariance that all rows
//! share is one number per frequency. What a row's numbers are does not change the draws: rows of all kinds get
//! features of one and the same kernel.

use std::ops::Range;

use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::roots;
use crate::data::covariance::{Factor, Structure, packed_index, packed_len};
use crate::data::{Covariances, GaussianArray, RowSource, Workspace};
use crate::error::{Error, Result};
use crate::kernel::probabilistic_rbf::Coupling;
use crate::linalg::{self, dot};
use crate::params::{check_at_least_one, check_positive};
use crate::readable::readable;
use crate::simd;

readable! {
    /// R draws (w_r, e_r).
    #[derive(Debug, Clone, PartialEq)]
    pub struct RandomFeatures {
        d: usize,
        /// w_r, R x d.
        frequencies: Vec<f64> => &[f64],
        /// e_r, R x d; none for the independent coupling.
        noise: Option<Vec<f64>> => Option<&[f64]>,
    }
}

impl RandomFeatures {
    /// R = `n_components` draws for rows of d features. A seed fixes the draws, and a larger R adds more.
    pub fn new(d: usize, n_components: usize, sigma: f64, coupling: Coupling, seed: u64) -> Result<Self> {
        check_at_least_one("n_components", n_components)?;
        check_positive("sigma", sigma)?;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let draw = |rng: &mut Xoshiro256PlusPlus, scale: f64| -> Result<Vec<f64>> {
            let mut out = crate::memory::zeros(n_components, d)?;
            out.iter_mut().for_each(|x| *x = Distribution::<f64>::sample(&StandardNormal, rng) / scale);
            Ok(out)
        };
        let mut second = rng.clone();
        second.jump();
        let frequencies = draw(&mut rng, sigma)?;
        let noise = match coupling {
            Coupling::Shared => Some(draw(&mut second, 1.0)?),
            Coupling::Independent => None,
        };
        Self::from_parts(d, frequencies, noise)
    }

    /// From R x d frequencies, and for the shared coupling as many numbers of noise.
    pub fn from_parts(d: usize, frequencies: Vec<f64>, noise: Option<Vec<f64>>) -> Result<Self> {
        if d == 0 || frequencies.is_empty() || !frequencies.len().is_multiple_of(d) {
            return Err(Error::shape("frequencies", format!("R x {d} numbers"), frequencies.len()));
        }
        if let Some(noise) = noise.as_ref().filter(|noise| noise.len() != frequencies.len()) {
            return Err(Error::shape("noise", format!("{} numbers, as frequencies", frequencies.len()), noise.len()));
        }
        for (what, values) in [("frequencies", Some(&frequencies)), ("noise", noise.as_ref())] {
            if let Some(at) = values.and_then(|v| v.iter().position(|x| !x.is_finite())) {
                let value = values.map_or(f64::NAN, |v| v[at]);
                return Err(Error::NotFinite { what: what.into(), row: at / d, column: at % d, value });
            }
        }
        Ok(Self { d, frequencies, noise })
    }

    /// Dimension of the rows.
    pub fn n_features(&self) -> usize {
        self.d
    }

    /// R.
    pub fn n_components(&self) -> usize {
        self.frequencies.len() / self.d
    }

    /// 2 R: a cosine and a sine per frequency.
    pub fn n_columns(&self) -> usize {
        2 * self.n_components()
    }

    /// Everything about these rows that a block of features needs and that is not cheap to compute again.
    pub fn prepare(&self, data: &GaussianArray) -> Result<FeatureRows<'_>> {
        let d = self.d;
        if data.n_features() != d {
            return Err(Error::shape("data", format!("{d} features, as the map was made for"), data.n_features()));
        }
        let wide = matches!(data.covariances().structure(), Structure::Factor(k) if !roots::is_thin(k, d));
        let rows = match self.noise {
            Some(_) => roots::square_roots(data)?,
            None if wide => data.to_full()?,
            None => data.clone(),
        };
        let products = |w: &[f64], e: &[f64], out: &mut [f64]| (0..d).for_each(|j| out[j] = w[j] * e[j]);
        let mut same = None;
        let covariances = rows.covariances();
        let spread = match (covariances.structure(), &self.noise) {
            (Structure::Zero, _) => vec![],
            (Structure::Isotropic, _) => self.feature_columns(1, |w, e, out| out[0] = dot(w, e)),
            (Structure::Diagonal, _) => self.feature_columns(d, products),
            // Products of the factor need the noise; a diagonal beside it, the squares.
            (Structure::Factor(_), Some(noise)) => self.transposed(noise),
            (Structure::Factor(k), None) if k.diagonal.is_some() => self.feature_columns(d, products),
            (Structure::Factor(_), None) => vec![],
            (Structure::Dense, noise) => {
                let table = self.feature_columns(packed_len(d), symmetric);
                if let Some(triangle) = covariances.common() {
                    let matrix = match noise {
                        None => triangle.to_vec(),
                        Some(_) => {
                            let full = covariances.sqrt(0, d)?;
                            (0..d).flat_map(|i| full[i * d..=i * d + i].to_vec()).collect()
                        }
                    };
                    let mut values = vec![0.0; self.n_components()];
                    linalg::gemm(&matrix, &table, (1, packed_len(d), values.len()), false, &mut values);
                    same = Some(values);
                }
                if same.is_some() { vec![] } else { table }
            }
        };
        // An infinite w w' times a variance near zero is no number, and infinite damping where there is hardly any.
        if spread.iter().chain(same.iter().flatten()).any(|x| !x.is_finite()) {
            return Err(Error::Data(
                "the bandwidth is so small that 1 / sigma^2 is no number, which rows with error bars need: scale the data \
                 or choose a larger sigma"
                    .into(),
            ));
        }
        Ok(FeatureRows { map: self, rows, table: self.transposed(&self.frequencies), spread, same })
    }

    /// `width` x R: column r is what `of` writes for (w_r, e_r), or (w_r, w_r) for the independent coupling.
    fn feature_columns(&self, width: usize, of: impl Fn(&[f64], &[f64], &mut [f64])) -> Vec<f64> {
        let (d, n) = (self.d, self.n_components());
        let (mut out, mut column) = (vec![0.0; width * n], vec![0.0; width]);
        for (r, w) in self.frequencies.chunks_exact(d).enumerate() {
            let e = self.noise.as_ref().map_or(w, |noise| &noise[r * d..(r + 1) * d]);
            of(w, e, &mut column);
            (0..width).for_each(|k| out[k * n + r] = column[k]);
        }
        out
    }

    /// d x R.
    fn transposed(&self, values: &[f64]) -> Vec<f64> {
        let (d, n) = (self.d, self.n_components());
        (0..d * n).map(|at| values[at % n * d + at / n]).collect()
    }
}

/// Weights of a packed triangle A in w'A e.
fn symmetric(w: &[f64], e: &[f64], out: &mut [f64]) {
    for i in 0..w.len() {
        (0..i).for_each(|j| out[packed_index(i, j)] = w[i] * e[j] + w[j] * e[i]);
        out[packed_index(i, i)] = w[i] * e[i];
    }
}

/// Rows that a map has prepared, blocks of features on demand: rows with roots (shared coupling) or covariances
/// (independent), and the tables for their kind.
#[derive(Debug)]
pub struct FeatureRows<'a> {
    map: &'a RandomFeatures,
    rows: GaussianArray,
    /// d x R, of the means.
    table: Vec<f64>,
    /// Of the numbers of the spread.
    spread: Vec<f64>,
    /// w'S^{1/2}e or w'S w where it is the same for all rows.
    same: Option<Vec<f64>>,
}

impl RowSource for FeatureRows<'_> {
    fn n_rows(&self) -> usize {
        self.rows.n_rows()
    }

    fn width(&self) -> usize {
        self.map.n_columns()
    }

    fn take(&self, rows: &[usize]) -> Result<Box<dyn RowSource + '_>> {
        let (table, spread, same) = (self.table.clone(), self.spread.clone(), self.same.clone());
        Ok(Box::new(Self { map: self.map, rows: self.rows.take(rows)?, table, spread, same }))
    }

    fn fill(&self, rows: Range<usize>, workspace: &mut Workspace, out: &mut [f64]) -> Result<()> {
        let (n, d, size) = (rows.len(), self.map.d, self.map.n_components());
        let shared = self.map.noise.is_some();
        let [numbers, phase, extra, products] = &mut workspace.buffers;
        numbers.resize(n * d, 0.0);
        phase.resize(n * size, 0.0);
        extra.resize(n * size, 0.0);
        for (first, values) in self.rows.means().segments(rows.clone()) {
            numbers[(first - rows.start) * d..][..values.len()].copy_from_slice(&values);
        }
        linalg::gemm(numbers, &self.table, (n, d, size), false, phase);
        // The spread's share goes to the phase (shared) or beside it, as damping (independent).
        let target = if shared { &mut *phase } else { &mut *extra };
        if !shared {
            target.fill(0.0);
        }
        match (self.rows.covariances().structure(), &self.same) {
            (Structure::Zero, _) => {}
            (_, Some(same)) => {
                target.chunks_exact_mut(size).for_each(|t| t.iter_mut().zip(same).for_each(|(t, s)| *t += s));
            }
            (Structure::Factor(k), _) => {
                thin(k, rows.clone(), self, numbers, products, target);
                if let Some(diagonal) = k.diagonal {
                    numbers.resize(n * d, 0.0);
                    rows.clone()
                        .zip(numbers.chunks_exact_mut(d))
                        .for_each(|(i, v)| v.copy_from_slice(&diagonal.row(i)));
                    linalg::gemm(numbers, &self.spread, (n, d, size), true, target);
                }
            }
            _ => {
                let width = gather(self.rows.covariances(), rows.clone(), d, shared, numbers);
                linalg::gemm(numbers, &self.spread, (n, width, size), true, target);
            }
        }
        let damping = (!shared && !matches!(self.rows.covariances(), Covariances::Zero)).then_some(&*extra);
        let scale = (1.0 / size as f64).sqrt();
        for (k, out) in out.chunks_exact_mut(2 * size).enumerate() {
            let here = k * size..(k + 1) * size;
            // One number that is not finite makes the sum so; phases are far from the largest double.
            if !phase[here.clone()].iter().sum::<f64>().is_finite() {
                return Err(Error::Data(format!(
                    "row {} is so many bandwidths away from zero, or has such wide error bars, that its features \
                     overflow: scale the data or choose a larger sigma",
                    rows.start + k
                )));
            }
            let (cos, sin) = out.split_at_mut(size);
            simd::waves(&phase[here.clone()], damping.map(|q| &q[here]), scale, cos, sin);
        }
        Ok(())
    }
}

/// The numbers of the rows' spreads, row by row; returns how many a row has.
fn gather(covariances: &Covariances, rows: Range<usize>, d: usize, shared: bool, out: &mut Vec<f64>) -> usize {
    let width = match covariances.structure() {
        Structure::Isotropic => 1,
        Structure::Diagonal => d,
        _ => packed_len(d),
    };
    out.resize(rows.len() * width, 0.0);
    for (row, out) in rows.zip(out.chunks_exact_mut(width)) {
        if matches!(covariances.structure(), Structure::Isotropic | Structure::Diagonal) {
            covariances.variances(row, out);
            if shared {
                out.iter_mut().for_each(|v| *v = v.sqrt());
            }
        } else {
            covariances.triangle(row, d, out);
        }
    }
    width
}

/// Adds w'F F'e (shared, F the factor of the root) or |F'w|^2 (independent) to `target`.
fn thin(
    k: Factor<'_>,
    rows: Range<usize>,
    prepared: &FeatureRows<'_>,
    numbers: &mut Vec<f64>,
    products: &mut Vec<f64>,
    target: &mut [f64],
) {
    let (n, d, rank, size) = (rows.len(), prepared.map.d, k.rank, prepared.map.n_components());
    let lines = n * rank;
    numbers.resize(lines * d, 0.0);
    for (row, out) in rows.zip(numbers.chunks_exact_mut(rank * d)) {
        for (j, f) in k.factor.row(row).chunks_exact(rank).enumerate() {
            (0..rank).for_each(|c| out[c * d + j] = f[c]);
        }
    }
    products.resize(2 * lines * size, 0.0);
    let (along_w, along_e) = products.split_at_mut(lines * size);
    linalg::gemm(numbers, &prepared.table, (lines, d, size), false, along_w);
    let other: &[f64] = if prepared.map.noise.is_some() {
        linalg::gemm(numbers, &prepared.spread, (lines, d, size), false, along_e);
        along_e
    } else {
        along_w
    };
    for (i, target) in target.chunks_exact_mut(size).enumerate() {
        for line in i * rank..(i + 1) * rank {
            let (a, b) = (&along_w[line * size..][..size], &other[line * size..][..size]);
            target.iter_mut().zip(a).zip(b).for_each(|((t, a), b)| *t += a * b);
        }
    }
}
