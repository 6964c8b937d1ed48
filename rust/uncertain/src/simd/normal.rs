//! Normal density, distribution and expected hinge for many rows at once.
