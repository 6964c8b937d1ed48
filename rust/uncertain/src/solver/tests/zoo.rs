//! Each method alone on a fixed set of problems: every covariance kind, loss, shape and penalty.
//!
//! Not a test: it prints one line per problem and method. Each method starts at zero, without another one to hand
//! over to, and is stopped after [`SECONDS`] of processor time, which does not depend on what else a machine is doing.
//!
//! ```text
//! ZOO_KINDS=diagonal,full ZOO_ROWS=300,3000 cargo test --release -p uncertain-learn --lib solver::tests::zoo -- --ignored --nocapture
//! ```

#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::data::{Covariances, GaussianArray, Names, Rows};
use crate::loss::{
    EllipsoidHinge, ExpectedEpsilonInsensitive, ExpectedHinge, ExpectedHuber, ExpectedSquared, Hinge, Loss,
};
use crate::solver::*;
use crate::testing::Numbers;

/// Processor time after which a method is stopped.
const SECONDS: f64 = 2.0;
const TOL: f64 = 1e-6;

const KINDS: [&str; 10] = [
    "thin",
    "mixed thin",
    "one exact in 7",
    "diagonal",
    "full",
    "low rank",
    "shared",
    "nearly exact",
    "isotropic",
    "zero",
];
const LOSSES: [&str; 6] = ["expected hinge", "hinge", "worst case", "epsilon", "huber", "squared"];
const SHAPES: [(usize, usize); 5] = [(300, 5), (3000, 30), (20_000, 20), (60, 300), (1500, 400)];
const ALPHAS: [f64; 2] = [1e-5, 1e-2];

/// Rows of a kind; `None` where they would be too large.
fn rows(kind: &str, n: usize, d: usize) -> Option<(GaussianArray, Vec<f64>, Vec<f64>)> {
    let mut numbers = Numbers::new(17);
    let signs: Vec<f64> = (0..n).map(|_| if numbers.uniform() < 0.4 { -1.0 } else { 1.0 }).collect();
    let scale: Vec<f64> = (0..d).map(|j| [1.0, 0.3, 3.0][j % 3]).collect();
    let means: Vec<f64> = (0..n * d)
        .map(|k| scale[k % d] * (numbers.normal() + if k % d < 3 { 0.7 * signs[k / d] } else { 0.0 }))
        .collect();
    let real = (0..n).map(|i| (0..d.min(5)).map(|j| means[i * d + j]).sum::<f64>() * 0.5 + 0.5 * numbers.normal());
    let real: Vec<f64> = real.collect();
    let mut draws = Numbers::new(18);
    let mut std = |width: usize, factor: &dyn Fn(usize) -> f64| {
        let values = (0..n * width).map(|k| factor(k / width) * (0.2 + draws.uniform())).collect();
        Rows::from_vec(values, width).unwrap()
    };
    let covariances = match kind {
        "zero" => Covariances::Zero,
        "isotropic" => Covariances::from_std(std(1, &|_| 0.5)),
        "diagonal" => Covariances::from_std(std(d, &|_| 0.5)),
        "one exact in 7" => Covariances::from_std(std(d, &|row| if row % 7 == 6 { 0.0 } else { 0.5 })),
        "nearly exact" => Covariances::from_std(std(d, &|_| 1e-7)),
        _ => {
            let diagonal = (kind == "low rank").then(|| std(d, &|_| 0.1));
            let mut factor = |rows: usize, rank: usize| -> Vec<f64> {
                (0..rows * d * rank).map(|_| 0.4 * numbers.normal()).collect()
            };
            match kind {
                "full" | "shared" => {
                    let count = if kind == "full" { n } else { 1 };
                    if count * d * d > 60_000_000 {
                        return None;
                    }
                    let f = factor(count, 3);
                    let mut square = vec![0.0; count * d * d];
                    for (row, s) in square.chunks_exact_mut(d * d).enumerate() {
                        let f = &f[row * d * 3..(row + 1) * d * 3];
                        for i in 0..d {
                            for j in 0..d {
                                let dot: f64 = (0..3).map(|k| f[i * 3 + k] * f[j * 3 + k]).sum();
                                s[i * d + j] = dot + if i == j { 0.05 } else { 0.0 };
                            }
                        }
                    }
                    if kind == "full" {
                        Covariances::from_cov(Rows::from_vec(square, d * d).unwrap(), &Names::default()).unwrap()
                    } else {
                        Covariances::shared(&square, &Names::default()).unwrap()
                    }
                }
                _ => {
                    let mut f = factor(n, 2);
                    if kind == "mixed thin" {
                        f.chunks_exact_mut(d * 2).step_by(3).for_each(|f| f.fill(0.0));
                    }
                    let f = Rows::from_vec(f, d * 2).unwrap();
                    Covariances::from_factor(f, 2, diagonal, &Names::default()).unwrap()
                }
            }
        }
    };
    let means = Rows::from_vec(means, d).unwrap();
    Some((GaussianArray::new(means, covariances).unwrap(), signs, real))
}

fn loss(name: &str, n: usize) -> Box<dyn Loss> {
    let radii: Vec<f64> = (0..n).map(|i| 0.5 * (i % 4) as f64).collect();
    match name {
        "expected hinge" => Box::new(ExpectedHinge),
        "hinge" => Box::new(Hinge),
        "worst case" => Box::new(EllipsoidHinge::worst(&radii)),
        "epsilon" => Box::new(ExpectedEpsilonInsensitive { epsilon: 0.1 }),
        "huber" => Box::new(ExpectedHuber { delta: 0.5 }),
        _ => Box::new(ExpectedSquared),
    }
}

