//! log p(y | x) of rows, int N(y; f(z) + g + G v, M) N(v; 0, I) dv summed over their terms, and where its mass lies.
//!
//! The integrand can be a spike between nodes, have several modes (a curve that folds back within the error bar), or a
//! spike with a shoulder (a curve that saturates). So every term is looked at on a grid first, its modes are found from the
//! lowest places of the grid, and Gauss-Hermite nodes are put at the mode and scaled by its curvature. Two rules of
//! different order must agree to [`AGREE_RULES`]; where they do not, or there are several modes: in one dimension panels that
//! begin at the modes and are halved until Gauss's and Kronrod's sums agree; in more, rules of higher order, around each mode
//! with a share of the integrand that sums to one over the modes.

use std::f64::consts::SQRT_2;

use crate::deconvolution::log_sum;
use crate::error::{Error, Result};
use crate::linalg::{cholesky, dot, inverse_lower};

use super::evaluate::Evaluator;
use super::modes::{Mode, White, settle};
use super::quadrature::{KRONROD, product};
use super::readings::Reading;
use super::terms::Term;

/// Panels whose sums differ by less are right.
const AGREE: f64 = 1e-10;
/// The narrowest of the panels that one begins with: a curve may be infinitely steep.
const APART: f64 = 1e-12;
/// Rounding of an exponent, as a part of its size: of what is lower, sums know nothing better.
const ROUNDING: f64 = 1e-15;
/// So many panels of a term are looked at; one that takes more has an integrand that is noise, such as that of a curve in single
/// precision.
const MOST_PANELS: usize = 300;
/// So far may Gauss-Hermite rules differ for the one of higher order to be right to some 1e-9.
const AGREE_RULES: f64 = 1e-6;
/// Beyond so many standard deviations of v, and of the farthest mode, there is nothing.
pub(super) const REACH: f64 = 9.0;
/// Within so many, a curve that is not defined is an error; farther out such true values are impossible.
pub(super) const EXPECTED: f64 = 3.0;
/// Modes that are higher than the lowest by so much do not count.
const ABOVE: f64 = 28.0;
/// So many standard deviations of y from one place of the grid to the next hide what is between them.
const NARROW: f64 = 3.0;
/// Nodes with a smaller part of a row's mass are left out.
const NO_MASS: f64 = -36.0;

/// A place at which the curve was asked, with its part of the mass of its row.
pub(super) struct Node {
    pub row: usize,
    pub term: usize,
    /// Of the law of y's noise.
    pub part: usize,
    /// log of the mass, then its share of the row.
    pub mass: f64,
    /// z, f and W r: there are many nodes, and memory for each list would be asked for each.
    numbers: Box<[f64]>,
    q: usize,
}

impl Node {
    pub(super) fn z(&self) -> &[f64] {
        &self.numbers[..self.numbers.len() - 2 * self.q]
    }

    pub(super) fn f(&self) -> &[f64] {
        &self.numbers[self.numbers.len() - 2 * self.q..self.numbers.len() - self.q]
    }

    /// W r.
    pub(super) fn residual(&self) -> &[f64] {
        &self.numbers[self.numbers.len() - self.q..]
    }
}

/// log p(y | x) of every row, and where the mass lies.
pub(super) struct Integrals {
    pub logs: Vec<f64>,
    pub nodes: Vec<Node>,
    /// The largest difference between the last two rules.
    pub disagreement: f64,
}

/// A rule of low order, one to compare with, and one where those disagree, by number of noisy features.
fn orders(k: usize) -> [usize; 3] {
    match k {
        1 => [9, 15, 33],
        2 => [9, 13, 47],
        _ => [7, 11, 19],
    }
}

/// The grid on which modes are looked for: half its width in steps, and the step.
fn grid(k: usize) -> (i32, f64) {
    match k {
        1 => (12, 0.5),
        2 => (4, 1.25),
        _ => (3, 1.5),
    }
}

pub(super) struct Integrand<'a> {
    pub evaluator: &'a Evaluator<'a>,
    pub readings: &'a [Reading],
    pub terms: &'a [Term],
    /// Of every row and part of the noise.
    pub white: &'a [White],
    /// Logarithms of the parts' shares.
    pub shares: &'a [f64],
    pub parameters: &'a [f64],
    /// On the way: rules of low order, unchecked, where there is one mode.
    pub rough: bool,
}

