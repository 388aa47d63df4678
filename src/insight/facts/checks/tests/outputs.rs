//! Tests of what an output says of a check, and of its program.

use super::*;

#[test]
fn a_program_that_is_not_there_is_the_checks_own() {
    let edit = [Finding::Changed {
        path: "/p/cart.ts".into(),
        added: 1,
        removed: 0,
    }];
    let edit = LocatedItem::sample(ItemKind::Digest, 1, "Action: Edit(cart.ts) → +1 −0", &edit);
    let told = |text: &str| {
        let ran = LocatedItem::sample(ItemKind::Digest, 2, text, &FAILED);
        checks(&[edit, ran]).not_there.is_some()
    };
    for other in [
        "npm run build && jq . dist/cart.json) → exit 127: bash: jq: command not found",
        "timeout 9 npm run lint) → exit 127: bash: timeout: command not found",
        "npm run build) → exit 127: sh: 1: cart-pack: command not found",
        "eslint .) → exit 127: sh: my-eslint: command not found",
    ] {
        assert!(!told(&format!("Action: Bash({other}")), "{other}");
    }
    for own in [
        "eslint .) → exit 127: bash: line 1: eslint: command not found",
        "eslint .) → exit 127: zsh: command not found: eslint",
        "tsc --noEmit) → exit 1: 'tsc' is not recognized as a command",
    ] {
        assert!(told(&format!("Action: Bash({own}")), "{own}");
    }
}

#[test]
fn only_the_end_of_what_was_printed_says_that_a_check_passed() {
    let state = |call: &str| told(&[(&format!("Action: Bash({call}"), &OK[..])]).len();
    for unknown in [
        "npm run build 2>&1 | head -8) → 3 lines, 90 bytes: ✓ built in 2s",
        "npm run build | head -3) → > shop build · > pack",
        "npm run build | head -3) → > shop build · ✓ built in 2s",
        "npm run build | tail -3) → ✓ built in 2s · packing the server · no module cart.ts",
        "cargo clippy 2>&1 | tail -5) → 5 lines, 310 bytes: Finished `dev` profile [unoptimized]",
        "cargo clippy 2>&1 | tail -1) → Finished `dev` profile [unoptimized]",
    ] {
        assert_eq!(state(unknown), 0, "{unknown}");
    }
    for known in [
        "npm run build | tail -3) → packing · ✓ built in 2s",
        "tsc --noEmit | head -5) → ok, no output",
        "cargo check 2>&1 | tail -1) → Finished `dev` profile [unoptimized]",
    ] {
        assert_eq!(state(known), 1, "{known}");
    }
}

#[test]
fn what_a_line_echoes_is_no_word_on_its_checks() {
    let one = |call: &str| told(&[(&format!("Action: Bash({call}"), &OK[..])]);
    let echoed = one("npx eslint src; echo \"--- errors above ---\") → \\--- errors above ---");
    assert!(echoed.is_empty(), "nobody knows: {echoed:?}");
    // what is listed is no echo, though the line names it
    assert!(one("npx eslint a.ts; echo ok) → a.ts: 1 error · ok")[0].contains("false"));
    assert_eq!(
        one("npm run build; echo done; golangci-lint run) → done · 0 issues."),
        ["npm run build true ", "golangci-lint run true 0 issues"],
        "the last one said it"
    );
}

#[test]
fn of_a_script_nobody_knows_what_ran() {
    let one = |call: &str, end: &[Finding]| told(&[(&format!("Action: Bash({call}"), end)]).len();
    for unknown in [
        "if [ -f a ]; then npx eslint src; fi; ls) → ok, no output",
        "git diff --quiet && exit 0; npm run lint) → ok, no output",
    ] {
        assert_eq!(one(unknown, &OK), 0, "{unknown}");
    }
    let failed = "set -e; npx tsc --noEmit; npm run lint) → exit 2: cart.ts(3): error TS2322";
    assert_eq!(one(failed, &FAILED), 0, "nobody knows which one");
    for known in [
        "cd shop || exit 1; npm run lint) → ok, no output",
        "git commit -m 'one case more' && npm run lint) → ok, no output",
    ] {
        assert_eq!(one(known, &OK), 1, "{known}");
    }
    let alone = "cd shop; npm run lint) → exit 1: cart.ts: one error";
    assert_eq!(one(alone, &FAILED), 1);
}

#[test]
fn a_fixer_mends_its_own_check_only() {
    let red = "Action: Bash(cargo fmt --check) → exit 1: Diff in cart.rs";
    let fixed = "Action: Bash(cargo fmt) → ok, no output";
    let calls = [(red, &FAILED[..]), (fixed, &OK[..])];
    assert_eq!(told(&calls), ["cargo fmt --check false  after cargo fmt"]);
    let red = "Action: Bash(npx eslint src) → exit 1: 'x' is never used";
    let other = "Action: Bash(npx prettier --write src) → ok, no output";
    let calls = [(red, &FAILED[..]), (other, &OK[..])];
    assert_eq!(told(&calls), ["npx eslint src false "]);
}
