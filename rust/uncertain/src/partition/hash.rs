//! One number for all numbers of a partition: whoever loses rows and reads them again can tell whether they are the
//! same.
//!
//! A process that gets rows from another may hold a full matrix as a square where the first had it packed, so lower
//! triangles count alone, as everywhere.

use crate::data::covariance::{FieldShape, packed_len};
use crate::data::{GaussianArray, Rows};

pub(super) struct Hash(u64);

impl Hash {
    pub(super) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(super) fn add(&mut self, bits: u64) {
        self.0 = (self.0 ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    pub(super) fn add_floats(&mut self, values: &[f64]) {
        values.iter().for_each(|x| self.add(x.to_bits()));
    }

    pub(super) fn add_gaussians(&mut self, data: &GaussianArray) {
        self.add_rows(data.means());
        let (n, d) = (data.n_rows(), data.n_features());
        for field in data.covariances().fields() {
            if field.shape != FieldShape::Square {
                self.add_rows(&field.values);
                continue;
            }
            let mut lower = vec![0.0; packed_len(d)];
            for row in 0..n {
                data.covariances().triangle(row, d, &mut lower);
                self.add_floats(&lower);
            }
        }
    }

    fn add_rows(&mut self, rows: &Rows) {
        for (_, segment) in rows.segments(0..rows.n_rows()) {
            segment.iter().for_each(|x| self.add(x.to_bits()));
        }
    }

    /// 52 bits, which a float holds.
    pub(super) fn finish(self) -> f64 {
        (self.0 >> 12) as f64
    }
}
