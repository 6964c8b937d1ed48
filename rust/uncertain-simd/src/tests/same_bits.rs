//! Sums have the same bits on every machine with fused multiply-add: in each copy that has it, every kernel of a pass
//! over the data gives what the first one gives; without it, the same but for rounding.
//!
//! Not among them: what is written for one kind of register (`vector`), where AVX-512 has short cuts to 1 / x and
//! 1 / sqrt(x) that are right to two units in the last place.

use std::sync::Arc;

use crate::dispatch::{Level, Set};
use crate::logistic::logistic_normal;
use crate::mixture::{Component, Densities, Noise, Scatter, Shape, Sums, Workspace, triangle};
use crate::normal::{HingeParts, cdf, expected_hinge, pdf};
use crate::spread::PairTerms;
use crate::testing::Numbers;
use crate::tests::under_miri::{one_of, up_to};
use crate::{LANES, Layout, Pack, Power, Stored, smo};

/// Results by the name of the kernel and the sizes.
type Results = Vec<(String, Vec<f64>)>;

fn normals(n: usize, numbers: &mut Numbers) -> Vec<f64> {
    (0..n).map(|_| numbers.normal()).collect()
}

/// A A' + I, d x d.
fn positive(d: usize, numbers: &mut Numbers) -> Vec<f64> {
    let a = normals(d * d, numbers);
    let dot = |i: usize, j: usize| (0..d).map(|k| a[i * d + k] * a[j * d + k]).sum::<f64>();
    (0..d * d).map(|k| dot(k / d, k % d) + f64::from(u8::from(k / d == k % d))).collect()
}

fn passes(d: usize, n: usize, numbers: &mut Numbers, found: &mut Results) {
    let mut add = |what: &str, values: Vec<f64>| found.push((format!("{what}, {n} x {d}"), values));
    let (values, w) = (normals(n * d, numbers), normals(d, numbers));
    let (picks, coef): (Vec<u32>, _) = ((0..n as u32).filter(|k| k % 3 != 1).collect(), normals(n, numbers));
    let (mut image, matrices) = (vec![0.0; n * d], (0..n).flat_map(|_| positive(d, numbers)).collect::<Vec<_>>());
    add("dot", vec![crate::dot(&values[..d], &w)]);
    for power in [Power::One, Power::Two] {
        let (mut out, mut sum) = (vec![0.0; n], w.clone());
        crate::dots(Stored::F64(&values), &w, power, &mut out);
        add("dots", out);
        crate::add_rows(Stored::F64(&values), 0, &picks, &coef, power, &mut sum);
        add("add_rows", sum);
    }
    crate::symmetric_images(Stored::F64(&matrices), Layout::Square, &w, &mut image);
    add("symmetric_images, square", image.clone());
    crate::symmetric_images(Stored::F64(&matrices[..n * triangle(d)]), Layout::Packed, &w, &mut image);
    add("symmetric_images, packed", image);
    let mut upper = positive(d, numbers);
    assert!(crate::factor_upper(&mut upper, d));
    add("factor_upper", upper);
    let (mut sum, mut distances) = (w.clone(), vec![0.0; n]);
    crate::add_scaled(0.3, &values[..d], &mut sum);
    add("dot_and_add", vec![crate::dot_and_add(&values[..d], &w, -0.7, &mut sum)]);
    add("add_scaled", sum);
    crate::add_squared_distances(&values, n, &w, &mut distances);
    add("add_squared_distances", distances);
    let width = d.next_multiple_of(LANES);
    let (p, q, mut square) = (normals(3 * width, numbers), normals(3 * width, numbers), vec![0.0; width * width]);
    crate::rank_update_lower(&p, &q, width, &mut square);
    add("rank_update_lower", square);
    let (mut cos, mut sin, damping) = (vec![0.0; n], vec![0.0; n], normals(n, numbers));
    let damping: Vec<f64> = damping.iter().map(|x| x.abs()).collect();
    crate::waves(&coef, Some(&damping), 1.5, &mut cos, &mut sin);
    add("waves", [cos, sin].concat());
    let mut terms = PairTerms::new(n);
    let spreads: Vec<f64> = damping.iter().cycle().take(n * d).copied().collect();
    terms.fill(n - 1, d, &spreads, &values, &coef);
    add("exponents of pairs", (0..n).map(|j| terms.exponent(j)).collect());
}

fn scalars(n: usize, numbers: &mut Numbers, found: &mut Results) {
    let mut add = |what: &str, values: Vec<f64>| found.push((format!("{what}, {n}"), values));
    let (d, s) = (normals(n, numbers), normals(n, numbers));
    let mut parts = HingeParts::default();
    expected_hinge(&d, &s.iter().map(|s| s.abs()).collect::<Vec<_>>(), &mut parts);
    add("expected_hinge", [&parts.value[..n], &parts.u[..n], &parts.cdf[..n], &parts.pdf[..n]].concat());
    let averaged = |(d, s): (&f64, &f64)| logistic_normal(4.0 * d, s.abs(), 0.5, 18);
    add("averaged sigmoid", d.iter().zip(&s).flat_map(averaged).collect());
    add("normal", d.iter().flat_map(|u| [cdf(5.0 * u), pdf(*u)]).collect());
    let (mut v, up, low) = (normals(n, numbers), vec![0.0; n], vec![0.0; n]);
    let extremes = smo::follow(0.37, &d, &s, &mut v, &up, &low);
    let picked = smo::partner(1.0, 1.0, &d, &vec![1.0; n], &v, &low).unwrap_or(n);
    add("smo", [v, vec![extremes.best as f64, picked as f64]].concat());
}

