//! Rows stored in another type.

use crate::data::{Covariances, ElementType, GaussianArray, MixtureArray, Rows};
use crate::error::{Error, Result};
use crate::memory;

impl GaussianArray {
    /// These rows stored as float64, in which nothing changes, or rounded to float32, in half the memory. A matrix
    /// that all rows share stays what it is.
    ///
    /// Rounded matrices are checked as those of a new array are, and mended where that is allowed (those are float64
    /// again).
    ///
    /// # Errors
    /// With the row, what float32 does not hold: numbers beyond 3.4e38, and variances so small that they would be zero,
    /// which would make a measured number an exact one.
    pub fn stored_as(&self, to: ElementType) -> Result<Self> {
        if to == ElementType::F32 {
            fits(self.means(), "means")?;
            self.covariances().fields().iter().try_for_each(|field| fits(&field.values, field.name))?;
        }
        memory::ask(self.n_rows(), self.row_bytes())?;
        let covariances = self.covariances().with_rows(&|values| values.stored_as(to));
        self.refuse_exact(&covariances)?;
        Self::new(self.means().stored_as(to), covariances)
    }

    /// A variance that is zero only in `rounded`.
    fn refuse_exact(&self, rounded: &Covariances) -> Result<()> {
        let d = self.n_features();
        let (mut before, mut after) = (vec![0.0; d], vec![0.0; d]);
        for row in 0..self.n_rows() {
            self.covariances().variances(row, &mut before);
            rounded.variances(row, &mut after);
            if let Some(j) = (0..d).find(|&j| before[j] > 0.0 && after[j] == 0.0) {
                return Err(Error::Data(format!(
                    "row {row}, feature {j}: the variance {:e} would be zero in float32, and the number exact; keep \
                     float64, or multiply the feature by a larger unit",
                    before[j]
                )));
            }
        }
        Ok(())
    }
}

impl MixtureArray {
    /// [`GaussianArray::stored_as`] of the components.
    ///
    /// # Errors
    /// As there, with the number of the component.
    pub fn stored_as(&self, to: ElementType) -> Result<Self> {
        Ok(self.with_components(self.components().stored_as(to)?))
    }
}

/// Is every number within float32?
fn fits(values: &Rows, what: &str) -> Result<()> {
    for (first, segment) in values.segments(0..values.n_rows()) {
        if let Some(at) = segment.iter().position(|x| !(*x as f32).is_finite()) {
            let (row, column) = (first + at / values.width(), at % values.width());
            return Err(Error::Data(format!(
                "{what}: row {row}, element {column} is {:e}, beyond float32, whose largest number is {:e}; keep float64",
                segment[at],
                f32::MAX
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(mean: f64, std: f64) -> GaussianArray {
        let rows = |values: Vec<f64>| Rows::from_vec(values, 1).unwrap();
        GaussianArray::new(rows(vec![1.0, mean]), Covariances::from_std(rows(vec![0.1, std]))).unwrap()
    }

    #[test]
    fn rounding_keeps_what_float32_holds_and_refuses_the_rest() {
        let narrow = row(0.1, 1e-20).stored_as(ElementType::F32).unwrap();
        assert_eq!(narrow.means().element_type(), ElementType::F32);
        assert_eq!(narrow.row_bytes(), 8);
        assert_eq!(narrow.means().at(1, 0), f64::from(0.1_f32));
        assert_eq!(narrow.stored_as(ElementType::F64).unwrap(), narrow);
        let refused = |rows: GaussianArray| rows.stored_as(ElementType::F32).unwrap_err().to_string();
        assert!(refused(row(1e39, 0.1)).starts_with("means: row 1, element 0 is 1e39, beyond float32"));
        assert!(refused(row(0.1, 1e-60)).starts_with("row 1, feature 0: the variance"));
        assert_eq!(row(1e-40, 0.0).stored_as(ElementType::F32).unwrap().means().at(1, 0), f64::from(1e-40_f32));
    }
}
