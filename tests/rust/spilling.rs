//! Large blocks go into files while somebody asks for it, and fits have the same bits there.
#![cfg(target_os = "linux")]

mod cases;

use std::fs::read_to_string;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cases::Numbers;
use uncertain::memory::{LARGE, Spill, Spilling, malloc};
use uncertain::{Control, Covariances, GaussianArray, Labels, Rows, gsu};

#[global_allocator]
static ALLOCATOR: Spilling = Spilling;

/// The state is one for the process, so tests take turns.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Is this address in a file of the folder, whose name is gone?
fn is_in_file(address: usize, folder: &Path) -> bool {
    let maps = read_to_string("/proc/self/maps").unwrap();
    let found = maps.lines().find(|line| {
        let (from, to) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
        let number = |text| usize::from_str_radix(text, 16).unwrap();
        (number(from)..number(to)).contains(&address)
    });
    found.is_some_and(|line| line.contains(folder.to_str().unwrap()) && line.ends_with("(deleted)"))
}

fn files_in(folder: &Path) -> usize {
    read_to_string("/proc/self/maps").unwrap().matches(folder.to_str().unwrap()).count()
}

#[test]
fn large_blocks_are_files_while_it_is_asked_for() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let before = vec![7_u8; 2 * LARGE];
    let spill = Spill::to(at);
    let zeros = vec![0.0_f64; LARGE];
    assert!(is_in_file(zeros.as_ptr().addr(), at) && zeros.iter().all(|x| *x == 0.0));
    let small = vec![1_u8; LARGE - 1];
    assert!(!is_in_file(small.as_ptr().addr(), at) && !is_in_file(before.as_ptr().addr(), at));
    // Grown from memory into a file, inside it, and back.
    let mut grown: Vec<u32> = (0..1000).collect();
    for k in 1000..LARGE as u32 {
        grown.push(k);
    }
    assert!(is_in_file(grown.as_ptr().addr(), at) && grown.iter().enumerate().all(|(k, x)| *x == k as u32));
    grown.truncate(10);
    grown.shrink_to_fit();
    assert!(!is_in_file(grown.as_ptr().addr(), at) && grown == (0..10).collect::<Vec<u32>>());
    drop(spill);
    // What was made stays where it is, what is made now is memory, and files end with their blocks.
    assert!(is_in_file(zeros.as_ptr().addr(), at) && !is_in_file(vec![0_u8; LARGE].as_ptr().addr(), at));
    let mut again = zeros;
    again.resize(3 * LARGE, 1.0);
    assert!(!is_in_file(again.as_ptr().addr(), at) && again[LARGE - 1] == 0.0 && again[LARGE] == 1.0);
    drop((again, before));
    assert_eq!(files_in(at), 0);
    assert_eq!(at.read_dir().unwrap().count(), 0);
}

#[test]
fn without_a_folder_or_room_blocks_are_memory() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone");
    let _spill = Spill::to(&gone);
    assert!(vec![3_u8; 4 * LARGE].iter().all(|x| *x == 3));
    let inner = Spill::to(folder.path());
    assert!(is_in_file(vec![0_u8; LARGE].as_ptr().addr(), folder.path()));
    // More than any disk has is refused, not promised.
    assert!(Vec::<u8>::new().try_reserve_exact(1 << 60).is_err());
    drop(inner);
    assert!(!is_in_file(vec![0_u8; LARGE].as_ptr().addr(), folder.path()));
}

#[test]
fn functions_of_c_do_the_same() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let spill = Spill::to(folder.path());
    let nothing = std::ptr::null_mut();
    // SAFETY: they are used within their sizes, and freed once.
    unsafe {
        let small = malloc::malloc(nothing, 100).cast::<u8>();
        let large = malloc::calloc(nothing, LARGE, 2).cast::<u8>();
        assert!(!is_in_file(small.addr(), folder.path()) && is_in_file(large.addr(), folder.path()));
        assert!((0..2 * LARGE).all(|k| *large.add(k) == 0));
        (0..2 * LARGE).for_each(|k| *large.add(k) = (k % 251) as u8);
        let larger = malloc::realloc(nothing, large.cast(), 5 * LARGE).cast::<u8>();
        assert!(is_in_file(larger.addr(), folder.path()));
        assert!((0..2 * LARGE).all(|k| *larger.add(k) == (k % 251) as u8));
        drop(spill);
        let memory = malloc::realloc(nothing, larger.cast(), LARGE).cast::<u8>();
        assert!(!is_in_file(memory.addr(), folder.path()) && (0..LARGE).all(|k| *memory.add(k) == (k % 251) as u8));
        malloc::free(nothing, memory.cast(), LARGE);
        malloc::free(nothing, small.cast(), 100);
        assert!(malloc::calloc(nothing, usize::MAX, 2).is_null());
    }
    assert_eq!(files_in(folder.path()), 0);
}

#[test]
fn threads_have_blocks_of_their_own() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let spill = Spill::to(folder.path());
    std::thread::scope(|scope| {
        for k in 0..4_u8 {
            scope.spawn(move || {
                for round in 0..20 {
                    let block = vec![k; LARGE + round * 4096];
                    let moved = std::thread::spawn(move || block).join().unwrap();
                    assert!(moved.iter().all(|x| *x == k));
                }
            });
        }
    });
    drop(spill);
    assert_eq!(files_in(folder.path()), 0);
}

#[test]
fn a_fit_has_the_same_bits() {
    let _turn = turn();
    let (n, d) = (150_000, 2);
    let mut numbers = Numbers(3);
    let codes: Vec<u32> = (0..n).map(|_| u32::from(numbers.next() < 0.2)).collect();
    let means = (0..n * d).map(|k| 2.0 * numbers.next() + f64::from(codes[k / d])).collect();
    let spread = (0..n * d).map(|_| numbers.next().abs()).collect();
    let means = Rows::from_vec(means, d).unwrap();
    let noisy = Covariances::from_std(Rows::from_vec(spread, d).unwrap());
    for covariances in [noisy, Covariances::Zero] {
        let rows = GaussianArray::new(means.clone(), covariances).unwrap();
        let params = gsu::Params::new().alpha(0.01).check().unwrap();
        let fit = || params.fit(&rows, &Labels::new(codes.clone(), 2).unwrap(), &Control::new()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (in_memory, spill) = (fit(), Spill::to(folder.path()));
        let in_files = fit();
        drop(spill);
        assert_eq!(in_memory.coef, in_files.coef);
        assert_eq!(in_memory.intercept, in_files.intercept);
    }
}