/// Nodes on their way, of cases (a term under a part of the noise) of one rank k.
#[derive(Default)]
struct Asked {
    cases: Vec<usize>,
    /// k numbers each.
    v: Vec<f64>,
    /// log of the rule's weight.
    logs: Vec<f64>,
    k: usize,
}

impl Asked {
    fn new(k: usize) -> Self {
        Self { k, ..Self::default() }
    }

    fn push(&mut self, case: usize, v: &[f64], log: f64) {
        self.cases.push(case);
        self.v.extend_from_slice(v);
        self.logs.push(log);
    }

    fn at(&self, node: usize) -> &[f64] {
        &self.v[node * self.k..(node + 1) * self.k]
    }
}

impl Integrand<'_> {
    fn term(&self, case: usize) -> &Term {
        &self.terms[case / self.shares.len()]
    }

    fn part(&self, case: usize) -> usize {
        case % self.shares.len()
    }

    fn white(&self, case: usize) -> &White {
        &self.white[self.term(case).row * self.shares.len() + self.part(case)]
    }

    fn log_weight(&self, case: usize) -> f64 {
        self.term(case).log_weight + self.shares[self.part(case)]
    }

    /// The integrals of the rows whose terms these are.
    pub(super) fn integrals(&self, terms: std::ops::Range<usize>, rows: std::ops::Range<usize>) -> Result<Integrals> {
        let mut nodes = vec![];
        let mut disagreement = 0.0f64;
        let cases = terms.start * self.shares.len()..terms.end * self.shares.len();
        let highest = terms.map(|t| self.terms[t].rank).max().unwrap_or(0);
        for k in 0..=highest {
            let own: Vec<usize> = cases.clone().filter(|&case| self.term(case).rank == k).collect();
            if own.is_empty() {
                continue;
            }
            if k == 0 {
                let mut exact = Asked::new(0);
                own.iter().for_each(|&case| exact.push(case, &[], 0.0));
                nodes.extend(self.nodes(&exact)?);
                continue;
            }
            let modes = self.modes(&own, k)?;
            let (of_rank, worst) = self.around(&own, &modes, k)?;
            nodes.extend(of_rank);
            disagreement = disagreement.max(worst);
        }
        let logs = log_sums(&nodes, &rows);
        nodes.retain(|node| node.mass - logs[node.row - rows.start] > NO_MASS);
        nodes.iter_mut().for_each(|node| node.mass = (node.mass - logs[node.row - rows.start]).exp());
        Ok(Integrals { logs, nodes, disagreement })
    }

    /// The integrand at some nodes.
    fn nodes(&self, asked: &Asked) -> Result<Vec<Node>> {
        let mut nodes = Vec::with_capacity(asked.cases.len());
        self.visit(asked, |case, mass, z, f, residual| {
            let (row, term, part) = (self.term(case).row, case / self.shares.len(), self.part(case));
            nodes.push(Node { row, term, part, mass, numbers: [z, f, residual].concat().into(), q: f.len() });
        })?;
        Ok(nodes)
    }

    /// Logarithms of their masses alone, for which nothing is kept.
    fn masses(&self, asked: &Asked) -> Result<Vec<f64>> {
        let mut masses = Vec::with_capacity(asked.cases.len());
        self.visit(asked, |_, mass, _, _, _| masses.push(mass))?;
        Ok(masses)
    }

    /// Case, log of the mass, z, f and W r of every node.
    fn visit(&self, asked: &Asked, mut see: impl FnMut(usize, f64, &[f64], &[f64], &[f64])) -> Result<()> {
        let (d, q) = (self.evaluator.d, self.evaluator.q);
        let mut z = Vec::with_capacity(asked.cases.len() * d);
        asked.cases.iter().enumerate().for_each(|(at, &case)| self.term(case).place(asked.at(at), &mut z));
        let values = self.evaluator.values(&z, self.parameters)?;
        let mut residual = vec![0.0; q];
        for (at, (z, f)) in z.chunks_exact(d).zip(values.chunks_exact(q)).enumerate() {
            let (case, v) = (asked.cases[at], asked.at(at));
            let (term, white) = (self.term(case), self.white(case));
            let reading = &self.readings[term.row];
            term.residual(&reading.y, f, v, &mut residual);
            white.apply(&mut residual, 1);
            let prior = 0.5 * dot(v, v) + v.len() as f64 * crate::special::HALF_LOG_TAU;
            let mass =
                asked.logs[at] + self.log_weight(case) - 0.5 * dot(&residual, &residual) - white.log_root - prior;
            if mass.is_finite() {
                see(case, mass, z, f, &residual);
                continue;
            }
            if f.iter().any(|f| f.is_nan()) && v.iter().all(|v| v.abs() <= EXPECTED) {
                return Err(undefined(reading, z, f, self.parameters));
            }
            see(case, f64::NEG_INFINITY, z, f, &residual);
        }
        Ok(())
    }

    /// The modes of each of these terms, the lowest first.
    fn modes(&self, own: &[usize], k: usize) -> Result<Vec<Vec<Mode>>> {
        let (half, step) = grid(k);
        let side = (2 * half + 1) as usize;
        let count = side.pow(k as u32);
        let place = |at: usize| -> Vec<f64> {
            (0..k).map(|c| ((at / side.pow(c as u32) % side) as i32 - half) as f64 * step).collect()
        };
        let places: Vec<Vec<f64>> = (0..count).map(place).collect();
        let mut asked = Asked::new(k);
        own.iter().for_each(|&case| places.iter().for_each(|v| asked.push(case, v, 0.0)));
        let (mut looked, mut residuals) = (vec![], vec![]);
        self.visit(&asked, |_, mass, _, _, residual| {
            looked.push(mass);
            residuals.push(residual[0]);
        })?;
        let mut starts = vec![];
        let mut owner = vec![];
        for (at, heights) in looked.chunks_exact(count).enumerate() {
            let mut low: Vec<usize> = (0..count).filter(|&g| is_lowest(heights, g, side, k)).collect();
            low.sort_by(|a, b| heights[*b].total_cmp(&heights[*a]));
            low.truncate(4 + 2 * k);
            if k == 1 && self.evaluator.q == 1 {
                add_spikes(&residuals[at * count..(at + 1) * count], &mut low);
            }
            for g in low {
                starts.push((own[at], places[g].clone()));
                owner.push(at);
            }
        }
        let context = (self.readings, self.terms, self.white);
        let settled = settle(self.evaluator, context, self.parameters, starts, false)?;
        let mut modes: Vec<Vec<Mode>> = own.iter().map(|_| vec![]).collect();
        for (mode, at) in settled.into_iter().zip(owner) {
            if mode.height.is_finite() {
                modes[at].push(mode);
            }
        }
        for modes in &mut modes {
            modes.sort_by(|a, b| a.height.total_cmp(&b.height));
            let mut kept: Vec<Mode> = vec![];
            for mode in modes.drain(..) {
                let lowest = kept.first().map_or(mode.height, |first| first.height);
                let known = kept.iter().any(|other| together(other, &mode));
                if mode.height <= lowest + ABOVE && !known {
                    kept.push(mode);
                }
            }
            *modes = kept;
        }
        Ok(modes)
    }

    /// The nodes of all terms by rules around their modes.
    fn around(&self, own: &[usize], modes: &[Vec<Mode>], k: usize) -> Result<(Vec<Node>, f64)> {
        let [low, high, highest] = orders(k);
        let single: Vec<usize> = (0..own.len()).filter(|&at| modes[at].len() == 1).collect();
        let mut rest: Vec<usize> = (0..own.len()).filter(|&at| modes[at].len() > 1).collect();
        let (mut nodes, mut worst) = (vec![], 0.0f64);
        let compared: &[usize] = if self.rough { &[] } else { &single };
        let (asked, counts) = hermite(own, modes, compared, low, k)?;
        let masses = self.masses(&asked)?;
        let mut masses = masses.as_slice();
        let mut before: Vec<f64> = vec![];
        for count in counts {
            let (own, rest) = masses.split_at(count);
            before.push(log_sum(own));
            masses = rest;
        }
        let mut open = single;
        if self.rough {
            let rough = self.hermite(own, modes, &open, low, k)?;
            nodes.extend(rough.into_iter().flatten());
            open.clear();
        }
        for order in if k == 1 { vec![high, highest] } else { vec![high] } {
            let after = self.hermite(own, modes, &open, order, k)?;
            let (mut disagreeing, mut theirs) = (vec![], vec![]);
            for ((at, a), b) in open.into_iter().zip(before).zip(after) {
                let mass = log_mass(&b);
                let difference = (a - mass).abs();
                if difference <= AGREE_RULES {
                    // The order of what the better rule still lacks, as QUADPACK judges Kronrod's.
                    worst = worst.max(difference.powf(1.5));
                    nodes.extend(b);
                } else {
                    disagreeing.push(at);
                    theirs.push(mass);
                }
            }
            (open, before) = (disagreeing, theirs);
        }
        rest.extend(open);
        rest.sort_unstable();
        if k == 1 {
            let (halved, difference) = self.panels(own, modes, &rest)?;
            nodes.extend(halved);
            worst = worst.max(difference);
        } else {
            let middle = self.hermite(own, modes, &rest, (high + highest) / 2, k)?;
            for (a, b) in middle.iter().zip(self.hermite(own, modes, &rest, highest, k)?) {
                worst = worst.max((log_mass(a) - log_mass(&b)).abs());
                nodes.extend(b);
            }
        }
        Ok((nodes, worst))
    }

    /// The nodes of [`hermite`], term by term.
    fn hermite(
        &self,
        own: &[usize],
        modes: &[Vec<Mode>],
        some: &[usize],
        n: usize,
        k: usize,
    ) -> Result<Vec<Vec<Node>>> {
        let (asked, counts) = hermite(own, modes, some, n, k)?;
        let mut nodes = self.nodes(&asked)?.into_iter();
        Ok(counts.iter().map(|&count| nodes.by_ref().take(count).collect()).collect())
    }

    /// Panels in one dimension that are halved until both sums agree.
    fn panels(&self, own: &[usize], modes: &[Vec<Mode>], some: &[usize]) -> Result<(Vec<Node>, f64)> {
        let mut open: Vec<(usize, f64, f64)> = vec![];
        for &at in some {
            let scales: Vec<(f64, f64)> =
                modes[at].iter().map(|mode| (mode.v[0], 1.0 / mode.curvature()[0].sqrt())).collect();
            for pair in cuts(&scales).windows(2) {
                open.push((at, pair[0], pair[1]));
            }
        }
        let mut kept = vec![];
        // Of every term the mass so far, in units of its lowest mode.
        let mut mass = vec![0.0f64; own.len()];
        let mut looked = vec![0usize; own.len()];
        let mut worst = 0.0f64;
        for round in 0..40 {
            if open.is_empty() {
                break;
            }
            let mut asked = Asked::new(1);
            for &(at, a, b) in &open {
                let (centre, half) = ((a + b) / 2.0, (b - a) / 2.0);
                KRONROD.iter().for_each(|(x, w, _)| asked.push(own[at], &[centre + half * x], (w * half).ln()));
            }
            let mut nodes = self.nodes(&asked)?.into_iter();
            let panels: Vec<Vec<Node>> = open.iter().map(|_| nodes.by_ref().take(15).collect()).collect();
            let mut sums = Vec::with_capacity(panels.len());
            for (&(at, ..), panel) in open.iter().zip(&panels) {
                let unit = self.unit(own[at], &modes[at]);
                let part = |node: &Node| (node.mass - unit).exp();
                let kronrod: f64 = panel.iter().map(part).sum();
                let gauss: f64 = panel.iter().zip(KRONROD).map(|(node, (_, w, g))| part(node) * g / w).sum();
                sums.push((kronrod, (kronrod - gauss).abs()));
                mass[at] += kronrod;
                looked[at] += 1;
            }
            let mut halves = vec![];
            for ((&(at, a, b), panel), (kronrod, difference)) in open.iter().zip(panels).zip(sums) {
                // Kronrod's sum is far better than Gauss's, by which it is judged.
                let error = (200.0 * difference / mass[at].max(f64::MIN_POSITIVE)).powf(1.5).min(difference / mass[at]);
                let height = modes[at].first().map_or(0.0, |mode| mode.height);
                let enough = round == 39 || looked[at] > MOST_PANELS;
                if error > (AGREE / 10.0).max(ROUNDING * height) && !enough {
                    mass[at] -= kronrod;
                    let middle = (a + b) / 2.0;
                    halves.extend([(at, a, middle), (at, middle, b)]);
                } else {
                    worst = worst.max(error);
                    kept.extend(panel);
                }
            }
            open = halves;
        }
        Ok((kept, worst))
    }

    /// The logarithm of about the largest value of a term's integrand.
    fn unit(&self, case: usize, modes: &[Mode]) -> f64 {
        let lowest = modes.first().map_or(0.0, |mode| mode.height);
        self.log_weight(case) - lowest - self.white(case).log_root
    }
}

