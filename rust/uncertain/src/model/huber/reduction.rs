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
//! full rank, G0 = c^2 K_ll / lambda needs no factorisation at all. Where few rows have labels only V_l is
//! made, and f of all rows is R (L^{-T} (V_l'b)).
//!
//! The between-view operator adds gamma_b sum_{a<b} |f^a - f^b|^2. It couples the views: their R become the
//! diagonal blocks of one factor, and the factorisation is one of size (sum of the D).

use crate::control::Control;
use crate::error::{Error, Result};
use crate::linalg::dense::{self, Matrix, Shape};

use super::factor::{Factor, FactorUse, factor};
use super::memory::Budget;
use super::operator::Operator;
use super::source::Source;

/// Rows whose kernels are held at once for predictions.
const BLOCK: usize = 64;

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

/// G0 of a part of the views.
enum ViewBlock {
    /// c^2 K_ll / lambda of one view.
    Plain(usize),
    Factored(Factored),
}

/// Views that are factored together.
struct Factored {
    /// (view, its R), their columns beside each other; with `few` missing it is V, of one view.
    views: Vec<(usize, Matrix)>,
    shape: Shape,
    few: Option<ReducedBlock>,
}

/// Form for few rows with labels.
struct ReducedBlock {
    /// L, of the columns of all views.
    root: Matrix,
    /// sum_a c^a V^a_l: l rows; of a stair the last l columns, the others being zero.
    labelled: Matrix,
}

