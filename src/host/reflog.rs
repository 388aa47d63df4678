//! Where a repository keeps what was done to it, and its logs, line by line. Looks with `stat`
//! before it opens anything.

use super::content::read_start;
use super::git;
use super::object_id::hex;
use crate::model::git::LogLine;
use crate::model::time::Time;
use gix::refs::file::log::iter::forward;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A work tree, or a bare repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkTree {
    /// Of a linked one.
    pub name: Option<String>,
    /// Where its HEAD is.
    pub git_dir: PathBuf,
    /// Where branches and objects are.
    pub common_dir: PathBuf,
}

/// What a log is that is read at once. Longer: what is before the last so many bytes is passed over.
const LOG_BYTES_MAX: u64 = 16 << 20;

/// What a stamp of another program version says is no news of a repository: it is looked at anew.
const STAMP_FORMAT: u32 = 2;
/// Folders in folders of references.
const REF_DEPTH_MAX: usize = 64;
/// Folders of references that are checked for news.
const REF_FOLDERS_MAX: usize = 2_000;

/// The repository's work trees: the main one first, then the linked ones by name. Empty where `root`
/// is no repository.
pub fn work_trees(root: &Path) -> Vec<WorkTree> {
    let Some(common_dir) = git::common_dir(root) else {
        return Vec::new();
    };
    let main = WorkTree {
        name: None,
        git_dir: common_dir.clone(),
        common_dir: common_dir.clone(),
    };
    let linked = fs::read_dir(common_dir.join("worktrees"));
    let linked = linked.into_iter().flatten().flatten();
    let mut linked: Vec<WorkTree> = linked
        .filter(|entry| entry.path().join("HEAD").exists())
        .map(|entry| WorkTree {
            name: Some(entry.file_name().to_string_lossy().into_owned()),
            git_dir: entry.path(),
            common_dir: common_dir.clone(),
        })
        .collect();
    linked.sort_by(|a, b| a.name.cmp(&b.name));
    [main].into_iter().chain(linked).collect()
}

impl WorkTree {
    /// HEAD's log.
    pub fn log(&self) -> PathBuf {
        self.git_dir.join("logs/HEAD")
    }

    /// The stash's log, which all work trees share; `None` for a linked one.
    pub fn stash_log(&self) -> Option<PathBuf> {
        let is_main = self.name.is_none();
        is_main.then(|| self.common_dir.join("logs/refs/stash"))
    }

    /// The stashes that there are, the latest last; none for a linked work tree, which shares them.
    pub fn stashes(&self) -> Vec<String> {
        let log = self.stash_log().and_then(|path| read(&path, 0, "").ok());
        let lines = log.unwrap_or_default().lines.into_iter();
        lines.map(|line| line.new).collect()
    }

    /// A rebase or a bisection is under way.
    pub fn is_busy(&self) -> bool {
        let marks = ["rebase-merge", "rebase-apply", "BISECT_LOG"];
        marks.iter().any(|mark| self.git_dir.join(mark).exists())
    }

