//! The uncertainty-SVC family: optima of a cone solver (tests/golden/robust.json), for every kind of covariance.

use std::collections::HashMap;

use serde::Deserialize;
use uncertain::data::covariance::{Full, Isotropic, Layout, Shared};
use uncertain::data::{Covariances, Labels, Names, RowTargets, Rows, Unit, Weights};
use uncertain::loss::{EllipsoidHinge, Hinge, Loss, MarginError};
use uncertain::objective::{Derivatives, Problem};
use uncertain::prelude::*;
use uncertain::robust::{Bound, Method, Model, Params, Theta};
use uncertain::solver::{Options, SolverKind, Status, fit_linear};
use uncertain::transform::LinearMap;
use uncertain::{Control, GaussianArray, minimax};

#[derive(Deserialize)]
struct Case {
    kind: String,
    #[serde(rename = "C")]
    c: f64,
    radius: String,
    objective: f64,
}

#[derive(Deserialize)]
struct Golden {
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
    weight: Vec<f64>,
    radii: Vec<f64>,
    isotropic: Vec<f64>,
    diagonal: Vec<Vec<f64>>,
    #[serde(rename = "low-rank")]
    low_rank: Vec<Vec<f64>>,
    full: Vec<Vec<f64>>,
    usvc: Vec<Case>,
    minimax: HashMap<String, f64>,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../golden/robust.json")).unwrap()
}

fn rows(values: &[Vec<f64>]) -> Rows {
    Rows::from_vec(values.concat(), values[0].len()).unwrap()
}

impl Golden {
    fn data(&self, kind: &str) -> GaussianArray {
        let d = self.x[0].len();
        let covariances = match kind {
            "zero" => Covariances::Zero,
            "isotropic" => Covariances::Isotropic(Isotropic {
                values: Rows::from_vec(self.isotropic.clone(), 1).unwrap(),
                unit: Unit::Variance,
            }),
            "diagonal" => Covariances::from_var(rows(&self.diagonal)),
            "low-rank" => Covariances::from_factor(rows(&self.low_rank), 1, None, &Names::default()).unwrap(),
            "full" => Covariances::Full(Full { values: rows(&self.full), layout: Layout::Square }),
            _ => {
                let first = &self.full[0];
                let packed: Vec<f64> = (0..d).flat_map(|i| (0..=i).map(move |j| first[i * d + j])).collect();
                Covariances::Shared(Shared { packed: packed.into() })
            }
        };
        GaussianArray::new(rows(&self.x), covariances).unwrap()
    }

    fn labels(&self) -> Labels {
        Labels::new(self.y.iter().map(|&y| u32::from(y > 0.0)).collect(), 2).unwrap()
    }

    /// Radii and weights of a case.
    fn of(&self, radius: &str) -> (Vec<f64>, Option<&[f64]>) {
        match radius {
            "rows" => (self.radii.clone(), Some(&self.weight)),
            number => (vec![number.parse().unwrap(); self.y.len()], None),
        }
    }
}

#[test]
fn the_cone_programs_optima_are_reached_for_every_kind_radius_and_penalty() {
    let golden = golden();
    for Case { kind, c, radius, objective } in &golden.usvc {
        let data = golden.data(kind);
        let (radii, weights) = golden.of(radius);
        let weights = weights.map(|w| Weights::new(w.to_vec()).unwrap());
        let total = weights.as_ref().map_or(radii.len() as f64, Weights::total);
        let worst = EllipsoidHinge::worst(&radii);
        let loss: &dyn Loss = if radius == "0" { &Hinge } else { &worst };
        let problem = Problem {
            data: &data,
            targets: (&golden.y).into(),
            weights: weights.as_ref(),
            alpha: 1.0 / (c * total),
            fit_intercept: true,
            loss,
        };
        for solver in [SolverKind::Auto, SolverKind::Newton] {
            let s = fit_linear(&problem, solver, &Options::default(), None, &Control::new()).unwrap();
            let what =
                format!("{kind} C = {c} radius = {radius}: {} after {} iterations", s.status.name(), s.iterations);
            assert_eq!(s.status, Status::Converged, "{what}, gap {}", s.gap);
            let excess = s.objective * c * total / objective - 1.0;
            assert!((-1e-7..1.1e-6).contains(&excess), "{what}: {excess}");
        }
    }
}

