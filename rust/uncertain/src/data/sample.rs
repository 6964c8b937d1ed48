//! Draws from the rows' Gaussians: x = x_i + A_i z with A_i A_i' = S_i and z standard normal.
//!
//! A_i is the cheapest factor of the kind: a deviation, the diagonal of deviations, the low-rank
//! factor itself, the Cholesky factor of a matrix, or V sqrt(lambda) where that does not exist.
//! Every row has its own generator (xoshiro256++), seeded from the seed and the row's number, so a
//! draw depends on neither the threads nor the other rows.

use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::covariance::{Structure, packed_len, unpack_into};
use crate::data::{Covariances, GaussianArray, MixtureArray, Rows};
use crate::error::{Error, Result};
use crate::linalg::Eigh;
use crate::memory::zeros;
use crate::{parallel, simd};

impl GaussianArray {
    /// `n_per_row` points from every row's Gaussian: exact points, (n n_per_row) x d, the draws of
    /// row i adjacent at i n_per_row. A seed gives the same points every time.
    pub fn sample(&self, n_per_row: usize, seed: u64) -> Result<GaussianArray> {
        if n_per_row == 0 {
            return Err(Error::parameter("n", 0, "at least 1 draw per row"));
        }
        let (n, d) = (self.n_rows(), self.n_features());
        let width = n_per_row.checked_mul(d).ok_or_else(|| Error::Data("too many draws".into()))?;
        // Neighbouring seeds must not share streams, as seed + row would make them.
        let base = Xoshiro256PlusPlus::seed_from_u64(seed).next_u64();
        let mut out = zeros(n, width)?;
        parallel::fill_rows(&mut out, width, |rows, out| {
            let mut sampler = Sampler::new(self.covariances(), d)?;
            for (row, draws) in rows.zip(out.chunks_exact_mut(width)) {
                let stream = base.wrapping_add((row as u64).wrapping_mul(0x9e6c_63d0_876a_68ed));
                let mut rng = Xoshiro256PlusPlus::seed_from_u64(stream);
                sampler.prepare(row)?;
                for draw in draws.chunks_exact_mut(d) {
                    draw.copy_from_slice(&self.means().row(row));
                    sampler.add_noise(row, &mut rng, draw);
                }
            }
            Ok(())
        })?;
        let n_draws = n * n_per_row;
        Ok(GaussianArray::from_checked(Rows::from_owned(out, n_draws, d), Covariances::Zero))
    }
}

impl MixtureArray {
    /// `n_per_row` points from every row's mixture: a component by its weight, then a draw of it. As
    /// [`GaussianArray::sample`] otherwise; rows of one component have the same points as there.
    pub fn sample(&self, n_per_row: usize, seed: u64) -> Result<GaussianArray> {
        if self.is_gaussian() {
            return self.components().sample(n_per_row, seed);
        }
        if n_per_row == 0 {
            return Err(Error::parameter("n", 0, "at least 1 draw per row"));
        }
        let (n, d, components) = (self.n_rows(), self.n_features(), self.components());
        let width = n_per_row.checked_mul(d).ok_or_else(|| Error::Data("too many draws".into()))?;
        let base = Xoshiro256PlusPlus::seed_from_u64(seed).next_u64();
        let mut out = zeros(n, width)?;
        parallel::fill_rows(&mut out, width, |rows, out| {
            let mut sampler = Sampler::new(components.covariances(), d)?;
            for (row, draws) in rows.zip(out.chunks_exact_mut(width)) {
                let stream = base.wrapping_add((row as u64).wrapping_mul(0x9e6c_63d0_876a_68ed));
                let mut rng = Xoshiro256PlusPlus::seed_from_u64(stream);
                // Draws of one component one after the other would cost no more, but their order must tell nothing.
                let mut prepared = None;
                for draw in draws.chunks_exact_mut(d) {
                    let mut left: f64 = rng.random();
                    let own = self.row(row);
                    let chosen = own.clone().find(|&c| {
                        left -= self.weights()[c];
                        left < 0.0
                    });
                    // Weights that sum to 1 - 1e-16 leave a gap.
                    let c = chosen.or_else(|| own.rev().find(|&c| self.weights()[c] > 0.0)).unwrap_or_default();
                    if prepared != Some(c) {
                        sampler.prepare(c)?;
                        prepared = Some(c);
                    }
                    draw.copy_from_slice(&components.means().row(c));
                    sampler.add_noise(c, &mut rng, draw);
                }
            }
            Ok(())
        })?;
        Ok(GaussianArray::from_checked(Rows::from_owned(out, n * n_per_row, d), Covariances::Zero))
    }
}

