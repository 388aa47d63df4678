//! Whatever people do with git, work that some ref has is never told as given up. Random commands, each
//! piece of work in a file of its own, so that git itself knows which refs have which work; somebody looks
//! now and then.
//!
//! `UNDONE_CASES=200` plays more sequences, `UNDONE_SEED=7` others.

use super::undone_flows::ground::{Claim, Ground, Observer};
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Mutex;
use std::{io, thread};

/// Sequences that are played, and steps of each.
const CASES: u64 = 12;
const STEPS: usize = 16;

/// The same throws every time.
struct Dice(u64);

impl Dice {
    /// Below `sides`.
    fn throw(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> Option<&'a str> {
        (!from.is_empty()).then(|| from[self.throw(from.len())])
    }
}

/// A sequence that is being played.
struct Case {
    ground: Ground,
    dice: Dice,
    /// Pieces of work that there ever were.
    works: usize,
    /// What was done, for who reads a failure.
    script: Vec<String>,
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut ground = Ground::new();
        ground.add_remote();
        let dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (works, script) = (0, Vec::new());
        Case {
            ground,
            dice,
            works,
            script,
        }
    }

    /// One command line, by the agent or in a terminal; whether it succeeded.
    fn runs(&mut self, command: &str) -> bool {
        let (ok, _) = match self.dice.throw(2) {
            0 => self.ground.agent("app", command),
            _ => self.ground.person("app", command),
        };
        let failed = if ok { "" } else { "  # failed" };
        self.script.push(format!("{command}{failed}"));
        ok
    }

    fn ask(&self, command: &str) -> String {
        self.ground.ask("app", command)
    }

    /// The next piece of work lies in the work tree.
    fn work(&mut self) -> String {
        self.works += 1;
        let name = format!("w{}", self.works);
        let text: String = (1..=4).map(|n| format!("{name}, line {n}\n")).collect();
        self.ground.write("app", &name, &text);
        name
    }

    /// Pieces that are in the tree of a commit.
    fn works_of(&self, commit: &str) -> BTreeSet<String> {
        works_in(&self.ask(&format!("git ls-tree --name-only {commit}")))
    }

    /// Pieces that some ref has, or HEAD.
    fn present(&self) -> BTreeSet<String> {
        let tips =
            "git for-each-ref --format='%(objectname)'; git stash list --format=%H; echo HEAD";
        let trees = format!("for tip in $({tips}); do git ls-tree --name-only $tip; done");
        works_in(&self.ask(&trees))
    }

    fn others(&self) -> String {
        self.ask("git for-each-ref --format='%(refname:short)' refs/heads | grep -vx \"$(git branch --show-current)\"")
    }

    fn step(&mut self) {
        match self.dice.throw(22) {
            0..=5 => self.commits(),
            6 | 7 => {
                let nth = self.works;
                self.runs(&format!("git switch -q -c b{nth}"));
                self.commits();
            }
            8 | 9 => self.goes_elsewhere(),
            10..=12 => self.resets(),
            13 => self.squashes_softly(),
            14 => self.picks(),
            15 => self.merges_squashed(),
            16 | 17 => self.deletes(),
            18 => self.drops(),
            19 => self.reverts(),
            20 => self.stashes(),
            _ => self.pushes(),
        }
    }

    fn commits(&mut self) {
        let name = self.work();
        self.runs(&format!("git add -A && git commit -q -m {name}"));
    }

    fn goes_elsewhere(&mut self) {
        let others = self.others();
        let others: Vec<&str> = others.lines().collect();
        match (self.dice.throw(4), self.dice.pick(&others)) {
            (0, _) => self.runs("git checkout -q --detach"),
            (_, Some(other)) => self.runs(&format!("git switch -q {other}")),
            (_, None) => false,
        };
    }

    /// Commits on top of the two first ones, of which none is ever touched.
    fn own_commits(&self) -> usize {
        let count = self.ask("git rev-list --count --first-parent HEAD");
        count.parse::<usize>().map_or(0, |count| count - 2)
    }

    fn resets(&mut self) {
        let own = self.own_commits();
        if self.dice.throw(5) == 0 {
            self.runs("git reset -q --hard ORIG_HEAD");
        } else if own > 0 {
            let back = 1 + self.dice.throw(own.min(3));
            self.runs(&format!("git reset -q --hard HEAD~{back}"));
        }
    }

    fn squashes_softly(&mut self) {
        if self.own_commits() < 2 {
            return;
        }
        let before = self.works_of("HEAD~2");
        self.runs("git reset -q --soft HEAD~2");
        self.commits_squashed(&before);
    }

    /// Commits what is in the index; the subject names what is new in it.
    fn commits_squashed(&mut self, before: &BTreeSet<String>) {
        let all = works_in(&self.ask("git ls-files"));
        let new: Vec<&String> = all.difference(before).collect();
        let names: String = new.iter().map(|name| format!(" {name}")).collect();
        self.runs(&format!("git commit -q --allow-empty -m 'squash{names}'"));
    }

    fn merges_squashed(&mut self) {
        let (others, before) = (self.others(), self.works_of("HEAD"));
        let others: Vec<&str> = others.lines().collect();
        let Some(other) = self.dice.pick(&others) else {
            return;
        };
        match self.runs(&format!("git merge -q --squash {other}")) {
            true => self.commits_squashed(&before),
            false => {
                self.runs("git reset -q --hard");
            }
        }
    }

    /// A commit of one piece that is in these histories, and what the piece is.
    fn commit_of_one(
        &mut self,
        histories: &str,
        is_meant: impl Fn(&str) -> bool,
    ) -> Option<String> {
        let all = self.ask(&format!("git log --no-merges --format='%H %s' {histories}"));
        let pairs = all.lines().filter_map(|line| line.split_once(' '));
        let of_one = pairs.filter(|(_, subject)| is_work(subject) && is_meant(subject));
        let hashes: Vec<&str> = of_one.map(|(hash, _)| hash).collect();
        self.dice.pick(&hashes).map(str::to_owned)
    }

    fn picks(&mut self) {
        let here = self.works_of("HEAD");
        if let Some(hash) = self.commit_of_one("--all --reflog", |work| !here.contains(work)) {
            self.runs(&format!("git cherry-pick {hash}"));
        }
    }

    fn reverts(&mut self) {
        let here = self.works_of("HEAD");
        if let Some(hash) = self.commit_of_one("HEAD", |work| here.contains(work)) {
            self.runs(&format!("git revert --no-edit {hash}"));
        }
    }

    fn drops(&mut self) {
        let own = self.own_commits().min(3);
        if own < 2 {
            return;
        }
        let (nth, first) = (1 + self.dice.throw(own), own);
        let drop = format!("GIT_SEQUENCE_EDITOR=\"sed -i {nth}d\" git rebase -q -i HEAD~{first}");
        if !self.runs(&drop) {
            self.runs("git rebase --abort");
        }
    }

    fn deletes(&mut self) {
        let (local, tags) = (self.others(), self.ask("git tag"));
        let pushed = "git for-each-ref --format='%(refname:lstrip=3)' refs/remotes/origin";
        let pushed = self.ask(&format!("{pushed} | grep -vx -e main -e HEAD"));
        let (what, names) = match self.dice.throw(4) {
            0 => ("git push -q origin --delete", &pushed),
            1 => ("git tag -d", &tags),
            _ => ("git branch -q -D", &local),
        };
        let names: Vec<&str> = names.lines().filter(|name| *name != "main").collect();
        if let Some(name) = self.dice.pick(&names) {
            self.runs(&format!("{what} {name}"));
        }
    }

    fn stashes(&mut self) {
        if self.dice.throw(2) == 0 && self.runs("git stash pop -q") {
            self.commits_squashed(&self.works_of("HEAD"));
        } else {
            self.work();
            self.runs("git add -A && git stash -q");
        }
    }

    fn pushes(&mut self) {
        let (branch, nth) = (self.ask("git branch --show-current"), self.works);
        match self.dice.throw(3) {
            0 => self.runs(&format!("git tag -f t{nth}")),
            _ if branch.is_empty() => {
                self.runs(&format!("git push -q -f origin HEAD:refs/heads/d{nth}"))
            }
            _ => self.runs(&format!("git push -q -f origin {branch}")),
        };
    }

    /// Claims of which every piece of work is there all the same.
    fn false_claims(&self, claims: &[Claim]) -> Vec<String> {
        let present = self.present();
        let mut found = Vec::new();
        for claim in claims {
            let there = match (claim.takes_back, &claim.branch) {
                (true, Some(branch)) => self.works_of(&format!("refs/heads/{branch}")),
                (true, None) => continue,
                (false, _) => present.clone(),
            };
            for subject in &claim.subjects {
                let works = works_of_subject(subject);
                if !works.is_empty() && works.is_subset(&there) {
                    found.push(format!("{}: {subject}", claim.operation));
                }
            }
        }
        found
    }
}

