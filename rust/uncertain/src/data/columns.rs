//! Marginals: some of the features of every row.

use crate::data::GaussianArray;
use crate::error::{Error, Result};

impl GaussianArray {
    /// The distribution of these features alone, in this order: a Gaussian of the same kind.
    ///
    /// # Errors
    /// For no column, one that does not exist, and one that is there twice: a copy would have the same error, which no
    /// diagonal kind can say.
    pub fn columns(&self, columns: &[usize]) -> Result<GaussianArray> {
        let d = self.n_features();
        if columns.is_empty() {
            return Err(Error::Data("columns: at least one feature is needed".into()));
        }
        if let Some(&column) = columns.iter().find(|&&c| c >= d) {
            return Err(Error::Data(format!("columns: feature {column} does not exist: there are {d}")));
        }
        let mut sorted = columns.to_vec();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::Data(format!("columns: feature {} is picked twice", pair[0])));
        }
        let covariances = self.covariances().columns(columns, d);
        Ok(GaussianArray::from_checked(self.means().columns(columns, 1), covariances))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::covariance::Shared;
    use crate::data::{Covariances, Names, Rows};

    fn rows(n: usize, width: usize, scale: f64) -> Rows {
        Rows::from_vec((0..n * width).map(|i| scale * (1.0 + (i % 7) as f64)).collect(), width).unwrap()
    }

    #[test]
    fn marginals_of_every_kind_are_sub_matrices() {
        let (n, d, columns) = (3, 4, [2, 0]);
        let names = Names::default();
        let factor = || Covariances::from_factor(rows(n, d * 2, 0.1), 2, None, &names).unwrap();
        let dense = |c: Covariances| GaussianArray::new(rows(n, d, 1.0), c).unwrap().to_full().unwrap();
        let full = dense(factor()).covariances().clone();
        let Covariances::Full(one) = dense(factor()).slice(0..1).covariances().clone() else { unreachable!() };
        let kinds = [
            Covariances::Zero,
            Covariances::from_std(rows(n, 1, 0.5)),
            Covariances::from_std(rows(n, d, 0.5)),
            factor(),
            Covariances::from_factor(rows(n, d * 2, 0.1), 2, Some(rows(n, d, 0.2)), &names).unwrap(),
            full,
            Covariances::Shared(Shared { packed: one.values.to_vec().into() }),
        ];
        for covariances in kinds {
            let array = GaussianArray::new(rows(n, d, 1.0), covariances).unwrap();
            let part = array.columns(&columns).unwrap();
            assert_eq!(part.covariances().kind(), array.covariances().kind());
            let (all, some) = (array.dense().unwrap(), part.dense().unwrap());
            for row in 0..n {
                for (a, &i) in columns.iter().enumerate() {
                    assert_eq!(part.means().at(row, a), array.means().at(row, i));
                    for (b, &j) in columns.iter().enumerate() {
                        assert_eq!(some[row * 4 + a * 2 + b], all[row * d * d + i * d + j]);
                    }
                }
            }
        }
        let points = GaussianArray::exact(rows(n, d, 1.0)).unwrap();
        assert!(points.columns(&[]).is_err());
        assert!(points.columns(&[1, 0, 1]).unwrap_err().to_string().contains("feature 1 is picked twice"));
        assert!(points.columns(&[4]).unwrap_err().to_string().contains("feature 4"));
    }
}