/// Remains of the views: V of each, and how labels turn into coefficients.
pub(super) struct Reduction<'a> {
    views: Vec<ViewOf<'a>>,
    blocks: Vec<ViewBlock>,
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
            let most = if smooth || between { n } else { (l / 4).max(1) };
            let allowed = budget.largest_rank(most.min(view.source.largest_rank()));
            let want = match (between, smooth) {
                (true, _) => FactorUse::Pivoted,
                (false, true) => FactorUse::Cheapest,
                (false, false) => FactorUse::Low,
            };
            match factor(&view.source, allowed, want, control)? {
                Some(r) => factors.push((a, r)),
                None if smooth || between => return Err(budget.refusal(a, allowed)),
                None => out.blocks.push(ViewBlock::Plain(a)),
            }
        }
        if between {
            let block = out.joint(factors.into_iter().map(|(a, factor)| (a, factor.r)).collect(), control)?;
            out.blocks.push(ViewBlock::Factored(block));
        } else {
            for (a, r) in factors {
                let block = out.single(a, r, control)?;
                out.blocks.push(ViewBlock::Factored(block));
            }
        }
        Ok(out)
    }

    fn smooth(&self, a: usize) -> Option<&Operator> {
        self.views[a].operator.as_ref().filter(|_| self.penalty.manifold > 0.0)
    }

    /// One view.
    fn single(&self, a: usize, factor: Factor, control: &Control) -> Result<Factored> {
        let Factor { mut r, shape } = factor;
        let Some(m) = self.smooth(a) else {
            let scale = 1.0 / self.penalty.alpha.sqrt();
            r.values.iter_mut().for_each(|x| *x *= scale);
            return Ok(Factored { views: vec![(a, r)], shape, few: None });
        };
        let mut root = Matrix::zeros(r.n_cols, r.n_cols)?;
        self.add_smoothness(&mut root, &r, shape, m, control)?;
        self.factor(&mut root, control)?;
        let few = if Budget::few(self.n, self.l) {
            let c = self.views[a].weight;
            let first = if shape == Shape::Stair { self.n - self.l } else { 0 };
            let mut labelled = Matrix::zeros(self.l, r.n_cols - first)?;
            for j in 0..labelled.n_cols {
                labelled.col_mut(j).iter_mut().zip(r.col(first + j)).for_each(|(o, x)| *o = c * x);
            }
            dense::solve_right(&mut labelled, &root, shape, control)?;
            Some(ReducedBlock { root, labelled })
        } else {
            dense::solve_right(&mut r, &root, shape, control)?;
            None
        };
        Ok(Factored { views: vec![(a, r)], shape, few })
    }

    /// gamma R'M R into the lower triangle.
    fn add_smoothness(&self, h: &mut Matrix, r: &Matrix, shape: Shape, m: &Operator, control: &Control) -> Result<()> {
        let gamma = self.penalty.manifold;
        let image = |columns| {
            let mut y = m.times_columns(r, columns)?;
            y.values.iter_mut().for_each(|y| *y *= gamma);
            Ok(y)
        };
        dense::add_congruence(h, r, shape, image, control)
    }

    /// L of lambda I + H in place of H.
    fn factor(&self, h: &mut Matrix, control: &Control) -> Result<()> {
        let d = h.n_rows;
        (0..d).for_each(|i| h.values[i * d + i] += self.penalty.alpha);
        if !dense::cholesky(h, control)? {
            return Err(Error::Data(
                "graph: the regulariser is not positive semi-definite (its quadratic form on the kernel's functions is negative); pass the Laplacian of a graph with weights >= 0".into(),
            ));
        }
        Ok(())
    }

    /// All views, coupled.
    fn joint(&self, views: Vec<(usize, Matrix)>, control: &Control) -> Result<Factored> {
        let (m, total) = (views.len() as f64, views.iter().map(|(_, r)| r.n_cols).sum());
        let mut root = Matrix::zeros(total, total)?;
        let mut labelled = Matrix::zeros(self.l, total)?;
        let between = self.penalty.between;
        let mut first = 0;
        for (k, (a, r)) in views.iter().enumerate() {
            let d = r.n_cols;
            let mut own = Matrix::zeros(d, d)?;
            if let Some(operator) = self.smooth(*a) {
                self.add_smoothness(&mut own, r, Shape::Full, operator, control)?;
            }
            // (m - 1) gamma_b R_a'R_a on the diagonal, -gamma_b R_b'R_a below.
            add_cross(&mut own, r, r, (m - 1.0) * between, control)?;
            for j in 0..d {
                root.col_mut(first + j)[first + j..first + d].copy_from_slice(&own.col(j)[j..]);
                let c = self.views[*a].weight;
                labelled.col_mut(first + j).iter_mut().zip(r.col(j)).for_each(|(o, x)| *o = c * x);
            }
            let mut below = first + d;
            for (_, other) in &views[k + 1..] {
                let cross = dense::cross_product(other, r, -between, control)?;
                for j in 0..d {
                    root.col_mut(first + j)[below..below + other.n_cols].copy_from_slice(cross.col(j));
                }
                below += other.n_cols;
            }
            first += d;
        }
        self.factor(&mut root, control)?;
        dense::solve_right(&mut labelled, &root, Shape::Full, control)?;
        Ok(Factored { views, shape: Shape::Full, few: Some(ReducedBlock { root, labelled }) })
    }

    /// Columns of all V_l.
    fn rank(&self) -> Option<usize> {
        let ranks = self.blocks.iter().map(|block| match block {
            ViewBlock::Plain(_) => None,
            ViewBlock::Factored(factored) => Some(factored.rank()),
        });
        ranks.sum()
    }

    /// G0 on the labelled rows.
    pub(super) fn gram(&self, control: &Control) -> Result<Kept> {
        let l = self.l;
        if let Some(rank) = self.rank().filter(|rank| *rank <= l / 2) {
            let mut u = Matrix { n_rows: l, n_cols: 0, values: Vec::with_capacity(l * rank) };
            for block in &self.blocks {
                let ViewBlock::Factored(factored) = block else { continue };
                self.append_labelled(factored, &mut u);
            }
            return Ok(Kept::Factor(u));
        }
        if let [ViewBlock::Plain(a)] = self.blocks[..] {
            return Ok(Kept::Dense(self.plain(a, control)?));
        }
        let mut g = Matrix::zeros(l, l)?;
        for block in &self.blocks {
            match block {
                ViewBlock::Plain(a) => {
                    let own = self.plain(*a, control)?;
                    g.values.iter_mut().zip(own.values).for_each(|(g, x)| *g += x);
                }
                ViewBlock::Factored(Factored { views, shape, few: None }) => {
                    let weight = self.views[views[0].0].weight;
                    dense::add_gram(&mut g, &views[0].1, *shape, weight * weight, control)?;
                }
                ViewBlock::Factored(Factored { few: Some(few), shape, .. }) => {
                    dense::add_gram(&mut g, &few.labelled, *shape, 1.0, control)?;
                }
            }
        }
        Ok(Kept::Dense(g))
    }

    /// sum_a c^a V^a of the labelled rows, as further columns of U.
    fn append_labelled(&self, factored: &Factored, u: &mut Matrix) {
        match &factored.few {
            Some(few) => u.values.extend(&few.labelled.values),
            None => {
                let (a, v) = &factored.views[0];
                let c = self.views[*a].weight;
                (0..v.n_cols).for_each(|j| u.values.extend(v.col(j)[..self.l].iter().map(|x| c * x)));
            }
        }
        u.n_cols += factored.rank();
    }

    /// c^2 K_ll / lambda of one view.
    fn plain(&self, a: usize, control: &Control) -> Result<Matrix> {
        let view = &self.views[a];
        let scale = view.weight * view.weight / self.penalty.alpha;
        let mut k = view.source.leading(self.l, control)?;
        k.values.iter_mut().for_each(|x| *x *= scale);
        Ok(k)
    }

    /// f of each view of a block on all rows.
    fn values(&self, factored: &Factored, b: &[f64]) -> Vec<Vec<f64>> {
        let Some(few) = &factored.few else {
            let (a, v) = &factored.views[0];
            let c = self.views[*a].weight;
            let inner: Vec<f64> = v.transposed_times(b).into_iter().map(|x| c * x).collect();
            return vec![v.times(self.n, &inner)];
        };
        let mut z = vec![0.0; few.root.n_rows];
        let first = z.len() - few.labelled.n_cols;
        z[first..].copy_from_slice(&few.labelled.transposed_times(b));
        dense::backward(&few.root, &mut z);
        let mut z = z.as_slice();
        let mut out = vec![];
        for (_, r) in &factored.views {
            let (own, rest) = z.split_at(r.n_cols);
            out.push(r.times(self.n, own));
            z = rest;
        }
        out
    }

    /// f of some rows from coefficients on all rows, by the kernels alone: sum_a c^a (K^a w^a).
    pub(super) fn predictions(&self, some: &[usize], w: &[Vec<f64>], control: &Control) -> Result<Vec<f64>> {
        let mut out = vec![0.0; some.len()];
        for (view, w) in self.views.iter().zip(w) {
            for (numbers, out) in some.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
                control.check()?;
                let columns = view.source.columns(numbers, control)?;
                for (j, out) in out.iter_mut().enumerate() {
                    let f: f64 = columns.col(j).iter().zip(w).map(|(k, w)| k * w).sum();
                    *out += view.weight * f;
                }
            }
        }
        Ok(out)
    }

    /// w of every view on all rows, from the coefficients b of the labelled ones.
    pub(super) fn coefficients(&self, b: &[f64]) -> Result<Vec<Vec<f64>>> {
        let mut w: Vec<Vec<f64>> = self.views.iter().map(|_| vec![0.0; self.n]).collect();
        for (w, view) in w.iter_mut().zip(&self.views) {
            w.iter_mut().zip(b).for_each(|(w, b)| *w = view.weight * b);
        }
        for block in &self.blocks {
            let ViewBlock::Factored(factored) = block else { continue };
            let between = self.penalty.between > 0.0 && factored.views.len() > 1;
            if !between && factored.views.iter().all(|(a, _)| self.smooth(*a).is_none()) {
                continue;
            }
            let f = self.values(factored, b);
            for ((a, _), own) in factored.views.iter().zip(&f) {
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

impl Factored {
    /// Columns of V_l.
    fn rank(&self) -> usize {
        match &self.few {
            Some(few) => few.labelled.n_cols,
            None => self.views[0].1.n_cols,
        }
    }
}

fn add_cross(h: &mut Matrix, a: &Matrix, b: &Matrix, scale: f64, control: &Control) -> Result<()> {
    let cross = dense::cross_product(a, b, scale, control)?;
    h.values.iter_mut().zip(cross.values).for_each(|(h, x)| *h += x);
    Ok(())
}
