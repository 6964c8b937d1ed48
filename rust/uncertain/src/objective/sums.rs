//! Sums of a [`Request::Value`].

use crate::sums::Request;

pub(super) fn add(total: &mut [f64], next: &[f64]) {
    total.iter_mut().zip(next).for_each(|(a, b)| *a += b);
}

/// Sums over the rows of one class: those that push b down (dm > 0: class -1), and those that push it up.
#[derive(Debug, Clone)]
pub(crate) struct ClassSums {
    /// sum c a, where a + dm m + ds s is the row's lower bound: p for a margin loss
    pub constant: f64,
    /// sum c dm
    pub bias: f64,
    /// sum c (dm x + ds t)
    pub gradient: Vec<f64>,
}

impl ClassSums {
    pub(crate) fn zero(d: usize) -> Self {
        Self { constant: 0.0, bias: 0.0, gradient: vec![0.0; d] }
    }

    pub(super) fn write(&self, out: &mut Vec<f64>) {
        out.extend([self.constant, self.bias]);
        out.extend(&self.gradient);
    }

    /// Sums of d features at the front of `flat`, which moves on.
    pub(super) fn read(flat: &mut &[f64], d: usize) -> Self {
        let (own, rest) = flat.split_at(d + 2);
        *flat = rest;
        Self { constant: own[0], bias: own[1], gradient: own[2..].to_vec() }
    }
}

/// The answer to [`Request::Value`].
#[derive(Debug)]
pub(super) struct ValueSums {
    /// The smallest spread of a row with weight, the one number that is not a sum.
    pub narrowest: f64,
    pub smoothed: f64,
    pub objective: f64,
    /// sum c (a + dm m + ds s^2 / s_eps): what the slopes at the smoothed point promise for the point itself
    pub tangent: f64,
    /// Classes -1 and +1.
    pub classes: [ClassSums; 2],
    /// Packed lower triangle, empty where it was not wanted.
    pub hessian: Vec<f64>,
}

impl ValueSums {
    pub(super) fn zero(d: usize) -> Self {
        let (class, hessian) = (ClassSums::zero(d), vec![]);
        let classes = [class.clone(), class];
        Self { narrowest: f64::INFINITY, smoothed: 0.0, objective: 0.0, tangent: 0.0, classes, hessian }
    }

    pub(super) fn flat(&self) -> Vec<f64> {
        let mut out = Vec::with_capacity(Request::value_len(self.classes[0].gradient.len(), !self.hessian.is_empty()));
        out.extend([self.narrowest, self.smoothed, self.objective, self.tangent]);
        self.classes.iter().for_each(|class| class.write(&mut out));
        out.extend(&self.hessian);
        out
    }

    pub(super) fn from_flat(flat: &[f64], d: usize) -> Self {
        let mut rest = &flat[4..];
        let classes = [(); 2].map(|()| ClassSums::read(&mut rest, d));
        let [narrowest, smoothed, objective, tangent] = [0, 1, 2, 3].map(|k| flat[k]);
        Self { narrowest, smoothed, objective, tangent, classes, hessian: rest.to_vec() }
    }
}
