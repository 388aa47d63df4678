//! A report that somebody pasted behind a request: of a weakness or a fault, in sections that forms ask for.

use crate::rules::requests::is_report_label;

/// What stands before such a report, and the first line of it that says something.
pub(super) fn before_report(prompt: &str) -> Option<(&str, &str)> {
    const BYTES_MIN: usize = 900;
    const LABELS_MIN: usize = 2;
    const SENTENCE_CHARS_MIN: usize = 40;
    if prompt.len() < BYTES_MIN {
        return None;
    }
    let mut at = 0;
    let lines = prompt.split_inclusive('\n').map(|line| {
        at += line.len();
        (at - line.len(), line.trim())
    });
    let mut labels = lines.filter(|(_, line)| is_report_label(line));
    let (start, first) = labels.next()?;
    let mut others: Vec<&str> = labels
        .map(|(_, line)| line)
        .filter(|line| *line != first)
        .collect();
    others.dedup();
    let own = &prompt[..start];
    if others.len() + 1 < LABELS_MIN || own.trim().is_empty() {
        return None;
    }
    let mut said = prompt[start..].lines().map(str::trim);
    let said = said.find(|line| line.chars().count() >= SENTENCE_CHARS_MIN)?;
    Some((own, said))
}

/// How much a finding matters, above it: `Low Severity`, `P2`.
pub(super) fn is_grade(line: &str) -> bool {
    const GRADES: [&str; 12] = [
        "low", "medium", "high", "critical", "minor", "major", "p0", "p1", "p2", "p3", "nit",
        "trivial",
    ];
    const BYTES_MAX: usize = 24;
    if line.len() > BYTES_MAX {
        return false;
    }
    let line = line
        .trim_matches(['*', '#', '[', ']', ':', ' '])
        .to_lowercase();
    let bare = ["severity", "priority", "issue"]
        .iter()
        .find_map(|kind| line.strip_suffix(kind));
    GRADES.contains(&bare.unwrap_or(&line).trim())
}

#[cfg(test)]
mod tests {
    use super::super::prose;

    #[test]
    fn a_report_behind_a_request_is_none_of_its_words() {
        let report = "Summary\nThe shop renders the name of a cart as a template, so that a name can read files. It is on by \
            default.\n\nDetails\nPlease look at cart.rs, which renders it.\n\nImpact\nAnyone who names a cart can read files.\n\n";
        let prompt = format!(
            "Investigate this with a sub-agent\n\n{report}{}",
            "Severity\nHigh.\n".repeat(60)
        );
        let read = prose(&prompt, &[]);
        assert_eq!(read.sentences, ["Investigate this with a sub-agent"]);
        assert_eq!(
            read.document,
            [
                "The shop renders the name of a cart as a template, so that a name can read files.",
                "It is on by default."
            ]
        );
        let own = format!(
            "Investigate this\n\nSummary\n{}",
            "Carts are read twice. ".repeat(60)
        );
        assert!(
            prose(&own, &[]).sentences.len() > 1,
            "one label is no report"
        );
    }
}
