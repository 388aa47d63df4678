//! Whether work was given up, judged by what is lost, not by what moved: a commit is lost where nothing
//! points to it any more and its change is in nothing that came after. Judged again whenever references
//! change, so that a later push, squash or cherry-pick takes the statement back, and a later deletion
//! makes it. Says the same however often it was asked in between.

use super::same_work::SameWork;
use crate::host::reachability::{History, Reachable};
use crate::host::repository::Repository;
use crate::model::git::{
    CommitLine, Effect, GitOperation, KEPT_ON_DISK, OperationKind, RevertedCommit,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use uuid::Uuid;

/// What became of the commits that an operation left or took back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Whose work is nowhere, the latest first.
    pub(super) lost: Vec<CommitLine>,
    /// How many.
    pub(super) lost_count: u64,
    /// Where it is otherwise.
    pub(super) kept_in: Option<String>,
    /// Files on the disk that alone keep it.
    pub(super) watched: BTreeSet<String>,
    /// The commits that have what nothing points to any more.
    kept_by: BTreeMap<String, String>,
    /// Ids of patches that nothing points to any more.
    patches: BTreeMap<String, Uuid>,
    /// A later operation gave it up.
    is_lost_later: bool,
}

impl Verdict {
    /// Puts it down.
    pub(super) fn write(self, effect: &mut Effect) {
        effect.is_judged = true;
        (effect.lost, effect.lost_count) = (self.lost, self.lost_count);
        effect.kept_in = self.kept_in;
        effect.kept_by = self.kept_by;
        effect.is_lost_later = self.is_lost_later;
        effect.patches.extend(self.patches);
    }
}

/// What it left or took back may be lost one day.
pub(super) fn may_lose(git: &GitOperation) -> bool {
    loses_what_it_left(git) || !git.effect.reverts.is_empty()
}

/// Of the other kinds, what is left is written anew or stays where it was by what they are.
fn loses_what_it_left(git: &GitOperation) -> bool {
    let kind = git.operation.kind;
    let keeps = match kind {
        OperationKind::Amend | OperationKind::Stash => true,
        // a branch has it; when that goes, it is the branch's end that gives it up
        OperationKind::Checkout => git.operation.branch.is_some(),
        _ => false,
    };
    kind.leaves() && !keeps && git.effect.left_count > 0
}

/// What points to what in a repository now, and what its later operations left.
pub(super) struct Judge<'r> {
    pub(super) repository: &'r Repository,
    /// References by name, with their commits.
    pub(super) tips: &'r BTreeMap<String, String>,
    pub(super) reachable: &'r Reachable,
    /// What was reachable when verdicts were reached last.
    pub(super) known: History,
    pub(super) work: &'r SameWork<'r>,
    /// What takes a commit back.
    pub(super) reverters: HashMap<String, Vec<String>>,
}

