//! A database and its write-ahead log put together in memory, where the log's index is missing: as a copied or
//! restored folder has it. Knows SQLite's file format (<https://sqlite.org/fileformat2.html#walformat>), not what
//! pages hold.

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// The database with what its log has committed; `None`: that is no log of a database, or of one that has more
/// than so many bytes.
pub(super) fn applied(mut database: Vec<u8>, log: &[u8], bytes_max: u64) -> Option<Vec<u8>> {
    let magic = word(log, 0)?;
    let big_endian = match magic {
        0x377f_0682 => false,
        0x377f_0683 => true,
        _ => return None,
    };
    let page = word(log, 8)? as usize;
    if !page.is_power_of_two() || !(512..=65_536).contains(&page) {
        return None;
    }
    let salts = log.get(16..24)?;
    let mut sum = checksum((0, 0), log.get(..24)?, big_endian);
    if (word(log, 24)?, word(log, 28)?) != sum {
        return Some(plain(database)); // it was being begun: nothing is in it
    }
    let mut waiting: Vec<(usize, &[u8])> = Vec::new();
    for frame in log[HEADER..].chunks_exact(FRAME_HEADER + page) {
        let (head, content) = frame.split_at(FRAME_HEADER);
        sum = checksum(checksum(sum, &head[..8], big_endian), content, big_endian);
        // frames of an earlier log, or one that was being written
        if &head[8..16] != salts || (word(head, 16)?, word(head, 20)?) != sum {
            break;
        }
        waiting.push((word(head, 0)? as usize, content));
        let pages = word(head, 4)? as usize;
        if pages == 0 {
            continue; // the transaction goes on
        }
        let bytes = pages.checked_mul(page)?;
        if bytes as u64 > bytes_max {
            return None; // it says so itself; its frames are far fewer
        }
        database.resize(bytes, 0);
        for (number, content) in waiting.drain(..) {
            let at = number.checked_sub(1)?.checked_mul(page)?;
            // a page that the transaction has cut off again
            if let Some(place) = database.get_mut(at..at + page) {
                place.copy_from_slice(content);
            }
        }
    }
    Some(plain(database))
}

/// Marked as a database without a log.
fn plain(mut database: Vec<u8>) -> Vec<u8> {
    if let Some(versions) = database.get_mut(18..20) {
        versions.fill(1);
    }
    database
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

fn checksum(start: (u32, u32), bytes: &[u8], big_endian: bool) -> (u32, u32) {
    let (mut one, mut two) = start;
    let word = |four: &[u8]| match big_endian {
        true => u32::from_be_bytes([four[0], four[1], four[2], four[3]]),
        false => u32::from_le_bytes([four[0], four[1], four[2], four[3]]),
    };
    for pair in bytes.chunks_exact(8) {
        one = one.wrapping_add(word(&pair[..4])).wrapping_add(two);
        two = two.wrapping_add(word(&pair[4..])).wrapping_add(one);
    }
    (one, two)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of one committed page, whose transaction leaves so many.
    fn log(pages: u32) -> Vec<u8> {
        const PAGE: usize = 512;
        let words = |words: &[u32]| -> Vec<u8> {
            let bytes = words.iter().map(|word| word.to_be_bytes());
            bytes.flatten().collect()
        };
        let mut log = words(&[0x377f_0682, 3_007_000, PAGE as u32, 0, 7, 8]);
        let sum = checksum((0, 0), &log, false);
        log.extend(words(&[sum.0, sum.1]));
        let head = words(&[1, pages]);
        let sum = checksum(checksum(sum, &head, false), &[9; PAGE], false);
        log.extend(head);
        log.extend(words(&[7, 8, sum.0, sum.1]));
        log.extend([9; PAGE]);
        log
    }

    #[test]
    fn a_log_that_claims_to_leave_more_than_fits_is_refused_before_memory_is_taken() {
        assert_eq!(
            applied(Vec::new(), &log(2), 1_024).map(|all| all.len()),
            Some(1_024)
        );
        assert_eq!(applied(Vec::new(), &log(3), 1_024), None);
        assert_eq!(applied(Vec::new(), &log(u32::MAX), 1_024), None);
    }
}
