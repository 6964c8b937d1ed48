//! Eight, four or two numbers as one register, for kernels that must keep dozens of them there.
//!
//! Idea: loops over `[f64; 8]` leave it to LLVM to find the vectors again. That works for a loop of a few
//! operations; a factorisation with sixteen running sums comes out half scalar. Here a [`Vector`] is a
//! register from the start, a kernel is generic over it, and [`dispatch_wide`] runs the copy for the best
//! instruction set of the machine. AVX-512 has one register for eight numbers, AVX2 for four; elsewhere two
//! numbers side by side are what LLVM does make a register (NEON, SSE2).
//!
//! Everything on the way from `dispatch_wide` to an operation must be `#[inline(always)]` and no closure:
//! only then does it take over the instruction set.
//!
//! Safety: the intrinsics are called from functions without their target features. Their types are private
//! to x86.rs, and a [`Level`] that names one exists only where the features were detected.

use crate::dispatch::{Level, Set};

/// One register of numbers.
///
/// # Safety
/// Implementors are plain numbers without padding: any bits are a value, their alignment divides 64, and
/// `WIDTH` of them fill `size_of::<Self>()`.
pub(crate) unsafe trait Vector: Copy {
    /// Numbers; divides 8.
    const WIDTH: usize;
    /// Blocks of so many by so many sums stay in registers, operands included.
    const PANEL: usize;
    /// Worth separate kernels for every small dimension, which take their time to compile.
    const UNROLL: bool;
    fn splat(x: f64) -> Self;
    /// The first `WIDTH` numbers.
    fn load(from: &[f64]) -> Self;
    fn store(self, to: &mut [f64]);
    fn add(self, b: Self) -> Self;
    fn sub(self, b: Self) -> Self;
    fn mul(self, b: Self) -> Self;
    /// self b + c
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// c - self b
    fn neg_mul_add(self, b: Self, c: Self) -> Self;
    /// The larger one; b where self is not a number.
    fn max(self, b: Self) -> Self;
    /// The smaller one; b where self is not a number.
    fn min(self, b: Self) -> Self;
    /// The size of self with the sign of b.
    fn copysign(self, b: Self) -> Self;
    /// self where `size` > `limit`, else 0.
    fn where_above(self, size: Self, limit: Self) -> Self;
    fn div(self, b: Self) -> Self;
    fn sqrt(self) -> Self;
    /// 1 / self, to two units in the last place; exact for 1. For 1e-290 to 1e290. Where division keeps the
    /// machine from other work, this does not.
    fn recip(self) -> Self;
    /// 1 / sqrt(self), to two units in the last place; exact for 1. For 1e-290 to 1e290.
    fn rsqrt(self) -> Self;
    /// exp(-self / 2) for 0 <= self, with an error of a few units of rounding times 1 + self; exact for 0, and 0
    /// beyond 1600 and for what is not a number.
    fn exp_half(self) -> Self;

    /// `len` registers' worth of packs, as registers.
    #[inline(always)]
    fn view(packs: &mut [super::Pack]) -> &mut [Self] {
        // SAFETY: packs are numbers, and registers are plain numbers (the contract of this trait).
        let (_, registers, _) = unsafe { packs.align_to_mut::<Self>() };
        registers
    }
}

/// R rows of `len` registers, `stride` apart.
#[inline(always)]
pub(crate) fn lines<V, const R: usize>(matrix: &[V], stride: usize, len: usize) -> [&[V]; R] {
    let mut lines: [&[V]; R] = [&[]; R];
    for r in 0..R {
        lines[r] = &matrix[r * stride..][..len];
    }
    lines
}

/// Work that is compiled once per kind of register. `run` must be `#[inline(always)]`.
pub(crate) trait Wide {
    type Output;
    fn run<V: Vector>(self) -> Self::Output;
}

/// Run the copy for the instruction set in use.
pub(crate) fn dispatch_wide<K: Wide>(kernel: K) -> K::Output {
    run_on(Level::in_use(), kernel)
}

/// Run the copy for one instruction set.
pub(crate) fn run_on<K: Wide>(level: Level, kernel: K) -> K::Output {
    match level.set() {
        // SAFETY: a level exists only where its features were detected.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => unsafe { x86::avx512(kernel) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => unsafe { x86::avx2(kernel) },
        Set::Scalar => kernel.run::<Pairs<{ cfg!(target_arch = "aarch64") }>>(),
    }
}

/// Adding it rounds a number below 2^51 to an integer and leaves that in the low bits.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// Two numbers, with fused multiply-add where every machine of the architecture has it.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
struct Pairs<const FMA: bool>([f64; 2]);

/// Beyond it exp(-q / 2) is 0.
const FAR: f64 = 1600.0;

/// (-1/2)^k / k! for k = 13, 12, .. 0: exp(-r / 2).
#[rustfmt::skip]
const EXP: [f64; 14] = [
    -1.0 / 8192.0 / 6_227_020_800.0, 1.0 / 4096.0 / 479_001_600.0, -1.0 / 2048.0 / 39_916_800.0,
    1.0 / 1024.0 / 3_628_800.0, -1.0 / 512.0 / 362_880.0, 1.0 / 256.0 / 40_320.0, -1.0 / 128.0 / 5_040.0,
    1.0 / 64.0 / 720.0, -1.0 / 32.0 / 120.0, 1.0 / 16.0 / 24.0, -1.0 / 8.0 / 6.0, 1.0 / 8.0, -0.5, 1.0,
];

