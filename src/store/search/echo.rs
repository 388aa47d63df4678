//! What an agent says from memory: a question to it, and the words right behind the answer. They have the words
//! of what they repeat, and are no source of it.

use std::ops::Range;

/// What a line begins with where a tool is called.
const CALL: &str = "Action: ";

/// Our tools as agents name them, and our commands that read back.
const TOOLS: [&str; 2] = ["mcp__sessionmill__", "sessionmill."];
const COMMANDS: [&str; 5] = ["recall", "search", "show", "why", "recap"];

/// Bytes of an episode's text that an agent says from memory: from each call that asks it up to the next call of
/// something else, or to a person's words. Nothing is looked at in a text that doesn't name us.
pub(crate) fn echoes(text: &str) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    if !text.contains("sessionmill") {
        return all;
    }
    let mut began: Option<usize> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let asks = line.strip_prefix(CALL).is_some_and(asks_memory);
        let ends = !asks && (line.starts_with(CALL) || line.starts_with("User: "));
        if let Some(from) = began.filter(|_| ends) {
            all.push(from..at);
            began = None;
        }
        if asks {
            began = began.or(Some(at));
        }
        at += line.len();
    }
    all.extend(began.map(|from| from..at));
    all
}

/// `mcp__sessionmill__recall(…) → …`, `Bash(sessionmill search …) → …`.
fn asks_memory(call: &str) -> bool {
    let (name, typed) = call.split_once('(').unwrap_or((call, ""));
    let typed = typed.strip_prefix("sessionmill ").unwrap_or_default();
    TOOLS.iter().any(|tool| name.starts_with(tool))
        || COMMANDS.iter().any(|command| typed.starts_with(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_from_memory_is_an_echo_up_to_other_work() {
        let told = |text: &str| {
            let all = echoes(text).into_iter();
            all.map(|range| text[range].to_owned()).collect::<Vec<_>>()
        };
        let recall = "Action: mcp__sessionmill__recall(which store) → Output (4 lines)\n";
        let search = "Action: Bash(sessionmill search redis) → 4 lines\n";
        let answer = "Agent: We chose Redis.\n";
        let work = "Action: Edit(src/store.rs) → +4 −4\nAgent: Redis it is.\n";
        let asked = "\nUser: Fine, use Redis.\n";
        let text = format!("User: Which store?\n\n{recall}{search}{answer}{work}");
        assert_eq!(told(&text), [format!("{recall}{search}{answer}")]);
        let text = format!("{recall}{answer}{asked}{answer}{search}{answer}");
        assert_eq!(
            told(&text),
            [format!("{recall}{answer}\n"), format!("{search}{answer}")]
        );
        for text in [
            work,
            "Action: Bash(cd sessionmill && cargo test) → ok\nAgent: sessionmill search is tested.\n",
        ] {
            assert_eq!(told(text), [""; 0], "{text}");
        }
    }
}
