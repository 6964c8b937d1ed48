//! The uncertainty-SVC family: optima of a cone solver (tests/golden/robust.json), for every kind of covariance.

use serde::Deserialize;
use uncertain::data::covariance::{Full, Isotropic, Layout, Shared};
use uncertain::loss::{Hinge, Loss, WorstCaseHinge};
use uncertain::objective::Problem;
use uncertain::solver::{Options, SolverKind, Status, fit_linear};
use uncertain::{Control, Covariances, GaussianArray, Names, Rows, Unit};

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
        let total = weights.map_or(radii.len() as f64, |w| w.iter().sum());
        let worst = WorstCaseHinge::new(&radii);
        let loss: &dyn Loss = if radius == "0" { &Hinge } else { &worst };
        let problem =
            Problem { data: &data, targets: &golden.y, weights, alpha: 1.0 / (c * total), fit_intercept: true, loss };
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
