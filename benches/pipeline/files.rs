//! What looking at a tracked project costs when nothing changed in it.

use crate::Scale;
use crate::child::{self, Run};
use crate::measure::{median, milliseconds};
use crate::table::{Figure, judged, told};
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::Path;

/// Files of a folder.
const FOLDER: usize = 100;

/// A project of small files below `root`, looked at again and again.
pub fn measure(scale: &Scale, root: &Path, figures: &mut Vec<Figure>) -> io::Result<()> {
    let project = root.join("project");
    for nth in 0..scale.tracked {
        let folder = project.join(format!("src/part{}", nth / FOLDER));
        if nth % FOLDER == 0 {
            fs::create_dir_all(&folder)?;
        }
        let text = format!("def function_{nth}():\n    return {nth}\n");
        fs::write(folder.join(format!("file{nth}.py")), text)?;
    }
    let config = json!({
        "version": "1.0",
        "projects": {"bench": {
            "project_root": project, "enabled": true,
            "patterns": [{"include": "src/**/*.py", "exclude": ["**/tests/**"]}],
            "ignore_patterns": ["**/.git/**", "**/*.tmp", "**/*.swp", "**/*.log"],
        }},
    });
    fs::create_dir_all(root.join(".graphiti"))?;
    fs::write(
        root.join(".graphiti/tracking-config.json"),
        config.to_string(),
    )?;
    let settings = r#"{"version": "2.0.0", "session_tracking": {"enabled": true}}"#;
    fs::write(root.join(".graphiti/graphiti.config.json"), settings)?;
    let sync = || child::run(root, &["track", "sync", "--json"]);
    let first = sync()?;
    let count = scale.tracked as u64;
    assert_eq!(number(&first, "created")?, count, "files that are told");
    figures.push(told(
        &format!("first look at {count} tracked files"),
        milliseconds(&first),
    ));
    let store = root.join(".graphiti/sessionmill.db");
    // those that were written a tick before they were read are read once more
    sync()?;
    let before = fs::read(&store)?;
    let mut runs = Vec::new();
    for _ in 0..scale.idle {
        runs.push(sync()?);
    }
    assert!(
        before == fs::read(&store)?,
        "a look without news changed the store"
    );
    let opened = number(&runs[0], "opened")?;
    assert_eq!(number(&runs[0], "seen")?, count, "files that are looked at");
    let median = median(&mut runs);
    figures.push(judged(
        &format!("no change in {count} tracked files"),
        milliseconds(median),
        "≤ 300 ms",
        median.wall.as_millis() <= 300,
    ));
    figures.push(judged(
        "files opened by it",
        opened.to_string(),
        "0",
        opened == 0,
    ));
    fs::remove_dir_all(root)
}

fn number(run: &Run, key: &str) -> io::Result<u64> {
    let report: Value = serde_json::from_str(&run.stdout)?;
    let number = report[key].as_u64();
    number.ok_or_else(|| io::Error::other(format!("`track sync --json` doesn't say `{key}`")))
}
