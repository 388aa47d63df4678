//! What the README and the docs say, held against this build: their commands exist, and the
//! README's commands, typed into an empty home with the fixture sessions, do what it prints.

use super::world::{Desk, words};
use crate::cli::Exit;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A ```` ```console ```` block: commands after `$ `, and what each prints.
fn consoles(text: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match (inside, line.strip_prefix("$ ")) {
            (false, _) => inside = line == "```console",
            (true, _) if line == "```" => inside = false,
            (true, Some(command)) => commands.push((command.to_owned(), String::new())),
            (true, None) => {
                if let Some((_, output)) = commands.last_mut() {
                    output.push_str(line);
                    output.push('\n');
                }
            }
        }
    }
    commands
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("README.md")
}

/// The README and every page of the docs.
fn pages() -> Vec<(PathBuf, String)> {
    let docs = fs::read_dir(root().join("docs")).expect("docs/");
    let mut paths: Vec<PathBuf> = docs.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.push(root().join("README.md"));
    paths.retain(|path| path.extension().is_some_and(|ext| ext == "md"));
    paths.sort();
    let read = |path: PathBuf| Some((path.clone(), fs::read_to_string(&path).ok()?));
    paths.into_iter().filter_map(read).collect()
}

/// Each section is followed by somebody who begins with it, and answers `init` with one `y`.
#[test]
fn the_readmes_commands_do_what_it_prints() {
    let mut ran = 0;
    for section in readme().split("\n## ") {
        let mut desk = Desk::with_fixtures();
        desk.answers = Some("y\nn\nn\nn\n".to_owned());
        desk.program("systemctl", "exit 0");
        for (command, wants) in consoles(section) {
            if !command.starts_with("sessionmill ") {
                continue;
            }
            let found = desk.run(&command);
            assert_eq!(found.exit, Exit::Done, "{command}\n{}", found.shown());
            let printed = format!("{}{}", found.stdout, found.stderr);
            for line in wants
                .lines()
                .map(|line| line.trim_end_matches('…').trim_end())
            {
                assert!(
                    printed.contains(line),
                    "{command}\nwants: {line}\nprints:\n{printed}"
                );
            }
            ran += 1;
        }
    }
    assert!(ran >= 5, "only {ran} commands were found in the README");
}

/// A line of a page that is no command of ours, typed into the desk's home.
fn shell(desk: &Desk, line: &str) {
    let ended = Command::new("sh")
        .args(["-c", line])
        .env("HOME", desk.path(""))
        .current_dir(desk.path(""))
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{line}: {said}");
}

/// Each section is followed on a machine that was set up before and has a backup.
#[test]
fn the_commands_of_the_pages_for_operators_work() {
    let has_flock = Command::new("flock").arg("--version").output().is_ok();
    let mut ran = 0;
    for page in ["operations.md", "privacy-summary.md"] {
        let text = fs::read_to_string(root().join("docs").join(page)).expect("a page");
        for section in text.split("\n## ") {
            let desk = Desk::with_fixtures();
            desk.program("systemctl", "exit 0");
            assert_eq!(desk.run("sessionmill init --yes").exit, Exit::Done);
            if section.starts_with("Restore") {
                shell(&desk, "tar -czf ~/graphiti-backup.tgz -C ~ .graphiti");
            }
            for (command, _) in consoles(section) {
                if command.starts_with("sessionmill ") {
                    let found = desk.run(&command);
                    assert_eq!(found.exit, Exit::Done, "{command}\n{}", found.shown());
                } else if command.starts_with("flock ") && !has_flock {
                    eprintln!("passed over, no flock here: {command}");
                } else {
                    shell(&desk, &command);
                }
                ran += 1;
            }
        }
    }
    assert!(ran >= 15, "only {ran} commands were found");
}

/// `sessionmill …` in console blocks and in `code`.
fn mentioned(text: &str) -> Vec<String> {
    let inline = text.split('`').skip(1).step_by(2);
    let inline = inline.filter(|code| code.starts_with("sessionmill ") && !code.contains('\n'));
    let consoles = consoles(text).into_iter().map(|(command, _)| command);
    let all = consoles.filter(|command| command.starts_with("sessionmill "));
    all.chain(inline.map(str::to_owned)).collect()
}

#[test]
fn every_command_that_a_page_names_exists() {
    let desk = Desk::new();
    let mut seen = 0;
    for (path, text) in pages() {
        for command in mentioned(&text) {
            let name: Vec<String> = words(&command)
                .into_iter()
                .skip(1)
                .take_while(|word| word.chars().all(|c| c.is_ascii_lowercase()))
                .collect();
            // `search jwt` is the command `search`, `store dump` is two words of one.
            let known = (1..=name.len()).any(|n| {
                let line = format!("sessionmill {} --help", name[..n].join(" "));
                desk.run(&line).exit == Exit::Done
            });
            assert!(known, "{}: `{command}`", path.display());
            seen += 1;
        }
    }
    assert!(seen > 20, "only {seen} commands were found");
}

#[test]
fn every_make_target_that_a_page_names_exists() {
    let makefile = fs::read_to_string(root().join("Makefile")).expect("Makefile");
    for (path, text) in pages() {
        for rest in text.split("`make ").skip(1) {
            // `make eval TRUTH=DIR` sets a variable
            let target = rest.split(['`', ' ']).next().unwrap_or_default();
            let known = makefile
                .lines()
                .any(|line| line.starts_with(&format!("{target}:")));
            assert!(known, "{}: `make {target}`", path.display());
        }
    }
}

#[test]
fn every_page_and_file_that_a_page_links_to_exists() {
    for (path, text) in pages() {
        for rest in text.split("](").skip(1) {
            let link = rest.split([')', '#']).next().unwrap_or_default();
            if link.is_empty() || link.contains("://") {
                continue;
            }
            let target = path.parent().expect("a folder").join(link);
            assert!(target.exists(), "{}: {link}", path.display());
        }
    }
}