impl Judge<'_> {
    /// One verdict for each operation; `operations`: all of the repository that are known, in order. `None`: there
    /// is too much to be compared, or it is gone; what was said of it stands.
    pub(super) fn verdicts(&self, operations: &[&GitOperation]) -> Vec<Option<Verdict>> {
        let mut later = Later::of(operations);
        let mut verdicts: Vec<Option<Verdict>> = Vec::with_capacity(operations.len());
        for (nth, git) in operations.iter().enumerate().rev() {
            verdicts.push(self.verdict(git, &later));
            later.add(git, nth);
        }
        verdicts.reverse();
        self.once(operations, &mut verdicts);
        pass_on(operations, &mut verdicts);
        verdicts
    }

    fn verdict(&self, git: &GitOperation, later: &Later) -> Option<Verdict> {
        let mut verdict = match loses_what_it_left(git) {
            true => self.left(git, later)?,
            false => Verdict::default(),
        };
        // what only takes back what took something back is no matter of lost work
        let reverts = &git.effect.reverts;
        let is_back = |revert: &RevertedCommit| self.work.takes_back(&revert.commit.hash);
        if !reverts.is_empty() && verdict.lost.is_empty() && reverts.iter().all(is_back) {
            return None;
        }
        for revert in reverts {
            if self.is_taken_back(git, &revert.commit, &revert.by, later)? {
                verdict.lost.push(revert.commit.clone());
                verdict.lost_count += 1;
            }
        }
        Some(verdict)
    }

    /// A commit that several commits take back was taken back by the first of them.
    fn once(&self, operations: &[&GitOperation], verdicts: &mut [Option<Verdict>]) {
        let mut told: HashSet<String> = HashSet::new();
        for (git, verdict) in operations.iter().zip(verdicts) {
            let Some(verdict) = verdict else {
                continue;
            };
            let reverted: HashSet<&str> =
                git.effect.reverts.iter().map(|r| &*r.commit.hash).collect();
            let before = verdict.lost.len();
            verdict.lost.retain(|commit| {
                !reverted.contains(&*commit.hash) || told.insert(commit.hash.clone())
            });
            verdict.lost_count -= (before - verdict.lost.len()) as u64;
        }
    }

    fn left(&self, git: &GitOperation, later: &Later) -> Option<Verdict> {
        let effect = &git.effect;
        // what a merge joins are commits of their own
        let is_merge = |hash: &str| self.work.patch(hash).is_some_and(|patch| patch.is_merge());
        let is_gone = |commit: &&CommitLine| {
            let hash = &commit.hash;
            !self.reachable.has(hash) && !later.left.contains(hash) && !is_merge(hash)
        };
        let gone: Vec<&CommitLine> = effect.left.iter().filter(is_gone).collect();
        let Some(latest) = gone.first() else {
            return Some(self.kept(git));
        };
        // a clock that went wrong hides a commit from a walk by time
        let tips = self.tips.values();
        if !was_lost(effect, &gone) && self.repository.is_in_history_of(&latest.hash, tips) {
            return Some(self.kept(git));
        }
        let mut kept_by = self.kept_still(effect, later);
        let waiting: Vec<&CommitLine> = gone
            .iter()
            .filter(|commit| !kept_by.contains_key(&commit.hash))
            .copied()
            .collect();
        let Some(work) = self.work.of(&waiting, git) else {
            // collected by git: the verdict of the last look stands, but for a change that came back
            return self.remembered(git, &gone, later);
        };
        let after = self.after(&work.base, later, was_lost(effect, &waiting))?;
        let found = self.work.find(&work, &after, git);
        let is_lost = |commit: &&CommitLine| !found.commits.contains_key(&commit.hash);
        let lost: Vec<CommitLine> = waiting.into_iter().filter(is_lost).cloned().collect();
        let by = found.commits.into_iter();
        kept_by.extend(by.filter_map(|(commit, by)| Some((commit, by?))));
        let uncounted = effect.left_count - effect.left.len() as u64;
        let ids =
            |commit: &CommitLine| Some((commit.hash.clone(), self.work.ids(&commit.hash)?.id));
        let is_on_disk = lost.is_empty() && kept_by.is_empty() && !found.watched.is_empty();
        let on_disk = is_on_disk.then(|| KEPT_ON_DISK.to_owned());
        Some(Verdict {
            lost_count: match lost.len() {
                0 => 0,
                some if some == effect.left.len() => some as u64 + uncounted,
                some => some as u64,
            },
            kept_in: kept_by
                .values()
                .next()
                .filter(|_| lost.is_empty())
                .cloned()
                .or(on_disk),
            kept_by,
            watched: found.watched,
            patches: lost.iter().filter_map(ids).collect(),
            lost,
            is_lost_later: false,
        })
    }

    /// Commits whose work a commit has that is there still.
    fn kept_still(&self, effect: &Effect, later: &Later) -> BTreeMap<String, String> {
        let is_there = |by: &str| self.reachable.has(by) || later.left.contains(by);
        let kept = effect.kept_by.iter();
        let kept = kept.filter(|(_, by)| is_there(by) && !self.is_reverted(by));
        kept.map(|(commit, by)| (commit.clone(), by.clone()))
            .collect()
    }

    /// What something still points to.
    fn kept(&self, git: &GitOperation) -> Verdict {
        let is_told = git.operation.kind != OperationKind::Checkout;
        Verdict {
            kept_in: self.name_of(&git.operation.old).filter(|_| is_told),
            ..Verdict::default()
        }
    }

    /// The reference that has a commit: one that is at it, else one that has it in its history.
    fn name_of(&self, commit: &str) -> Option<String> {
        let names = || self.tips.iter().filter(|(name, _)| shown(name).is_some());
        let exact = names().find(|(_, tip)| *tip == commit);
        let has = |(_, tip): &(&String, &String)| self.reachable.is_in_history(commit, tip);
        let found = exact.or_else(|| names().take(NAMES_MAX).find(has));
        found.and_then(|(name, _)| shown(name))
    }

    /// Commits that came after the lost ones branched off, the latest first: what is reachable and was not
    /// there before, and what later operations left in their turn. Of work that was lost already (`was_lost`),
    /// those that are new since then. `None`: too many to be compared.
    fn after(&self, base: &[String], later: &Later, was_lost: bool) -> Option<Vec<String>> {
        let before = self.reachable.history_of(base.iter().map(String::as_str));
        let histories = match was_lost {
            true => vec![&before, &self.known],
            false => vec![&before],
        };
        let reachable = self.reachable.without(&histories);
        let left = later.in_order.iter().filter(|left| !base.contains(left));
        let after: Vec<String> = reachable.chain(left).take(AFTER_MAX + 1).cloned().collect();
        (after.len() <= AFTER_MAX).then_some(after)
    }

    fn remembered(
        &self,
        git: &GitOperation,
        gone: &[&CommitLine],
        later: &Later,
    ) -> Option<Verdict> {
        let effect = &git.effect;
        if !effect.is_judged {
            return None;
        }
        let after = self.after(&[], later, true).unwrap_or_default();
        let is_back = |commit: &CommitLine| {
            let patch = effect.patches.get(&commit.hash);
            patch.is_some_and(|patch| self.work.has_patch(&after, *patch))
        };
        let is_gone = |commit: &&CommitLine| gone.iter().any(|gone| gone.hash == commit.hash);
        let lost = effect.lost.iter().filter(is_gone);
        let lost: Vec<CommitLine> = lost.filter(|commit| !is_back(commit)).cloned().collect();
        let fewer = (effect.lost.len() - lost.len()) as u64;
        Some(Verdict {
            lost_count: if lost.is_empty() {
                0
            } else {
                effect.lost_count - fewer
            },
            kept_in: effect.kept_in.clone(),
            kept_by: effect.kept_by.clone(),
            lost,
            ..Verdict::default()
        })
    }

    /// A commit is taken back by another one that is still there and was not taken back itself, and did not
    /// come back later; taking back what took something back gives nothing up.
    fn is_taken_back(
        &self,
        git: &GitOperation,
        commit: &CommitLine,
        by: &str,
        later: &Later,
    ) -> Option<bool> {
        if !self.is_in_force(by) || !self.is_on_its_branch(git, by) {
            return Some(false);
        }
        if self.work.takes_back(&commit.hash) {
            return Some(false);
        }
        if self.is_on_the_main_branch(git, &commit.hash, by) {
            return Some(false);
        }
        let brought = match self.work.patch(&commit.hash) {
            Some(patch) if patch.is_merge() => self.repository.brought_by(&commit.hash),
            _ => vec![commit.clone()],
        };
        let Some(work) = self.work.of(&brought.iter().collect::<Vec<_>>(), git) else {
            let is_known = git.effect.is_judged;
            return is_known.then(|| git.effect.lost.contains(commit));
        };
        // who moves work in two steps takes nothing back
        let is_named = self.repository.all_undone(by).contains(&commit.hash);
        let between = self.reachable.between(&commit.hash, by);
        if !is_named && self.work.is_elsewhere_at(&work, by, &between) {
            return Some(false);
        }
        let was_lost = was_lost(&git.effect, &[commit]);
        let mut after = self.after(&[by.to_owned()], later, was_lost)?;
        after.retain(|other| !self.is_reverted(other));
        let found = self.work.find(&work, &after, git).commits.len();
        Some(found < work.count())
    }

    /// The branch on which something was taken back has it still; one that is gone, or nobody knows, may have
    /// been merged.
    fn is_on_its_branch(&self, git: &GitOperation, by: &str) -> bool {
        let branch = git.operation.branch.as_deref();
        let tip = branch.and_then(|branch| self.tips.get(&format!("refs/heads/{branch}")));
        tip.is_none_or(|tip| self.reachable.is_in_history(by, tip))
    }

    /// The main branch has the commit, and not what takes it back elsewhere.
    fn is_on_the_main_branch(&self, git: &GitOperation, commit: &str, by: &str) -> bool {
        let mut names = MAIN_BRANCHES
            .iter()
            .map(|name| format!("refs/heads/{name}"));
        let main = names.find_map(|name| Some((self.tips.get(&name)?, name)));
        main.is_some_and(|(tip, name)| {
            let is_there = git.operation.branch.as_ref();
            let is_there = is_there.is_some_and(|branch| name.ends_with(&format!("/{branch}")));
            !is_there
                && self.reachable.is_in_history(commit, tip)
                && !self.reachable.is_in_history(by, tip)
        })
    }

    /// It is there, and nothing that is in force takes it back.
    fn is_in_force(&self, commit: &str) -> bool {
        self.reachable.has(commit) && !self.is_reverted(commit)
    }

    fn is_reverted(&self, commit: &str) -> bool {
        let by = self.reverters.get(commit).into_iter().flatten();
        // what takes a commit back came after it
        by.into_iter()
            .any(|by| by != commit && self.is_in_force(by))
    }
}

