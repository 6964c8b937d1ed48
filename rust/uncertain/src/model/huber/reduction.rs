//! The exact reduction: everything about N rows and m views that the labels need, from one factorisation
//! per view.
//!
//! With K = R R' (of rank D) the stationarity condition (lambda I + gamma M K) w = c E'b, b the coefficients
//! of the labelled rows, is solved by w = (c E'b - gamma M f) / lambda, where
//! ```text
//! f = K w = c V V_l' b,    V = R L^{-T},    L L' = lambda I + gamma R'M R     (D x D, >= lambda I)
//! ```
//! and V_l holds the labelled rows of V. (Both follow from K (lambda I + gamma M K)^{-1} = R (lambda I +
//! gamma R'M R)^{-1} R'.) So
//! ```text
//! G0 = sum_a (c^a)^2 V^a_l V^a_l'
//! ```
//! is symmetric and positive semi-definite by construction, whether or not K is singular; a solve with the
//! non-symmetric matrix lambda I + gamma M K itself has neither property. Without M and with a kernel of
//! full rank, G0 = c^2 K_ll / lambda needs no factorisation at all.
//!
//! The between-view operator adds gamma_b sum_{a<b} |f^a - f^b|^2. It couples the views: their R become the
//! diagonal blocks of one factor, and the factorisation is one of size (sum of the D).

use crate::control::Control;
use crate::error::{Error, Result};
use crate::linalg::dense::{self, Matrix};

use super::factor;
use super::memory::Budget;
use super::operator::Operator;
use super::source::Source;

/// Strengths of the penalties.
#[derive(Debug, Clone, Copy)]
pub(super) struct Penalty {
    pub alpha: f64,
    pub manifold: f64,
    pub between: f64,
}

/// One view: its kernel, its regulariser, its weight c.
pub(super) struct ViewOf<'a> {
    pub source: Source<'a>,
    pub operator: Option<Operator>,
    pub weight: f64,
}

/// Views that are factored together.
enum Block {
    /// G0 part c^2 K_ll / lambda of one view.
    Plain(usize),
    /// (view, V of that view); the V have the same columns.
    Factored(Vec<(usize, Matrix)>),
}

/// What remains of the views: V of each, and how labels turn into coefficients.
pub(super) struct Reduction<'a> {
    views: Vec<ViewOf<'a>>,
    blocks: Vec<Block>,
    penalty: Penalty,
    n: usize,
    l: usize,
}

/// G0 in the form that is cheaper to work with.
pub(super) enum Kept {
    /// Its lower triangle.
    Dense(Matrix),
    /// U with G0 = U U'.
    Factor(Matrix),
}

impl<'a> Reduction<'a> {
    /// The first `l` rows are the labelled ones.
    pub(super) fn new(
        views: Vec<ViewOf<'a>>,
        l: usize,
        penalty: Penalty,
        budget: &Budget,
        control: &Control,
    ) -> Result<Self> {
        let n = views.first().map_or(0, |view| view.source.n());
        let between = penalty.between > 0.0 && views.len() > 1;
        let mut out = Self { views, blocks: vec![], penalty, n, l };
        let mut factors = vec![];
        for (a, view) in out.views.iter().enumerate() {
            let smooth = view.operator.is_some() && penalty.manifold > 0.0;
            // A factor of low rank is worth having; one of high rank only where M asks for it.
            let most = if smooth || between { n } else { l / 4 };
            let allowed = budget.largest_rank(most.max(1).min(view.source.largest_rank()));
            match factor::factor(&view.source, allowed.min(most.max(1)), control)? {
                Some(r) => factors.push((a, r)),
                None if smooth || between => return Err(budget.refusal(a, allowed)),
                None => out.blocks.push(Block::Plain(a)),
            }
        }
        if between {
            let block = out.joint(factors, control)?;
            out.blocks.push(block);
        } else {
            for (a, r) in factors {
                let block = out.single(a, r, control)?;
                out.blocks.push(block);
            }
        }
        Ok(out)
    }

    fn smooth(&self, a: usize) -> Option<&Operator> {
        self.views[a].operator.as_ref().filter(|_| self.penalty.manifold > 0.0)
    }

