//! [`RowCache`]: rows of the kernel matrix, cut to the variables that are still active.
//!
//! A matrix in memory is read in place as long as every variable is active. After shrinking, rows
//! are gathered into short ones, which soon fit into the processor's own caches; computed rows are
//! always kept here. The least recently used row goes when `bytes` are full, but never one of two.

use crate::error::Result;
use crate::kernel::rows::KernelRows;

const NONE: u32 = u32::MAX;

struct Slot {
    row: u32,
    last_used: u64,
    values: Vec<f64>,
}

pub(super) struct RowCache<'a> {
    kernel: &'a dyn KernelRows,
    /// The active variables, ascending: local number -> row of the kernel matrix.
    active: Vec<u32>,
    slots: Vec<Slot>,
    /// Row of the kernel matrix -> its slot.
    slot_of: Vec<u32>,
    clock: u64,
    bytes: usize,
}

impl<'a> RowCache<'a> {
    pub(super) fn new(kernel: &'a dyn KernelRows, bytes: usize) -> Self {
        let n = kernel.n_rows();
        Self { kernel, active: (0..n as u32).collect(), slots: vec![], slot_of: vec![NONE; n], clock: 0, bytes }
    }

    pub(super) fn active(&self) -> &[u32] {
        &self.active
    }

    pub(super) fn is_whole(&self) -> bool {
        self.active.len() == self.slot_of.len()
    }

    /// The row of local variable i at the active columns.
    pub(super) fn one(&mut self, i: usize) -> Result<&[f64]> {
        match self.in_place(i) {
            Some(row) => Ok(row),
            None => {
                let slot = self.load(i)?;
                Ok(&self.slots[slot].values)
            }
        }
    }

    /// Two rows at once.
    pub(super) fn two(&mut self, i: usize, j: usize) -> Result<(&[f64], &[f64])> {
        if let (Some(a), Some(b)) = (self.in_place(i), self.in_place(j)) {
            return Ok((a, b));
        }
        // Loading j cannot drop i: it has just been used, and there are two slots at least.
        let (a, b) = (self.load(i)?, self.load(j)?);
        Ok((&self.slots[a].values, &self.slots[b].values))
    }

    fn in_place(&self, i: usize) -> Option<&'a [f64]> {
        if self.is_whole() { self.kernel.row(self.active[i] as usize) } else { None }
    }

    fn load(&mut self, i: usize) -> Result<usize> {
        let row = self.active[i];
        self.clock += 1;
        let known = self.slot_of[row as usize];
        if known != NONE {
            self.slots[known as usize].last_used = self.clock;
            return Ok(known as usize);
        }
        let width = self.active.len();
        let slot = if self.slots.len() < (self.bytes / (8 * width)).max(2) {
            self.slots.push(Slot { row: NONE, last_used: 0, values: vec![0.0; width] });
            self.slots.len() - 1
        } else {
            (0..self.slots.len()).min_by_key(|&s| self.slots[s].last_used).unwrap_or(0)
        };
        let place = &mut self.slots[slot];
        if place.row != NONE {
            self.slot_of[place.row as usize] = NONE;
        }
        place.row = NONE;
        self.kernel.fill(row as usize, &self.active, &mut place.values)?;
        (place.row, place.last_used) = (row, self.clock);
        self.slot_of[row as usize] = slot as u32;
        Ok(slot)
    }

    /// Go on with these local variables (ascending) only.
    pub(super) fn shrink(&mut self, keep: &[u32]) {
        let mut stays = vec![false; self.slot_of.len()];
        self.active = keep.iter().map(|&k| self.active[k as usize]).collect();
        self.active.iter().for_each(|&row| stays[row as usize] = true);
        for slot in &mut self.slots {
            for (to, &from) in keep.iter().enumerate() {
                slot.values[to] = slot.values[from as usize];
            }
            slot.values.truncate(keep.len());
            slot.values.shrink_to_fit();
            if slot.row != NONE && !stays[slot.row as usize] {
                // Nobody will ask for it: the next to go.
                slot.last_used = 0;
            }
        }
    }

    /// Make every variable active again; short rows are forgotten.
    pub(super) fn widen(&mut self) {
        if !self.is_whole() {
            self.slots.clear();
            self.slot_of.fill(NONE);
            self.active = (0..self.slot_of.len() as u32).collect();
        }
    }
}
