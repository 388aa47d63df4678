//! The files that commands of a shell write, as far as a digest shows their lines.

use super::line::call_and_result;
use crate::rules::table;
use regex::Regex;
use std::sync::LazyLock;

/// The files that a shell's command writes whole or adds lines to: behind `>` and `tee`.
pub fn written(text: &str) -> Vec<&str> {
    static INTO: LazyLock<Regex> = LazyLock::new(|| {
        let before = r"(?:^|[^=\-<>0-9&])>>?|\btee (?:-a )?";
        let whole = format!(r#"(?:{before}) *["']?([^\s"'<>|&;()]+)"#);
        table::regex(&whole)
    });
    let call = call_and_result(text).map_or(text, |(call, _)| call);
    let mut all = Vec::new();
    if call.contains('>') || call.contains("tee ") {
        let into = INTO.captures_iter(call);
        all.extend(into.filter_map(|found| Some(found.get(1)?.as_str())));
    }
    all.retain(|path| path.contains('.') || path.contains('/'));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_writes_is_found() {
        for (call, wants) in [
            ("cat >> a/b.go << 'EOF'", &["a/b.go"][..]),
            ("printf x > \"c.md\" && git add c.md", &["c.md"]),
            ("echo x | tee -a log/d.txt", &["log/d.txt"]),
            ("npm test 2>&1 | tail -3", &[]),
            ("npm test 2> err.txt", &[]),
            ("node -e 'a => b.c'", &[]),
            ("cat a.go", &[]),
        ] {
            let text = format!("Action: Bash({call}) → x > y.z");
            assert_eq!(written(&text), wants, "{call}");
        }
        // it changes lines that are there
        assert_eq!(written("Action: Bash(sed -i s/a/b/ a.rs) → ok"), [""; 0]);
    }
}