/// Gauss-Hermite rules of n nodes per dimension around all modes of some terms, and how many nodes each has.
fn hermite(own: &[usize], modes: &[Vec<Mode>], some: &[usize], n: usize, k: usize) -> Result<(Asked, Vec<usize>)> {
    let rule = product(n, k)?;
    let (mut asked, mut counts) = (Asked::new(k), vec![]);
    for &at in some {
        let scales: Vec<Scale> = modes[at].iter().map(|mode| Scale::new(mode, k)).collect();
        counts.push(scales.len() * rule.len());
        for scale in &scales {
            for (t, log) in &rule {
                let v = scale.place(t);
                // The share of this mode in the integrand, by Laplace's approximation of each.
                let shares: Vec<f64> =
                    if scales.len() == 1 { vec![] } else { scales.iter().map(|s| s.density(&v)).collect() };
                let share = if shares.is_empty() { 0.0 } else { scale.density(&v) - log_sum(&shares) };
                asked.push(own[at], &v, log + scale.log_volume + share);
            }
        }
    }
    Ok((asked, counts))
}

/// The scale of the integrand at a mode: v = v* + sqrt(2) C^{-T} t with C C' the curvature.
struct Scale {
    mode: Vec<f64>,
    height: f64,
    /// C, k x k lower, and C^{-1}.
    factor: Vec<f64>,
    inverse: Vec<f64>,
    /// log of |dv / dt|
    log_volume: f64,
}

