//! Whether a folder takes what is written into it. Knows permissions and file systems; refuses to write
//! anything to find out.

use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};
use std::path::Path;

/// Why nothing can be written into a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotWritable {
    /// Its file system takes no writes at all.
    ReadOnly,
    /// This user may not.
    Forbidden,
    /// The disk is full: so many bytes are left.
    Full(u64),
}

/// Bytes below which a disk counts as full: a database can't do without some room beside it.
const FREE_BYTES_MIN: u64 = 1 << 20;

/// Why nothing can be written there; `None`: something can, or nobody can say.
pub fn not_writable(folder: &Path) -> Option<NotWritable> {
    let disk = statvfs(folder).ok()?;
    if disk.f_flag.contains(StatVfsMountFlags::RDONLY) {
        return Some(NotWritable::ReadOnly);
    }
    if access(folder, Access::WRITE_OK).is_err() {
        return Some(NotWritable::Forbidden);
    }
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    // a file system without a size (some networks') says 0 of 0
    (disk.f_blocks > 0 && free < FREE_BYTES_MIN).then_some(NotWritable::Full(free))
}
