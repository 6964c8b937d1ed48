//! The length and the checksum of altered model files, put right.

use crc::{CRC_64_XZ, Crc};

const MARK: &[u8] = br#"\"checksum\":\""#;
const DIGITS: usize = 16;

/// The end of the header's JSON object: the closing brace of the first opening one, outside strings.
fn end_of_header(json: &[u8]) -> Option<usize> {
    let (mut depth, mut text, mut escaped) = (0_usize, false, false);
    for (at, byte) in json.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if text => escaped = true,
            b'"' => text = !text,
            b'{' if !text => depth += 1,
            b'}' if !text => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The same file with its own length and checksum; none for what has no place for them.
pub(crate) fn sealed(bytes: &[u8]) -> Option<Vec<u8>> {
    let json = bytes.get(8..)?;
    let header = end_of_header(json)?;
    // Files pad their header with spaces.
    let padding = json[header..].iter().take_while(|byte| **byte == b' ').count();
    let mut file = ((header + padding) as u64).to_le_bytes().to_vec();
    file.extend_from_slice(json);
    let at = file.windows(MARK.len()).position(|window| window == MARK)? + MARK.len();
    file.get_mut(at..at + DIGITS)?.fill(b'0');
    let digest = format!("{:016x}", Crc::<u64>::new(&CRC_64_XZ).checksum(&file));
    file[at..at + DIGITS].copy_from_slice(digest.as_bytes());
    Some(file)
}
