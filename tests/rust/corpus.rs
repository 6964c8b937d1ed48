//! A smoke of the fuzz targets, without their compiler: the models of fuzz/corpus load and answer, and so does what
//! loads of thousands of altered ones; everything else is refused with a sentence.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use uncertain::Error;
use uncertain::file::load_from_bytes;
use uncertain::step::Step;

#[path = "../../fuzz/asked.rs"]
mod asked;
mod cases;
#[path = "../../fuzz/seal.rs"]
mod seal;

use cases::Numbers;

/// Altered copies of each file.
const ALTERED: usize = 300;
/// What is written into headers.
const WORDS: [&str; 12] =
    ["0", "-1", "1e308", "18446744073709551615", "null", "true", "[]", "{}", "\\\"nan\\\"", "\\\"inf\\\"", "9", ","];

/// The files of a folder of the corpus; a packaged crate has none.
fn corpus(name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

/// Does it load, and answer? Everything else is refused as a model file.
fn answers(path: &Path, bytes: &[u8]) -> bool {
    match load_from_bytes(bytes) {
        Ok(saved) => {
            asked::everything(&saved);
            true
        }
        Err(Error::ModelFile(_)) => false,
        Err(other) => panic!("{}: {other:?}", path.display()),
    }
}

#[test]
fn the_corpus_has_every_kind_and_all_of_it_loads() {
    let mut kinds = BTreeSet::new();
    let files = corpus("load");
    for path in &files {
        // Inputs that once failed are there, too; they may be refused.
        if let Ok(saved) = load_from_bytes(&fs::read(path).unwrap()) {
            kinds.extend(saved.steps.iter().map(Step::kind));
            asked::everything(&saved);
        }
    }
    let lacking: Vec<_> = Step::KINDS.iter().filter(|kind| !kinds.contains(*kind)).collect();
    assert!(files.is_empty() || lacking.is_empty(), "no model in fuzz/corpus has a {lacking:?}");
}

#[test]
fn altered_models_are_refused_or_answer() {
    let mut numbers = Numbers(5);
    let mut below = move |n: usize| ((numbers.next() + 1.0) / 2.0 * n as f64) as usize % n;
    let (mut loaded, mut tried) = (0, 0);
    for path in corpus("load") {
        let original = fs::read(&path).unwrap();
        for _ in 0..ALTERED {
            let mut bytes = original.clone();
            for _ in 0..=below(2) {
                let at = 8 + below(bytes.len() - 8);
                match below(4) {
                    0 => bytes[at] ^= 1 << below(8),
                    1 => bytes[at] = b'0' + below(10) as u8,
                    2 => drop(bytes.remove(at)),
                    _ => {
                        let end = (at + below(4)).min(bytes.len());
                        bytes.splice(at..end, WORDS[below(WORDS.len())].bytes());
                    }
                }
            }
            tried += 1;
            let Some(file) = seal::sealed(&bytes) else { continue };
            loaded += usize::from(answers(&path, &file));
        }
    }
    assert!(tried == 0 || loaded > tried / 20, "{loaded} of {tried} loaded");
}

#[test]
fn what_fuzzing_kept_is_refused_or_answers() {
    for path in corpus("damaged") {
        answers(&path, &fs::read(&path).unwrap());
    }
    for path in corpus("sealed") {
        if let Some(file) = seal::sealed(&fs::read(&path).unwrap()) {
            answers(&path, &file);
        }
    }
}
