//! [`RowTargets`]: what the rows of a problem are to be told apart by.

/// One target per row: a number, or +1 for the rows of a class and -1 for all others.
///
/// A class is read from the codes of the rows: as numbers of its own it would take eight bytes a row more, which is a tenth of ten
/// features in float32 with their error bars.
#[derive(Debug, Clone, Copy)]
pub enum RowTargets<'a> {
    /// Numbers; -1 or +1 where the loss is one of classes.
    Numbers(&'a [f64]),
    /// Is a row of the class, by its code?
    Class {
        /// The code of every row.
        codes: &'a [u32],
        /// Whose target is +1.
        class: u32,
    },
}

impl<'a> RowTargets<'a> {
    /// Number of rows.
    #[must_use]
    pub fn len(self) -> usize {
        match self {
            Self::Numbers(y) => y.len(),
            Self::Class { codes, .. } => codes.len(),
        }
    }

    /// No rows at all?
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// That of a row; panics where there is none, as slices do.
    #[must_use]
    #[inline]
    pub fn at(self, row: usize) -> f64 {
        match self {
            Self::Numbers(y) => y[row],
            Self::Class { codes, class } => sign(codes[row] == class),
        }
    }

    /// All of them.
    pub fn iter(self) -> impl Iterator<Item = f64> + 'a {
        (0..self.len()).map(move |row| self.at(row))
    }

    /// Targets of these rows.
    #[must_use]
    pub fn take(self, rows: &[usize]) -> Vec<f64> {
        rows.iter().map(|&row| self.at(row)).collect()
    }

    /// Targets of `n` rows from `first` on; `buffer` is memory for as many.
    pub(crate) fn block<'b>(self, first: usize, n: usize, buffer: &'b mut Vec<f64>) -> &'b [f64]
    where
        'a: 'b,
    {
        match self {
            Self::Numbers(y) => &y[first..first + n],
            Self::Class { codes, class } => {
                buffer.clear();
                buffer.extend(codes[first..first + n].iter().map(|&code| sign(code == class)));
                buffer
            }
        }
    }
}

impl<'a> From<&'a [f64]> for RowTargets<'a> {
    fn from(y: &'a [f64]) -> Self {
        Self::Numbers(y)
    }
}

impl<'a> From<&'a Vec<f64>> for RowTargets<'a> {
    fn from(y: &'a Vec<f64>) -> Self {
        Self::Numbers(y)
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for RowTargets<'a> {
    fn from(y: &'a [f64; N]) -> Self {
        Self::Numbers(y)
    }
}

fn sign(is: bool) -> f64 {
    if is { 1.0 } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Labels;

    #[test]
    fn a_class_has_the_targets_of_its_signs() {
        let labels = Labels::new(vec![0, 2, 1, 2, 2], 3).unwrap();
        let signs = [-1.0, 1.0, -1.0, 1.0, 1.0];
        let (class, numbers) = (labels.targets(2), RowTargets::from(&signs));
        assert_eq!(class.iter().collect::<Vec<_>>(), signs);
        for targets in [class, numbers] {
            assert_eq!(targets.len(), 5);
            assert_eq!(targets.take(&[4, 0, 0]), [1.0, -1.0, -1.0]);
            assert_eq!(targets.block(1, 3, &mut vec![]), &signs[1..4]);
            assert_eq!(targets.at(3), 1.0);
        }
    }
}
