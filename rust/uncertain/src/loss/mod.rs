//! Losses of a linear score that is itself Gaussian.
//!
//! The score w'x + b of a row N(x_i, S_i) has mean m and variance v = w'S_i w, so every expected,
//! worst-case or best-case loss is a scalar function of (y, m, v). A loss is one file here that
//! sees nothing else; covariances, penalties and the chain rule are in [`crate::objective`].
//!
//! Derivatives are taken in m and s = sqrt(v), not v: dL/dv grows like 1/s while S w / s stays
//! bounded, so this is the pair that never overflows. The chain rule with t = S w / s is
//! ```text
//! grad = dm x + ds t,
//! Hess = dmm x x' + dms (x t' + t x') + (dss - ds/s) t t' + (ds/s) S.
//! ```
//!
//! **Kinks.** A loss that is smooth wherever there is spread (the expected hinge) needs no more than a
//! little extra variance to be smooth everywhere. A hinge is kinked in m whatever the spread; it
//! offers a smoothed form of itself, [`Scores::width`] wide. What the interior-point method needs to know
//! about the loss instead is its [`Dual`].
//!
//! To add a loss: one file, one line in `every` of the tests below, which run every loss through
//! finite differences, the zero-variance limit and the bound of [`Loss::is_support_function`].

mod best_case_hinge;
mod expected_epsilon_insensitive;
mod expected_hinge;
mod expected_huber;
mod hinge;
mod margin_error;
mod noisy_targets;
mod squared;
mod tube_ends;
mod worst_case_hinge;

use std::fmt::Debug;

pub use best_case_hinge::BestCaseHinge;
pub use expected_epsilon_insensitive::ExpectedEpsilonInsensitive;
pub use expected_hinge::{ExpectedHinge, expected_hinge};
pub use expected_huber::ExpectedHuber;
pub use hinge::Hinge;
pub use margin_error::MarginError;
pub use noisy_targets::NoisyTargets;
pub use squared::ExpectedSquared;
pub use tube_ends::TubeEnds;
pub use worst_case_hinge::WorstCaseHinge;

/// Value and derivatives of a loss at (y, m, v); s = sqrt(v).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LossEval {
    /// L
    pub value: f64,
    /// dL/dm
    pub dm: f64,
    /// dL/ds
    pub ds: f64,
    /// d2L/dm2
    pub dmm: f64,
    /// d2L/dm ds
    pub dms: f64,
    /// d2L/ds2
    pub dss: f64,
}

/// Rows as a loss sees them: targets y, score means m and score variances v >= 0, of one length.
#[derive(Debug, Clone, Copy)]
pub struct Scores<'a> {
    /// Number of the first of these rows, for losses with a number of their own for every row.
    pub first: usize,
    /// Targets: -1 or +1, or real numbers, as the loss wants them.
    pub y: &'a [f64],
    /// Means.
    pub m: &'a [f64],
    /// Variances; smoothing has already added width^2.
    pub v: &'a [f64],
    /// How wide to smooth a kink that spread does not smooth; 0 is the loss itself.
    pub width: f64,
}

/// Where a loss has its kinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Smoothness {
    /// Smooth in m where v > 0.
    WithSpread,
    /// Kinked in m, whatever v.
    Kinked,
    /// Smooth enough as it is: never smoothed.
    Always,
}

/// What the interior-point method needs of a row's loss: its slopes p = dL/dd in (0, 1) and q = dL/ds
/// are one curve (p, q(p)), and d + s dq/dp = 0 inside it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Dual {
    /// q = phi(z), z = Phi^-1(p): the expected hinge.
    Normal,
    /// q = r p: the hinge of d + r s.
    Radius(f64),
}