/// What was left for a while, and then went with another operation, is given up by that one.
fn pass_on(operations: &[&GitOperation], verdicts: &mut [Option<Verdict>]) {
    let all = verdicts.iter().flatten().flat_map(|verdict| &verdict.lost);
    let lost: HashSet<String> = all.map(|commit| commit.hash.clone()).collect();
    for (git, verdict) in operations.iter().zip(verdicts) {
        let Some(verdict) = verdict.as_mut().filter(|verdict| verdict.lost_count == 0) else {
            continue;
        };
        let mut left = git.effect.left.iter().map(|commit| &commit.hash);
        let went = left.any(|hash| lost.contains(hash));
        let mut kept_by = verdict.kept_by.values();
        verdict.is_lost_later = may_lose(git) && (went || kept_by.any(|by| lost.contains(by)));
        if verdict.is_lost_later {
            verdict.kept_in = None;
        }
    }
}

/// The last look found nothing of these commits' work.
fn was_lost(effect: &Effect, commits: &[&CommitLine]) -> bool {
    effect.is_judged && commits.iter().all(|commit| effect.lost.contains(commit))
}

/// What people call the branch that counts, the usual names first.
const MAIN_BRANCHES: [&str; 4] = ["main", "master", "trunk", "develop"];
/// References that are looked through for the one that has a commit.
const NAMES_MAX: usize = 20;
/// Commits that are compared with a lost one.
const AFTER_MAX: usize = 5_000;