#[test]
fn models_come_back_from_files_with_their_answers() {
    use uncertain::file::{self, Class, Saved};
    use uncertain::step::Step;
    let golden = golden();
    let (data, labels) = (golden.data("full"), golden.labels());
    let classes = vec![Class::from(-1), Class::from(1)];
    let params = Params::new().method(Method::Ausvc).confidence(Some(0.8)).bound(Bound::Chebyshev).probability(true);
    let params = params.check().unwrap();
    let robust = params.fit(&Dataset::new(&data).with_labels(&labels).unwrap()).unwrap();
    let linear = robust.linear.clone();
    let machine = minimax::Params::new().ridge(1e-3).probability(true).seed(5).check().unwrap();
    let fitted = machine.fit(&Dataset::new(&data).with_labels(&labels).unwrap()).unwrap();
    let minimax = Step::new(fitted.clone(), machine);
    for (step, linear) in [(Step::new(robust, params), linear), (minimax, fitted.linear)] {
        let bytes = file::save_to_bytes(&Saved::new(vec![step], classes.clone())).unwrap();
        let again = file::load_from_bytes(&bytes).unwrap();
        assert_eq!(file::save_to_bytes(&again).unwrap(), bytes);
        assert_eq!(again.predict(&data).unwrap(), linear.predict(&data).unwrap());
        assert_eq!(again.decision_function(&data).unwrap(), linear.decision_function(&data).unwrap());
        assert_eq!(again.predict_proba(&data).unwrap(), linear.predict_proba(&data).unwrap());
        match &again.steps[0] {
            Step::Robust(with) => assert!((with.params.radius() - 2.0).abs() < 1e-12),
            Step::Minimax(with) => assert_eq!(with.model.worst_case_accuracy, fitted.worst_case_accuracy),
            other => panic!("{other:?}"),
        }
        for cut in 0..bytes.len() {
            assert!(file::load_from_bytes(&bytes[..cut]).is_err());
        }
    }
}

#[test]
fn minimax_probabilities_follow_the_scores() {
    let golden = golden();
    let data = golden.data("diagonal");
    let labels = golden.labels();
    let model = minimax::Params::new()
        .probability(true)
        .check()
        .unwrap()
        .fit(&Dataset::new(&data).with_labels(&labels).unwrap())
        .unwrap();
    let points = GaussianArray::exact(data.means().clone()).unwrap();
    let (scores, probabilities) = (model.decision_function(&points).unwrap(), model.predict_proba(&points).unwrap());
    let mut order: Vec<usize> = (0..golden.y.len()).collect();
    order.sort_by(|&i, &j| scores[[i, 0]].total_cmp(&scores[[j, 0]]));
    assert!(order.windows(2).all(|w| probabilities[[w[0], 1]] <= probabilities[[w[1], 1]]));
    assert!(probabilities.rows().into_iter().all(|p| (p.sum() - 1.0).abs() < 1e-12));
}

const KINDS: [&str; 6] = ["zero", "isotropic", "diagonal", "low-rank", "full", "shared"];

fn fit(params: Params, data: &GaussianArray, labels: &Labels) -> Model {
    params.check().unwrap().fit(&Dataset::new(data).with_labels(labels).unwrap()).unwrap()
}

#[test]
fn the_estimator_reports_the_objective_on_the_scale_of_c() {
    let golden = golden();
    let weighted = golden.labels().with_weights(golden.weight.clone()).unwrap();
    for Case { kind, c, radius, objective } in golden.usvc.iter().filter(|case| case.radius != "rows") {
        let params = Params::new().c(*c).radius(radius.parse().unwrap());
        let model = fit(params, &golden.data(kind), &golden.labels());
        assert!((model.linear.fits[0].objective / objective - 1.0).abs() < 1.1e-6);
        assert_eq!(model.history[0], [model.linear.fits[0].objective]);
    }
    // A weight of 2 is the row twice, on the scale of C too.
    let doubled = golden.labels().with_weights(golden.weight.iter().map(|c| 2.0 * c).collect()).unwrap();
    let data = golden.data("full");
    let once = fit(Params::new().c(2.0).tol(1e-9), &data, &weighted);
    let twice = fit(Params::new().c(1.0).tol(1e-9), &data, &doubled);
    assert!((once.linear.fits[0].objective / twice.linear.fits[0].objective - 1.0).abs() < 2e-9);
}

