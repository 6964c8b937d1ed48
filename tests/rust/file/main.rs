//! The model file: what goes in comes out, and nothing else is let in. One module per kind of step.

mod average;
mod damage;
mod huber;
mod kernel_machine;
mod kernel_map;
mod mixture;
mod regression;
mod round_trip;
mod support;
mod trees;
