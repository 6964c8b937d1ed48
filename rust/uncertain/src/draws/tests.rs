use super::model::{FLOOR, squared_step};
use super::*;
use crate::testing::Numbers;

fn fitted(values: Vec<f64>, d: usize, params: Params) -> Result<FromDraws> {
    let draws = Rows::from_vec(values, d).unwrap();
    let offsets = [0, draws.n_rows()];
    params.fit(draws, &offsets, None)
}

#[test]
fn one_component_has_the_moments_of_the_draws() {
    let mut numbers = Numbers::new(1);
    let values: Vec<f64> = (0..600).map(|k| numbers.normal() * 1e-3 + f64::from(k % 2) * 7.0).collect();
    let found = fitted(values.clone(), 2, Params::new().n_components(Some(1))).unwrap().mixtures;
    let mean: f64 = values.iter().step_by(2).sum::<f64>() / 300.0;
    let variance: f64 = values.iter().step_by(2).map(|x| (x - mean).powi(2)).sum::<f64>() / 300.0;
    assert!((found.components().means().at(0, 0) - mean).abs() < 1e-15);
    // The floor adds its part.
    let own = found.components().covariances().quad(0, &[1.0, 0.0]);
    assert!((own / variance - 1.0 - FLOOR).abs() < 1e-9, "{own} {variance}");
}

#[test]
fn peaks_are_found_and_gaussians_stay_one() {
    let mut numbers = Numbers::new(2);
    let (mut wide, mut peaks) = (vec![], vec![]);
    for k in 0..1000 {
        wide.extend([numbers.normal(), 3.0 + 2.0 * numbers.normal()]);
        let at = if k % 10 < 3 { 6.0 } else { 0.0 };
        peaks.extend([at + numbers.normal(), -at + 0.5 * numbers.normal()]);
    }
    assert_eq!(fitted(wide, 2, Params::new()).unwrap().mixtures.components().n_rows(), 1);
    let found = fitted(peaks, 2, Params::new()).unwrap().mixtures;
    assert_eq!(found.components().n_rows(), 2);
    let small = usize::from(found.weights()[0] > 0.5);
    assert!((found.weights()[small] - 0.3).abs() < 0.01, "{:?}", found.weights());
    assert!((found.components().means().at(small, 0) - 6.0).abs() < 0.25);
}

#[test]
fn few_draws_have_few_components_and_bad_ones_are_refused() {
    let found = fitted(vec![0.0, 1.0, 5.0, 6.0], 1, Params::new().n_components(Some(3))).unwrap();
    assert_eq!((found.mixtures.components().n_rows(), found.n_fewer), (1, 1));
    assert!(
        fitted(vec![2.0; 40], 1, Params::new()).unwrap().mixtures.components().covariances().quad(0, &[1.0]) == 0.0
    );
    let message = |values: Vec<f64>| fitted(values, 1, Params::new()).unwrap_err().to_string();
    assert!(message(vec![1.0]).contains("row 0 has 1 draws"));
    assert!(message(vec![1.0, 2.0, f64::NAN]).contains("draw 2, feature 0 is NaN"));
    assert!(fitted(vec![1.0, 2.0], 1, Params::new().n_components(Some(0))).is_err());
    let rows = Rows::from_vec(vec![1.0, 2.0, 3.0], 1).unwrap();
    let fit = |weights: &[f64]| Params::new().fit(rows.clone(), &[0, 3], Some(weights));
    assert!(fit(&[1.0, -1.0, 1.0]).unwrap_err().to_string().contains("draw 1 has the weight -1"));
    assert!(fit(&[0.0; 3]).unwrap_err().to_string().contains("all draws are zero"));
}

#[test]
fn weights_of_draws_count() {
    let mut numbers = Numbers::new(3);
    let values: Vec<f64> = (0..4000).map(|_| numbers.normal()).collect();
    let rows = Rows::from_vec(values.clone(), 1).unwrap();
    // exp(x) moves a standard normal distribution by 1.
    let weights: Vec<f64> = values.iter().map(|x| x.exp()).collect();
    let params = Params::new().n_components(Some(1));
    let found = params.fit(rows, &[0, 4000], Some(&weights)).unwrap().mixtures;
    assert!((found.components().means().at(0, 0) - 1.0).abs() < 0.1);
}

#[test]
fn a_jump_ends_a_geometric_series_and_is_never_shorter_than_its_steps() {
    let limit = [3.0, -1.0];
    let at = |t: i32, rate: f64| limit.map(|x| x + (x + 2.0) * rate.powi(t));
    let found = squared_step(&at(0, 0.9), &at(1, 0.9), &at(2, 0.9)).unwrap();
    assert!(found.iter().zip(limit).all(|(x, y)| (x - y).abs() < 1e-12), "{found:?}");
    // Steps that grow (rate > 2) would be undone by a shorter jump.
    let found = squared_step(&at(0, 3.0), &at(1, 3.0), &at(2, 3.0)).unwrap();
    assert!(found.iter().zip(at(2, 3.0)).all(|(x, y)| (x - y).abs() < 1e-12), "{found:?}");
    assert_eq!(squared_step(&limit, &limit, &limit), None);
}