#[test]
fn every_step_of_tsvc_lowers_its_objective_to_a_point_that_no_direction_improves() {
    let golden = golden();
    for (method, kind) in KINDS.iter().flat_map(|kind| [(Method::Tsvc, *kind), (Method::Psvm, *kind)]) {
        let data = golden.data(kind);
        for c in [0.1, 10.0] {
            let model = fit(Params::new().c(c).method(method), &data, &golden.labels());
            let (history, report) = (&model.history[0], &model.linear.fits[0]);
            assert!(history.windows(2).all(|w| w[1] < w[0]), "{kind} {c}: {history:?}");
            assert_eq!((*history.last().unwrap(), report.status), (report.objective, Status::Converged));
            let balls = data.collapse(uncertain::Collapse::Isotropic).unwrap();
            let rows = if method == Method::Psvm { &balls } else { &data };
            let (w, b) = (model.linear.coef.row(0).to_vec(), model.linear.intercept[0]);
            let value = |w: &[f64], b: f64| -> f64 {
                let losses = (0..golden.y.len()).map(|i| {
                    let m: f64 = rows.means().row(i).iter().zip(w).map(|(x, w)| x * w).sum::<f64>() + b;
                    (1.0 - golden.y[i] * m - rows.covariances().quad(i, w).max(0.0).sqrt()).max(0.0)
                });
                0.5 * w.iter().map(|w| w * w).sum::<f64>() + c * losses.sum::<f64>()
            };
            assert!((value(&w, b) / report.objective - 1.0).abs() < 1e-9, "{kind}");
            for k in 0..=w.len() {
                for h in [1e-3, -1e-3] {
                    let mut moved = [w.clone(), vec![b]].concat();
                    moved[k] += h;
                    let there = value(&moved[..w.len()], moved[w.len()]);
                    assert!(there > report.objective * (1.0 - 1e-5), "{kind} {c} {k}: {there} {}", report.objective);
                }
            }
        }
    }
}

#[test]
fn misclassified_rows_lose_radius_and_the_others_keep_it() {
    let golden = golden();
    for kind in KINDS {
        let data = golden.data(kind);
        let model = fit(Params::new().method(Method::Ausvc), &data, &golden.labels());
        let (radii, history) = (&model.radii[0], &model.history[0]);
        assert!(history.windows(2).all(|w| w[1] <= w[0] * (1.0 + 1e-6)), "{kind}: {history:?}");
        let scores = model.decision_function(&data).unwrap();
        for i in 0..radii.len() {
            let wrong = golden.y[i] * scores[[i, 0]] < 0.0;
            assert!((0.0..=1.0).contains(&radii[i]) && (!wrong || radii[i] == 0.0), "{kind}: {}", radii[i]);
        }
        assert!(radii.contains(&1.0) && radii.contains(&0.0), "{kind}");
    }
}

#[test]
fn radii_fall_in_steps_of_the_given_size() {
    let golden = golden();
    let data = golden.data("full");
    for (shrink, steps) in [(0.5, 2.0), (0.25, 4.0), (0.4, 2.5), (1.0, 1.0)] {
        let model = fit(Params::new().method(Method::Ausvc).shrink(shrink).radius(2.0), &data, &golden.labels());
        for radius in &model.radii[0] {
            let lost = (2.0 - radius) / 2.0 * steps;
            let whole = (lost - lost.round()).abs() < 1e-12;
            assert!(whole || *radius == 0.0, "{shrink}: {radius}");
        }
        assert!(model.radii[0].contains(&2.0) && model.radii[0].contains(&0.0), "{shrink}");
    }
    for shrink in [0.0, -0.1, 1.5, f64::NAN] {
        assert!(Params::new().shrink(shrink).check().is_err());
    }
}