    /// What `stat` says of everything that an operation touches: HEAD, its log, the stash's, packed
    /// references, the folders that references are in, and these other files. Opens nothing.
    pub fn stamp<'b>(
        &self,
        folders: impl Iterator<Item = &'b str>,
        watched: impl Iterator<Item = PathBuf>,
    ) -> String {
        let refs = self.common_dir.join("refs");
        let folders = folders.map(|folder| refs.join(folder));
        let mut places: BTreeSet<PathBuf> = folders.chain(watched).collect();
        places.extend([
            self.git_dir.join("HEAD"),
            self.log(),
            self.common_dir.join("packed-refs"),
            self.common_dir.join("logs/refs/stash"),
            self.common_dir.join("worktrees"),
            self.git_dir.join("rebase-merge"),
            self.git_dir.join("rebase-apply"),
            self.git_dir.join("BISECT_LOG"),
            refs,
        ]);
        let stamps = places.iter().map(|place| stamp(place));
        format!("{STAMP_FORMAT} {}", stamps.collect::<Vec<_>>().join(" "))
    }

    /// The folders that references are in, below `refs`: a new reference changes one of them.
    pub fn ref_folders(&self) -> BTreeSet<String> {
        let refs = self.common_dir.join("refs");
        let mut found = BTreeSet::from(["heads".to_owned()]);
        let mut waiting = vec![(refs.clone(), 0)];
        while let Some((dir, depth)) = waiting.pop() {
            for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_folder && depth < REF_DEPTH_MAX && found.len() < REF_FOLDERS_MAX {
                    let below = entry.path();
                    let name = below.strip_prefix(&refs).unwrap_or(&below);
                    found.insert(name.to_string_lossy().into_owned());
                    waiting.push((below, depth + 1));
                }
            }
        }
        found
    }

    /// The folder that the files of a linked one are in; `None`: it is none, or it is gone.
    pub fn root(&self) -> Option<PathBuf> {
        self.name.as_ref()?;
        let link = read_start(&self.git_dir.join("gitdir"), LINE_BYTES_MAX)?;
        let link = String::from_utf8_lossy(&link).trim().to_owned();
        let link = self.git_dir.join(link);
        link.parent()
            .filter(|root| root.is_dir())
            .map(Path::to_owned)
    }

    /// A branch's log.
    pub fn branch_log(&self, branch: &str) -> PathBuf {
        self.common_dir.join("logs/refs/heads").join(branch)
    }

    /// When HEAD, or what it points to, was written last; nobody noted it otherwise.
    pub fn moved_at(&self, branch: Option<&str>) -> Option<Time> {
        let tip = branch.map(|branch| self.common_dir.join("refs/heads").join(branch));
        let places = [
            tip,
            Some(self.git_dir.join("HEAD")),
            Some(self.common_dir.join("packed-refs")),
        ];
        places
            .into_iter()
            .flatten()
            .find_map(|place| written_at(&place))
    }

    /// When a linked work tree came or went; `None`: nobody knows.
    pub fn trees_changed_at(&self) -> Option<Time> {
        let trees = written_at(&self.common_dir.join("worktrees"));
        trees.or_else(|| written_at(&self.common_dir))
    }

    /// When a stash came or went; `None`: nobody knows.
    pub fn stashes_changed_at(&self) -> Option<Time> {
        let log = written_at(&self.common_dir.join("logs/refs/stash"));
        log.or_else(|| written_at(&self.common_dir.join("logs/refs")))
    }

    /// When a branch was taken away: its folder, or the file of packed branches, was written then.
    pub fn dropped_at(&self, branch: &str) -> Option<Time> {
        let heads = self.common_dir.join("refs/heads");
        let folder = heads.join(branch).parent().map(Path::to_owned);
        let packed = self.common_dir.join("packed-refs");
        let places = [folder, Some(heads), Some(packed)];
        places
            .into_iter()
            .flatten()
            .filter_map(|place| written_at(&place))
            .max()
    }
}

fn stamp(place: &Path) -> String {
    match fs::symlink_metadata(place) {
        Err(_) => "-".to_owned(),
        Ok(meta) => format!(
            "{}:{}.{}:{}",
            meta.size(),
            meta.mtime(),
            meta.mtime_nsec(),
            meta.ino()
        ),
    }
}

fn written_at(place: &Path) -> Option<Time> {
    let written = fs::metadata(place).ok()?.modified().ok()?;
    let since = written.duration_since(UNIX_EPOCH).ok()?;
    // reflogs count whole seconds
    Some(Time(i64::try_from(since.as_secs()).ok()? * 1_000))
}

/// A log's lines from an offset on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// In order.
    pub lines: Vec<LogLine>,
    /// The log was cut or rewritten, so that it was read from its start.
    pub is_anew: bool,
    /// Where it was read from.
    pub from: u64,
    /// Where the last whole line ends.
    pub to: u64,
}

