//! Which file systems a store may not lie on: the write-ahead log needs memory that all processes
//! share, and a network file system doesn't give it. Knows file systems by number and name; refuses
//! to know what a store is.

use std::path::Path;

/// What `statfs` calls the file systems that reach over a network.
const REMOTE: [(u64, &str); 9] = [
    (0x0000_6969, "nfs"),
    (0x0000_517b, "smb"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x0102_1997, "9p"),
    (0x5346_414f, "afs"),
    (0x00c3_6400, "ceph"),
    (0x6b41_4653, "afs"),
    (0x0bd0_0bd0, "lustre"),
];

/// Programs behind FUSE, by which anything can be a file system; most of them are local.
const FUSE: u64 = 0x6573_5546;

/// Those of them that reach over a network, as the table of mounts names them.
const REMOTE_FUSE: [&str; 6] = [
    "fuse.sshfs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.gcsfuse",
    "fuse.glusterfs",
    "fuse.davfs",
];

/// The network file system that `path`, or where it is absent the nearest folder above it, lies
/// on; `None`: it is local, or nobody can tell. One system call.
#[cfg(target_os = "linux")]
pub(crate) fn file_system(path: &Path) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    let there = path.ancestors().find(|p| p.exists())?;
    let number = rustix::fs::statfs(there).ok()?.f_type as u64 & 0xffff_ffff;
    if number != FUSE {
        return remote(number);
    }
    let device = there.metadata().ok()?.dev();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    remote_fuse(
        &mounts,
        rustix::fs::major(device),
        rustix::fs::minor(device),
    )
}

/// Only Linux is asked.
#[cfg(not(target_os = "linux"))]
pub(crate) fn file_system(_path: &Path) -> Option<&'static str> {
    None
}

fn remote(number: u64) -> Option<&'static str> {
    let known = REMOTE.iter().find(|(of, _)| *of == number);
    known.map(|(_, name)| *name)
}

/// The name of a FUSE mount that reaches over a network: of the line with this device.
fn remote_fuse(mounts: &str, major: u32, minor: u32) -> Option<&'static str> {
    let device = format!("{major}:{minor}");
    let line = mounts
        .lines()
        .find(|line| line.split(' ').nth(2) == Some(device.as_str()))?;
    let name = line.split_once(" - ")?.1.split(' ').next()?;
    REMOTE_FUSE.into_iter().find(|known| *known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_known_by_their_numbers() {
        assert_eq!(remote(0x6969), Some("nfs"));
        assert_eq!(remote(0xff53_4d42), Some("cifs"));
        for local in [0xef53, 0x9123_683e, 0x5846_5342, 0x0102_1994, 0x794c_7630] {
            assert_eq!(remote(local), None, "{local:x}");
        }
    }

    #[test]
    fn of_the_programs_behind_fuse_only_some_are_remote() {
        let mounts = "31 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
            90 31 0:52 / /home/u/far rw,nosuid - fuse.sshfs far:/ rw,user_id=1000\n\
            91 31 0:53 / /media/u/stick rw,nosuid shared:7 - fuse.ntfs-3g /dev/sdb1 rw\n";
        assert_eq!(remote_fuse(mounts, 0, 52), Some("fuse.sshfs"));
        assert_eq!(remote_fuse(mounts, 0, 53), None);
        assert_eq!(remote_fuse(mounts, 0, 99), None);
    }

    #[test]
    fn a_temporary_folder_is_local_and_a_path_that_is_not_there_counts_as_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(file_system(&folder.path().join("not/there.db")), None);
    }
}
