//! The Python extension `uncertain._uncertain`: convert, call, convert.