/// EM on rows without noise: the form that needs no square root of a matrix per row.
fn mixture(d: usize, numbers: &mut Numbers, found: &mut Results) {
    let shape = Shape { d, noise: Noise::Rotated, masked: false };
    let scatter = Scatter {
        origin: normals(d, numbers),
        matrix: normals(d * d, numbers),
        gains: (0..d).map(|_| numbers.uniform()).collect(),
        back: normals(d * d, numbers),
    };
    let centre = normals(d, numbers);
    let component = Component { mean: vec![0.0; d], offset: -0.3, centre, scatter: Arc::new(scatter) };
    let rows: Vec<Pack> = (0..3 * shape.width()).map(|_| Pack(std::array::from_fn(|_| numbers.uniform()))).collect();
    let components = [component.clone(), Component { offset: 0.1, ..component }];
    let (mut workspace, mut total) = (Workspace::default(), [0.0; LANES]);
    let (mut sums, mut out) = (vec![Pack::ZERO; 2 * shape.sums_len()], vec![Pack::ZERO; 6]);
    Densities { shape, components: &components, rows: &rows, workspace: &mut workspace, out: &mut out }.run();
    let mut add = |what: &str, packs: &[Pack]| {
        found.push((format!("{what}, {d}"), packs.iter().flat_map(|pack| pack.0).collect()));
    };
    add("densities", &out);
    let (workspace, total) = (&mut workspace, &mut total);
    Sums { shape, components: &components, rows: &rows, workspace, sums: &mut sums, total }.run();
    add("sums", &sums);
    add("total", &[Pack(*total)]);
}

fn results() -> Results {
    let (mut numbers, mut found) = (Numbers::new(11), vec![]);
    for d in (1..=18).chain([31, 32, 33, 64, 100]).take(up_to(23)).step_by(one_of(4)) {
        for n in [1, 7, up_to(40)] {
            passes(d, n, &mut numbers, &mut found);
        }
    }
    for n in (1..=17).chain([64]).take(up_to(18)).step_by(one_of(4)) {
        scalars(n, &mut numbers, &mut found);
    }
    (1..=up_to(12)).step_by(one_of(4)).for_each(|d| mixture(d, &mut numbers, &mut found));
    found
}

#[test]
fn passes_have_the_same_bits_with_fused_multiply_add_and_the_same_digits_without() {
    let all: Vec<(Level, Results)> = Level::all().map(|level| (level, level.during(results))).collect();
    let (best, first) = &all[0];
    for (level, other) in &all[1..] {
        let same_bits = cfg!(target_arch = "aarch64") || level.set() != Set::Scalar;
        for ((what, a), (_, b)) in first.iter().zip(other) {
            let size = a.iter().fold(1e-300_f64, |m, x| m.max(x.abs()));
            for (at, (x, y)) in a.iter().zip(b).enumerate() {
                let good = x.to_bits() == y.to_bits() || (!same_bits && (x - y).abs() <= 1e-11 * size);
                assert!(good, "{what}, element {at}: {x:e} with {}, {y:e} with {}", best.name(), level.name());
            }
        }
    }
}

/// float32 rows give the bits of the same numbers as float64, in each copy.
#[test]
fn widening_in_the_load_changes_no_bit() {
    let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let mut numbers = Numbers::new(5);
    for d in (1..=18).chain([31, 64, 100]).take(up_to(21)).step_by(one_of(4)) {
        for n in [1, 7, up_to(40)] {
            let mut narrow: Vec<f32> = normals(n * d * d, &mut numbers).iter().map(|x| *x as f32).collect();
            narrow[0] = f32::from_bits(1);
            let wide: Vec<f64> = narrow.iter().map(|x| f64::from(*x)).collect();
            let (w, coef) = (normals(d, &mut numbers), normals(n, &mut numbers));
            let picks: Vec<u32> = (0..n as u32).filter(|k| k % 3 != 1).collect();
            let found = |stored: Stored<'_>| {
                let mut all = vec![];
                for power in [Power::One, Power::Two] {
                    let (mut out, mut sum) = (vec![0.0; n], w.clone());
                    crate::dots(stored.part(0..n * d), &w, power, &mut out);
                    crate::add_rows(stored, 0, &picks, &coef, power, &mut sum);
                    all.extend([out, sum].concat());
                }
                for layout in [Layout::Square, Layout::Packed] {
                    let mut image = vec![0.0; n * d];
                    crate::symmetric_images(stored.part(0..n * layout.width(d)), layout, &w, &mut image);
                    all.extend(image);
                }
                for rank in 1..=5.min(d) {
                    let (mut products, mut sum) = (vec![0.0; n * rank], w.clone());
                    let factors = stored.part(0..n * d * rank);
                    crate::factor_products(factors, rank, &w, &mut products);
                    crate::add_factor_images(factors, rank, 0, &picks, &coef, &products, &mut sum);
                    all.extend([products, sum].concat());
                }
                bits(&all)
            };
            for level in Level::all() {
                let (one, other) = level.during(|| (found(Stored::F32(&narrow)), found(Stored::F64(&wide))));
                assert_eq!(one, other, "{n} x {d}, {}", level.name());
            }
        }
    }
}
