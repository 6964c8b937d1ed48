//! Probabilities of K classes from those of their pairs: Wu, Lin, Weng, JMLR 5 (2004), second method.
//!
//! Given r_ij = P(class i | class i or j), find p >= 0, sum p = 1, minimising
//! ```text
//! sum_i sum_{j != i} (r_ji p_i - r_ij p_j)^2 = 2 p'Q p,   Q_ii = sum_{j != i} r_ji^2,  Q_ij = -r_ji r_ij
//! ```
//! At the optimum all (Q p)_i are equal to p'Qp. Their coordinate iteration keeps sum p = 1 and converges
//! for any r strictly between 0 and 1.

/// Pairwise probabilities are kept this far from 0 and 1, as in LIBSVM.
const LEAST: f64 = 1e-7;
const MAX_ITERATIONS: usize = 100;
/// Largest difference of the (Q p)_i from p'Qp, times the number of classes.
const TOLERANCE: f64 = 1e-9;

/// The classes' probabilities; `pairs` holds r_ij for i < j in the order (0, 1), (0, 2) .. (1, 2) ..
pub(super) fn couple(pairs: &[f64], n_classes: usize) -> Vec<f64> {
    let k = n_classes;
    let mut q = vec![0.0; k * k];
    let mut next = pairs.iter();
    for i in 0..k {
        for j in i + 1..k {
            let r = next.next().map_or(0.5, |r| r.clamp(LEAST, 1.0 - LEAST));
            let (r_ij, r_ji) = (r, 1.0 - r);
            q[i * k + i] += r_ji * r_ji;
            q[j * k + j] += r_ij * r_ij;
            q[i * k + j] = -r_ji * r_ij;
            q[j * k + i] = -r_ji * r_ij;
        }
    }
    let mut p = vec![1.0 / k as f64; k];
    let mut image = vec![0.0; k];
    for _ in 0..MAX_ITERATIONS {
        for i in 0..k {
            image[i] = (0..k).map(|j| q[i * k + j] * p[j]).sum();
        }
        let mut value: f64 = p.iter().zip(&image).map(|(p, qp)| p * qp).sum();
        if image.iter().all(|qp| (qp - value).abs() < TOLERANCE / k as f64) {
            break;
        }
        for i in 0..k {
            let step = (value - image[i]) / q[i * k + i];
            p[i] += step;
            let scale = 1.0 / (1.0 + step);
            value = (value + step * (step * q[i * k + i] + 2.0 * image[i])) * scale * scale;
            for j in 0..k {
                image[j] = (image[j] + step * q[i * k + j]) * scale;
                p[j] *= scale;
            }
        }
    }
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consistent_pairs_give_back_their_classes() {
        let p = [0.5, 0.2, 0.25, 0.05];
        let pairs: Vec<f64> = (0..4).flat_map(|i| (i + 1..4).map(move |j| p[i] / (p[i] + p[j]))).collect();
        for (a, b) in couple(&pairs, 4).iter().zip(p) {
            assert!((a - b).abs() < 1e-7, "{a} {b}");
        }
    }

    #[test]
    fn contradictions_and_certainties_still_sum_to_one() {
        // Rock, paper, scissors.
        for p in couple(&[0.9, 0.1, 0.9], 3) {
            assert!((p - 1.0 / 3.0).abs() < 1e-9);
        }
        let p = couple(&[1.0, 1.0, 1.0], 3);
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12 && p[0] > 0.999 && p.iter().all(|p| *p >= 0.0));
    }
}
