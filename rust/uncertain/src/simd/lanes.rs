//! Eight numbers side by side, and the few operations the kernels need.

pub(super) const LANES: usize = 8;
pub(super) type Lanes = [f64; LANES];

/// a b + c, fused where that is one instruction.
#[inline(always)]
pub(super) fn fma<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// sum += a * b, lane by lane.
#[inline(always)]
pub(super) fn multiply_add<const FMA: bool>(a: &[f64], b: &[f64], sum: &mut Lanes) {
    let (a, b): (&Lanes, &Lanes) = (a.try_into().unwrap_or(&[0.0; LANES]), b.try_into().unwrap_or(&[0.0; LANES]));
    for l in 0..LANES {
        sum[l] = fma::<FMA>(a[l], b[l], sum[l]);
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