    /// V of one view.
    fn single(&self, a: usize, mut r: Matrix, control: &Control) -> Result<Block> {
        let d = r.n_cols;
        if let Some(m) = self.smooth(a) {
            let mut h = Matrix::zeros(d, d)?;
            self.add_smoothness(&mut h, &r, m, control)?;
            self.solve(&mut h, &mut [&mut r], control)?;
        } else {
            let scale = 1.0 / self.penalty.alpha.sqrt();
            r.values.iter_mut().for_each(|x| *x *= scale);
        }
        Ok(Block::Factored(vec![(a, r)]))
    }

    /// gamma R'M R into the lower triangle.
    fn add_smoothness(&self, h: &mut Matrix, r: &Matrix, m: &Operator, control: &Control) -> Result<()> {
        let gamma = self.penalty.manifold;
        let image = |columns| {
            let mut y = m.times_columns(r, columns)?;
            y.values.iter_mut().for_each(|y| *y *= gamma);
            Ok(y)
        };
        dense::add_congruence(h, r, image, control)
    }

    /// Adds lambda I to H, factors it, and multiplies the R by L^{-T}.
    fn solve(&self, h: &mut Matrix, r: &mut [&mut Matrix], control: &Control) -> Result<()> {
        let d = h.n_rows;
        (0..d).for_each(|i| h.values[i * d + i] += self.penalty.alpha);
        if !dense::cholesky(h, control)? {
            return Err(Error::Data(
                "graph: the regulariser is not positive semi-definite (its quadratic form on the kernel's functions is negative); pass the Laplacian of a graph with weights >= 0".into(),
            ));
        }
        for r in r {
            dense::solve_right(r, h, control)?;
        }
        Ok(())
    }

    /// V of all views, coupled.
    fn joint(&self, factors: Vec<(usize, Matrix)>, control: &Control) -> Result<Block> {
        let (m, total) = (factors.len() as f64, factors.iter().map(|(_, r)| r.n_cols).sum());
        let mut h = Matrix::zeros(total, total)?;
        let between = self.penalty.between;
        let mut first = 0;
        for (k, (a, r)) in factors.iter().enumerate() {
            let d = r.n_cols;
            let mut own = Matrix::zeros(d, d)?;
            if let Some(operator) = self.smooth(*a) {
                self.add_smoothness(&mut own, r, operator, control)?;
            }
            // (m - 1) gamma_b R_a'R_a on the diagonal, -gamma_b R_b'R_a below.
            add_cross(&mut own, r, r, (m - 1.0) * between, control)?;
            for j in 0..d {
                h.col_mut(first + j)[first + j..first + d].copy_from_slice(&own.col(j)[j..]);
            }
            let mut below = first + d;
            for (_, other) in &factors[k + 1..] {
                let cross = dense::cross_product(other, r, -between, control)?;
                for j in 0..d {
                    h.col_mut(first + j)[below..below + other.n_cols].copy_from_slice(cross.col(j));
                }
                below += other.n_cols;
            }
            first += d;
        }
        let mut wide = vec![];
        let mut first = 0;
        for (a, r) in factors {
            let mut out = Matrix::zeros(self.n, total)?;
            out.values[first * self.n..][..r.values.len()].copy_from_slice(&r.values);
            first += r.n_cols;
            wide.push((a, out));
        }
        let mut all: Vec<&mut Matrix> = wide.iter_mut().map(|(_, r)| r).collect();
        self.solve(&mut h, &mut all, control)?;
        Ok(Block::Factored(wide))
    }

    /// Number of columns of all V.
    fn rank(&self) -> Option<usize> {
        let ranks = self.blocks.iter().map(|block| match block {
            Block::Plain(_) => None,
            Block::Factored(v) => v.first().map(|(_, v)| v.n_cols),
        });
        ranks.sum()
    }

