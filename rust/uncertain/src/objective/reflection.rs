//! [`Reflection`]: a row's factor, its columns turned so that the first is along F'w.

/// The reflection I - v v' of R^rank that takes F'w to the first axis.
pub(super) struct Reflection {
    /// |v|^2 = 2, or v = 0.
    v: Vec<f64>,
    /// Of the first column: along F'w, not against it.
    sign: f64,
    /// |F'w / s|^2: one, or less where s is smoothed.
    pub length2: f64,
}

impl Reflection {
    /// From F'w and 1 / s.
    pub(super) fn new(image: &[f64], inv_s: f64) -> Self {
        let length = image.iter().map(|p| p * p).sum::<f64>().sqrt();
        let sign = if image[0] < 0.0 { -1.0 } else { 1.0 };
        let length2 = (length * inv_s).powi(2).min(1.0);
        if image.len() == 1 || length == 0.0 {
            return Self { v: vec![0.0; image.len()], sign, length2 };
        }
        // F'w + sign |F'w| e_1, where nothing cancels, is reflected along: F'w goes to -sign |F'w| e_1.
        let mut v: Vec<f64> = image.iter().map(|p| p / length).collect();
        v[0] += sign;
        let scale = (2.0 / v.iter().map(|v| v * v).sum::<f64>()).sqrt();
        v.iter_mut().for_each(|v| *v *= scale);
        Self { v, sign: -sign, length2 }
    }

    /// The turned columns of F (element (j, k) at j rank + k), one after the other.
    pub(super) fn columns(&self, factor: &[f64], out: &mut [f64]) {
        let rank = self.v.len();
        let d = factor.len() / rank;
        for (j, f) in factor.chunks_exact(rank).enumerate() {
            let along: f64 = self.v.iter().zip(f).map(|(v, f)| v * f).sum();
            for (k, (f, v)) in f.iter().zip(&self.v).enumerate() {
                out[k * d + j] = f - along * v;
            }
        }
        out[..d].iter_mut().for_each(|f| *f *= self.sign);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_column_is_along_the_image_and_the_sum_of_squares_stays() {
        let (d, w) = (4, [0.3, -1.2, 0.7, 2.0]);
        for rank in [1, 2, 3] {
            for sign in [-1.0, 0.0, 1.0] {
                let f: Vec<f64> = (0..d * rank).map(|k| ((k * k + 3 * k) as f64).sin()).collect();
                let image: Vec<f64> =
                    (0..rank).map(|k| sign * (0..d).map(|j| f[j * rank + k] * w[j]).sum::<f64>()).collect();
                let s = image.iter().map(|p| p * p).sum::<f64>().sqrt();
                let turn = Reflection::new(&image, if s > 0.0 { 0.5 / s } else { 0.0 });
                assert!((turn.length2 - if s > 0.0 { 0.25 } else { 0.0 }).abs() < 1e-14);
                let mut turned = vec![0.0; d * rank];
                turn.columns(&f, &mut turned);
                for i in 0..d {
                    for j in 0..d {
                        let before: f64 = (0..rank).map(|k| f[i * rank + k] * f[j * rank + k]).sum();
                        let after: f64 = (0..rank).map(|k| turned[k * d + i] * turned[k * d + j]).sum();
                        assert!((before - after).abs() < 1e-13, "{rank} {sign}");
                    }
                    let along: f64 = (0..rank).map(|k| f[i * rank + k] * image[k]).sum();
                    assert!(s == 0.0 || (turned[i] - along / s).abs() < 1e-13, "{rank} {sign}");
                }
            }
        }
    }
}
