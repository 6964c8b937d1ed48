//! The Gram matrix in tiles, each the same work for some thread.
//!
//! Of a rectangle each thread takes whole rows, and its tiles are computed where they belong. A tile of a symmetric
//! matrix is computed into a separate buffer and then written, also transposed into its mirror place. That
//! place has left the caches long ago, and where a pair is cheap it takes less time to compute it twice
//! ([`mirrored`]; both values have the same bits). Strips of rows sit behind locks that are held only while a
//! tile is copied, so no thread waits for long, and the triangle splits as evenly as the square.
//!
//! Rejected: stores that pass by the caches. Memory that is new was just zeroed by the system, is in the cache and
//! has to leave it first: 1.7 ns per number instead of 1.0 (of memory that was there before, 0.4 instead of 0.5).

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::control::Control;
use crate::error::Result;
use crate::kernel::probabilistic_rbf::Coupling;
use crate::kernel::probabilistic_rbf::form::Form;
use crate::kernel::probabilistic_rbf::large::Large;
use crate::kernel::probabilistic_rbf::prepare::Side;
use crate::parallel;
use crate::simd::LANES;
use crate::simd::pairs::{LARGEST, SHORT, Spread, Tile, Workspace};

/// Rows and columns of a tile, a multiple of eight; tiles of large matrices are smaller, so that a stop is
/// heard soon.
pub(super) fn tile_size(form: &Form) -> usize {
    match (form.spread, form.d) {
        (Spread::Dense, 33..=LARGEST) => 32,
        (Spread::Dense, d) if d > LARGEST => LANES,
        _ => 64,
    }
}

/// Bytes one thread works in.
pub(super) fn workspace_bytes(form: &Form) -> usize {
    let matrices = match (form.spread, form.d) {
        (Spread::Dense, d) if d > LARGEST => Large::bytes(d),
        (Spread::Dense, d) => Workspace::bytes(d),
        _ => 0,
    };
    matrices + tile_size(form).pow(2) * size_of::<f64>()
}

/// Is a symmetric matrix computed in one triangle and copied to the other? Measured: below these dimensions a
/// second computation is faster.
fn mirrored(form: &Form) -> bool {
    let least = match form.spread {
        Spread::None => 24,
        Spread::Isotropic => 12,
        Spread::Diagonal => 5,
        Spread::Dense => 3,
    };
    form.d >= least
}

/// Rows from which on every thread finds enough whole rows to take.
const MANY: usize = 256;

/// Columns of a tile of short rows in place. Each row of it is a loop, and its end is not foreseen by the machine:
/// with 64 columns pairs in two dimensions take a quarter longer.
const WIDE: usize = 1024;

/// All pairs into `out`, row-major: n x m, or n x n for `z` = `None`.
pub(super) fn fill(x: &Side, z: Option<&Side>, form: &Form, out: &mut [f64], control: &Control) -> Result<()> {
    let symmetric = z.is_none() && mirrored(form);
    let z = z.unwrap_or(x);
    let (n, m, size) = (x.n_rows, z.n_rows, tile_size(form));
    if n == 0 || m == 0 {
        return Ok(());
    }
    if !symmetric && n >= MANY {
        let wide = if form.width() <= SHORT { WIDE } else { size };
        return parallel::fill_rows(out, m, |rows, out| {
            let mut worker = Worker::new(x, z, form, false);
            for start in (rows.start..rows.end).step_by(size) {
                let some = start..rows.end.min(start + size);
                let out = &mut out[(start - rows.start) * m..][..some.len() * m];
                for first in (0..m).step_by(wide) {
                    control.check()?;
                    worker.place(some.clone(), first..m.min(first + wide), &mut out[first..], m, control)?;
                }
            }
            Ok(())
        });
    }
    let places: Vec<(usize, usize)> = (0..n.div_ceil(size))
        .flat_map(|i| (0..if symmetric { i + 1 } else { m.div_ceil(size) }).map(move |j| (i, j)))
        .collect();
    let strips: Vec<Mutex<&mut [f64]>> = out.chunks_mut(size * m).map(Mutex::new).collect();
    parallel::map_fine(places.len(), |range| {
        let mut worker = Worker::new(x, z, form, symmetric);
        for &(i, j) in &places[range] {
            control.check()?;
            let rows = i * size..n.min((i + 1) * size);
            let columns = j * size..m.min((j + 1) * size);
            let values = worker.tile(rows.clone(), columns.clone(), control)?;
            let width = columns.len().next_multiple_of(LANES);
            let triangle = symmetric && i == j;
            let mut strip = lock(&strips[i]);
            for (r, values) in values.chunks_exact(width).enumerate() {
                let known = if triangle { r + 1 } else { columns.len() };
                strip[r * m + columns.start..][..known].copy_from_slice(&values[..known]);
            }
            if !symmetric {
                continue;
            }
            if !triangle {
                drop(strip);
                strip = lock(&strips[j]);
            }
            for c in 0..columns.len() {
                let first = if triangle { c + 1 } else { 0 };
                let target = &mut strip[c * m + rows.start..][..rows.len()];
                for r in first..rows.len() {
                    target[r] = values[r * width + c];
                }
            }
        }
        Ok(())
    })?;
    Ok(())
}