/// 2^n in two factors, so that results below 2^-1022 are reached within the exponent range. `shift`: the bits of
/// its argument 52 places up.
macro_rules! exp_half {
    ($q:expr, $shift:expr) => {{
        let (q, magic) = ($q.min(Self::splat(FAR)), Self::splat(MAGIC));
        let n = q.mul_add(Self::splat(-0.5 * std::f64::consts::LOG2_E), magic).sub(magic);
        let r = n.mul_add(Self::splat(2.0 * std::f64::consts::LN_2), q);
        let mut sum = Self::splat(EXP[0]);
        for c in &EXP[1..] {
            sum = sum.mul_add(r, Self::splat(*c));
        }
        let half = n.mul_add(Self::splat(0.5), magic).sub(magic);
        let bias = Self::splat(MAGIC + 1023.0);
        sum.mul($shift(half.add(bias))).mul($shift(n.sub(half).add(bias)))
    }};
}

// Below the macro it uses.
#[cfg(target_arch = "x86_64")]
mod x86;

/// The methods of two numbers that do the same with each.
macro_rules! both {
    ($($method:ident($own:ident $(, $operand:ident)*) = $result:expr;)+) => {
        $(#[inline(always)]
        fn $method(self $(, $operand: Self)*) -> Self {
            let one = |$own: f64 $(, $operand: f64)*| $result;
            Self([one(self.0[0] $(, $operand.0[0])*), one(self.0[1] $(, $operand.0[1])*)])
        })+
    };
}

impl<const FMA: bool> Pairs<FMA> {
    both! { shift(x) = f64::from_bits(x.to_bits() << 52); }
}

// SAFETY: two numbers.
unsafe impl<const FMA: bool> Vector for Pairs<FMA> {
    const WIDTH: usize = 2;
    const PANEL: usize = if FMA { 4 } else { 3 };
    const UNROLL: bool = FMA;
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self([x, x])
    }
    #[inline(always)]
    fn load(from: &[f64]) -> Self {
        Self([from[0], from[1]])
    }
    #[inline(always)]
    fn store(self, to: &mut [f64]) {
        to[..2].copy_from_slice(&self.0);
    }
    both! {
        add(a, b) = a + b;
        sub(a, b) = a - b;
        mul(a, b) = a * b;
        mul_add(a, b, c) = if FMA { a.mul_add(b, c) } else { a * b + c };
        neg_mul_add(a, b, c) = if FMA { (-a).mul_add(b, c) } else { c - a * b };
        max(a, b) = if a > b { a } else { b };
        min(a, b) = if a < b { a } else { b };
        copysign(a, b) = a.copysign(b);
        where_above(x, size, limit) = if size > limit { x } else { 0.0 };
        div(a, b) = a / b;
        sqrt(x) = x.sqrt();
    }
    #[inline(always)]
    fn recip(self) -> Self {
        Self::splat(1.0).div(self)
    }
    #[inline(always)]
    fn rsqrt(self) -> Self {
        self.sqrt().recip()
    }
    #[inline(always)]
    fn exp_half(self) -> Self {
        exp_half!(self, Self::shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::under_miri::one_of;

    /// A function of registers, on eight numbers.
    struct Map<'a, F>(&'a [f64; 8], F);

    #[derive(Clone, Copy)]
    enum Function {
        Exp,
        Recip,
        Rsqrt,
    }

    impl Wide for Map<'_, Function> {
        type Output = [f64; 8];
        #[inline(always)]
        fn run<V: Vector>(self) -> [f64; 8] {
            let mut out = [0.0; 8];
            for at in (0..8).step_by(V::WIDTH) {
                let x = V::load(&self.0[at..]);
                let y = match self.1 {
                    Function::Exp => x.exp_half(),
                    Function::Recip => x.recip(),
                    Function::Rsqrt => x.rsqrt(),
                };
                y.store(&mut out[at..]);
            }
            out
        }
    }

    fn each(x: f64, function: Function, check: impl Fn(f64)) {
        for level in Level::all() {
            run_on(level, Map(&[x; 8], function)).into_iter().for_each(&check);
        }
    }

    #[test]
    fn functions() {
        for k in (0..4000).step_by(one_of(200)) {
            let x = f64::from(k) * 0.37;
            let exact = (-0.5 * x).exp();
            // Below 2^-1022 results have fewer digits.
            let allowed = 4e-16 * (2.0 + x) * exact + 5e-324;
            each(x, Function::Exp, |y| assert!((y - exact).abs() <= allowed, "{x}: {y}, {exact}"));
            let x = (f64::from(k - 2000) * 0.33).exp();
            each(x, Function::Recip, |y| assert!((y * x - 1.0).abs() <= 5e-16, "{x}: {y}"));
            each(x, Function::Rsqrt, |y| assert!((y * x.sqrt() - 1.0).abs() <= 7e-16, "{x}: {y}"));
        }
        for (function, x, y) in [
            (Function::Exp, 0.0, 1.0),
            (Function::Exp, 1e300, 0.0),
            (Function::Exp, f64::INFINITY, 0.0),
            (Function::Exp, f64::NAN, 0.0),
            (Function::Recip, 1.0, 1.0),
            (Function::Rsqrt, 1.0, 1.0),
        ] {
            each(x, function, |found| assert_eq!(found, y, "{x}"));
        }
    }
}
