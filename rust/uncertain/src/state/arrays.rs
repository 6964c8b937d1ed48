//! Fitted objects as named arrays of f64: the tensors of a model file, and the attributes of other languages.

use ndarray::Array2;

use crate::data::GaussianArray;
use crate::error::{Error, Result};

/// Numbers with a shape, row-major.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Its sizes.
    pub shape: Vec<usize>,
    /// As many numbers as their product.
    pub values: Vec<f64>,
}

/// One array on its way out.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedTensor {
    /// Its name, unique among those of one fitted thing.
    pub name: String,
    /// Its numbers.
    pub tensor: Tensor,
    /// Is it left behind by model files? Arrays per row of a fit may be as large as its rows.
    pub aside: bool,
}

/// The arrays of one fitted thing, to be filled.
#[derive(Debug, Default)]
pub struct Arrays(pub(crate) Vec<NamedTensor>);

impl Arrays {
    /// Numbers of this shape.
    pub fn put(&mut self, name: impl Into<String>, shape: &[usize], values: impl Into<Vec<f64>>) {
        let tensor = Tensor { shape: shape.to_vec(), values: values.into() };
        self.0.push(NamedTensor { name: name.into(), tensor, aside: false });
    }

    /// A vector.
    pub fn vector(&mut self, name: impl Into<String>, values: &[f64]) {
        self.put(name, &[values.len()], values);
    }

    /// A matrix.
    pub fn matrix(&mut self, name: impl Into<String>, values: &Array2<f64>) {
        let (n, m) = values.dim();
        self.put(name, &[n, m], values.iter().copied().collect::<Vec<_>>());
    }

    /// A vector that model files leave behind; it may hold numbers that are not finite.
    pub fn aside(&mut self, name: impl Into<String>, values: &[f64]) {
        self.vector(name, values);
        self.0.iter_mut().next_back().into_iter().for_each(|named| named.aside = true);
    }

    /// All of them.
    pub fn into_inner(self) -> Vec<NamedTensor> {
        self.0
    }
}

/// Gives the array of a name, once.
pub(crate) type TakeTensor<'a> = dyn FnMut(&str) -> Result<Option<Tensor>> + 'a;

/// The arrays and rows of one step of a model file, each to be taken once. Their sizes are those of the file, so
/// nothing here can ask for more memory than the file has bytes.
pub struct Parts<'a> {
    step: usize,
    rows: Option<GaussianArray>,
    take: &'a mut TakeTensor<'a>,
}

impl<'a> Parts<'a> {
    pub(crate) fn new(step: usize, rows: Option<GaussianArray>, take: &'a mut TakeTensor<'a>) -> Self {
        Self { step, rows, take }
    }

    /// The rows that belong to what was fitted.
    pub fn rows(&mut self) -> Result<GaussianArray> {
        self.rows.take().ok_or_else(|| Error::ModelFile(format!("step {} has lost the rows of its fit", self.step)))
    }

    /// An array that may be missing.
    pub fn optional_rows(&mut self) -> Option<GaussianArray> {
        self.rows.take()
    }

    /// An array that need not be there.
    pub fn optional(&mut self, name: &str) -> Result<Option<Tensor>> {
        (self.take)(name)
    }

    /// An array of any shape.
    pub fn tensor(&mut self, name: &str) -> Result<Tensor> {
        self.optional(name)?.ok_or_else(|| Error::ModelFile(format!("the tensor `{}.{name}` is missing", self.step)))
    }

    /// The numbers of an array that must have this shape.
    pub fn shaped(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f64>> {
        let tensor = self.tensor(name)?;
        self.has_shape(name, tensor, shape)
    }

    /// An array that may be missing.
    pub fn optional_shaped(&mut self, name: &str, shape: &[usize]) -> Result<Option<Vec<f64>>> {
        self.optional(name)?.map(|tensor| self.has_shape(name, tensor, shape)).transpose()
    }

    fn has_shape(&self, name: &str, tensor: Tensor, shape: &[usize]) -> Result<Vec<f64>> {
        if tensor.shape == shape {
            return Ok(tensor.values);
        }
        let (step, got) = (self.step, tensor.shape);
        Err(Error::ModelFile(format!("the tensor `{step}.{name}` has the shape {got:?} instead of {shape:?}")))
    }

    /// A vector of any length.
    pub fn vector(&mut self, name: &str) -> Result<Vec<f64>> {
        let tensor = self.tensor(name)?;
        match tensor.shape.len() {
            1 => Ok(tensor.values),
            _ => Err(self.not_a("vector", name, &tensor)),
        }
    }

    /// A matrix of any size.
    pub fn matrix(&mut self, name: &str) -> Result<Array2<f64>> {
        let tensor = self.tensor(name)?;
        self.as_matrix(name, tensor)
    }

    /// An array that may be missing.
    pub fn optional_matrix(&mut self, name: &str) -> Result<Option<Array2<f64>>> {
        self.optional(name)?.map(|tensor| self.as_matrix(name, tensor)).transpose()
    }

    fn as_matrix(&self, name: &str, tensor: Tensor) -> Result<Array2<f64>> {
        let &[n, m] = tensor.shape.as_slice() else { return Err(self.not_a("matrix", name, &tensor)) };
        Array2::from_shape_vec((n, m), tensor.values).map_err(|e| Error::Internal(format!("checked shape: {e}")))
    }

    /// A matrix of this size.
    pub fn shaped_matrix(&mut self, name: &str, shape: [usize; 2]) -> Result<Array2<f64>> {
        let values = self.shaped(name, &shape)?;
        Array2::from_shape_vec(shape, values).map_err(|e| Error::Internal(format!("checked shape: {e}")))
    }

    /// Numbers of rows, all below `n`.
    pub fn row_numbers(&mut self, name: &str, n: usize) -> Result<Vec<u32>> {
        let number = |x: f64| {
            let row = x as u32;
            let sound = f64::from(row) == x && (row as usize) < n;
            if sound { Ok(row) } else { Err(Error::ModelFile(format!("{x} is not a row number"))) }
        };
        self.vector(name)?.into_iter().map(number).collect()
    }

    fn not_a(&self, what: &str, name: &str, tensor: &Tensor) -> Error {
        let (step, shape) = (self.step, &tensor.shape);
        Error::ModelFile(format!("the tensor `{step}.{name}` has the shape {shape:?} and is not a {what}"))
    }
}
