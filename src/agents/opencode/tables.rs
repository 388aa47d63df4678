//! What OpenCode's tables are called and mean (formats § 12.1).
//!
//! A session's events are its log: each is written once and none is changed. Sessions that older versions wrote
//! have none of their first ones; of these the messages and parts are read, which stand as they are by now.

use crate::model::table_log::Tables;

pub(super) static TABLES: Tables = Tables {
    is_database,
    logs: &[LOGS, OLD_LOGS],
    rows: &[EVENTS, MESSAGES],
    lines: &[EVENT, SESSION, MESSAGE, PART],
};

/// `opencode.db`, and those of other channels: `opencode-dev.db`.
fn is_database(name: &str) -> bool {
    let stem = name.strip_suffix(".db");
    stem.is_some_and(|stem| stem == "opencode" || stem.starts_with("opencode-"))
}

/// A sub-agent's session is called after the session at the root of its tree.
macro_rules! tree {
    () => {
        "WITH RECURSIVE tree(id, root) AS (
            SELECT id, coalesce(parent_id, id) FROM session WHERE parent_id IS NULL OR parent_id NOT IN (SELECT id FROM session)
            UNION ALL SELECT child.id, tree.root FROM session child JOIN tree ON child.parent_id = tree.id)
        SELECT CASE tree.root WHEN session.id THEN session.id ELSE tree.root || '/' || session.id END, "
    };
}

macro_rules! parts {
    () => {
        "(SELECT count(*) FROM part WHERE session_id = session.id)"
    };
}

macro_rules! changed_part {
    () => {
        "coalesce((SELECT max(time_updated) FROM part WHERE session_id = session.id), 0)"
    };
}

const LOGS: &str = concat!(
    tree!(),
    "begun IS NULL, session.id,
        CASE WHEN begun IS NULL THEN ",
    parts!(),
    " ELSE last + 1 END, session.time_updated,
        CASE WHEN begun IS NULL THEN ",
    changed_part!(),
    " ELSE last END
    FROM (SELECT *,
            (SELECT seq FROM event WHERE aggregate_id = session.id AND seq = 0
                AND type LIKE 'session.created.%') AS begun,
            (SELECT max(seq) FROM event WHERE aggregate_id = session.id) AS last
        FROM session) AS session JOIN tree ON tree.id = session.id"
);

/// Of versions without events.
const OLD_LOGS: &str = concat!(
    tree!(),
    "1, session.id, ",
    parts!(),
    ", session.time_updated, ",
    changed_part!(),
    " FROM session JOIN tree ON tree.id = session.id"
);

const EVENTS: &str = "SELECT 0, rowid FROM event WHERE aggregate_id = ?1 ORDER BY seq";

/// Without the last message, as long as the agent writes it.
const MESSAGES: &str = "WITH told AS (
        SELECT rowid AS n, id, time_created FROM message WHERE session_id = ?1 AND CASE
            WHEN NOT json_valid(data) THEN 1
            WHEN data ->> 'role' IS NOT 'assistant' THEN 1
            WHEN data -> '$.time.completed' IS NOT NULL OR data -> 'error' IS NOT NULL THEN 1
            ELSE id <> (SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created DESC, id DESC LIMIT 1)
        END)
    SELECT line, n FROM (
        SELECT 1 AS line, rowid AS n, 0 AS at, '' AS message, '' AS part FROM session WHERE id = ?1
        UNION ALL SELECT 2, n, time_created, id, '' FROM told
        UNION ALL SELECT 3, part.rowid, told.time_created, told.id, part.id
            FROM part JOIN told ON part.message_id = told.id)
    ORDER BY line > 1, at, message, line, part";

const EVENT: &str = "SELECT '{\"type\":' || json_quote(type) || ',\"data\":' || data || '}' FROM event WHERE rowid = ?1";

const SESSION: &str =
    "SELECT json_object('type', 'session.created', 'data', json_object('info', json_object(
        'id', id, 'directory', directory, 'title', title, 'version', version,
        'time', json_object('created', time_created))))
    FROM session WHERE rowid = ?1";

/// The differences of a turn's files are written again and again.
const MESSAGE: &str = "SELECT '{\"type\":\"message.updated\",\"data\":{\"info\":'
        || CASE WHEN json_valid(data) THEN json_remove(json_set(data, '$.id', id), '$.summary.diffs') ELSE data END
        || '}}'
    FROM message WHERE rowid = ?1";

const PART: &str = "SELECT '{\"type\":\"message.part.updated\",\"data\":{\"part\":'
        || CASE WHEN json_valid(data) THEN json_set(data, '$.id', id, '$.messageID', message_id) ELSE data END
        || '}}'
    FROM part WHERE rowid = ?1";
