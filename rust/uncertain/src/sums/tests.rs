//! Requests arrive as they were sent: every kind, every field, every bit.

use std::collections::HashSet;
use std::mem::discriminant;

use strum::EnumCount;

use super::{LineRequest, LineSums, LinearProblem, RemoteLoss, Request, decode, encode};
use crate::loss::{LossKind, every_loss};
use crate::mixture::Mixture;
use crate::testing::Numbers;

/// Every loss that can be sent, with parameters that are nobody's default.
fn every_remote_loss() -> Vec<RemoteLoss> {
    let altered = |kind: LossKind| kind.scaled(1.7).0;
    let kinds = LossKind::ALL.into_iter().flat_map(|kind| [kind, altered(kind)]).map(RemoteLoss::Kind);
    kinds.chain([RemoteLoss::WorstCase { radius: 0.77 }]).collect()
}

/// Every kind of request, with any loss.
fn every_request() -> Vec<Request> {
    let mut numbers = Numbers::new(8);
    let mut some = |n: usize| (0..n).map(|_| numbers.normal()).collect::<Vec<f64>>();
    let x = some(4);
    let mixture = Mixture::from_packed(vec![0.25, 0.75], some(4), [1.5, 0.1, 2.0].repeat(2), 2).unwrap();
    let mut all = vec![
        Request::Counts { classes: 3, folds: 5 },
        Request::Moments { center: some(3) },
        Request::Targets { center: 0.1 + 0.2 },
        Request::Value { problem: None, x: x.clone(), epsilon: 0.3, hessian: true },
        Request::Scores { class: 2, every: 7, planes: vec![some(3), some(3)] },
        Request::Em { classes: 2, mixture: mixture.clone() },
        Request::Presence { classes: 4 },
        Request::Scatter { classes: 2, folds: 3, centers: some(4) },
        Request::Density { mixture: mixture.clone() },
        Request::Line(LineRequest {
            density: mixture,
            law: some(3),
            unit: 1.0 / 3.0,
            share: 0.7,
            theta: some(4),
            before: some(2),
            ask: LineSums::Squares { gain: some(5) },
        }),
    ];
    let kinds: HashSet<_> = all.iter().map(discriminant).collect();
    assert_eq!(kinds.len(), Request::COUNT, "an example of every request");
    all.extend(every_remote_loss().into_iter().map(|loss| Request::Value {
        problem: Some(LinearProblem {
            class: Some(1),
            held_out: Some(4),
            loss,
            center: -2.5,
            scale: 1e-7,
            share: 0.01,
        }),
        x: x.clone(),
        epsilon: 1e-3,
        hessian: false,
    }));
    all
}

#[test]
fn every_request_arrives_as_it_was_sent() {
    let all = every_request();
    assert_eq!(decode(&encode(&all).unwrap()).unwrap(), all);
    for request in all {
        let one = [request];
        assert_eq!(decode(&encode(&one).unwrap()).unwrap(), one);
    }
}

/// An attribute that leaves a field out would put its default in its place: all that Debug shows must be sent.
#[test]
fn no_field_of_a_request_stays_behind() {
    for request in every_request() {
        let (shown, sent) = (format!("{request:?}"), serde_json::to_string(&request).unwrap());
        let names = |text: &str, quote: &str| -> Vec<String> {
            let word = |part: &str| part.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned);
            let parts: Vec<&str> = text.split(&format!("{quote}:")).collect();
            parts[..parts.len() - 1].iter().filter_map(|part| word(part)).collect()
        };
        // Names of variants stand before a colon in JSON, too.
        let sent: Vec<String> = names(&sent, "\"");
        let fields = names(&shown, "");
        assert!(!fields.is_empty());
        for field in &fields {
            let count = |all: &[String]| all.iter().filter(|name| *name == field).count();
            assert_eq!(count(&sent), count(&fields), "{field} of {request:?}");
        }
    }
}

#[test]
fn numbers_keep_their_bits() {
    let strange =
        [0.0, -0.0, 5e-324, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::from_bits(0x7ff8_0000_0000_beef)];
    let sent = |x: f64| {
        let loss = RemoteLoss::Kind(LossKind::Huber { delta: x });
        let problem = LinearProblem { class: None, held_out: None, loss, center: x, scale: x, share: x };
        let request = Request::Value { problem: Some(problem), x: vec![x, x], epsilon: x, hessian: true };
        decode(&encode(&[request]).unwrap()).unwrap().remove(0)
    };
    for x in strange {
        let Request::Value { problem: Some(problem), x: point, epsilon, .. } = sent(x) else {
            panic!("another request")
        };
        let RemoteLoss::Kind(LossKind::Huber { delta }) = problem.loss else { panic!("another loss") };
        for arrived in [delta, problem.center, problem.scale, problem.share, point[0], point[1], epsilon] {
            assert_eq!(arrived.to_bits(), x.to_bits());
        }
    }
}

/// A loss that was sent gives the loss itself; those that cannot be sent are fitted in one memory only.
#[test]
fn losses_arrive_as_they_were_sent_or_stay() {
    const STAY: [&str; 2] = ["MarginError", "TubeEnds"];
    let name = |shown: &str| shown.split([' ', '{', '(']).next().unwrap().to_owned();
    let mut built = HashSet::new();
    for loss in every_remote_loss() {
        let one = [Request::Value {
            problem: Some(LinearProblem { class: None, held_out: None, loss, center: 0.0, scale: 1.0, share: 1.0 }),
            x: vec![],
            epsilon: 0.0,
            hessian: false,
        }];
        let Request::Value { problem: Some(problem), .. } = decode(&encode(&one).unwrap()).unwrap().remove(0) else {
            panic!("another request")
        };
        for variances in [None, Some(vec![0.5])] {
            let shown = format!("{:?}", loss.build(1, variances.clone()));
            assert_eq!(format!("{:?}", problem.loss.build(1, variances)), shown);
            built.insert(name(&shown));
        }
    }
    for loss in every_loss() {
        let name = name(&format!("{loss:?}"));
        assert!(built.contains(&name) != STAY.contains(&&*name), "{name}: say how it is sent, or that it stays");
    }
}