/// Gap, iterations and seconds of one method; `None` where it does not apply.
fn measure(
    problem: &Problem<'_>,
    method: impl Fn(&LinearObjective<'_>, &Options, &Control) -> Option<Result<Solution>> + Sync,
) -> Option<(f64, usize, f64)> {
    let objective = problem.check().unwrap();
    let options = Options { tol: TOL, max_iter: Some(2000), ..Options::default() };
    let begin = processor_seconds();
    let (gap, iterations) = (Arc::new(AtomicU64::new(1.0_f64.to_bits())), Arc::new(AtomicU64::new(0)));
    let control = Control::new();
    let (stop, seen, done) = (control.clone(), Arc::clone(&gap), Arc::clone(&iterations));
    let control = control.with_listener(move |progress| {
        if !progress.gap.is_nan() {
            seen.store(progress.gap.to_bits(), Ordering::Relaxed);
        }
        done.store(progress.iteration as u64, Ordering::Relaxed);
        if processor_seconds() - begin > SECONDS {
            stop.stop();
        }
    });
    let result = method(&objective, &options, &control)?;
    let seconds = processor_seconds() - begin;
    match result {
        Ok(solution) => Some((solution.gap, solution.iterations, seconds)),
        Err(Error::Interrupted) => {
            Some((f64::from_bits(gap.load(Ordering::Relaxed)), iterations.load(Ordering::Relaxed) as usize, seconds))
        }
        Err(_) => Some((f64::NAN, 0, seconds)),
    }
}

/// User and system time of the process, in hundredths of a second (the 14th and 15th number, after a name in brackets).
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let numbers = stat.rsplit(')').next().unwrap().split_whitespace().skip(11).take(2);
    numbers.map(|ticks| ticks.parse::<f64>().unwrap()).sum::<f64>() / 100.0
}

/// Is it in the list of this environment variable, if there is one?
fn wanted(list: &str, name: impl ToString) -> bool {
    std::env::var(list).map_or(true, |names| names.split(',').any(|known| known == name.to_string()))
}

fn zero(objective: &LinearObjective<'_>) -> Start {
    Start { x: vec![0.0; objective.dim()], epsilon: 1.0, factor: None }
}

fn alone(ended: Result<Ended>) -> Option<Result<Solution>> {
    Some(ended.and_then(|ended| match ended {
        Ended::Done(solution) => Ok(solution),
        Ended::Narrow { .. } => Err(Error::Internal("handed over".into())),
    }))
}

type Method = fn(&LinearObjective<'_>, &Options, &Control) -> Option<Result<Solution>>;

fn has_dual(o: &LinearObjective<'_>) -> bool {
    o.problem().loss.dual(0).is_some() && o.dim() <= interior::LARGEST
}

const METHODS: [(&str, Method); 7] = [
    ("newton", |o, options, control| alone(newton::minimize(o, zero(o), false, options, control))),
    ("lbfgs", |o, options, control| alone(lbfgs::minimize(o, zero(o), false, options, control))),
    ("interior", |o, options, control| {
        has_dual(o).then(|| interior::minimize(o, vec![0.0; o.dim()], 1.0, 0, options, control))
    }),
    ("cone", |o, options, control| cone::fits(o).then(|| cone::minimize(o, 0, options, control))),
    ("sgd", |o, options, control| {
        let options = Options { max_iter: None, ..*options };
        Some(sgd::fit(o, &options, None, control))
    }),
    ("auto, no sample", |o, options, control| {
        Some(fit(o, SolverKind::Auto, options, Some(Near::Point(&vec![0.0; o.dim()])), control))
    }),
    ("auto", |o, options, control| Some(fit(o, SolverKind::Auto, options, None, control))),
];

#[test]
#[ignore = "prints a table, in an hour"]
fn compare_solvers() {
    println!("kind;loss;n;d;alpha;method;gap;iterations;seconds");
    for kind in KINDS.into_iter().filter(|kind| wanted("ZOO_KINDS", kind)) {
        for (n, d) in SHAPES.into_iter().filter(|(n, _)| wanted("ZOO_ROWS", n)) {
            let Some((data, signs, real)) = rows(kind, n, d) else { continue };
            for name in LOSSES {
                let loss = loss(name, n);
                let targets = if matches!(name, "epsilon" | "huber" | "squared") { &real } else { &signs };
                for alpha in ALPHAS {
                    let problem = Problem {
                        data: &data,
                        targets: targets.into(),
                        weights: None,
                        alpha,
                        fit_intercept: true,
                        loss: &*loss,
                    };
                    for (method, run) in METHODS.into_iter().filter(|(method, _)| wanted("ZOO_METHODS", method)) {
                        // The sampled start needs 8192 rows.
                        if method == "auto, no sample" && n < 8192 {
                            continue;
                        }
                        // It needs its time and takes it.
                        if method == "sgd" && (n, alpha) != (3000, ALPHAS[1]) {
                            continue;
                        }
                        let measured = parallel::install(None, || measure(&problem, run)).unwrap();
                        if let Some((gap, iterations, seconds)) = measured {
                            println!("{kind};{name};{n};{d};{alpha};{method};{gap:.1e};{iterations};{seconds:.2}");
                        }
                    }
                }
            }
        }
    }
}
