//! Packed triangles: the lower triangle of a symmetric d x d matrix row by row, element (i, j), j <= i, at
//! i (i + 1) / 2 + j.

/// Number of elements of a packed d x d triangle.
#[must_use]
pub fn packed_len(d: usize) -> usize {
    d * (d + 1) / 2
}

/// Position of element (i, j) of a packed triangle, either order.
#[must_use]
pub fn packed_index(i: usize, j: usize) -> usize {
    let (i, j) = if i >= j { (i, j) } else { (j, i) };
    i * (i + 1) / 2 + j
}

/// The square matrix of a packed triangle.
pub(crate) fn unpack(packed: &[f64], d: usize) -> Vec<f64> {
    let mut square = vec![0.0; d * d];
    unpack_into(packed, d, &mut square);
    square
}

/// [`unpack`] in place.
pub(crate) fn unpack_into(packed: &[f64], d: usize, square: &mut [f64]) {
    for i in 0..d {
        let line = &packed[packed_len(i)..packed_len(i + 1)];
        square[i * d..=i * d + i].copy_from_slice(line);
        (0..i).for_each(|j| square[j * d + i] = line[j]);
    }
}

/// Where the packed triangle of the picked rows and columns lies, if element (i, j) is at `at(i, j)`.
pub(super) fn select_triangle(columns: &[usize], at: impl Fn(usize, usize) -> usize) -> Vec<usize> {
    columns.iter().enumerate().flat_map(|(k, &i)| columns[..=k].iter().map(|&j| at(i, j)).collect::<Vec<_>>()).collect()
}