impl Scale {
    fn new(mode: &Mode, k: usize) -> Self {
        let mut factor = mode.curvature();
        let _positive = cholesky(&mut factor, k);
        let inverse = inverse_lower(&factor, k);
        let log_root: f64 = (0..k).map(|c| factor[c * k + c].ln()).sum();
        let log_volume = 0.5 * k as f64 * 2.0f64.ln() - log_root;
        Self { mode: mode.v.clone(), height: mode.height, factor, inverse, log_volume }
    }

    fn place(&self, t: &[f64]) -> Vec<f64> {
        let k = t.len();
        let along = |a: usize| (0..k).map(|c| self.inverse[c * k + a] * t[c]).sum::<f64>();
        (0..k).map(|a| self.mode[a] + SQRT_2 * along(a)).collect()
    }

    /// The logarithm of Laplace's approximation at v.
    fn density(&self, v: &[f64]) -> f64 {
        let k = v.len();
        let away: Vec<f64> = v.iter().zip(&self.mode).map(|(v, m)| v - m).collect();
        let scaled = |c: usize| (c..k).map(|a| self.factor[a * k + c] * away[a]).sum::<f64>();
        -self.height - 0.5 * (0..k).map(|c| scaled(c).powi(2)).sum::<f64>()
    }
}

/// Is this place of a grid as low as all its neighbours, and is the curve defined there?
fn is_lowest(heights: &[f64], at: usize, side: usize, k: usize) -> bool {
    let here = heights[at];
    here.is_finite()
        && (0..3usize.pow(k as u32)).all(|move_| {
            let mut other = 0;
            for c in 0..k {
                let digit = at / side.pow(c as u32) % side;
                let moved = digit + move_ / 3usize.pow(c as u32) % 3;
                if moved == 0 || moved > side {
                    return true;
                }
                other += (moved - 1) * side.pow(c as u32);
            }
            heights[other] <= here
        })
}

