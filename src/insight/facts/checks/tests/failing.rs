//! Tests of checks that failed when they ran last.

use super::*;

#[test]
fn what_failed_when_it_ran_last_is_left() {
    let left = |calls: &[(&str, &[Finding])]| {
        let lines = calls.iter().zip(1..).map(|((text, findings), line)| {
            LocatedItem::sample(ItemKind::Digest, line, text, findings)
        });
        let lines: Vec<LocatedItem<'_>> = lines.collect();
        failing(&checks(&lines).runs, &lines).map(|step| step.what)
    };
    let (build, lint) = ("Action: Bash(npm run build)", "Action: Bash(npm run lint)");
    let failed = format!("{build} → exit 1: error: no such page");
    let passed = format!("{build} → ok, no output");
    let wants = Some("Failed when it ran last: npm run build".to_owned());
    assert_eq!(left(&[(&failed, &FAILED)]), wants);
    assert_eq!(left(&[(&failed, &FAILED), (&passed, &OK)]), None);
    let other = format!("{lint} → ok, no output");
    assert_eq!(left(&[(&failed, &FAILED), (&other, &OK)]), wants);
    let types = "Action: Bash(npx tsc --noEmit) → exit 2: a.ts(3): error TS1: no";
    let green = "Action: Bash(npx eslint .) → ok, no output";
    assert_eq!(
        left(&[(types, &FAILED), (green, &OK)]).as_deref(),
        Some("Failed when it ran last: npx tsc --noEmit")
    );
    let native = "Action: Bash(go build ./...) → exit 1: cart.go:7:2: no";
    let foreign = "Action: Bash(GOOS=windows go build ./...) → ok, no output";
    assert_eq!(
        left(&[(native, &FAILED), (foreign, &OK)]).as_deref(),
        Some("Failed when it ran last: go build ./...")
    );
    let edit = [Finding::Changed {
        path: "/p/a.ts".into(),
        added: 1,
        removed: 0,
    }];
    let edited = ("Action: Edit(a.ts) → +1 −0", &edit[..]);
    let wants = "Failed, and not run again after the last change: npm run build";
    let open = [(failed.as_str(), &FAILED[..]), edited];
    assert_eq!(left(&open).as_deref(), Some(wants));
    let page = |path: &str| format!("Action: Bash(npx eslint {path}) → exit 1: one problem");
    assert_eq!(left(&[edited, (&page("b.ts"), &FAILED)]), None, "another's");
    assert!(left(&[edited, (&page("a.ts"), &FAILED)]).is_some());
    let check = ("Action: Bash(tsc --noEmit) → ok, no output", &OK[..]);
    assert_eq!(left(&[open[0], edited, check]), None, "that may be enough");
}

#[test]
fn what_an_equal_check_passed_since_is_not_told_as_failed() {
    let lint = (
        "Action: Bash(npm run lint) → exit 1: one problem",
        &FAILED[..],
    );
    for since in [
        "Action: Bash(git ls-files -z | xargs -0 npx eslint) → ok, no output",
        "Action: Bash(gh run watch 7 --exit-status) → 40 lines, 2 KB",
    ] {
        let all = told(&[lint, (since, &OK[..])]);
        assert!(!all.iter().any(|told| told.contains("lint")), "{all:?}");
    }
    let other = (
        "Action: Bash(git commit -m 'Fix lint') → ok, no output",
        &OK[..],
    );
    assert_eq!(told(&[lint, other]), ["npm run lint false "]);
    let types = ("Action: Bash(tsc --noEmit) → ok, no output", &OK[..]);
    assert_eq!(told(&[lint, types])[0], "npm run lint false ");
    let format = (
        "Action: Bash(npx prettier --check .) → ok, no output",
        &OK[..],
    );
    assert_eq!(told(&[lint, format])[0], "npm run lint false ");
    let own = (
        "Action: Bash(cargo fmt --check) → exit 1: Diff in /p/a.rs:7",
        &FAILED[..],
    );
    let clippy = ("Action: Bash(cargo clippy) → ok", &OK[..]);
    assert_eq!(told(&[own, clippy])[0], "cargo fmt --check false ");
}

#[test]
fn what_the_agent_says_next_to_faults_stands_beside_them() {
    let red = "Action: Bash(flutter analyze) → exit 1: 7 issues found.";
    let red = LocatedItem::sample(ItemKind::Digest, 1, red, &FAILED);
    let said =
        "Agent: The remaining errors are pre-existing and not of the cart. Next comes the page.";
    let said = LocatedItem::sample(ItemKind::Agent, 2, said, &[]);
    let told = |lines: &[LocatedItem<'_>]| {
        let runs = checks(lines).runs;
        let left = failing(&runs, lines).is_some();
        (runs[0].what.excuse.clone(), left)
    };
    let excuse = "The remaining errors are pre-existing and not of the cart.";
    assert_eq!(told(&[red, said]), (Some(excuse.to_owned()), false));
    let edit = [Finding::Changed {
        path: "/p/a.dart".into(),
        added: 1,
        removed: 0,
    }];
    let edit = LocatedItem::sample(ItemKind::Digest, 2, "Action: Edit(a.dart) → +1 −0", &edit);
    assert_eq!(told(&[red, edit, said]).0, None, "of what came since");
    let prompt = LocatedItem::sample(ItemKind::Prompt, 2, "User: and the orders?", &[]);
    assert_eq!(told(&[red, prompt, said]), (None, true));
}
