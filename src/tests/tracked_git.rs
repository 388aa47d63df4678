//! Who wrote a file, people or git: scripts of what people and git do, against a naive model that watches
//! every step. Contents never repeat, so that the model can tell by looking.

use super::tracked::Site;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

/// What the model knows.
struct World {
    site: Site,
    /// As the program was last asked.
    told: BTreeMap<String, String>,
    /// Whether git wrote a path last, or took it away.
    by_git: BTreeMap<String, bool>,
    /// What people wrote since then.
    mine: BTreeSet<String>,
    contents: u32,
    seed: u64,
    script: Vec<String>,
}

const PATHS: [&str; 6] = [
    "a.md",
    "b.md",
    "src/c.md",
    "src/d.md",
    "docs/e.md",
    "docs/x/f.md",
];

impl World {
    fn new(seed: u64) -> World {
        let site = Site::new(&json!([{"include": "**/*.md", "update_strategy": "version"}]));
        let mut world = World::empty(site, seed);
        world.write("a.md");
        world.commit();
        world.git(&["branch", "other"]);
        world.sync();
        world
    }

    /// A repository without a commit that nobody looked at.
    fn empty(site: Site, seed: u64) -> World {
        let mut world = World {
            site,
            told: BTreeMap::new(),
            by_git: BTreeMap::new(),
            mine: BTreeSet::new(),
            contents: 0,
            seed,
            script: Vec::new(),
        };
        world.git(&["init", "-q", "-b", "main"]);
        world
    }

    /// A small generator; the same seed tells the same story.
    fn dice(&mut self, sides: u64) -> u64 {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) % sides
    }

    fn files(&self) -> BTreeMap<String, String> {
        let read = |path: &&str| {
            let text = fs::read_to_string(self.site.path(path)).ok()?;
            Some(((*path).to_owned(), text))
        };
        PATHS.iter().filter_map(read).collect()
    }

    fn git(&mut self, args: &[&str]) {
        let (before, head) = (
            self.files(),
            self.ask(&["rev-parse", "-q", "--verify", "HEAD"]).1,
        );
        let ok = self.ask(args).0;
        self.site.desk.now.0 += 1_000;
        self.script.push(format!("git {} ({ok})", args.join(" ")));
        let after = self.files();
        let moved = self.ask(&["diff", "--name-only", head.trim(), "HEAD"]).1;
        for path in PATHS
            .into_iter()
            .filter(|path| before.get(*path) != after.get(*path))
        {
            // back to what the person wrote and committed, from what was not committed
            let is_mine = after.get(path).is_some_and(|text| self.mine.contains(text));
            let is_back = is_mine && !moved.lines().any(|line| line == path);
            self.by_git.insert(path.to_owned(), !is_back);
        }
        self.gone_twice(&moved, args);
    }

    /// What a person removed and an operation would have removed is as the operation left it.
    fn gone_twice(&mut self, moved: &str, args: &[&str]) {
        let now = self.files();
        if ["checkout", "reset"].contains(&args[0]) {
            let gone = PATHS.iter().filter(|path| !now.contains_key(**path));
            for path in gone.filter(|path| moved.lines().any(|line| line == **path)) {
                self.by_git.insert((*path).to_owned(), true);
            }
        }
    }

    /// Whether it went well, and what it said.
    fn ask(&self, args: &[&str]) -> (bool, String) {
        let date = format!("{} +0000", self.site.desk.now.0 / 1_000);
        let out = Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
            .args(args)
            .current_dir(self.site.path(""))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.site.desk.path("githome"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .output()
            .expect("git");
        (
            out.status.success(),
            String::from_utf8_lossy(&out.stdout).into_owned(),
        )
    }

    fn write(&mut self, path: &str) {
        self.contents += 1;
        let text = format!("content {:06}\n", self.contents);
        self.site.write(path, &text);
        self.mine.insert(text);
        self.by_git.insert(path.to_owned(), false);
        self.script.push(format!("write {path} {}", self.contents));
    }

    fn remove(&mut self, path: &str) {
        if fs::remove_file(self.site.path(path)).is_ok() {
            self.by_git.insert(path.to_owned(), false);
            self.script.push(format!("remove {path}"));
        }
    }

    fn commit(&mut self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "work"]);
    }

    fn step(&mut self) {
        let path = PATHS[self.dice(PATHS.len() as u64) as usize];
        match self.dice(12) {
            0..=3 => self.write(path),
            4 => self.remove(path),
            5 | 6 => self.commit(),
            7 => self.git(&["reset", "-q", "--hard", "HEAD~1"]),
            8 => self.git(&["reset", "-q", "--hard"]),
            9 => self.git(&["checkout", "-q", "other"]),
            10 => self.git(&["checkout", "-q", "main"]),
            _ => self.sync(),
        }
    }

    /// What the model says of the time since the last sync: new, changed, moved, deleted, by git.
    fn wants(&self, now: &BTreeMap<String, String>) -> [u64; 5] {
        let by_git = |path: &String| u64::from(self.by_git.get(path) == Some(&true));
        let mut wants = [0; 5];
        let mut gone: Vec<(&String, &String)> = self
            .told
            .iter()
            .filter(|(path, _)| !now.contains_key(*path))
            .collect();
        for (path, text) in now {
            match self.told.get(path) {
                Some(old) if old == text => continue,
                Some(_) => wants[1] += 1,
                None => match gone.iter().position(|(_, old)| *old == text) {
                    Some(at) => {
                        gone.remove(at);
                        wants[2] += 1;
                    }
                    None => wants[0] += 1,
                },
            }
            wants[4] += by_git(path);
        }
        wants[3] = gone.len() as u64;
        wants[4] += gone.iter().map(|(path, _)| by_git(path)).sum::<u64>();
        wants
    }

    fn sync(&mut self) {
        let now = self.files();
        let wants = self.wants(&now);
        let done: Value = self.site.sync();
        let keys = ["created", "updated", "moved", "deleted", "by_git"];
        let told = keys.map(|key| done[key].as_u64().unwrap());
        self.script.push(format!("sync {told:?}"));
        assert_eq!(told, wants, "{}\n{done}", self.script.join("\n"));
        self.told = now;
        self.by_git.clear();
        self.mine.clear();
    }
}

