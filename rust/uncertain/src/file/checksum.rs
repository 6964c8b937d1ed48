//! A checksum over the whole file, written into the file itself.
//!
//! The metadata begins with 16 hexadecimal digits. The sum is taken with these digits read as zeros
//! and then written in their place, so one number covers header, structure and every
//! weight: a flipped bit in a coefficient would otherwise load as a slightly different model.
//! CRC-64 (the polynomial of ECMA-182, as in xz): it guards against accidents, not against intent.

use crc::{CRC_64_XZ, Crc, Table};

use crate::error::{Error, Result};

/// Text before the digits; quotes are escaped because the metadata is a string inside JSON.
const MARK: &[u8] = br#"\"checksum\":\""#;
const DIGITS: usize = 16;
/// The digits before a file is sealed.
pub(super) const BLANK: &str = "0000000000000000";

/// Sixteen bytes at a time by tables that the compiler makes.
static CRC: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_XZ);

fn digits_at(bytes: &[u8]) -> Option<usize> {
    let at = bytes.windows(MARK.len()).position(|window| window == MARK)? + MARK.len();
    (at + DIGITS <= bytes.len()).then_some(at)
}

fn digest(bytes: &[u8], at: usize) -> String {
    let (before, rest) = bytes.split_at(at);
    let mut sum = CRC.digest();
    [before, BLANK.as_bytes(), &rest[DIGITS..]].into_iter().for_each(|part| sum.update(part));
    format!("{:016x}", sum.finalize())
}

/// Write the checksum into its place.
pub(super) fn seal(bytes: &mut [u8]) -> Result<()> {
    let at = digits_at(bytes).ok_or_else(|| Error::Internal("model file without a place for its checksum".into()))?;
    let digest = digest(bytes, at);
    bytes[at..at + DIGITS].copy_from_slice(digest.as_bytes());
    Ok(())
}

/// Is the file what was sealed?
pub(super) fn check(bytes: &[u8]) -> Result<()> {
    match digits_at(bytes) {
        Some(at) if digest(bytes, at).as_bytes() == &bytes[at..at + DIGITS] => Ok(()),
        _ => Err(Error::ModelFile(
            "its checksum does not match: it was altered or damaged after it was saved; save the model again".into(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_the_one_of_xz() {
        assert_eq!(CRC.checksum(b"123456789"), 0x995D_C9BB_DF19_39FA);
    }

    #[test]
    fn sealed_bytes_pass_and_any_other_bit_fails() {
        let mut bytes = [b"{\"u\":\"{".as_slice(), MARK, BLANK.as_bytes(), b"}\"} and more"].concat();
        assert!(check(&bytes).is_err());
        seal(&mut bytes).unwrap();
        check(&bytes).unwrap();
        for i in 0..bytes.len() * 8 {
            bytes[i / 8] ^= 1 << (i % 8);
            assert!(check(&bytes).is_err(), "bit {i}");
            bytes[i / 8] ^= 1 << (i % 8);
        }
    }
}
