//! Which folders and files are never read. Globs alone decide: the disk isn't looked at.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// `session_tracking.excluded_paths`, ready to ask.
#[derive(Clone, Debug, Default)]
pub struct Excluded {
    patterns: Vec<String>,
    set: GlobSet,
}

impl PartialEq for Excluded {
    fn eq(&self, other: &Self) -> bool {
        self.patterns == other.patterns
    }
}

impl Excluded {
    /// From absolute folders and globs.
    ///
    /// # Errors
    /// The index of the first pattern that is no glob, and why.
    pub fn new(patterns: Vec<String>) -> Result<Excluded, (usize, String)> {
        let mut set = GlobSetBuilder::new();
        for (i, pattern) in patterns.iter().enumerate() {
            for glob in globs(pattern).map_err(|e| (i, e))? {
                set.add(glob);
            }
        }
        let set = set.build().map_err(|e| (0, e.kind().to_string()))?;
        Ok(Excluded { patterns, set })
    }

    /// Whether this path, or a folder around it, is excluded. Asked for a session's working
    /// directory and for its log's path. O(length of the path), no I/O.
    pub fn covers(&self, path: &str) -> bool {
        !self.patterns.is_empty() && self.set.is_match(path)
    }

    /// As resolved: absolute, without `~`.
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }
}

/// A path spelled so that it means itself, whatever letters it has.
pub fn literal(path: &str) -> String {
    globset::escape(path).replace('$', "[$]")
}

/// A glob, compiled: `*` stops at a `/`.
///
/// # Errors
/// Why it can't be compiled.
pub fn glob(pattern: &str) -> Result<Glob, String> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map_err(|e| e.kind().to_string())
}

/// A pattern and everything below it.
fn globs(pattern: &str) -> Result<[Glob; 2], String> {
    let trimmed = pattern.trim_end_matches('/');
    let below = format!("{trimmed}/**");
    Ok([glob(trimmed)?, glob(&below)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_cover_what_is_below_them_and_nothing_beside() {
        let excluded = Excluded::new(vec![
            "/home/u/secret".into(),
            "/home/u/w/".into(),
            "**/private".into(),
            "/srv/*/tmp/**".into(),
        ])
        .unwrap();
        for (path, wants) in [
            ("/home/u/secret", true),
            ("/home/u/secret/a/b.jsonl", true),
            ("/home/u/secrets", false),
            ("/home/u/w", true),
            ("/home/u/x/private/y", true),
            ("/home/u/private-not", false),
            ("/srv/a/tmp/x", true),
            ("/srv/a/b/tmp/x", false),
            ("", false),
        ] {
            assert_eq!(excluded.covers(path), wants, "{path}");
        }
        assert!(!Excluded::default().covers("/x"));
    }

    #[test]
    fn literal_paths_mean_themselves() {
        let odd = "/home/u/[x] $HOME {a}*?";
        let env = super::super::Env::default();
        let pattern = env.expand(&literal(odd)).unwrap();
        let excluded = Excluded::new(vec![pattern]).unwrap();
        assert!(excluded.covers(odd) && excluded.covers(&format!("{odd}/y")));
        assert!(!excluded.covers("/home/u/x $HOME {a}*?"));
        assert_eq!(literal("/home/u/app-1"), "/home/u/app-1");
    }

    #[test]
    fn a_broken_glob_is_named() {
        let (index, _) = Excluded::new(vec!["/ok".into(), "/a/[b".into()]).unwrap_err();
        assert_eq!(index, 1);
    }
}
