//! Run-time choice of the instruction set.

/// A piece of work that is compiled once per instruction set.
///
/// `run` must be `#[inline(always)]`: only then does it take over the features of the copy it is in.
pub(crate) trait Kernel {
    type Output;
    fn run<const FMA: bool>(self) -> Self::Output;
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Kernel;

    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
    pub(super) fn v4<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<true>()
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn v3<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<true>()
    }
}

/// Run the kernel in the best copy this machine can execute.
#[inline]
pub(crate) fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        let v3 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        if v3
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bw")
        {
            // SAFETY: the features that `v4` enables were just detected.
            return unsafe { x86::v4(kernel) };
        }
        if v3 {
            // SAFETY: the features that `v3` enables were just detected.
            return unsafe { x86::v3(kernel) };
        }
        kernel.run::<false>()
    }
    #[cfg(target_arch = "aarch64")]
    {
        kernel.run::<true>()
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        kernel.run::<false>()
    }
}
