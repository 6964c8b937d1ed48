//! Squared distances from points to many others, summed from differences (|x|^2 + |z|^2 - 2 x'z cancels).

use crate::dispatch::kernel;
use crate::lanes::fma;

kernel! {
    /// `out[k] += sum over j of (columns[j][k] - point[j])^2`; `columns` holds feature j of the other points from
    /// element `j * stride` on.
    pub fn add_squared_distances<const FMA: bool>(columns: &[f64], stride: usize, point: &[f64], out: &mut [f64]) {
        for (j, &x) in point.iter().enumerate() {
            let column = &columns[j * stride..][..out.len()];
            for (out, z) in out.iter_mut().zip(column) {
                let t = z - x;
                *out = fma::<FMA>(t, t, *out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Numbers;

    #[test]
    fn distances_of_any_length() {
        let mut numbers = Numbers::new(4);
        for (n, d) in [(1, 1), (7, 3), (8, 2), (65, 5), (100, 0)] {
            let stride = n + 3;
            let columns: Vec<f64> = (0..stride * d).map(|_| numbers.normal()).collect();
            let point: Vec<f64> = (0..d).map(|_| numbers.normal()).collect();
            let mut out = vec![0.5; n];
            add_squared_distances(&columns, stride, &point, &mut out);
            for k in 0..n {
                let exact: f64 = (0..d).map(|j| (columns[j * stride + k] - point[j]).powi(2)).sum();
                assert!((out[k] - 0.5 - exact).abs() <= 1e-14 * (1.0 + exact));
            }
        }
    }
}