fn lock<'a, 'b>(strip: &'a Mutex<&'b mut [f64]>) -> MutexGuard<'a, &'b mut [f64]> {
    strip.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Memory that a thread keeps from tile to tile.
pub(super) struct Worker<'a> {
    x: &'a Side,
    z: &'a Side,
    form: &'a Form,
    symmetric: bool,
    buffer: Vec<f64>,
    workspace: Workspace,
    large: Option<Large>,
}

impl<'a> Worker<'a> {
    pub(super) fn new(x: &'a Side, z: &'a Side, form: &'a Form, symmetric: bool) -> Self {
        let large = (form.spread == Spread::Dense && form.d > LARGEST).then(|| Large::new(form.d));
        let buffer = vec![0.0; tile_size(form).pow(2)];
        Self { x, z, form, symmetric, buffer, workspace: Workspace::default(), large }
    }

    /// Columns of a tile of one row at most.
    pub(super) fn widest(&self) -> usize {
        self.buffer.len()
    }

    /// The values of a tile, its rows padded to whole packs; above the diagonal nothing, if symmetric.
    pub(super) fn tile(&mut self, rows: Range<usize>, columns: Range<usize>, control: &Control) -> Result<&[f64]> {
        let triangle = self.symmetric && rows == columns;
        let padded = columns.len().next_multiple_of(LANES);
        let len = rows.len() * padded;
        let mut out = std::mem::take(&mut self.buffer);
        let done = self.compute(rows, columns, triangle, &mut out[..len], padded, control);
        self.buffer = out;
        done.map(|()| &self.buffer[..len])
    }

    /// A tile that begins with a whole pack, to `out` with `stride` numbers from row to row.
    fn place(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
        out: &mut [f64],
        stride: usize,
        control: &Control,
    ) -> Result<()> {
        let whole = columns.len() / LANES * LANES;
        let (packs, rest) = (columns.start..columns.start + whole, columns.start + whole..columns.end);
        if !packs.is_empty() {
            self.compute(rows.clone(), packs, false, out, stride, control)?;
        }
        if !rest.is_empty() {
            let len = rest.len();
            let values = self.tile(rows, rest, control)?;
            for (out, values) in out.chunks_mut(stride).zip(values.chunks_exact(LANES)) {
                out[whole..][..len].copy_from_slice(&values[..len]);
            }
        }
        Ok(())
    }

    /// The pairs of a tile, row after row with `stride` numbers between; the last pack of a row is written whole.
    fn compute(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
        triangle: bool,
        out: &mut [f64],
        stride: usize,
        control: &Control,
    ) -> Result<()> {
        let Form { d, spread, coupling } = *self.form;
        let shared = coupling == Coupling::Shared;
        let Some(large) = &mut self.large else {
            let packs = columns.start / LANES..columns.end.div_ceil(LANES);
            let (x, z, workspace) = (&self.x.rows, &self.z.packs, &mut self.workspace);
            Tile { x, z, d, spread, shared, rows, packs, triangle, workspace, out, stride }.fill();
            return Ok(());
        };
        let width = self.form.width();
        let row = |side: &'a Side, row: usize| &side.rows[row * width..][..width];
        for (i, out) in rows.zip(out.chunks_mut(stride)) {
            for (j, out) in columns.clone().zip(out) {
                if triangle && j > i {
                    break;
                }
                control.check()?;
                *out = large.pair(shared, row(self.x, i), row(self.z, j))?;
            }
        }
        Ok(())
    }
}
