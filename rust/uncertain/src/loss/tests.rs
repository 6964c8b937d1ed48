use super::*;

fn at(loss: &dyn Loss, y: f64, m: f64, s: f64, width: f64) -> LossEval {
    let mut out = [LossEval::default()];
    loss.eval(&Scores { first: 0, y: &[y], m: &[m], v: &[s * s], width }, &mut out);
    out[0]
}

#[test]
fn derivatives_agree_with_central_differences() {
    let h = 1e-5;
    for loss in every_loss() {
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
    for loss in every_loss().into_iter().filter(|loss| loss.certificate() == Certificate::Homogeneous) {
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
fn losses_certified_by_tangents_lie_above_them() {
    for loss in every_loss().into_iter().filter(|loss| loss.certificate() == Certificate::Tangents) {
        for (m, s) in [(0.5, 1.0), (2.0, 0.3), (-1.0, 2.0), (1.2, 1e-3)] {
            let y = if loss.targets() == TargetKind::Real { 0.4 } else { 1.0 };
            let e = at(&*loss, y, m, s, 0.0);
            for (m2, s2) in [(0.0, 0.5), (1.0, 0.0), (3.0, 1.0), (-2.0, 0.1), (0.4, 0.0)] {
                let bound = e.value + e.dm * (m2 - m) + e.ds * (s2 - s);
                let value = at(&*loss, y, m2, s2, 0.0).value;
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
        (Box::new(ExpectedHuber { delta: 0.6 }), |r| if r.abs() < 0.6 { 0.5 * r * r } else { 0.6 * (r.abs() - 0.3) }),
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

#[test]
fn the_squared_hinge_is_an_expectation() {
    for (m, s) in [(-2.0, 0.3), (0.4, 1.0), (1.0, 0.5), (1.5, 0.2), (3.0, 2.0)] {
        let step = 1e-4;
        let mean: f64 = (-90_000..90_000)
            .map(|k| (f64::from(k) + 0.5) * step)
            .map(|z| (1.0 - m - s * z).max(0.0).powi(2) * crate::special::pdf(z) * step)
            .sum();
        for y in [-1.0, 1.0] {
            let value = at(&ExpectedSquaredHinge, y, y * m, s, 0.0).value;
            assert!((value / mean - 1.0).abs() < 1e-9, "{m} {s}: {value} {mean}");
        }
    }
    // Without spread the plain one, far on the right side nothing, not even rounding below zero.
    assert_eq!(at(&ExpectedSquaredHinge, 1.0, -1.0, 0.0, 0.0).value, 4.0);
    assert_eq!(at(&ExpectedSquaredHinge, 1.0, 3.0, 0.0, 0.0).value, 0.0);
    for m in 1..60 {
        assert!(at(&ExpectedSquaredHinge, 1.0, f64::from(m), 0.7, 0.0).value >= 0.0);
    }
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
    for loss in every_loss().into_iter().filter(|loss| loss.smoothness() == Smoothness::Kinked) {
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
    for loss in every_loss().into_iter().filter(|loss| loss.dual(0).is_some()) {
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
    for loss in every_loss() {
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
    let loss = EllipsoidHinge::worst(&[0.0, 1.0, 2.0]);
    let taken = loss.take_rows(&[2, 0]).unwrap();
    assert_eq!((taken.dual(0), taken.dual(1)), (Some(Dual::Radius(2.0)), Some(Dual::Radius(0.0))));
}

/// The names that users write, and what is refused.
#[test]
fn kinds_have_names_parameters_and_targets() {
    for kind in LossKind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
        assert_eq!(serde_json::from_str(&format!("{:?}", kind.name())).ok(), Some(kind));
        let json = serde_json::to_string(&kind).unwrap();
        assert!(json.contains(kind.name()), "{json}");
        assert_eq!(serde_json::from_str::<LossKind>(&json).unwrap(), kind);
        let targets = kind.build(None).targets();
        assert!(kind.check_for(targets).is_ok());
        let other = if targets == TargetKind::Real { TargetKind::Signs } else { TargetKind::Real };
        assert!(kind.check_for(other).unwrap_err().to_string().contains(kind.name()));
    }
    assert!("absolute".parse::<LossKind>().unwrap_err().to_string().contains("huber"));
    let refused = |kind: LossKind| kind.check().unwrap_err().to_string();
    assert!(refused(LossKind::Huber { delta: 0.0 }).contains("delta"));
    assert!(refused(LossKind::EpsilonInsensitive { epsilon: -1.0 }).contains("epsilon"));
    assert!(serde_json::from_str::<LossKind>(r#"{"huber": {"delta": 1.0, "epsilon": 1.0}}"#).is_err());
}

/// In units of `scale` a loss of residuals is the same but for a power of it.
#[test]
fn kinds_scale_with_their_units() {
    let scale = 2.5;
    for kind in LossKind::ALL.into_iter().filter(|kind| kind.build(None).targets() == TargetKind::Real) {
        let (scaled, power) = kind.scaled(scale);
        for (y, m, s) in [(0.4, 0.3, 0.5), (2.0, -1.0, 0.1), (-3.0, 1.0, 2.0)] {
            let here = at(&*kind.build(None), y, m, s, 0.0).value;
            let there = at(&*scaled.build(None), y / scale, m / scale, s / scale, 0.0).value;
            assert!((there * scale.powi(power) / here - 1.0).abs() < 1e-12, "{kind:?}");
        }
    }
}

#[test]
fn slopes_say_what_an_exact_row_loses() {
    let mut known = 0;
    for loss in every_loss() {
        for y in [-1.0, 1.0] {
            let Some(slopes) = loss.conjugate(0, y) else { continue };
            known += 1;
            for m in [-3.0, -1.0, -0.4, 0.0, 0.05, 0.8, 1.0, 1.3, 1.7] {
                let r = slopes.target - m;
                let best = [slopes.low, 0.0, slopes.high].map(|g| g * r - slopes.kink * g.abs());
                let value = at(&*loss, y, m, 0.0, 0.0).value;
                assert!((slopes.value(r) - value).abs() < 1e-15, "{loss:?} {y} {m}");
                assert!((best.into_iter().fold(0.0, f64::max) - value).abs() < 1e-15, "{loss:?} {y} {m}");
            }
        }
    }
    assert!(known >= 10, "{known}");
}