#[test]
fn the_published_weights_of_mpsvc_are_another_search() {
    let golden = golden();
    let data = golden.data("full");
    let of = |params: Params| fit(params.method(Method::Mpsvc).polish(false), &data, &golden.labels());
    let (near, published) = (of(Params::new()), of(Params::new().theta(Theta::Published)));
    // Both begin with AUSVC and a round of equal weights, and keep the best measure.
    assert_eq!(near.history[0][..2], published.history[0][..2]);
    assert_ne!(near.history[0], published.history[0]);
    for model in [near, published, of(Params::new().theta(Theta::Published).theta_factor(1.5))] {
        assert!(model.history[0].windows(2).all(|w| w[1] <= w[0]));
    }
    for factor in [1.0, 0.5, f64::INFINITY, f64::NAN] {
        assert!(Params::new().theta_factor(factor).check().is_err());
    }
}

#[test]
fn mpsvc_has_the_smallest_measure_of_the_family_and_polish_does_not_harm() {
    let golden = golden();
    for kind in KINDS {
        let data = golden.data(kind);
        let measure = |model: &Model| {
            let targets = RowTargets::from(&golden.y);
            let loss = &MarginError;
            let problem = Problem { data: &data, targets, weights: None, alpha: 1e-300, fit_intercept: true, loss };
            let mut x = model.linear.coef.row(0).to_vec();
            x.push(model.linear.intercept[0]);
            let objective = problem.check().unwrap();
            objective.evaluate(&x, 0.0, Derivatives::Gradient, &Control::new()).unwrap().objective
                * targets.len() as f64
        };
        let of = |params: Params| fit(params, &data, &golden.labels());
        let ausvc = measure(&of(Params::new().method(Method::Ausvc)));
        let usvc = measure(&of(Params::new()));
        let paper = of(Params::new().method(Method::Mpsvc).polish(false));
        let polished = of(Params::new().method(Method::Mpsvc));
        for model in [&paper, &polished] {
            assert!((measure(model) - model.linear.fits[0].objective).abs() < 1e-9 * ausvc, "{kind}");
            assert!(model.history[0].windows(2).all(|w| w[1] <= w[0]));
        }
        let at_most = |a: f64, b: f64| assert!(a <= b * (1.0 + 1e-9), "{kind}: {a} {b}");
        at_most(measure(&paper), ausvc);
        at_most(measure(&polished), measure(&paper));
        at_most(measure(&polished), usvc);
        if polished.linear.coef.iter().all(|w| *w == 0.0) {
            // One class for all: the other one's rows are wrong, and there is no scale.
            let fewer =
                golden.y.iter().filter(|y| **y > 0.0).count().min(golden.y.iter().filter(|y| **y < 0.0).count());
            assert!((measure(&polished) - fewer as f64).abs() < 1e-9, "{kind}");
        } else if kind != "zero" {
            let stds = polished.decision_distribution(&data).unwrap().1;
            assert!((stds.iter().copied().fold(0.0, f64::max) - 1.0).abs() < 1e-9, "{kind}: the scale");
        }
    }
}

