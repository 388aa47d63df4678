//! What is read of scripts, and that anything can be read.

use super::*;
use proptest::prelude::*;

/// Commands as `word word|word` per line; `<` marks piped ones, `>` those that write, `$` nested.
fn check(script: &str, wants: &[&str]) {
    let told: Vec<String> = read(script).iter().map(tell).collect();
    assert_eq!(told, wants, "{script}");
}

fn tell(simple: &Simple<'_>) -> String {
    let mark = |is: bool, mark: &'static str| if is { mark } else { "" };
    let words: Vec<&str> = simple.words.iter().map(|w| &**w).collect();
    [
        mark(simple.nested, "$"),
        mark(simple.piped, "<"),
        mark(simple.writes.is_some(), ">"),
        &words.join("_"),
    ]
    .concat()
}

#[test]
fn operators_separate() {
    check(
        "a b && c || d; e & f | g |& h",
        &["a_b", "c", "d", "e", "f", "<g", "<h"],
    );
    check("a\nb # c; d\n(e; f) ; { g; }", &["a", "b", "e", "f", "g"]);
}

#[test]
fn quotes_and_escapes_join_words() {
    check(r#"a 'b; c' "d | e" f\ g $'h'"#, &["a_b; c_d | e_f g_h"]);
    check("a \\\n b", &["a_b"]);
    check(r#"cat "C:\x\y" "q\"r""#, &[r#"cat_C:\x\y_q"r"#]);
}

#[test]
fn substitutions_are_read() {
    check(
        "a $(b | c) `d e` \"x $(f)\"",
        &["$b", "$<c", "$d_e", "$f", "a_$()_$()_x $()"],
    );
    check("a $((1 + 2)) ${b:-c d}", &["a__${b:-c d}"]);
    check("diff <(a) <(b)", &["$a", "$b", "diff"]);
}

#[test]
fn keywords_are_not_commands() {
    check("for x in a b; do c $x; done", &["c_$x"]);
    check("if [ -f a ]; then b; else c; fi", &["[_-f_a_]", "b", "c"]);
    check("while read l; do a; done < f", &["read_l", "a"]);
    check("case $x in a|b) c;; *) d;; esac; e", &["c", "d", "e"]);
    check("f() { a; }; f; b", &["a", "b"]);
}

#[test]
fn redirections_and_assignments_are_not_words() {
    check("A=1 B='x y' a > f 2>&1 < g", &[">a"]);
    check("a 2>/dev/null >> x &> y", &[">a"]);
    check("X=/p/app; $X run; ${X} b", &["/p/app_run", "/p/app_b"]);
    check("a=(x y) b", &["b"]);
}

#[test]
fn heredocs_are_bodies() {
    let read = read("cat > f <<'EOF' && b\nrm -rf /\nEOF\nc");
    let told: Vec<String> = read.iter().map(tell).collect();
    assert_eq!(told, [">cat", "b", "c"]);
    assert_eq!(read[0].heredoc, Some("rm -rf /\n"));
    check(
        "git commit -m \"$(cat <<EOF\nit's; rm x\nEOF\n)\" && b",
        &["$cat", "git_commit_-m_$()", "b"],
    );
}

#[test]
fn powershell_has_its_own_rules() {
    check(
        "$c = Get-Content $f -Raw; foreach ($x in $c) { Set-Content -Path $x }",
        &["Get-Content_$f_-Raw", "Set-Content_-Path_$x"],
    );
    check(
        "& \"$d\\app.exe\" print; Get-Item a",
        &["$d\\app.exe_print", "Get-Item_a"],
    );
    check(
        "Remove-Item -LiteralPath '\\\\?\\D:\\x' && git status",
        &["Remove-Item_-LiteralPath_\\\\?\\D:\\x", "git_status"],
    );
}

#[test]
fn deep_nesting_ends() {
    for open in ["$(", "(", "`", "\"$(", "${", "<<", "case x in a) "] {
        read(&open.repeat(20_000));
    }
}

proptest! {
    #[test]
    fn anything_can_be_read(script in "[ -~\n\u{e9}\u{65e5}]{0,200}") {
        for simple in read(&script) {
            prop_assert!(!simple.words.is_empty());
        }
    }

    #[test]
    fn shell_like_text_can_be_read(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "a", " ", "\n", ";", "|", "&&", "$(", ")", "`", "'", "\"", "\\", "<<EOF", "EOF",
                "$", "{", "}", "(", "case ", " in ", "esac", ">", "<", "2>", "&", "#", "=", "@'",
                "Get-X", "é", "$((", "))", "-c ", "bash ",
            ]),
            0..60,
        )
    ) {
        let script = parts.concat();
        read(&script);
        crate::rules::commands::counted_as(&script);
    }
}