    /// G0 on the labelled rows.
    pub(super) fn gram(&self, control: &Control) -> Result<Kept> {
        let l = self.l;
        if let Some(rank) = self.rank().filter(|rank| *rank <= l / 2) {
            let mut u = Matrix { n_rows: l, n_cols: 0, values: Vec::with_capacity(l * rank) };
            for block in &self.blocks {
                let part = self.labelled(block)?;
                u.n_cols += part.n_cols;
                u.values.extend(part.values);
            }
            return Ok(Kept::Factor(u));
        }
        let mut g = Matrix::zeros(l, l)?;
        for block in &self.blocks {
            match block {
                Block::Plain(a) => self.add_plain(*a, &mut g, control)?,
                Block::Factored(v) if v.len() == 1 => {
                    let weight = self.views[v[0].0].weight;
                    dense::add_gram(&mut g, &v[0].1, weight * weight, control)?;
                }
                Block::Factored(_) => dense::add_gram(&mut g, &self.labelled(block)?, 1.0, control)?,
            }
        }
        Ok(Kept::Dense(g))
    }

    /// sum_a c^a V^a of the labelled rows.
    fn labelled(&self, block: &Block) -> Result<Matrix> {
        let Block::Factored(v) = block else { return Matrix::zeros(self.l, 0) };
        let mut out = Matrix::zeros(self.l, v.first().map_or(0, |(_, v)| v.n_cols))?;
        for (a, v) in v {
            let c = self.views[*a].weight;
            for j in 0..v.n_cols {
                out.col_mut(j).iter_mut().zip(v.col(j)).for_each(|(o, x)| *o += c * x);
            }
        }
        Ok(out)
    }

    /// c^2 K_ll / lambda, lower triangle, some columns at a time.
    fn add_plain(&self, a: usize, g: &mut Matrix, control: &Control) -> Result<()> {
        let view = &self.views[a];
        let scale = view.weight * view.weight / self.penalty.alpha;
        for first in (0..self.l).step_by(256) {
            control.check()?;
            let numbers: Vec<usize> = (first..self.l.min(first + 256)).collect();
            let columns = view.source.columns(&numbers, control)?;
            for (k, &j) in numbers.iter().enumerate() {
                let values = &columns.col(k)[j..self.l];
                g.col_mut(j)[j..].iter_mut().zip(values).for_each(|(g, x)| *g += scale * x);
            }
        }
        Ok(())
    }

    /// w of every view on all rows, from the coefficients b of the labelled ones.
    pub(super) fn coefficients(&self, b: &[f64]) -> Result<Vec<Vec<f64>>> {
        let mut w: Vec<Vec<f64>> = self.views.iter().map(|_| vec![0.0; self.n]).collect();
        for (w, view) in w.iter_mut().zip(&self.views) {
            w.iter_mut().zip(b).for_each(|(w, b)| *w = view.weight * b);
        }
        for block in &self.blocks {
            let Block::Factored(v) = block else { continue };
            let between = self.penalty.between > 0.0 && v.len() > 1;
            if !between && v.iter().all(|(a, _)| self.smooth(*a).is_none()) {
                continue;
            }
            let inner = self.labelled(block)?.transposed_times(b);
            let f: Vec<Vec<f64>> = v.iter().map(|(_, v)| v.times(self.n, &inner)).collect();
            for ((a, _), own) in v.iter().zip(&f) {
                if let Some(m) = self.smooth(*a) {
                    let image = m.times(own)?;
                    w[*a].iter_mut().zip(image).for_each(|(w, y)| *w -= self.penalty.manifold * y);
                }
                if between {
                    for other in &f {
                        let differences = own.iter().zip(other).map(|(own, other)| own - other);
                        w[*a].iter_mut().zip(differences).for_each(|(w, y)| *w -= self.penalty.between * y);
                    }
                }
            }
        }
        w.iter_mut().flatten().for_each(|w| *w /= self.penalty.alpha);
        Ok(w)
    }
}

fn add_cross(h: &mut Matrix, a: &Matrix, b: &Matrix, scale: f64, control: &Control) -> Result<()> {
    let cross = dense::cross_product(a, b, scale, control)?;
    h.values.iter_mut().zip(cross.values).for_each(|(h, x)| *h += x);
    Ok(())
}