#[test]
fn mpsvc_depends_neither_on_the_origin_nor_on_the_unit() {
    let golden = golden();
    // Rows of low rank can be exact along w, and then cost 0 or 1 where the plane goes through them: rounding decides.
    for kind in ["isotropic", "diagonal", "full", "shared"] {
        let data = golden.data(kind);
        let scores = |data: &GaussianArray, c: f64| {
            let params = Params::new().method(Method::Mpsvc).c(c).tol(1e-9);
            let model = fit(params, data, &golden.labels());
            assert!(model.linear.coef.iter().all(|w| w.is_finite()));
            (model.decision_function(data).unwrap(), model.linear.fits[0].objective)
        };
        let (expected, measure) = scores(&data, 1.0);
        let moved = |factor: f64, shift: [f64; 3]| {
            let map = LinearMap::new(&(factor * ndarray::Array2::<f64>::eye(3))).unwrap();
            let scaled = map.transform(&data).unwrap();
            let shifted = scaled.means().to_vec().iter().enumerate().map(|(at, x)| x + shift[at % 3]).collect();
            let means = Rows::from_vec(shifted, 3).unwrap();
            GaussianArray::new(means, scaled.covariances().clone()).unwrap()
        };
        // The penalty of AUSVC, where the search begins, has a unit.
        for (factor, shift, within) in [
            (1.0, [1e6, -1e6, 1e6], 1e-3),
            (1e-3, [0.0; 3], 1e-5),
            (1e5, [0.0; 3], 1e-5),
            (1e-40, [0.0; 3], 1e-5),
            (1e40, [1e45, 1e44, -1e45], 1e-3),
        ] {
            let (found, least) = scores(&moved(factor, shift), 1.0 / (factor * factor));
            assert!((least / measure - 1.0).abs() < within, "{kind} {factor:e}: {least} {measure}");
            let off = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let size = expected.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
            assert!(off < within * size, "{kind} {factor:e}: {off}");
        }
    }
}

#[test]
fn one_class_for_all_is_one_plane() {
    // The labels of this axis follow nothing: no plane is better than none.
    let means = Rows::from_vec((0..12).map(|i| f64::from(i / 3)).collect(), 1).unwrap();
    let data = GaussianArray::new(means, Covariances::from_std(Rows::from_vec(vec![50.0; 12], 1).unwrap())).unwrap();
    let labels = Labels::new((0..12).map(|i| u32::from(i % 3 == 0)).collect(), 2).unwrap();
    let model = fit(Params::new().method(Method::Mpsvc), &data, &labels);
    assert_eq!((model.linear.coef[[0, 0]], model.linear.intercept[0]), (0.0, -1.0));
    assert!((model.linear.fits[0].objective - 4.0).abs() < 1e-12);
}

#[test]
fn minimax_accuracies_are_those_of_the_cone_program() {
    let golden = golden();
    for kind in KINDS {
        let data = golden.data(kind);
        let model = minimax::Params::new()
            .ridge(0.0)
            .check()
            .unwrap()
            .fit(&Dataset::new(&data).with_labels(&golden.labels()).unwrap())
            .unwrap();
        let (found, expected) = (model.worst_case_accuracy[0], golden.minimax[kind]);
        assert!((found - expected).abs() < 1e-7, "{kind}: {found} {expected}");
        assert_eq!(model.linear.fits[0].status, Status::Converged);
    }
}

#[test]
fn bad_parameters_are_refused() {
    use uncertain::Error;
    let refused = |params: Params, name: &str| match params.check() {
        Err(Error::Parameter { name: found, .. }) => assert_eq!(found, name),
        other => panic!("{other:?}"),
    };
    refused(Params::new().c(0.0), "C");
    refused(Params::new().c(f64::NAN), "C");
    refused(Params::new().radius(-1.0), "radius");
    refused(Params::new().confidence(Some(0.2)), "confidence");
    refused(Params::new().tol(0.0), "tol");
    assert_eq!("ausvc".parse(), Ok(Method::Ausvc));
    let message = "svm".parse::<Method>().unwrap_err().to_string();
    assert!(message.contains("usvc, tsvc, ausvc, mpsvc, psvm"), "{message}");
    let nine = Params::new().confidence(Some(0.9)).bound(Bound::Chebyshev).check().unwrap();
    assert!((nine.radius() - 3.0).abs() < 1e-12);
}

#[test]
fn more_classes_have_radii_of_their_own_and_probabilities_sum_to_one() {
    let golden = golden();
    let data = golden.data("diagonal");
    let codes = (0..40).map(|i| (i % 3) as u32).collect();
    let labels = Labels::new(codes, 3).unwrap();
    let model = fit(Params::new().method(Method::Ausvc).probability(true), &data, &labels);
    assert_eq!((model.radii.len(), model.history.len(), model.linear.coef.dim()), (3, 3, (3, 3)));
    let probabilities = model.predict_proba(&data).unwrap();
    assert!(probabilities.rows().into_iter().all(|p| (p.sum() - 1.0).abs() < 1e-12));
}
