//! Tool calls and their outputs, each told once. Knows how calls are spelled and which records add
//! to a result.

use super::output::{self, CallOutput};
use super::record::Record;
use super::state::OpenCall;
use super::{patch, script};
use crate::json::fields::{self, Fields};
use crate::json::text::strict_tree;
use crate::model::entry::{Call, CallStatus, EntryKind, Excerpt, ResultFacts, ToolResult};
use memchr::memmem;
use serde_json::{Map, Value, json};

/// Calls that are kept open at once; the oldest gives way. Larger: more to carry when results
/// never come; smaller: patches of many parallel calls lose their line counts.
const OPEN_CALLS: usize = 16;

impl Record<'_> {
    pub(super) fn function_call(&mut self, item: &Fields<'_>) {
        let tool = tool_name(item);
        let arguments = item.text("arguments").unwrap_or_default();
        let input = arguments_value(&arguments);
        let patched = match memmem::find(arguments.as_bytes(), b"*** Begin Patch") {
            Some(_) => patches_in(&tool, &input),
            None => Vec::new(),
        };
        self.call(item, tool, input, false, patched);
    }

    pub(super) fn custom_call(&mut self, item: &Fields<'_>) {
        let tool = tool_name(item);
        let text = item.text("input").unwrap_or_default();
        if tool != "exec" {
            let patched = patch::files(&text);
            let input = json!({ "input": text });
            return self.call(item, tool, input, false, patched);
        }
        let found = script::read(&text);
        let patched = patch::files(&found.patches.join("\n"));
        let mut input = Map::new();
        if found.commands.is_empty() {
            input.insert("input".into(), text.into());
        } else {
            input.insert("cmd".into(), one_line(&found.commands).into());
        }
        if let Some(workdir) = found.workdir {
            input.insert("workdir".into(), workdir.into());
        }
        if !found.tools.is_empty() {
            input.insert("tools".into(), found.tools.into());
        }
        self.call(item, tool, Value::Object(input), true, patched);
    }

    pub(super) fn local_shell_call(&mut self, item: &Fields<'_>) {
        let input = item.raw("action").map_or(Value::Null, value);
        let patched = patches_in("shell", &input);
        self.call(item, "local_shell".into(), input, false, patched);
    }

    pub(super) fn tool_search_call(&mut self, item: &Fields<'_>) {
        let input = item.raw("arguments").map_or(Value::Null, value);
        self.call(item, "tool_search".into(), input, false, Vec::new());
    }

    /// The call, and what its result will need.
    fn call(
        &mut self,
        item: &Fields<'_>,
        tool: String,
        input: Value,
        script: bool,
        patched: Vec<patch::Patched>,
    ) {
        let call = self.call_id(item);
        let id = call.clone();
        self.push(EntryKind::Call(Call { id, tool, input }));
        if script || !patched.is_empty() {
            self.amend(|links| {
                links.open.retain(|open| open.call != call);
                if links.open.len() >= OPEN_CALLS {
                    links.open.remove(0);
                }
                links.open.push(OpenCall {
                    call,
                    script,
                    patched,
                    ..OpenCall::default()
                });
            });
        }
    }

    pub(super) fn call_output(&mut self, item: &Fields<'_>) {
        let call = self.call_id(item);
        let output = output::read(item.raw("output").unwrap_or("null"));
        let open = self
            .links()
            .and_then(|links| links.open.iter().find(|open| open.call == call));
        let was_open = open.is_some();
        let result = result(call, output, open);
        let call = result.call.clone();
        self.push(EntryKind::Result(result));
        if was_open {
            self.amend(|links| links.open.retain(|open| open.call != call));
        }
    }

    pub(super) fn tool_search_output(&mut self, item: &Fields<'_>) {
        let tools = item.raw("tools").unwrap_or("[]");
        let names: Vec<String> = fields::elements(tools)
            .into_iter()
            .filter_map(|raw| Some(fields::object(raw)?.label("name")?.into_owned()))
            .collect();
        self.push(EntryKind::Result(ToolResult {
            call: self.call_id(item),
            output: Excerpt::of(names.join("\n")),
            ..ToolResult::default()
        }));
    }

    /// A call that holds its own result: `input` is the field that says what was asked.
    pub(super) fn self_contained(&mut self, item: &Fields<'_>, tool: &str, input: &str) {
        let id = self.call_id(item);
        let images = u64::from(item.raw("result").is_some_and(|raw| raw.len() > 4));
        let failed = item.text("status").is_some_and(|status| status == "failed");
        let input = match item.raw(input).map(value) {
            Some(Value::Object(fields)) => Value::Object(fields),
            Some(Value::String(text)) => json!({ "input": text }),
            _ => Value::Object(Map::new()),
        };
        self.push(EntryKind::Call(Call {
            id: id.clone(),
            tool: tool.to_owned(),
            input,
        }));
        self.push(EntryKind::Result(ToolResult {
            call: id,
            status: if failed {
                CallStatus::Failed
            } else {
                CallStatus::Ok
            },
            facts: ResultFacts {
                images,
                ..ResultFacts::default()
            },
            ..ToolResult::default()
        }));
    }

    /// Who applied a patch reports it (`patch_apply_end`, `FileChange`): goes to the result of the
    /// call that asked for it, or stands alone when no such call is open.
    pub(super) fn patch_applied(&mut self, report: &Fields<'_>, id: &str) {
        let success = report.raw("success") != Some("false")
            && !matches!(
                report.text("status").as_deref(),
                Some("failed" | "declined")
            );
        let changed = match success {
            true => report
                .raw("changes")
                .map(patch::changes)
                .unwrap_or_default(),
            false => Vec::new(),
        };
        let open = self.links().map(|c| c.open.as_slice()).unwrap_or_default();
        let by_id = open.iter().position(|open| open.call == id);
        let Some(at) = by_id.or_else(|| open.iter().rposition(|open| open.script)) else {
            return self.patch_alone(id, success, changed, report);
        };
        self.recorded_elsewhere();
        self.amend(|links| {
            let open = &mut links.open[at];
            if !open.confirmed {
                open.patched.clear();
                open.confirmed = true;
            }
            for file in changed {
                let room = open.patched.len() < patch::FILES_MAX;
                match open.patched.iter_mut().find(|known| known.0 == file.0) {
                    Some(known) => {
                        known.1 += file.1;
                        known.2 += file.2;
                    }
                    None if room => open.patched.push(file),
                    None => {}
                }
            }
        });
    }

    fn patch_alone(
        &mut self,
        id: &str,
        success: bool,
        changed: Vec<patch::Patched>,
        report: &Fields<'_>,
    ) {
        if changed.is_empty() {
            return self.recorded_elsewhere();
        }
        let files: Vec<&str> = changed.iter().map(|file| file.0.as_str()).collect();
        self.push(EntryKind::Call(Call {
            id: id.to_owned(),
            tool: "apply_patch".into(),
            input: json!({ "files": files }),
        }));
        let (added, removed) = patch::sum(&changed);
        self.push(EntryKind::Result(ToolResult {
            call: id.to_owned(),
            status: if success {
                CallStatus::Ok
            } else {
                CallStatus::Failed
            },
            output: Excerpt::of(report.text("stdout").unwrap_or_default()),
            facts: ResultFacts {
                added,
                removed,
                patched: changed,
                ..ResultFacts::default()
            },
            ..ToolResult::default()
        }));
    }

    /// A command ended (`CommandExecution`, `exec_command_end`): its exit code is the open
    /// script's; plain calls state their own.
    pub(super) fn command_ended(&mut self, report: &Fields<'_>) {
        self.recorded_elsewhere();
        let code = report.number::<i32>("exit_code");
        let open = self.links().map(|c| c.open.as_slice()).unwrap_or_default();
        if let Some(code) = code
            && let Some(at) = open.iter().rposition(|open| open.script)
        {
            self.amend(|links| links.open[at].exit_code = Some(code));
        }
    }

    /// The id that links call and result; old and self-contained calls may have none.
    fn call_id(&self, item: &Fields<'_>) -> String {
        match item.label("call_id").or_else(|| item.label("id")) {
            Some(id) => id.into_owned(),
            None => format!("line:{}", self.place.offset),
        }
    }
}

