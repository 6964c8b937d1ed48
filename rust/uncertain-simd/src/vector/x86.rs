//! The registers of AVX-512 and AVX2.

use std::arch::x86_64::*;

use super::{EXP, FAR, MAGIC, Vector, Wide};

#[target_feature(enable = "avx512f,avx2,fma")]
pub(super) fn avx512<K: Wide>(kernel: K) -> K::Output {
    kernel.run::<Eight>()
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn avx2<K: Wide>(kernel: K) -> K::Output {
    kernel.run::<Four>()
}

/// The body of a register's method.
macro_rules! intrinsics {
    ($($code:tt)*) => {
        // SAFETY: registers are made and used only below `avx512` and `avx2`, which are called only where their
        // instructions were detected; slices are cut to a register's length before a pointer is made of them.
        unsafe { $($code)* }
    };
}

/// The methods of a register that are one instruction, and its width.
macro_rules! instructions {
    ($width:literal: $splat:ident, $load:ident, $store:ident; $($method:ident($($operand:ident),*) = $instruction:ident;)+) => {
        const WIDTH: usize = $width;
        #[inline(always)]
        fn splat(x: f64) -> Self {
            intrinsics!(Self($splat(x)))
        }
        #[inline(always)]
        fn load(from: &[f64]) -> Self {
            intrinsics!(Self($load(from[..$width].as_ptr())))
        }
        #[inline(always)]
        fn store(self, to: &mut [f64]) {
            intrinsics!($store(to[..$width].as_mut_ptr(), self.0))
        }
        $(#[inline(always)]
        fn $method(self $(, $operand: Self)*) -> Self {
            intrinsics!(Self($instruction(self.0 $(, $operand.0)*)))
        })+
    };
}

#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
struct Eight(__m512d);

#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
struct Four(__m256d);

/// 2^{k/16}
#[repr(align(64))]
struct Roots([f64; 16]);
#[rustfmt::skip]
#[allow(clippy::approx_constant)] // one number of a table
static ROOTS: Roots = Roots([
    1.0, 1.0442737824274138, 1.0905077326652577, 1.1387886347566916, 1.189207115002721, 1.241857812073484,
    1.2968395546510096, 1.3542555469368927, 1.4142135623730951, 1.4768261459394993, 1.5422108254079407,
    1.6104903319492543, 1.681792830507429, 1.7562521603732995, 1.8340080864093424, 1.9152065613971474,
]);

// SAFETY: eight numbers.
unsafe impl Vector for Eight {
    instructions! { 8: _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd;
        add(b) = _mm512_add_pd;
        sub(b) = _mm512_sub_pd;
        mul(b) = _mm512_mul_pd;
        mul_add(b, c) = _mm512_fmadd_pd;
        neg_mul_add(b, c) = _mm512_fnmadd_pd;
        max(b) = _mm512_max_pd;
        min(b) = _mm512_min_pd;
        div(b) = _mm512_div_pd;
        sqrt() = _mm512_sqrt_pd;
    }
    const PANEL: usize = 4;
    const UNROLL: bool = true;
    #[inline(always)]
    fn copysign(self, b: Self) -> Self {
        // Bit by bit: b's where the mask has a one (the sign), else self's.
        intrinsics! {
            let sign = _mm512_castpd_si512(_mm512_set1_pd(-0.0));
            let (a, b) = (_mm512_castpd_si512(self.0), _mm512_castpd_si512(b.0));
            Self(_mm512_castsi512_pd(_mm512_ternarylogic_epi64::<0xCA>(sign, b, a)))
        }
    }
    #[inline(always)]
    fn where_above(self, size: Self, limit: Self) -> Self {
        intrinsics!(Self(_mm512_maskz_mov_pd(_mm512_cmp_pd_mask::<_CMP_GT_OQ>(size.0, limit.0), self.0)))
    }
    #[inline(always)]
    fn recip(self) -> Self {
        // y = (1 + e) / x with |e| < 2^-14, and 1 / (1 + e) = (1 - e)(1 + e^2) + O(e^4).
        let y = intrinsics!(Self(_mm512_rcp14_pd(self.0)));
        let e = self.neg_mul_add(y, Self::splat(1.0));
        let first = y.mul_add(e, y);
        first.mul_add(e.mul(e), first)
    }
    #[inline(always)]
    fn rsqrt(self) -> Self {
        // y with x y^2 = 1 - e, |e| < 2^-13, and (1 - e)^{-1/2} = 1 + e/2 + 3 e^2/8 + 5 e^3/16 + O(e^4).
        let y = intrinsics!(Self(_mm512_rsqrt14_pd(self.0)));
        let e = self.mul(y).neg_mul_add(y, Self::splat(1.0));
        let series = e.mul_add(Self::splat(0.3125), Self::splat(0.375)).mul_add(e, Self::splat(0.5));
        y.mul(e).mul_add(series, y)
    }
    #[inline(always)]
    fn exp_half(self) -> Self {
        // 2^n e^{-r/2} with n a multiple of 1/16, |r| <= ln 2 / 16: its low bits pick one of 16 roots, the
        // others scale it.
        const SIXTEENTHS: f64 = MAGIC / 16.0;
        let (q, magic) = (self.min(Self::splat(FAR)), Self::splat(SIXTEENTHS));
        let shifted = q.mul_add(Self::splat(-0.5 * std::f64::consts::LOG2_E), magic);
        let n = shifted.sub(magic);
        let r = n.mul_add(Self::splat(2.0 * std::f64::consts::LN_2), q);
        let mut sum = Self::splat(EXP[7]);
        for c in &EXP[8..] {
            sum = sum.mul_add(r, Self::splat(*c));
        }
        intrinsics! {
            let (low, high) = (_mm512_load_pd(ROOTS.0.as_ptr()), _mm512_load_pd(ROOTS.0[8..].as_ptr()));
            let root = _mm512_permutex2var_pd(low, _mm512_castpd_si512(shifted.0), high);
            Self(_mm512_scalef_pd(_mm512_mul_pd(sum.0, root), n.0))
        }
    }
}

impl Four {
    #[inline(always)]
    fn shift(self) -> Self {
        intrinsics!(Self(_mm256_castsi256_pd(_mm256_slli_epi64::<52>(_mm256_castpd_si256(self.0)))))
    }
}

// SAFETY: four numbers.
unsafe impl Vector for Four {
    instructions! { 4: _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd;
        add(b) = _mm256_add_pd;
        sub(b) = _mm256_sub_pd;
        mul(b) = _mm256_mul_pd;
        mul_add(b, c) = _mm256_fmadd_pd;
        neg_mul_add(b, c) = _mm256_fnmadd_pd;
        max(b) = _mm256_max_pd;
        min(b) = _mm256_min_pd;
        div(b) = _mm256_div_pd;
        sqrt() = _mm256_sqrt_pd;
    }
    const PANEL: usize = 3;
    const UNROLL: bool = true;
    #[inline(always)]
    fn copysign(self, b: Self) -> Self {
        intrinsics! {
            let sign = _mm256_set1_pd(-0.0);
            Self(_mm256_or_pd(_mm256_and_pd(sign, b.0), _mm256_andnot_pd(sign, self.0)))
        }
    }
    #[inline(always)]
    fn where_above(self, size: Self, limit: Self) -> Self {
        intrinsics!(Self(_mm256_and_pd(_mm256_cmp_pd::<_CMP_GT_OQ>(size.0, limit.0), self.0)))
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
