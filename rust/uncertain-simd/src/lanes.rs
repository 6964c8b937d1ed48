//! Eight numbers side by side, and the few operations the kernels need.

use crate::stored::Element;

pub const LANES: usize = 8;
pub(crate) type Lanes = [f64; LANES];

/// Lanes in memory: aligned, so that no load crosses two cache lines.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Pack(pub Lanes);

impl Pack {
    pub const ZERO: Self = Self([0.0; LANES]);
}

/// `f` lane by lane. Arithmetic of any length is written on eight lanes at a time: a loop over scalars
/// with much in its body is not vectorised.
#[inline(always)]
pub(super) fn each(f: impl Fn(usize) -> f64) -> Lanes {
    let mut out = [0.0; LANES];
    for l in 0..LANES {
        out[l] = f(l);
    }
    out
}

/// a b + c, fused where that is one instruction.
#[inline(always)]
pub(super) fn fma<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// sum += a * b, lane by lane.
#[inline(always)]
pub(super) fn multiply_add<const FMA: bool>(a: &[impl Element], b: &[f64], sum: &mut Lanes) {
    let (Some(a), Some(b)) = (a.first_chunk::<LANES>(), b.first_chunk::<LANES>()) else { return };
    for l in 0..LANES {
        sum[l] = fma::<FMA>(a[l].wide(), b[l], sum[l]);
    }
}

/// The sum of the lanes, always in the same tree.
///
/// The lanes are stored first: eight neighbouring stores are what makes LLVM keep the running sums
/// in one vector register, where the tree of additions alone leaves it eight scalars.
#[inline(always)]
pub(super) fn reduce(s: &Lanes) -> f64 {
    let s = std::hint::black_box(*s);
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}