struct Sampler<'a> {
    covariances: &'a Covariances,
    d: usize,
    z: Vec<f64>,
    /// Of a row without elements off the diagonal.
    deviations: Vec<f64>,
    packed: Vec<f64>,
    /// A' of a matrix, d x d: noise is the sum of z_k times row k.
    factor: Vec<f64>,
    eigh: Option<Eigh>,
}

impl<'a> Sampler<'a> {
    fn new(covariances: &'a Covariances, d: usize) -> Result<Self> {
        let dense = matches!(covariances.structure(), Structure::Dense);
        let zeros = |len: usize| vec![0.0; if dense { len } else { 0 }];
        let (packed, factor) = (zeros(packed_len(d)), zeros(d * d));
        let mut sampler = Self { covariances, d, z: vec![], deviations: vec![0.0; d], packed, factor, eigh: None };
        if covariances.common().is_some() {
            sampler.factorise(0)?;
        }
        Ok(sampler)
    }

    fn prepare(&mut self, row: usize) -> Result<()> {
        match self.covariances.structure() {
            Structure::Zero | Structure::Factor(_) => Ok(()),
            Structure::Isotropic | Structure::Diagonal => {
                self.covariances.variances(row, &mut self.deviations);
                self.deviations.iter_mut().for_each(|v| *v = v.sqrt());
                Ok(())
            }
            Structure::Dense if self.covariances.common().is_some() => Ok(()),
            Structure::Dense => self.factorise(row),
        }
    }

    fn factorise(&mut self, row: usize) -> Result<()> {
        let d = self.d;
        self.covariances.triangle(row, d, &mut self.packed);
        unpack_into(&self.packed, d, &mut self.factor);
        if simd::factor_upper(&mut self.factor, d) {
            (1..d).for_each(|i| self.factor[i * d..i * d + i].fill(0.0));
            return Ok(());
        }
        let eigh = self.eigh.get_or_insert_with(|| Eigh::new(d));
        eigh.packed(&self.packed)?;
        for (k, row) in self.factor.chunks_exact_mut(d).enumerate() {
            let scale = eigh.values[k].max(0.0).sqrt();
            row.iter_mut().zip(&eigh.vectors[k * d..]).for_each(|(f, v)| *f = scale * v);
        }
        Ok(())
    }

    fn add_noise(&mut self, row: usize, rng: &mut Xoshiro256PlusPlus, draw: &mut [f64]) {
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        match self.covariances.structure() {
            Structure::Zero => {}
            Structure::Isotropic | Structure::Diagonal => {
                draw.iter_mut().zip(&self.deviations).for_each(|(x, s)| *x += s * normal());
            }
            Structure::Factor(k) => {
                self.z.clear();
                self.z.extend((0..k.rank).map(|_| normal()));
                for (x, f) in draw.iter_mut().zip(k.factor.row(row).chunks_exact(k.rank)) {
                    *x += f.iter().zip(&self.z).map(|(f, z)| f * z).sum::<f64>();
                }
                if let Some(diagonal) = &k.diagonal {
                    draw.iter_mut().zip(&*diagonal.row(row)).for_each(|(x, v)| *x += v.sqrt() * normal());
                }
            }
            Structure::Dense => {
                for line in self.factor.chunks_exact(self.d) {
                    let z = normal();
                    draw.iter_mut().zip(line).for_each(|(x, f)| *x += z * f);
                }
            }
        }
    }
}
