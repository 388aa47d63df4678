//! The columns of each table, with their meanings for people.

use super::column::{Column, ColumnKind, TABLES_MAX, Table};

/// All tables, in the order of their names.
pub(super) fn all() -> [Table; TABLES_MAX] {
    [
        sessions(),
        episodes(),
        messages(),
        tool_calls(),
        commands(),
        tests(),
        files_changed(),
        activity(),
        decisions(),
        git_operations(),
        usage(),
        ledger(),
    ]
}

const fn text(name: &'static str, meaning: &'static str) -> Column {
    Column::new(name, ColumnKind::Text, meaning)
}

const fn int(name: &'static str, meaning: &'static str) -> Column {
    Column::new(name, ColumnKind::Int, meaning)
}

const fn real(name: &'static str, meaning: &'static str) -> Column {
    Column::new(name, ColumnKind::Real, meaning)
}

const fn boolean(name: &'static str, meaning: &'static str) -> Column {
    Column::new(name, ColumnKind::Bool, meaning)
}

const fn time(name: &'static str, meaning: &'static str) -> Column {
    Column::new(name, ColumnKind::Time, meaning)
}

const fn texts(name: &'static str, meaning: &'static str) -> Column {
    Column::new(name, ColumnKind::Texts, meaning)
}

/// Whose a row is: the first columns of every table of sessions.
const WHOSE: [Column; 4] = [
    text("session_id", "the session"),
    text(
        "agent",
        "whose log it is: `claude`, `codex`, …; of git operations and files, who did it",
    ),
    text(
        "namespace",
        "the project's id, 16 hex digits: the same on each machine with the same path",
    ),
    text(
        "project",
        "the project's name: its last folder; `project` where paths are hidden",
    ),
];

/// Where in its log something stands.
const WHERE: [Column; 5] = [
    text("episode_id", "the episode that has it"),
    int("item", "its position in the episode, from 0"),
    text(
        "stream",
        "the sub-agent whose log it is; null: the session's main log",
    )
    .or_null(),
    int("line", "the line of its record in the log, from 1"),
    time(
        "ts",
        "when its episode began (records within an episode have no time of their own here)",
    )
    .or_null(),
];

const TOKENS: [Column; 4] = [
    int("input_tokens", "fresh input"),
    int("output_tokens", "output"),
    int("cache_read_tokens", "input read from the cache"),
    int("cache_write_tokens", "input written to the cache"),
];

fn columns(parts: &[&[Column]]) -> Vec<Column> {
    parts.concat()
}

fn sessions() -> Table {
    Table {
        name: "sessions",
        meaning: "One row per session: a conversation with its sub-agents.",
        key: &["session_id"],
        columns: columns(&[&WHOSE, &SESSION, &TOKENS, &SESSION_COST]),
    }
}

const SESSION: [Column; 29] = [
    text(
        "project_path",
        "the project's folder; null where paths are hidden",
    )
    .or_null(),
    text("host", "the machine that read it first"),
    text("branch", "its last git branch").or_null(),
    text(
        "title",
        "a person's title, else the agent's, else the first prompt",
    )
    .or_null(),
    text("objective", "what was asked for").or_null(),
    text(
        "outcome",
        "`completed`, `blocked`, `in_progress`, `interrupted`, `abandoned`",
    )
    .or_null(),
    text("activity", "its main kind of work, as in `activity.main`").or_null(),
    time("started_at", "its first record").or_null(),
    time("ended_at", "its last record").or_null(),
    real(
        "work_minutes",
        "from prompts to the agent's last words before the next ones; null: not known",
    )
    .or_null(),
    real("wall_minutes", "from first to last episode").or_null(),
    text("version", "the last version of the agent").or_null(),
    texts("models", "the models that answered"),
    texts("pull_requests", "links that its log names"),
    text("forked_from", "the session that it was forked from").or_null(),
    text("parent", "the session that started it").or_null(),
    int("logs", "log files, sub-agents' included"),
    int("episodes", "episodes of its logs"),
    int("prompts", "people's prompts"),
    int("messages", "the agent's messages"),
    int("calls", "tool calls"),
    int("failures", "failed tool calls"),
    int("refusals", "tool calls that a person refused"),
    int("interruptions", "times that a person interrupted"),
    int("compactions", "times that its history was compacted"),
    int("test_runs", "test runs that were seen"),
    int("files_changed", "files that it changed and left changed"),
    int("log_bytes", "bytes of log that were read"),
    int("text_bytes", "bytes of text that is stored"),
];

