//! Run-time choice of the instruction set.
//!
//! The best one of the machine, or that which the environment variable [`SWITCH`] names: so that tests see every copy
//! of the kernels on one machine. It is read once.

use std::sync::atomic::{AtomicU8, Ordering};

/// The environment variable: `avx512`, `avx2` or `scalar` (what every machine of the architecture has).
pub const SWITCH: &str = "UNCERTAIN_SIMD";

/// A function that is compiled once per instruction set and runs the copy for the one in use. Its body sees `FMA`: is
/// multiply-add one instruction there?
macro_rules! kernel {
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident<const $FMA:ident: bool>($($argument:ident: $type:ty),+ $(,)?) $(-> $output:ty)? $body:block
    ) => {
        $(#[$meta])*
        $vis fn $name($($argument: $type),+) $(-> $output)? {
            #[inline(always)]
            fn run<const $FMA: bool>($($argument: $type),+) $(-> $output)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
            fn v4($($argument: $type),+) $(-> $output)? {
                run::<true>($($argument),+)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn v3($($argument: $type),+) $(-> $output)? {
                run::<true>($($argument),+)
            }

            match $crate::dispatch::Level::in_use().set() {
                // SAFETY: a level exists only where its features were detected.
                #[cfg(target_arch = "x86_64")]
                $crate::dispatch::Set::Avx512 => unsafe { v4($($argument),+) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::dispatch::Set::Avx2 => unsafe { v3($($argument),+) },
                $crate::dispatch::Set::Scalar => run::<{ cfg!(target_arch = "aarch64") }>($($argument),+),
            }
        }
    };
}
pub(crate) use kernel;

/// Instruction sets for which there are copies, the best one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Set {
    #[cfg(target_arch = "x86_64")]
    Avx512 = 1,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Scalar,
}

/// An instruction set that this machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level(Set);

/// The number of the [`Set`] in use; 0 while nobody has looked.
static IN_USE: AtomicU8 = AtomicU8::new(0);

#[cfg(test)]
thread_local! {
    static FORCED: std::cell::Cell<Option<Level>> = const { std::cell::Cell::new(None) };
}

impl Level {
    /// All of them, the best one first.
    pub fn all() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let sets = {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw");
            [(avx512, Set::Avx512), (avx2, Set::Avx2), (true, Set::Scalar)]
        };
        #[cfg(not(target_arch = "x86_64"))]
        let sets = [(true, Set::Scalar)];
        sets.into_iter().filter(|(has, _)| *has).map(|(_, set)| Self(set))
    }

    /// The one to use: the best, or that which [`SWITCH`] names.
    ///
    /// # Errors
    /// The name asked for, and the names that this machine has.
    pub fn asked() -> Result<Self, (String, String)> {
        let best = Self::all().next().unwrap_or(Self(Set::Scalar));
        let Some(name) = std::env::var_os(SWITCH).filter(|name| !name.is_empty()) else { return Ok(best) };
        let name = name.to_string_lossy().into_owned();
        let names = || Self::all().map(Self::name).collect::<Vec<_>>().join(", ");
        Self::all().find(|level| level.name() == name).ok_or_else(|| (name, names()))
    }

    /// As [`SWITCH`] has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "avx2",
            Set::Scalar => "scalar",
        }
    }

    /// The one in use. (Who wants to know of a wrong name in the environment looks at [`asked`](Self::asked).)
    #[inline]
    pub(crate) fn in_use() -> Self {
        #[cfg(test)]
        if let Some(level) = FORCED.get() {
            return level;
        }
        match IN_USE.load(Ordering::Relaxed) {
            // Numbers are those of levels that `look` was given.
            #[cfg(target_arch = "x86_64")]
            1 => Self(Set::Avx512),
            #[cfg(target_arch = "x86_64")]
            2 => Self(Set::Avx2),
            0 => Self::look(),
            _ => Self(Set::Scalar),
        }
    }

    #[cold]
    fn look() -> Self {
        let level = Self::asked().unwrap_or_else(|_| Self::all().next().unwrap_or(Self(Set::Scalar)));
        IN_USE.store(level.0 as u8, Ordering::Relaxed);
        level
    }

    pub(crate) fn set(self) -> Set {
        self.0
    }

    /// `work` with this one in use on this thread.
    #[cfg(test)]
    pub(crate) fn during<T>(self, work: impl FnOnce() -> T) -> T {
        let before = FORCED.replace(Some(self));
        let found = work();
        FORCED.set(before);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_chooses() {
        let name = std::env::var(SWITCH).unwrap_or_default();
        match Level::asked() {
            Ok(level) if name.is_empty() => assert_eq!(Some(level), Level::all().next()),
            Ok(level) => assert_eq!(level.name(), name),
            Err((asked, known)) => panic!("{SWITCH}={asked}: this machine has {known}"),
        }
        assert_eq!(Some(Level::in_use()), Level::asked().ok());
        for level in Level::all() {
            level.during(|| assert_eq!(Level::in_use(), level));
        }
    }
}
