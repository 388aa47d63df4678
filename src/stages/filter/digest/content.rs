//! The result's own text beside the digest, or the marker for its absence (D61).

use super::call::DigestCall;
use super::output::ToolOutput;
use super::people;
use crate::model::condensing::LONG_BYTES;
use crate::model::entry::{CallStatus, ToolResult};
use crate::rules::terminal::plain;
use crate::rules::tools::AnswerKind;

/// More: episodes grow by what tools print; less: the block says little more than the digest.
const BLOCK_BYTES_MAX: usize = 2 * 1024;

/// Appends the output below the digest, each line indented by four spaces: all of it up to 2 KB,
/// else its start and its end with `…` between them. Nothing when there is none.
pub fn indented(out: &mut String, output: &ToolOutput<'_>) {
    let masked = output.masked_parts();
    let head = plain(&masked[0]);
    let head = head.trim_end();
    let tail = plain(&masked[1]);
    let tail = tail.trim_end();
    if tail.is_empty() && head.len() <= BLOCK_BYTES_MAX {
        return lines(out, head);
    }
    let start = boundary(head, BLOCK_BYTES_MAX / 2);
    let last = if tail.is_empty() {
        &head[start..]
    } else {
        tail
    };
    let end = boundary(last, last.len().saturating_sub(BLOCK_BYTES_MAX / 2));
    lines(out, head[..start].trim_end());
    out.push_str("\n    …");
    lines(out, last[end..].trim_start_matches('\n'));
}

/// The same for a model that condenses it: where it is short, the digest says enough.
pub fn to_condense(out: &mut String, output: &ToolOutput<'_>) {
    let before = out.len();
    indented(out, output);
    if out.len() - before <= LONG_BYTES + 1 {
        out.truncate(before);
    }
}

/// The last place for a cut at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

fn lines(out: &mut String, text: &str) {
    let text = text.lines().map(str::trim_end);
    for line in text.skip_while(|line| line.is_empty()) {
        out.push_str("\n    ");
        out.extend(line.chars().filter(|c| !c.is_control() || *c == '\t'));
    }
}

/// How the call ended and that its content was left out. What a person said stays: it is theirs.
pub fn left_out(
    out: &mut String,
    call: &DigestCall<'_>,
    result: &ToolResult,
    output: &ToolOutput<'_>,
) {
    match (call.status(result, output), call.row.answer) {
        (CallStatus::Refused, _) => return people::refused(out, output),
        (CallStatus::Denied, _) => return people::denied(out, result.facts.denied),
        (CallStatus::Ok, AnswerKind::Ask) => return people::answered(out, call, result, output),
        (CallStatus::Failed, _) => match output.exit_code {
            Some(code) if code != 0 => out.push_str(&format!("exit {code} ")),
            _ => out.push_str("failed "),
        },
        (CallStatus::Interrupted, _) => out.push_str("interrupted "),
        (CallStatus::Running, _) => out.push_str("running in the background "),
        (CallStatus::Ok, _) => {}
    }
    out.push_str("(content left out)");
}
