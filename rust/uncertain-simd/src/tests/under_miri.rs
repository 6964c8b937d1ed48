//! Sizes of tests under Miri, which checks every access to memory and takes some thousand times as long.

/// A number of sizes to be tried, or few.
pub(crate) const fn up_to(n: usize) -> usize {
    if cfg!(miri) && n > 10 { 10 } else { n }
}

/// One of so many cases of a long loop is tried.
pub(crate) const fn one_of(cases: usize) -> usize {
    if cfg!(miri) { cases } else { 1 }
}
