//! Pairs whose M is a number, a diagonal, or 2 x 2: closed forms without cancellation.

use super::{Others, Single, Vector, difference, finish, joint};

/// Exact points: the RBF kernel. The distance is summed from differences, so it does not cancel.
pub(super) struct Points {
    pub d: usize,
}

impl<V: Vector> Single<V> for Points {
    #[inline(always)]
    fn some(&mut self, own: &[f64], others: Others<'_>) -> V {
        squared_distance::<V>(&own[..self.d], others.cut(self.d)).exp_half()
    }
}

#[inline(always)]
fn squared_distance<V: Vector>(own: &[f64], others: Others<'_>) -> V {
    let mut sum = V::splat(0.0);
    for k in 0..own.len().min(others.pack.len()) {
        let x = difference::<V>(own, others, k);
        sum = x.mul_add(x, sum);
    }
    sum
}

/// 1 + u^2 or 1 + v
#[inline(always)]
fn widened<V: Vector, const SHARED: bool>(u: V) -> V {
    if SHARED { u.mul_add(u, V::splat(1.0)) } else { u.add(V::splat(1.0)) }
}

/// M = m I.
pub(super) struct Isotropic<const SHARED: bool> {
    pub d: usize,
}

impl<V: Vector, const SHARED: bool> Single<V> for Isotropic<SHARED> {
    #[inline(always)]
    fn some(&mut self, own: &[f64], others: Others<'_>) -> V {
        let t = widened::<V, SHARED>(joint::<V, SHARED>(own, others, self.d)).recip();
        let distance = squared_distance::<V>(&own[..self.d], others.cut(self.d));
        // t^d by squaring.
        let (mut power, mut base, mut left) = (V::splat(1.0), t, self.d);
        while left > 0 {
            if left % 2 == 1 {
                power = power.mul(base);
            }
            base = base.mul(base);
            left /= 2;
        }
        finish(power, distance.mul(t))
    }
}

/// M = diag(m).
pub(super) struct Diagonal<const SHARED: bool> {
    pub d: usize,
}

impl<V: Vector, const SHARED: bool> Single<V> for Diagonal<SHARED> {
    #[inline(always)]
    fn some(&mut self, own: &[f64], others: Others<'_>) -> V {
        let (own, others) = (&own[..2 * self.d], others.cut(2 * self.d));
        let (mut product, mut sum) = (V::splat(1.0), V::splat(0.0));
        for k in 0..self.d {
            let t = widened::<V, SHARED>(joint::<V, SHARED>(own, others, self.d + k)).recip();
            let x = difference::<V>(own, others, k);
            product = product.mul(t);
            sum = x.mul(x).mul_add(t, sum);
        }
        finish(product, sum)
    }
}

/// 2 x 2. With B = U^2 or S_i + S_j: |I + B| = 1 + tr B + |B| and adj(I + B) = I + adj(B), where
/// |I + U^2| = |I + i U|^2 = (1 - |U|)^2 + (tr U)^2 and adj(U^2) = adj(U)^2: sums of squares only, and one inverse
/// root.
pub(super) struct Two<const SHARED: bool>;

impl<V: Vector, const SHARED: bool> Single<V> for Two<SHARED> {
    #[inline(always)]
    fn some(&mut self, own: &[f64], others: Others<'_>) -> V {
        let (own, others) = (&own[..5], others.cut(5));
        let (x, y) = (difference::<V>(own, others, 0), difference::<V>(own, others, 1));
        let a = joint::<V, SHARED>(own, others, 2);
        let b = joint::<V, SHARED>(own, others, 3);
        let c = joint::<V, SHARED>(own, others, 4);
        let (one, zero) = (V::splat(1.0), V::splat(0.0));
        let distance = x.mul_add(x, y.mul(y));
        // adj(U) or adj(B) times the difference.
        let (p, q) = (b.neg_mul_add(y, c.mul(x)), b.neg_mul_add(x, a.mul(y)));
        let trace = a.add(c);
        let (det, form) = if SHARED {
            let minor = a.neg_mul_add(c, b.mul_add(b, one));
            (minor.mul_add(minor, trace.mul(trace)), p.mul_add(p, q.mul_add(q, distance)))
        } else {
            // |B| >= 0 and adj(B) >= 0 up to rounding.
            let minor = a.neg_mul_add(c, b.mul(b));
            let cross = p.mul_add(x, q.mul(y));
            (one.add(trace).sub(minor.min(zero)), distance.add(cross.max(zero)))
        };
        let root = det.rsqrt();
        root.mul(form.mul(root).mul(root).exp_half())
    }
}
