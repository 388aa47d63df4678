-- Schema version 16: long messages that a language model condenses.

-- What it made of them. One that nobody was asked about yet has no row.
CREATE TABLE condensed (
    content  BLOB PRIMARY KEY,              -- the first 16 bytes of SHA-256 of template and message
    episode  INTEGER NOT NULL,              -- episode.n of the first that had it: it goes with that
    state    TEXT NOT NULL,                 -- 'made', 'waiting', 'refused': it stays as it is
    text     TEXT,                          -- where it was made
    attempts INTEGER NOT NULL DEFAULT 0,    -- that failed
    next_at  INTEGER,                       -- of the next one; NULL: any time
    error    TEXT,                          -- of the last one; never content
    at       INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX condensed_episode ON condensed (episode);

-- Episodes that have long messages. One that waits is delivered, embedded and summarised by a model only
-- when none of its messages waits any more.
CREATE TABLE condensing (
    episode   INTEGER PRIMARY KEY,          -- episode.n
    templates TEXT NOT NULL,                -- JSON, Condensing
    state     TEXT NOT NULL,                -- 'waiting', 'done', 'left': some messages were given up
    whole     INTEGER NOT NULL              -- its revision with the messages in full
);
CREATE INDEX condensing_waits ON condensing (episode) WHERE state = 'waiting';