/// Add places from which searches find what lies between those of the grid: a curve that turns meets y twice, in spikes that
/// may be narrower than a step of it. Two of them are next to a lowest place where the residual has one sign on both sides, or
/// wherever that changes more than once.
fn add_spikes(residuals: &[f64], low: &mut Vec<usize>) {
    let wide = |a: usize, b: usize| residuals[a].abs().max(residuals[b].abs()) > NARROW;
    let last = residuals.len() - 1;
    let turns = |g: usize| g > 0 && g < last && residuals[g - 1] * residuals[g + 1] > 0.0 && wide(g - 1, g + 1);
    let mut more: Vec<usize> = low.iter().filter(|&&g| turns(g)).flat_map(|&g| [g - 1, g + 1]).collect();
    let crossings: Vec<usize> =
        (0..last).filter(|&g| residuals[g] * residuals[g + 1] < 0.0 && wide(g, g + 1)).collect();
    if crossings.len() > 1 {
        more.extend(crossings.iter().flat_map(|&g| [g, g + 1]));
    }
    more.sort_unstable();
    more.dedup();
    more.retain(|g| !low.contains(g));
    low.append(&mut more);
}

/// Have two searches ended at the same mode?
fn together(a: &Mode, b: &Mode) -> bool {
    let k = a.v.len();
    let away: Vec<f64> = a.v.iter().zip(&b.v).map(|(a, b)| a - b).collect();
    let h = a.curvature();
    let square: f64 = (0..k).map(|i| away[i] * dot(&h[i * k..(i + 1) * k], &away)).sum();
    square < 1e-2
}

