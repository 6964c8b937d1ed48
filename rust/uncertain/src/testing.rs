//! Random numbers for tests.

use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal, StandardUniform};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A seeded source of uniform and normal numbers.
pub(crate) struct Numbers(Xoshiro256PlusPlus);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        StandardUniform.sample(&mut self.0)
    }

    pub(crate) fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }
}