const SESSION_COST: [Column; 2] = [
    real(
        "usd",
        "what the tokens with a known price cost at API prices; null: none has one",
    )
    .or_null(),
    int(
        "unpriced_tokens",
        "tokens of models without a price, or whose model isn't known",
    ),
];

fn episodes() -> Table {
    Table {
        name: "episodes",
        meaning: "One row per episode: a part of a session, a summary of one, a memory, or what was \
                  recorded of a git operation or a file.",
        key: &["episode_id"],
        columns: columns(&[&WHOSE, &EPISODE, &TOKENS]),
    }
}

const EPISODE: [Column; 26] = [
    text(
        "episode_id",
        "a UUID that depends on the log's records alone",
    ),
    text(
        "source",
        "`session`, `session_summary`, `text`, `message`, `git_metadata`, `git_context`, \
                    `git_bulk_update`, `filesystem_watch`",
    ),
    text(
        "stream",
        "the sub-agent whose log it is; null: the session's main log",
    )
    .or_null(),
    int("part", "counts from 1 within the stream"),
    boolean("sealed", "it won't change any more"),
    text("title", "the first line of the stream's first prompt"),
    time("started_at", "its first record").or_null(),
    time("ended_at", "its last record").or_null(),
    int(
        "line_from",
        "first line in the log, from 1; 0: it has no log",
    ),
    int("line_to", "last line"),
    int("byte_from", "first byte in the log, decompressed"),
    int("byte_to", "the byte after its last one"),
    text("revision", "changes when the text does: 16 hex digits"),
    text(
        "text",
        "people's and agents' words, tool calls as one line each; null: only sinks have it \
                  (`upload.keep_local: false`)",
    )
    .or_null(),
    int("text_bytes", "bytes of that text"),
    int("read_bytes", "bytes of log that it stands for"),
    int("records", "records of the log"),
    int("prompts", "people's prompts"),
    int("messages", "the agent's messages"),
    int("calls", "tool calls"),
    int("failures", "failed tool calls"),
    int("refusals", "tool calls that a person refused"),
    int("user_bytes", "bytes of people's words"),
    int("agent_bytes", "bytes of the agent's words"),
    int(
        "digest_bytes",
        "bytes of the lines that stand for tool calls",
    ),
    int(
        "output_bytes",
        "bytes of the tool outputs that those lines stand for",
    ),
];

fn messages() -> Table {
    Table {
        name: "messages",
        meaning: "One row for everything that was said: prompts, answers, errors, notes.",
        key: &["episode_id", "item"],
        columns: columns(&[&WHOSE, &WHERE, &MESSAGE]),
    }
}

const MESSAGE: [Column; 3] = [
    text(
        "kind",
        "`prompt`, `aside` (a person, while the agent worked), `task` (what a sub-agent was \
                  told), `answer` (the agent), `error` (of the agent itself), `note` (about the session)",
    ),
    text("text", "the words, secrets masked"),
    int("text_bytes", "bytes of that text"),
];

fn tool_calls() -> Table {
    Table {
        name: "tool_calls",
        meaning: "One row per tool call.",
        key: &["episode_id", "item"],
        columns: columns(&[&WHOSE, &WHERE, &CALL]),
    }
}

const CALL: [Column; 5] = [
    text("tool", "its name, as the model wrote it"),
    text(
        "kind",
        "what the tool does: `read`, `edit`, `write`, `patch`, `search`, `list`, `shell`, `poll`, \
                  `stop`, `fetch`, `agent`, `plan`, `task`, `ask`, `approve`, `said`, `other`",
    ),
    text("input", "its main parameters, on one line, shortened").or_null(),
    text("result", "what it returned, in a few words").or_null(),
    text(
        "status",
        "`ok`, `failed` (also a command whose tests failed, whatever its exit code), `refused` (by a person), `denied` (by a rule or hook), `interrupted`, \
                    `running` (in the background), `no_result`",
    ),
];

