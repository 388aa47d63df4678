-- Schema version 11: git operations are episodes too, of sources `git_metadata`, `git_context` and
-- `git_bulk_update`. They stand in a session of their project that has no log.

-- How far a work tree's history was read.
CREATE TABLE git_tree (
    tree TEXT PRIMARY KEY,                  -- the folder of its HEAD
    seen TEXT NOT NULL                      -- packed JSON, Seen
) WITHOUT ROWID;

CREATE TABLE git_operation (
    n       INTEGER PRIMARY KEY,
    id      BLOB NOT NULL UNIQUE,           -- git_batch_id
    session INTEGER NOT NULL,               -- session.n, without a log
    at      INTEGER NOT NULL,
    deed    TEXT NOT NULL,                  -- packed JSON, Deed
    untold  INTEGER NOT NULL DEFAULT 0      -- 1: its summary quoted what was forgotten, and is to be written again
);
CREATE INDEX git_operation_untold ON git_operation (untold) WHERE untold = 1;

-- Which operation an episode is of.
CREATE TABLE git_episode (
    episode   BLOB PRIMARY KEY,             -- episode.id
    operation BLOB NOT NULL,                -- git_operation.id
    quotes    TEXT                          -- JSON, ids of the sessions whose words it has; NULL: none
) WITHOUT ROWID;
CREATE INDEX git_episode_operation ON git_episode (operation);
