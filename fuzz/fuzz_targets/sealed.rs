//! Any bytes under a valid checksum: what is behind the first wall.
//!
//! The length of the header and the checksum are put right in what the fuzzer made, so that mutations of names,
//! shapes, parameters and numbers are not all refused as damage.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../asked.rs"]
mod asked;
#[path = "../seal.rs"]
mod seal;

fuzz_target!(|bytes: &[u8]| {
    let Some(file) = seal::sealed(bytes) else { return };
    if let Ok(saved) = uncertain::file::load_from_bytes(&file) {
        asked::everything(&saved);
    }
});