/// A scalar loss of (y, m, v).
pub trait Loss: Debug + Sync {
    /// Value and derivatives, one per row.
    fn eval(&self, at: &Scores<'_>, out: &mut [LossEval]);

    /// Is L convex and positively homogeneous in (d, s), d = 1 - y m, increasing in s, and zero at
    /// (0, 0)? Then L(d, s) >= p d + q s for the (p, q) of any other point, which is what the
    /// duality gap of [`crate::objective`] is made of.
    fn is_support_function(&self) -> bool;

    /// Is y a real number, instead of -1 or +1? Such a loss must be convex in (m, s), increasing in s and
    /// nowhere negative: its tangents, in full, are then what the duality gap is made of.
    fn takes_real_targets(&self) -> bool {
        false
    }

    /// Is L convex in (m, s) and increasing in s, so that its sum is convex in (w, b)?
    fn is_convex(&self) -> bool {
        true
    }

    /// Where its kinks are.
    fn smoothness(&self) -> Smoothness {
        Smoothness::WithSpread
    }

    /// What the interior-point method needs, for the losses that it can handle.
    fn dual(&self, _row: usize) -> Option<Dual> {
        None
    }

    /// a of the row's margin deficit d = a - y m, for losses with a [`Dual`].
    fn offset(&self, _row: usize) -> f64 {
        1.0
    }

    /// The loss of the rows with these numbers, taken out of the others. `None`: the same for all rows.
    fn of_rows(&self, _rows: &[usize]) -> Option<Box<dyn Loss>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All losses: none may be forgotten by a test.
    fn every() -> Vec<Box<dyn Loss>> {
        vec![
            Box::new(ExpectedHinge),
            Box::new(Hinge),
            Box::new(WorstCaseHinge::new(&[0.77])),
            Box::new(BestCaseHinge::new(&[0.77])),
            Box::new(MarginError),
            Box::new(TubeEnds::new(vec![1.0])),
            Box::new(TubeEnds::new(vec![-0.4])),
            Box::new(ExpectedSquared),
            Box::new(ExpectedEpsilonInsensitive { epsilon: 0.3 }),
            Box::new(ExpectedEpsilonInsensitive { epsilon: 0.0 }),
            Box::new(ExpectedHuber { delta: 0.6 }),
            Box::new(ExpectedHuber { delta: 5.0 }),
            Box::new(NoisyTargets::new(ExpectedHuber { delta: 0.6 }, vec![0.5])),
            Box::new(NoisyTargets::new(ExpectedEpsilonInsensitive { epsilon: 0.3 }, vec![0.0])),
        ]
    }

    fn at(loss: &dyn Loss, y: f64, m: f64, s: f64, width: f64) -> LossEval {
        let mut out = [LossEval::default()];
        loss.eval(&Scores { first: 0, y: &[y], m: &[m], v: &[s * s], width }, &mut out);
        out[0]
    }

    #[test]
    fn derivatives_agree_with_central_differences() {
        let h = 1e-5;
        for loss in every() {
            for (y, width) in [(-1.0, 0.0), (1.0, 0.0), (1.0, 0.3), (-1.0, 0.3)] {
                for m in [-3.0, -0.4, 0.05, 0.9, 1.7] {
                    for s in [0.2, 1.0, 4.0] {
                        let at = |m: f64, s: f64| at(&*loss, y, m, s, width);
                        let e = at(m, s);
                        let dm = |f: fn(&LossEval) -> f64| (f(&at(m + h, s)) - f(&at(m - h, s))) / (2.0 * h);
                        let ds = |f: fn(&LossEval) -> f64| (f(&at(m, s + h)) - f(&at(m, s - h))) / (2.0 * h);
                        let close = |a: f64, b: f64| {
                            assert!((a - b).abs() < 1e-7 * (1.0 + a.abs()), "{loss:?} {y} {m} {s}: {a} {b}")
                        };
                        close(e.dm, dm(|e| e.value));
                        close(e.ds, ds(|e| e.value));
                        close(e.dmm, dm(|e| e.dm));
                        close(e.dms, dm(|e| e.ds));
                        close(e.dms, ds(|e| e.dm));
                        close(e.dss, ds(|e| e.ds));
                    }
                }
            }
        }
    }

    #[test]
    fn support_functions_lie_above_their_tangents() {
        for loss in every().into_iter().filter(|loss| loss.is_support_function()) {
            for width in [0.0, 0.4] {
                for (m, s) in [(0.5, 1.0), (2.0, 0.3), (-1.0, 2.0)] {
                    let tangent = at(&*loss, 1.0, m, s, width);
                    for (m2, s2) in [(0.0, 0.5), (1.0, 0.0), (3.0, 1.0), (-2.0, 0.1)] {
                        let bound = -tangent.dm * (1.0 - m2) + tangent.ds * s2;
                        assert!(at(&*loss, 1.0, m2, s2, 0.0).value >= bound - 1e-12, "{loss:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn regression_losses_lie_above_their_tangents() {
        for loss in every().into_iter().filter(|loss| loss.takes_real_targets() && loss.dual(0).is_none()) {
            for (m, s) in [(0.5, 1.0), (2.0, 0.3), (-1.0, 2.0), (1.2, 1e-3)] {
                let e = at(&*loss, 0.4, m, s, 0.0);
                for (m2, s2) in [(0.0, 0.5), (1.0, 0.0), (3.0, 1.0), (-2.0, 0.1), (0.4, 0.0)] {
                    let bound = e.value + e.dm * (m2 - m) + e.ds * (s2 - s);
                    let value = at(&*loss, 0.4, m2, s2, 0.0).value;
                    assert!(value >= bound - 1e-12 && value >= 0.0 && e.ds >= 0.0, "{loss:?} {m} {s} {m2} {s2}");
                }
            }
        }
    }

    /// E of the plain loss over f and, where it has an error bar, over y, by the midpoint rule.
    #[test]
    fn regression_losses_are_expectations() {
        fn plain(loss: &dyn Loss, residual: f64) -> f64 {
            at(loss, residual, 0.0, 0.0, 0.0).value
        }
        type Case = (Box<dyn Loss>, fn(f64) -> f64);
        let inner: [Case; 4] = [
            (Box::new(ExpectedSquared), |r| 0.5 * r * r),
            (Box::new(ExpectedEpsilonInsensitive { epsilon: 0.3 }), |r| (r.abs() - 0.3).max(0.0)),
            (
                Box::new(ExpectedHuber { delta: 0.6 }),
                |r| if r.abs() < 0.6 { 0.5 * r * r } else { 0.6 * (r.abs() - 0.3) },
            ),
            (Box::new(NoisyTargets::new(ExpectedHuber { delta: 0.6 }, vec![0.0])), |r| {
                if r.abs() < 0.6 { 0.5 * r * r } else { 0.6 * (r.abs() - 0.3) }
            }),
        ];
        for (loss, classical) in &inner {
            for r in [-2.0, -0.6, 0.0, 0.3, 0.61, 7.0] {
                assert!((plain(&**loss, r) - classical(r)).abs() < 1e-15, "{loss:?} {r}");
                for s in [0.05, 0.7, 1.3, 20.0] {
                    let step = 1e-4;
                    let mean: f64 = (-90_000..90_000)
                        .map(|k| (f64::from(k) + 0.5) * step)
                        .map(|z| classical(r - s * z) * crate::special::pdf(z) * step)
                        .sum();
                    let value = at(&**loss, 1.0 + r, 1.0, s, 0.0).value;
                    assert!((value / mean - 1.0).abs() < 1e-7, "{loss:?} {r} {s}: {value} {mean}");
                }
            }
        }
        let noisy = NoisyTargets::new(ExpectedHuber { delta: 0.6 }, vec![0.49]);
        let wider = at(&ExpectedHuber { delta: 0.6 }, 0.3, 0.0, (0.49_f64 + 1.0).sqrt(), 0.0);
        assert!((at(&noisy, 0.3, 0.0, 1.0, 0.0).value - wider.value).abs() < 1e-15);
    }

    /// (delta, residual, s, value)
    const HUBER: [(f64, f64, f64, f64); 11] = [
        (0.5, 0.2, 1000000.0, 398942.1554014573),
        (0.5, 100000.0, 1000000.0, 400935.2062047312),
        (0.5, 10000000.0, 1.0, 4999999.875),
        (0.5, 0.1, 1e-06, 0.0050000000005),
        (0.5, 0.5, 1e-06, 0.12500000000025),
        (1.0, 0.999, 0.3, 0.5216199329057304),
        (1.0, 3.0, 1.9, 2.6133255686396835),
        (1.0, 3.0, 2.1, 2.667656080358722),
        (1.0, 0.0, 1.999, 1.1606771254907045),
        (1e-09, 0.0, 1.0, 7.978845603028654e-10),
        (2.0, 40.0, 1.0, 78.0),
    ];
    /// (epsilon, residual, s, value)
    const TUBE: [(f64, f64, f64, f64); 5] = [
        (1.0, 0.0, 0.1, 1.4949120509178743e-25),
        (1.0, 0.0, 0.04, 9.750376370392422e-141),
        (1.0, 0.5, 1000.0, 796.8850594806306),
        (0.1, 1000000.0, 1.0, 999999.9),
        (1.0, 1.0, 1e-09, 3.989422804014327e-10),
    ];

    /// Far from the corners, and with spreads much wider or narrower than the tube (mpmath, 40 digits).
    #[test]
    fn regression_losses_keep_their_digits_in_the_tails() {
        let close = |value: f64, exact: f64| assert!((value / exact - 1.0).abs() < 1e-12, "{value} {exact}");
        HUBER.iter().for_each(|&(delta, r, s, value)| close(at(&ExpectedHuber { delta }, r, 0.0, s, 0.0).value, value));
        for &(epsilon, r, s, value) in &TUBE {
            close(at(&ExpectedEpsilonInsensitive { epsilon }, r, 0.0, s, 0.0).value, value);
        }
    }

    #[test]
    fn smoothing_is_from_above_and_vanishes_with_its_width() {
        for loss in every().into_iter().filter(|loss| loss.smoothness() == Smoothness::Kinked) {
            for (m, s) in [(0.5, 1.0), (1.0, 0.0), (2.0, 0.3), (-1.0, 2.0)] {
                let exact = at(&*loss, 1.0, m, s, 0.0).value;
                for width in [1.0, 1e-2, 1e-8] {
                    let above = at(&*loss, 1.0, m, s, width).value - exact;
                    assert!((0.0..=0.4 * width).contains(&above), "{loss:?} {m} {s} {width}: {above}");
                }
            }
        }
    }

    #[test]
    fn without_spread_every_margin_loss_is_the_hinge() {
        for loss in every().into_iter().filter(|loss| loss.dual(0).is_some()) {
            let a = loss.offset(0);
            for (y, m) in [(1.0, 0.3), (1.0, 1.0), (-1.0, 2.0), (1.0, 4.0)] {
                let e = at(&*loss, y, m, 0.0, 0.0);
                assert_eq!(e.value, (a - y * m).max(0.0));
                assert_eq!(e.dm, if y * m < a { -y } else { 0.0 });
            }
        }
    }

    /// The curve of slopes is where the loss says it is: its Legendre transform gives the loss back.
    #[test]
    fn the_dual_gives_the_loss_back() {
        for loss in every() {
            let Some(dual) = loss.dual(0) else { continue };
            for (m, s) in [(0.5, 1.0), (2.0, 0.3), (-1.0, 2.0)] {
                let value = |p: f64| {
                    let q = match dual {
                        Dual::Normal => crate::special::pdf(crate::special::quantile(p)),
                        Dual::Radius(r) => r * p,
                    };
                    p * (loss.offset(0) - m) + q * s
                };
                let most = (1..10_000).map(|k| value(f64::from(k) * 1e-4)).fold(0.0, f64::max);
                assert!((most - at(&*loss, 1.0, m, s, 0.0).value).abs() < 1e-3, "{loss:?} {m} {s}");
            }
        }
    }

    #[test]
    fn rows_taken_out_keep_their_own_numbers() {
        let loss = WorstCaseHinge::new(&[0.0, 1.0, 2.0]);
        let taken = loss.of_rows(&[2, 0]).unwrap();
        assert_eq!((taken.dual(0), taken.dual(1)), (Some(Dual::Radius(2.0)), Some(Dual::Radius(0.0))));
    }
}