/// Where panels end: the modes, of which these are the places and scales, and from each of them outwards distances that grow from
/// its own scale to the reach.
fn cuts(modes: &[(f64, f64)]) -> Vec<f64> {
    let reach = modes.iter().map(|(centre, _)| centre.abs()).fold(0.0, f64::max) + REACH;
    let mut cuts = vec![-reach, reach];
    for (centre, scale) in modes {
        cuts.push(*centre);
        let mut distance = (2.0 * scale).max(APART);
        while distance < 2.0 * reach {
            cuts.extend([centre - distance, centre + distance]);
            distance *= 2.5;
        }
    }
    cuts.retain(|cut| cut.abs() <= reach);
    cuts.sort_by(f64::total_cmp);
    cuts.dedup_by(|a, b| (*a - *b).abs() < APART);
    cuts
}

/// log of the sum of the masses of each row.
fn log_sums(nodes: &[Node], rows: &std::ops::Range<usize>) -> Vec<f64> {
    let mut most = vec![f64::NEG_INFINITY; rows.len()];
    nodes.iter().for_each(|node| most[node.row - rows.start] = most[node.row - rows.start].max(node.mass));
    let mut sums = vec![0.0; rows.len()];
    for node in nodes.iter().filter(|node| node.mass > f64::NEG_INFINITY) {
        sums[node.row - rows.start] += (node.mass - most[node.row - rows.start]).exp();
    }
    most.iter().zip(sums).map(|(most, sum)| if sum > 0.0 { most + f64::ln(sum) } else { *most }).collect()
}

fn log_mass(nodes: &[Node]) -> f64 {
    log_sum(&nodes.iter().map(|node| node.mass).collect::<Vec<_>>())
}

fn undefined(reading: &Reading, z: &[f64], f: &[f64], parameters: &[f64]) -> Error {
    Error::Data(format!(
        "curve: it returned {f:?} at x = {z:?}, parameters {parameters:?}, a likely true value of row {} (which was read as \
         {:?}); return finite numbers there, or set bounds= of the parameters",
        reading.number, reading.x
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_beside_an_infinitely_steep_curve_have_an_end() {
        let found = cuts(&[(0.3, 0.0), (-2.0, 0.5)]);
        assert!(found.len() < 120 && found.is_sorted());
        assert!(found.iter().any(|cut| (cut - 0.3).abs() < 2.0 * APART));
        assert_eq!((found[0], *found.last().unwrap()), (-2.0 - REACH, 2.0 + REACH));
    }
}