fn is_work(name: &str) -> bool {
    let digits = name.strip_prefix('w').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn works_in(names: &str) -> BTreeSet<String> {
    let names = names.lines().filter(|name| is_work(name));
    names.map(str::to_owned).collect()
}

/// The pieces that a commit of this subject brought; a revert brings none.
fn works_of_subject(subject: &str) -> BTreeSet<String> {
    let names = subject.strip_prefix("squash").unwrap_or(subject);
    let is_plain = names.split_whitespace().all(is_work);
    let names = names.split_whitespace().filter(|_| is_plain);
    names.map(str::to_owned).collect()
}

/// What sequences came to.
#[derive(Debug, Default)]
struct Outcome {
    /// Sequences in which something was told that wasn't true, each with what that was.
    wrong: Vec<String>,
    /// Sequences at whose end somebody who never looked before is told something else.
    differing: Vec<String>,
    /// Pieces of work that were committed and that no ref has at the end.
    lost: usize,
    /// How many of them were told.
    told: usize,
}

fn play(seed: u64) -> Outcome {
    let mut case = Case::new(seed);
    let (mut often, mut once) = (Observer::new(), Observer::new());
    let mut wrong = BTreeSet::new();
    for _ in 0..STEPS {
        case.step();
        if case.dice.throw(3) == 0 {
            often.look(&case.ground, 5);
            let found = case.false_claims(&often.told());
            case.script.push(format!("# look: {found:?}"));
            wrong.extend(found);
        }
    }
    let mut told = Vec::new();
    for observer in [&mut often, &mut once] {
        observer.look(&case.ground, 7_200);
        let claims = observer.told();
        wrong.extend(case.false_claims(&claims));
        let subjects = claims.iter().flat_map(|claim| &claim.subjects);
        let works = subjects.flat_map(|subject| works_of_subject(subject));
        told.push(works.collect::<BTreeSet<String>>());
    }
    let log = case.ask("git log --all --reflog --format=%s");
    let committed: BTreeSet<String> = log.lines().flat_map(works_of_subject).collect();
    let present = case.present();
    let lost: BTreeSet<&String> = committed.difference(&present).collect();
    let script = format!("seed {seed}, lost {lost:?}\n  {}", case.script.join("\n  "));
    let with_script = |is: bool, what: String| is.then(|| format!("{what}\n{script}"));
    let wrong = with_script(!wrong.is_empty(), format!("{wrong:?}"));
    let differing = with_script(told[0] != told[1], format!("{told:?}"));
    Outcome {
        wrong: wrong.into_iter().collect(),
        differing: differing.into_iter().collect(),
        lost: lost.len(),
        told: lost.iter().filter(|work| told[0].contains(**work)).count(),
    }
}

fn number(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Plays all sequences, as many at once as the machine has cores.
fn all() -> Outcome {
    let first = number("UNDONE_SEED", 1);
    let seeds = Mutex::new(first..first + number("UNDONE_CASES", CASES));
    let sum = Mutex::new(Outcome::default());
    let next = || seeds.lock().expect("seeds").next();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        while let Some(seed) = next() {
            let one = play(seed);
            let mut sum = sum.lock().expect("a sum");
            sum.wrong.extend(one.wrong);
            sum.differing.extend(one.differing);
            sum.lost += one.lost;
            sum.told += one.told;
        }
    };
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(work);
        }
    });
    sum.into_inner().expect("a sum")
}

#[test]
fn work_that_a_ref_has_is_never_told_as_given_up() {
    let Outcome {
        wrong,
        differing,
        lost,
        told,
    } = all();
    assert!(
        lost > 10,
        "the sequences lose too little to prove anything: {lost}"
    );
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(differing.is_empty(), "\n{}", differing.join("\n"));
    assert!(told * 10 >= lost * 9, "{told} of {lost} losses are told");
}

/// `make eval`.
#[test]
#[ignore = "prints; `make eval` asks for it"]
fn eval_prints() {
    let Outcome {
        wrong,
        differing,
        lost,
        told,
    } = all();
    let (wrong, differing) = (wrong.len(), differing.len());
    let text = format!(
        "| random commands | measured | must reach |\n| --- | --- | --- |\n\
         | sequences in which work is told as given up that a ref has | {wrong} | none |\n\
         | sequences told differently by when somebody looked | {differing} | none |\n\
         | losses that are told | {told} of {lost} | ≥ 90% |\n"
    );
    writeln!(io::stdout(), "{text}").expect("stdout");
}
