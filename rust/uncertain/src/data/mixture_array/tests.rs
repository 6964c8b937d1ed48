use ndarray::Array2;

use super::*;
use crate::data::Incomplete;
use crate::testing::Numbers;

fn mixture(n: usize, d: usize, seed: u64) -> MixtureArray {
    let mut numbers = Numbers::new(seed);
    let counts: Vec<usize> = (0..n).map(|i| 1 + i % 3).collect();
    let total = counts.iter().sum::<usize>();
    let means: Vec<f64> = (0..total * d).map(|_| numbers.normal()).collect();
    let stds = (0..total * d).map(|_| numbers.normal().abs()).collect();
    let covariances = Covariances::from_std(Rows::from_vec(stds, d).unwrap());
    let components = GaussianArray::new(Rows::from_vec(means, d).unwrap(), covariances).unwrap();
    let mut offsets = vec![0];
    counts.iter().for_each(|k| offsets.push(offsets.last().unwrap() + k));
    let weights = counts.iter().flat_map(|&k| (0..k).map(move |c| (c + 1) as f64 / (k * (k + 1) / 2) as f64));
    MixtureArray::new(components, offsets, weights.collect()).unwrap()
}

#[test]
fn moments_are_those_of_the_sums() {
    let (n, d) = (7, 3);
    let data = mixture(n, d, 1);
    let (moments, dense) = (data.collapse().unwrap(), data.components().dense().unwrap());
    let found = moments.dense().unwrap();
    for row in 0..n {
        for i in 0..d {
            let of = |f: &dyn Fn(usize) -> f64| data.row(row).map(|c| data.weights()[c] * f(c)).sum::<f64>();
            let x = |c: usize, j: usize| data.components().means().at(c, j);
            assert!((of(&|c| x(c, i)) - moments.means().at(row, i)).abs() < 1e-15);
            for j in 0..d {
                // E xx' - E x E x'
                let second = of(&|c| dense[c * d * d + i * d + j] + x(c, i) * x(c, j));
                let expected = second - of(&|c| x(c, i)) * of(&|c| x(c, j));
                assert!((found[row * d * d + i * d + j] - expected).abs() < 1e-14);
            }
        }
    }
}

#[test]
fn rows_are_taken_whole_and_joined() {
    let data = mixture(6, 2, 2);
    let some = data.take(&[5, 0, 2]).unwrap();
    assert_eq!(some.offsets(), [0, 3, 4, 7]);
    assert_eq!(some.slice(1..3), data.take(&[0, 2]).unwrap());
    assert_eq!(MixtureArray::concat(&[data.slice(0..2), data.slice(2..6)]).unwrap(), data);
    assert!(data.take(&[6]).is_err());
    assert_eq!(data.row_numbers(), [0, 1, 1, 2, 2, 2, 3, 4, 4, 5, 5, 5]);
    let ones = Array2::ones((12, 2));
    assert!((data.average(ones.view()).unwrap() - Array2::<f64>::ones((6, 2))).iter().all(|x| x.abs() < 1e-15));
}

#[test]
fn stacked_rows_have_the_moments_of_both_and_are_independent() {
    let (a, b) = (mixture(5, 2, 3), mixture(5, 1, 4));
    let both = MixtureArray::hstack(&[a.clone(), b.clone()]).unwrap();
    assert_eq!(both.row(2).len(), 9);
    let (found, of_a, of_b) = (both.collapse().unwrap(), a.collapse().unwrap(), b.collapse().unwrap());
    let expected = GaussianArray::hstack(&[of_a, of_b]).unwrap();
    for (x, y) in found.dense().unwrap().iter().zip(expected.dense().unwrap()) {
        assert!((x - y).abs() < 1e-14, "{x} {y}");
    }
    assert!(MixtureArray::hstack(&[a, b.slice(0..3)]).is_err());
}

#[test]
fn bad_rows_are_refused_with_their_numbers() {
    let components = GaussianArray::exact(Rows::from_vec(vec![1.0, 2.0, 3.0], 1).unwrap()).unwrap();
    let message = |offsets: &[usize], weights: &[f64]| {
        MixtureArray::new(components.clone(), offsets.to_vec(), weights.to_vec()).unwrap_err().to_string()
    };
    assert!(message(&[0, 2, 2, 3], &[0.5, 0.5, 1.0]).contains("row 1 has no components"));
    assert!(message(&[0, 2, 3], &[1.5, -0.5, 1.0]).contains("row 0, component 1 is -0.5"));
    assert!(message(&[0, 2, 3], &[0.5, 0.5, 0.9]).contains("row 1 sum to 0.9"));
    assert!(message(&[0, 2, 3], &[0.5, f64::NAN, 1.0]).contains("row 0"));
    assert!(message(&[0, 2], &[0.5, 0.5, 1.0]).contains("offsets"));
    assert!(message(&[0, 9, 3], &[0.5, 0.5, 1.0]).contains("row 0"));
    assert!(message(&[0, 3], &[0.5, 0.5]).contains("3, one per component"));
}

#[test]
fn components_have_the_marks_of_their_rows() {
    let (n, d) = (5, 2);
    let data = mixture(n, d, 4);
    let marks: Vec<bool> = (0..n * d).map(|at| at % 3 == 0).collect();
    let of_components = data.marks_of_components(&marks).unwrap();
    assert!(data.marks_of_components(&marks[1..]).unwrap_err().to_string().contains("5 x 2"));
    let rows = Incomplete::from(&data).with_missing(&of_components).unwrap();
    assert_eq!(rows.marks_per_row(&of_components), marks);
    for (row, own) in marks.chunks_exact(d).enumerate() {
        for (j, missing) in own.iter().enumerate() {
            assert_eq!(rows.is_missing(row, j), *missing);
            assert!(data.row(row).all(|c| rows.components().is_missing(c, j) == *missing));
        }
    }
    let taken = rows.take(&[4, 1]).unwrap();
    assert_eq!(taken.view().marks_per_row(taken.view().missing().unwrap()), [&marks[8..], &marks[2..4]].concat());
    assert_eq!(taken.view().mixtures(), Some(&data.take(&[4, 1]).unwrap()));
}