/// The result as the output states it, with what `open` learned since the call.
fn result(call: String, output: CallOutput<'_>, open: Option<&OpenCall>) -> ToolResult {
    let reported = open.and_then(|open| open.exit_code);
    let exit_code = output.exit_code.or(reported);
    let status = match (output.status, exit_code) {
        (CallStatus::Ok, Some(code)) if code != 0 => CallStatus::Failed,
        (status, _) => status,
    };
    let patched = match open {
        Some(open) if open.confirmed || status == CallStatus::Ok => open.patched.clone(),
        _ => Vec::new(),
    };
    let (added, removed) = patch::sum(&patched);
    ToolResult {
        call,
        status,
        exit_code,
        output: Excerpt::of(&*output.text),
        facts: ResultFacts {
            added,
            removed,
            patched,
            duration_ms: output.duration_ms,
            images: output.images,
            ..ResultFacts::default()
        },
    }
}

/// The name, behind its namespace where it has one: `mcp__server__tool`.
fn tool_name(item: &Fields<'_>) -> String {
    let name = item.label("name").unwrap_or_default();
    match item.label("namespace") {
        None => name.into_owned(),
        Some(space) => {
            let space = space.trim_end_matches('_');
            format!("{space}__{}", name.trim_start_matches('_'))
        }
    }
}

/// Arguments as JSON; what isn't an object becomes `{"input": …}`.
fn arguments_value(arguments: &str) -> Value {
    match value(arguments) {
        Value::Object(fields) => Value::Object(fields),
        Value::Null => Value::Object(Map::new()),
        _ if arguments.trim().is_empty() => Value::Object(Map::new()),
        other => json!({ "input": other }),
    }
}

/// Command lines of one script, as commands of one line; a here-document needs its own lines.
fn one_line(commands: &[String]) -> String {
    let has_document = commands.iter().any(|command| command.contains("<<"));
    let separator = if has_document { "\n" } else { "; " };
    commands.join(separator)
}

/// A raw value decoded; its text where it is too deep, too wide or broken.
fn value(raw: &str) -> Value {
    strict_tree(raw.as_bytes()).unwrap_or_else(|| Value::String(raw.to_owned()))
}

/// Files of the patches that a shell call hands to `apply_patch`, in its argv or a heredoc.
fn patches_in(tool: &str, input: &Value) -> Vec<patch::Patched> {
    let mut texts = Vec::new();
    strings(input, &mut texts);
    let asks = tool == "apply_patch" || texts.iter().any(|text| text.contains("apply_patch"));
    match asks {
        true => patch::files(&texts.join("\n")),
        false => Vec::new(),
    }
}

/// The strings directly in `input`'s fields and in their arrays.
fn strings<'v>(input: &'v Value, into: &mut Vec<&'v str>) {
    let Value::Object(fields) = input else { return };
    for value in fields.values() {
        match value {
            Value::String(text) => into.push(text),
            Value::Array(all) => into.extend(all.iter().filter_map(Value::as_str)),
            _ => {}
        }
    }
}
