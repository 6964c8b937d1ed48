//! Replacement of `pool.rs` without the feature `threads`: the calling thread does everything, in order.
//!
//! Sums over parts have the same bits, because the parts do not depend on threads.

use std::ops::Range;

use crate::error::Result;

pub(super) fn available() -> usize {
    1
}

/// Every thread is all that there is.
pub(super) fn is_inside() -> bool {
    true
}

pub(super) fn threads() -> usize {
    1
}

pub(super) fn enter(_: usize, work: &mut (dyn FnMut() + Send)) -> Result<()> {
    work();
    Ok(())
}

pub(super) fn indexed(numbers: Range<usize>, work: &(dyn Fn(usize) + Sync)) {
    numbers.for_each(work);
}

/// Methods of rayon's iterators that this crate uses, one item after the other.
pub(crate) mod iter {
    use std::slice;

    /// An iterator by rayon's names; its `reduce` is not that of the standard library.
    pub(crate) struct Each<I>(I);

    impl<I: Iterator> Each<I> {
        pub(crate) fn map<T>(self, work: impl FnMut(I::Item) -> T) -> Each<impl Iterator<Item = T>> {
            Each(self.0.map(work))
        }

        pub(crate) fn zip<O: IntoIterator>(self, other: O) -> Each<impl Iterator<Item = (I::Item, O::Item)>> {
            Each(self.0.zip(other))
        }

        pub(crate) fn for_each(self, work: impl FnMut(I::Item)) {
            self.0.for_each(work);
        }

        pub(crate) fn try_for_each<E>(mut self, work: impl FnMut(I::Item) -> Result<(), E>) -> Result<(), E> {
            self.0.try_for_each(work)
        }

        pub(crate) fn reduce(
            self,
            first: impl Fn() -> I::Item,
            join: impl FnMut(I::Item, I::Item) -> I::Item,
        ) -> I::Item {
            self.0.fold(first(), join)
        }

        pub(crate) fn collect<C: FromIterator<I::Item>>(self) -> C {
            self.0.collect()
        }
    }

    pub(crate) trait ParallelSlice<T> {
        fn par_iter(&self) -> Each<slice::Iter<'_, T>>;
        fn par_iter_mut(&mut self) -> Each<slice::IterMut<'_, T>>;
    }

    impl<T> ParallelSlice<T> for [T] {
        fn par_iter(&self) -> Each<slice::Iter<'_, T>> {
            Each(self.iter())
        }

        fn par_iter_mut(&mut self) -> Each<slice::IterMut<'_, T>> {
            Each(self.iter_mut())
        }
    }

    pub(crate) trait IntoParallelIterator: IntoIterator + Sized {
        fn into_par_iter(self) -> Each<Self::IntoIter> {
            Each(self.into_iter())
        }
    }

    impl<I: IntoIterator> IntoParallelIterator for I {}
}