impl Log {
    /// Where the first so many of its lines end.
    pub fn to_after(&self, lines: usize) -> u64 {
        match lines.checked_sub(1) {
            _ if lines == self.lines.len() => self.to,
            Some(last) => self.lines[last].to,
            None => self.from,
        }
    }
}

/// The bytes of a log; 0: there is none.
pub fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |meta| meta.len())
}

/// Reads a log from `from` on, where a line ends that came to the commit `last` (empty: to any); else from
/// its start: it was cut, or written anew. Empty where there is none.
///
/// # Errors
/// When it is there and can't be read.
pub fn read(path: &Path, from: u64, last: &str) -> io::Result<Log> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Log::default()),
        opened => opened?,
    };
    let size = file.metadata()?.len();
    let is_anew = from > 0 && !ends_a_line(&mut file, from, size, last)?;
    let start = match is_anew {
        true => 0,
        false => from,
    };
    let start = start.max(size.saturating_sub(LOG_BYTES_MAX));
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(LOG_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(lines(&bytes, start, is_anew))
}

/// A line of a log is longer only where its message is.
const LINE_BYTES_MAX: u64 = 4 << 10;

fn ends_a_line(file: &mut File, at: u64, size: u64, last: &str) -> io::Result<bool> {
    if at > size {
        return Ok(false);
    }
    let start = at.saturating_sub(LINE_BYTES_MAX);
    file.seek(SeekFrom::Start(start))?;
    let mut before = Vec::new();
    file.take(at - start).read_to_end(&mut before)?;
    let Some(before) = before.strip_suffix(b"\n") else {
        return Ok(false);
    };
    let line = before.rsplit(|byte| *byte == b'\n').next();
    let told = line.and_then(|line| forward(line).next()?.ok());
    Ok(told.is_none_or(|told| last.is_empty() || hex(told.new_oid()) == last))
}

/// Whole lines, without those that are none; an unfinished last one waits.
fn lines(bytes: &[u8], start: u64, is_anew: bool) -> Log {
    let mut log = Log {
        is_anew,
        from: start,
        to: start,
        ..Log::default()
    };
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if !line.ends_with(b"\n") {
            break;
        }
        log.to += line.len() as u64;
        if let Some(Ok(told)) = forward(line).next() {
            log.lines.push(LogLine {
                old: hex(told.previous_oid()),
                new: hex(told.new_oid()),
                at: Time(told.signature.seconds() * 1_000),
                message: told.message.to_string(),
                to: log.to,
            });
        }
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_on_and_read_anew_where_it_was_rewritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("HEAD");
        let (zero, one, two) = ("0".repeat(40), "1".repeat(40), "2".repeat(40));
        let line = |old: &str, new: &str, at: u64| {
            format!("{old} {new} A U Thor <a@example.org> {at} +0200\tcommit: x\n")
        };
        assert_eq!(read(&path, 0, "").unwrap(), Log::default());
        let first = line(&zero, &one, 10);
        fs::write(&path, format!("{first}junk\n{}", &first[..20])).unwrap();
        let log = read(&path, 0, "").unwrap();
        assert_eq!(log.lines.len(), 1, "junk is no line");
        assert_eq!(log.lines[0].old, "", "nothing was before it");
        assert_eq!(
            (log.lines[0].at, &*log.lines[0].message),
            (Time(10_000), "commit: x")
        );
        assert_eq!(log.to, first.len() as u64 + 5, "the unfinished line waits");
        fs::write(&path, format!("{first}{}", line(&one, &two, 20))).unwrap();
        let more = read(&path, first.len() as u64, &one).unwrap();
        assert_eq!((more.lines.len(), more.is_anew), (1, false));
        fs::write(&path, line(&one, &two, 20)).unwrap();
        let anew = read(&path, first.len() as u64 + 60, "").unwrap();
        assert_eq!((anew.lines.len(), anew.is_anew), (1, true));
        fs::write(&path, line(&zero, &two, 10)).unwrap();
        let other = read(&path, first.len() as u64, &one).unwrap();
        assert_eq!(
            (other.lines.len(), other.is_anew),
            (1, true),
            "another line of that length"
        );
    }
}