/// A reference as people call it; `None`: it has no name of its own.
fn shown(name: &str) -> Option<String> {
    let prefixes = ["refs/heads/", "refs/remotes/"];
    let branch = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix));
    match (branch, name.strip_prefix("refs/tags/")) {
        (Some(branch), _) => Some(branch.to_owned()),
        (_, Some(tag)) => Some(format!("tag {tag}")),
        _ if name == "refs/stash" || name.starts_with("stash@") => Some("a stash".to_owned()),
        _ => None,
    }
}

/// What later operations left.
struct Later {
    /// The number of the operation that left a commit first.
    first: HashMap<String, usize>,
    left: HashSet<String>,
    in_order: Vec<String>,
}

impl Later {
    fn of(operations: &[&GitOperation]) -> Later {
        let mut first = HashMap::new();
        for (nth, git) in operations.iter().enumerate() {
            for commit in git
                .effect
                .left
                .iter()
                .filter(|_| git.operation.kind.leaves())
            {
                first.entry(commit.hash.clone()).or_insert(nth);
            }
        }
        Later {
            first,
            left: HashSet::new(),
            in_order: Vec::new(),
        }
    }

    /// Who only looks at a commit that was left before, and goes away again, leaves nothing of his own.
    fn add(&mut self, git: &GitOperation, nth: usize) {
        if !git.operation.kind.leaves() {
            return;
        }
        let looks = git.operation.kind == OperationKind::Checkout;
        for commit in &git.effect.left {
            let was_left = self
                .first
                .get(&commit.hash)
                .is_some_and(|first| *first < nth);
            if !(looks && was_left) && self.left.insert(commit.hash.clone()) {
                self.in_order.push(commit.hash.clone());
            }
        }
    }
}