fn commands() -> Table {
    Table {
        name: "commands",
        meaning: "One row per tool call that ran a shell command. All of them are in `tool_calls` too.",
        key: &["episode_id", "item"],
        columns: columns(&[&WHOSE, &WHERE, &COMMAND]),
    }
}

const COMMAND: [Column; 8] = [
    text("command", "the command line, at most 300 characters"),
    text("program", "the main program: `cargo`; empty if none runs"),
    text("name", "the program with its subcommand: `cargo test`"),
    text(
        "intent",
        "what it is for: `create`, `modify`, `delete`, `read`, `search`, `execute`, `configure`, \
                    `communicate`, `validate`, `transform`",
    ),
    text("status", "as in `tool_calls`"),
    boolean("failed", "`status` is `failed`"),
    int("exit_code", "if it failed and the code is known").or_null(),
    text("result", "what it printed, in a few words").or_null(),
];

fn tests() -> Table {
    Table {
        name: "tests",
        meaning: "One row per test run that was seen, or coverage that was printed.",
        key: &["episode_id", "item", "nth"],
        columns: columns(&[&WHOSE, &WHERE, &TEST]),
    }
}

const TEST: [Column; 10] = [
    int("nth", "counts from 0 within the call"),
    text("command", "the command that ran them").or_null(),
    text(
        "runner",
        "`pytest`, `cargo test`, …; null: only a coverage was printed",
    )
    .or_null(),
    int("passed", "tests that passed").or_null(),
    int("failed", "tests that failed").or_null(),
    int("skipped", "tests that were skipped").or_null(),
    texts("failures", "names of failed tests, the first few"),
    boolean(
        "partial",
        "part of the output is missing: the numbers are lower bounds",
    ),
    boolean("packages", "the numbers are of packages, not of tests"),
    real("coverage", "per cent of the code that tests reached").or_null(),
];

fn files_changed() -> Table {
    Table {
        name: "files_changed",
        meaning: "One row for each file that a tool call changed. What git operations changed is in \
                  `git_operations`.",
        key: &["episode_id", "item", "nth"],
        columns: columns(&[&WHOSE, &WHERE, &FILE]),
    }
}

const FILE: [Column; 5] = [
    int("nth", "counts from 0 within the call"),
    text(
        "path",
        "relative to the project's folder if it is below it, else as the call named it; only its name \
                  where paths are hidden",
    ),
    text(
        "change",
        "`edited`, `created`, `deleted`, `dropped` (deleted by a command), `restored`",
    ),
    int("added", "lines"),
    int("removed", "lines"),
];

fn activity() -> Table {
    Table {
        name: "activity",
        meaning: "One row per episode of a session: what kind of work it was, by the current rules.",
        key: &["episode_id"],
        columns: columns(&[&WHOSE, &ACTIVITY]),
    }
}

const ACTIVITY: [Column; 14] = [
    text("episode_id", "the episode"),
    text(
        "stream",
        "the sub-agent whose log it is; null: the session's main log",
    )
    .or_null(),
    time("started_at", "its first record").or_null(),
    time("ended_at", "its last record").or_null(),
    text(
        "main",
        "the strongest kind; null: mixed, or too little to tell",
    )
    .or_null(),
    real("strength", "the strongest signal, before scaling"),
    real("building", "0 to 1, relative to the strongest"),
    real("fixing", "0 to 1"),
    real("configuring", "0 to 1"),
    real("exploring", "0 to 1"),
    real("refactoring", "0 to 1"),
    real("reviewing", "0 to 1"),
    real("testing", "0 to 1"),
    real("documenting", "0 to 1"),
];

fn decisions() -> Table {
    Table {
        name: "decisions",
        meaning: "One row per decision.",
        key: &["session_id", "nth"],
        columns: columns(&[&WHOSE, &DECISION]),
    }
}

