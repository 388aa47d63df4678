//! What a reviewer answers: a verdict and findings as JSON, which people read as a text.

use serde::Deserialize;
use std::fmt::Write;

#[derive(Deserialize)]
struct Review {
    findings: Vec<Finding>,
    overall_correctness: String,
    #[serde(default)]
    overall_explanation: String,
}

#[derive(Deserialize)]
struct Finding {
    title: String,
    #[serde(default)]
    body: String,
    #[serde(default)]
    code_location: Location,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Location {
    absolute_file_path: String,
    line_range: Lines,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Lines {
    start: u64,
}

/// How many findings there are, the verdict, its reason, and a point for each finding with its place; `None` for any other text.
pub(super) fn told(text: &str) -> Option<String> {
    let is_one = text.trim_start().starts_with('{') && text.contains("\"overall_correctness\"");
    let review: Review = is_one.then(|| serde_json::from_str(text).ok())??;
    let verdict = review.overall_correctness.trim();
    let found = match review.findings.len() {
        0 => "none".to_owned(),
        found => found.to_string(),
    };
    let why = review.overall_explanation.trim();
    let mut out = format!("Findings: {found}. Verdict: {verdict}. {why}");
    for finding in review.findings {
        let _ = write!(out, "\n- {}", finding.title.trim());
        let place = finding.code_location;
        let file = place.absolute_file_path.rsplit('/').next();
        if let Some(file) = file.filter(|file| !file.is_empty()) {
            let _ = write!(out, " ({file}:{})", place.line_range.start);
        }
        if !finding.body.is_empty() {
            let _ = write!(out, ": {}", finding.body.trim().replace('\n', " "));
        }
    }
    Some(out.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_is_told_as_a_text() {
        let given = r#"{"findings":[{"title":"[P1] Close it","body":"It\nleaks.","confidence_score":0.9,
            "code_location":{"absolute_file_path":"/p/a.rs","line_range":{"start":7,"end":9}}}],
            "overall_correctness":"patch is incorrect","overall_explanation":"One leak.","overall_confidence_score":0.9}"#;
        let wants = "Findings: 1. Verdict: patch is incorrect. One leak.\n- [P1] Close it (a.rs:7): It leaks.";
        assert_eq!(told(given).as_deref(), Some(wants));
        let clean = r#"{"findings":[],"overall_correctness":"patch is correct","overall_explanation":"It adds up."}"#;
        let wants = "Findings: none. Verdict: patch is correct. It adds up.";
        assert_eq!(told(clean).as_deref(), Some(wants));
        assert_eq!(told(r#"{"overall_correctness": 1}"#), None);
        assert_eq!(told("Patch is correct."), None);
    }
}
