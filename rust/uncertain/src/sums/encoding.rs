//! Requests and sums between processes.
//!
//! ```text
//! requests: bytes of (VERSION, list), as serde derives them, in the format of postcard: fields by position, f64 as it is
//! sums:     f64: VERSION, rows, checksum, then for each request how many numbers, and the numbers
//! ```
//!
//! Whoever loses a partition and reads it again can tell by rows and checksum whether it is the same.

use super::Request;
use crate::error::{Error, Result};

/// Of requests and sums; both sides must have the same.
pub const VERSION: u32 = 2;

/// Numbers in front of the sums: version, rows, checksum.
pub const HEADER: usize = 3;

fn check_version(version: f64) -> Result<()> {
    if version == f64::from(VERSION) {
        return Ok(());
    }
    Err(Error::Data(format!(
        "requests of version {version} meet version {VERSION}: install the same version of uncertain everywhere"
    )))
}

fn malformed() -> Error {
    Error::Data("malformed requests or sums: are all versions of uncertain the same?".into())
}

/// The bytes of a list of requests.
pub fn encode(requests: &[Request]) -> Result<Vec<u8>> {
    postcard::to_allocvec(&(VERSION, requests)).map_err(|e| Error::Internal(format!("requests as bytes: {e}")))
}

/// Inverse of [`encode`].
pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<Request>> {
    let (version, list) = postcard::take_from_bytes::<u32>(bytes).map_err(|_| malformed())?;
    check_version(f64::from(version))?;
    match postcard::take_from_bytes(list) {
        Ok((requests, [])) => Ok(requests),
        _ => Err(malformed()),
    }
}

/// The sums of a partition with so many rows and this checksum, as one buffer.
pub(crate) fn pack_sums(rows: usize, checksum: f64, sums: &[Vec<f64>]) -> Vec<f64> {
    let mut flat = vec![f64::from(VERSION), rows as f64, checksum];
    for numbers in sums {
        flat.push(numbers.len() as f64);
        flat.extend(numbers);
    }
    flat
}

/// The sums of a buffer, a list for each of so many requests.
pub fn split_sums(flat: &[f64], requests: usize) -> Result<Vec<Vec<f64>>> {
    let (header, mut rest) = flat.split_at_checked(HEADER).ok_or_else(malformed)?;
    check_version(header[0])?;
    let mut sums = Vec::with_capacity(requests);
    for _ in 0..requests {
        let (&len, numbers) = rest.split_first().ok_or_else(malformed)?;
        // `as` takes what is no count to 0 or to more than there is.
        let (own, after) = numbers.split_at_checked(len as usize).filter(|_| len >= 0.0).ok_or_else(malformed)?;
        sums.push(own.to_vec());
        rest = after;
    }
    if rest.is_empty() { Ok(sums) } else { Err(malformed()) }
}

/// The buffers of all partitions as one, added in their order; `requests` are the bytes they answer.
pub fn add_partitions(requests: &[u8], partitions: &[Vec<f64>]) -> Result<Vec<f64>> {
    let requests = decode(requests)?;
    let mut rows = 0.0;
    let mut total: Vec<Vec<f64>> = vec![];
    for partition in partitions {
        let next = split_sums(partition, requests.len())?;
        rows += partition[1];
        if total.is_empty() {
            total = next;
            continue;
        }
        for ((request, total), next) in requests.iter().zip(&mut total).zip(&next) {
            request.add(total, next)?;
        }
    }
    if total.is_empty() {
        return Err(Error::Data("no rows: every partition is empty".into()));
    }
    Ok(pack_sums(rows as usize, 0.0, &total))
}