#[test]
fn people_and_git_are_told_apart() {
    let seeds = std::env::var("TRACK_SEEDS")
        .ok()
        .and_then(|n| n.parse().ok());
    for seed in 0..seeds.unwrap_or(6) {
        let mut world = World::new(seed);
        for _ in 0..40 {
            world.step();
        }
        world.sync();
    }
}

#[test]
fn an_edit_right_after_a_reset_is_the_persons() {
    let mut world = World::new(1);
    for path in PATHS {
        world.write(path);
    }
    world.commit();
    world.sync();
    world.git(&["reset", "-q", "--hard", "HEAD~1"]);
    world.write("a.md");
    world.sync();
    let site = &world.site;
    assert_eq!(
        site.titles("--source filesystem_watch --operation delete"),
        Vec::<String>::new()
    );
    let bulk = site.titles("--source git_bulk_update --operation delete");
    let mut wants = PATHS[1..].to_vec();
    wants.sort_unstable();
    assert_eq!(bulk, wants);
    assert_eq!(site.titles("000008 --source filesystem_watch"), ["a.md"]);
    // what git took away is not how things are
    let old = site.ask("search 000003");
    let id = old["hits"][0]["episode"].as_str().unwrap().to_owned();
    let text = site.ask(&format!("show {id}"))["episode"]["text"].clone();
    assert!(
        text.as_str().unwrap().contains("(not valid since"),
        "{text}"
    );
}

#[test]
fn what_was_not_committed_and_is_reset_was_taken_back_by_git() {
    let mut world = World::new(2);
    world.write("a.md");
    world.sync();
    world.git(&["reset", "-q", "--hard"]);
    assert_eq!(world.wants(&world.files()), [0, 1, 0, 0, 1]);
    world.sync();
    // edited, committed, and a reset to where it is: the person's
    world.write("a.md");
    world.commit();
    world.git(&["reset", "-q", "--hard"]);
    world.sync();
    world.write("a.md");
    world.git(&["stash", "-q"]);
    world.sync();
}

#[test]
fn what_is_there_at_the_first_look_is_nobodys_change() {
    let site = Site::new(&json!([{"include": "**/*.md"}]));
    let mut world = World::empty(site, 3);
    world.write("a.md");
    world.commit();
    world.git(&["checkout", "-q", "-b", "other"]);
    world.write("b.md");
    world.commit();
    world.git(&["checkout", "-q", "main"]);
    world.git(&["checkout", "-q", "other"]);
    let done = world.site.sync();
    assert_eq!(
        (&done["created"], &done["by_git"]),
        (&json!(2), &json!(0)),
        "{done}"
    );
}
