//! Any bytes as a model file: a model that answers, or one sentence.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../asked.rs"]
mod asked;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(saved) = uncertain::file::load_from_bytes(bytes) {
        asked::everything(&saved);
    }
});