const DECISION: [Column; 8] = [
    int("nth", "counts from 0 within the session"),
    text("episode_id", "the episode in which it was made"),
    int("line", "the line of its record in the log, from 1"),
    time("ts", "when its episode began").or_null(),
    text(
        "decided_by",
        "`person`, `agent` (which says that it chose by itself)",
    ),
    text("decision", "what was chosen"),
    text("about", "the question or plan that it answers").or_null(),
    text("instead_of", "what it was chosen over").or_null(),
];

fn git_operations() -> Table {
    Table {
        name: "git_operations",
        meaning: "One row per git operation in a tracked project. Only a machine with the repository knows them.",
        key: &["operation_id"],
        columns: columns(&[&GIT]),
    }
}

const GIT: [Column; 26] = [
    text("operation_id", "a UUID (`git_batch_id`)"),
    text("namespace", "the project's id"),
    text(
        "project",
        "the project's name: its last folder; `project` where paths are hidden",
    ),
    time("ts", "when"),
    text("operation", "`commit`, `reset`, `rebase`, …"),
    text("mode", "`hard`, `fast-forward`, `aborted`, …").or_null(),
    text("branch", "where it happened; null: HEAD was detached").or_null(),
    text("to_branch", "of a checkout: where it went").or_null(),
    text("old_commit", "the commit before").or_null(),
    text("new_commit", "the commit after").or_null(),
    text("message", "the message in git's reflog"),
    text(
        "done_by",
        "the agent that did it, `person` or `unknown`; null: not examined yet",
    )
    .or_null(),
    int("commits_made", "commits that it brought (the first few)"),
    int(
        "commits_left",
        "commits that were no longer on the branch afterwards",
    ),
    int(
        "commits_lost",
        "of those that were left or undone, the ones whose work exists nowhere any more",
    ),
    int("files", "files that it changed"),
    int("added", "lines"),
    int("removed", "lines"),
    boolean("undoes", "it undid something"),
    boolean("gave_up", "work was lost with it; null: not examined yet").or_null(),
    text("kept_in", "where the work that it left still exists").or_null(),
    text("reason", "why, in the words that were said").or_null(),
    text("reason_by", "`user` or `agent`").or_null(),
    text("reason_confidence", "`high`, `medium`").or_null(),
    text("session_id", "the session in which the reason was said").or_null(),
    text("episode_id", "the episode in which the reason was said").or_null(),
];

fn usage() -> Table {
    Table {
        name: "usage",
        meaning: "Tokens and cost: one row per episode, model and half hour. Tokens without a model or \
                  time have a row of their own.",
        key: &["episode_id", "model", "ts"],
        columns: columns(&[&WHOSE, &USAGE, &TOKENS, &USAGE_COST]),
    }
}

const USAGE: [Column; 3] = [
    text("episode_id", "the episode"),
    time("ts", "when the half hour began; null: not known").or_null(),
    text(
        "model",
        "as the log writes it, with `[1m]` appended for long requests; null: not known",
    )
    .or_null(),
];

const USAGE_COST: [Column; 2] = [
    int(
        "cache_write_1h_tokens",
        "of `cache_write_tokens`, those kept for an hour",
    ),
    real("usd", "at API prices; null: no price is known").or_null(),
];

fn ledger() -> Table {
    Table {
        name: "ledger",
        meaning: "The account of every line of every log: one row per log, fate and reason.",
        key: &["log", "fate", "reason"],
        columns: columns(&[&WHOSE, &LEDGER]),
    }
}

const LEDGER: [Column; 5] = [
    text(
        "log",
        "the log's path; only its name where paths are hidden",
    ),
    text(
        "stream",
        "the sub-agent whose log it is; null: the session's main log",
    )
    .or_null(),
    text(
        "fate",
        "`kept`, `filtered`, `copied`, `unknown`, `rejected`, `pending` (incomplete last line), \
                  `glued` (values after the first on their line; not counted as lines)",
    ),
    text("reason", "the kind of record, or why"),
    int("lines", "how many"),
];
