-- Schema version 1. One file is checkpoint, memory and search index at once, so that a log's
-- bytes are passed in the transaction that stores what came of them.
--
-- Conventions: `n` is a row's number inside this file and means nothing outside it. Times are
-- milliseconds since the epoch, UTC. Hashes, device and inode are unsigned 64-bit numbers in
-- SQLite's signed ones. A *packed* column is TEXT, or, where that is shorter, a BLOB with the
-- same text as one zstd frame.

-- A conversation. `title`, `started`, `ended`, `branch` and `facts` are derived from its files'
-- facts whenever one of them changes.
CREATE TABLE session (
    n            INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    agent        TEXT NOT NULL,
    namespace    TEXT NOT NULL,             -- 16 hex digits
    project_path TEXT NOT NULL,
    cwd          TEXT,
    host         TEXT NOT NULL,             -- of the first ingest
    file         TEXT NOT NULL,             -- the log's name, for the frontmatter
    standing     INTEGER NOT NULL,          -- how well its first log knew the project: 0 to 3
    summary      TEXT,                      -- a title that another file gave it by a record's id
    title        TEXT,
    branch       TEXT,
    started      INTEGER,
    ended        INTEGER,
    facts        TEXT NOT NULL              -- packed JSON, SessionFacts
);
CREATE INDEX session_namespace ON session (namespace);

-- A log file and how far it is in the store: the checkpoint. Small, because every run reads all
-- of it.
CREATE TABLE file (
    n          INTEGER PRIMARY KEY,
    key        TEXT NOT NULL UNIQUE,        -- the path without .zst
    path       TEXT,                        -- NULL: the same as the key
    agent      TEXT NOT NULL,
    session    INTEGER NOT NULL,            -- session.n
    stream     TEXT,                        -- NULL: the session's main log
    size       INTEGER NOT NULL,
    mtime_ns   INTEGER NOT NULL,
    ctime_ns   INTEGER NOT NULL,
    device     INTEGER NOT NULL,
    inode      INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    offset     INTEGER NOT NULL,            -- start of the open tail, decompressed bytes
    line       INTEGER NOT NULL,            -- lines before it
    read_to    INTEGER NOT NULL,            -- end of the last complete line that was read
    head_print INTEGER NOT NULL,            -- xxh3 of the first head_bytes
    head_bytes INTEGER NOT NULL,
    tail_print INTEGER NOT NULL,            -- xxh3 of the up to 4 KiB before read_to
    content    INTEGER NOT NULL,            -- CRC-32 of the bytes before content_to
    content_to INTEGER NOT NULL,
    ties       TEXT NOT NULL                -- names that make a family, one a line
);
CREATE INDEX file_session ON file (session);

-- Which files share a name: xxh3 of each line of file.ties.
CREATE TABLE tie (
    name INTEGER NOT NULL,
    file INTEGER NOT NULL,                  -- file.n
    PRIMARY KEY (name, file)
) WITHOUT ROWID;

-- What else a checkpoint carries: read only for the files that grew.
CREATE TABLE fold (
    file   INTEGER PRIMARY KEY,             -- file.n
    carry  TEXT NOT NULL,                   -- packed JSON, Carry: the folds' state at file.offset
    sealed TEXT NOT NULL,                   -- packed JSON, [Ledger, SessionFacts] before file.offset
    tail   TEXT NOT NULL                    -- packed JSON, the same of the open tail
);

-- Short ids of a file's records, 8 bytes each, little-endian; odd ones are copies of what is owned
-- elsewhere. Block 0 is the open tail, replaced as a whole; later blocks only grow; block -1 is
-- what earlier generations of the file held.
CREATE TABLE record (
    file  INTEGER NOT NULL,                 -- file.n
    block INTEGER NOT NULL,
    ids   BLOB NOT NULL
);
CREATE UNIQUE INDEX record_block ON record (file, block);

-- Records that could not be understood. Never content.
CREATE TABLE reject (
    file   INTEGER NOT NULL,                -- file.n
    offset INTEGER NOT NULL,
    bytes  INTEGER NOT NULL,
    line   INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (file, offset)
) WITHOUT ROWID;

-- Names that nobody knew (kinds of records, fields with a type that they never had), and where each
-- file has its first. How often: the ledgers.
CREATE TABLE unknown_kind (
    kind   TEXT NOT NULL,
    file   INTEGER NOT NULL,                -- file.n
    offset INTEGER NOT NULL,
    bytes  INTEGER NOT NULL,
    line   INTEGER NOT NULL,
    time   INTEGER,                         -- the record's; NULL: it states none
    PRIMARY KEY (kind, file)
) WITHOUT ROWID;

-- Titles that a file gives to whichever session owns a record.
CREATE TABLE summary (
    leaf INTEGER NOT NULL,                  -- short id of the record
    file INTEGER NOT NULL,                  -- file.n of the file that says so
    text TEXT NOT NULL,
    PRIMARY KEY (leaf, file)
) WITHOUT ROWID;

-- Strings that many rows share: paths, tools, groups, versions.
CREATE TABLE name (
    n    INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
);

-- The unit that is stored, found and delivered. Its words are in `body` and in `words`.
CREATE TABLE episode (
    n                INTEGER PRIMARY KEY,
    id               BLOB NOT NULL UNIQUE,  -- UUIDv5, 16 bytes
    session          INTEGER NOT NULL,      -- session.n
    file             INTEGER NOT NULL,      -- file.n
    source           TEXT NOT NULL,
    stream           TEXT,
    part             INTEGER NOT NULL,
    sealed           INTEGER NOT NULL,      -- 1: a boundary follows, it will never change
    pending_calls    INTEGER NOT NULL,
    title            TEXT NOT NULL,
    valid_at         INTEGER,
    ended_at         INTEGER,
    byte_from        INTEGER NOT NULL,
    byte_to          INTEGER NOT NULL,
    line_from        INTEGER NOT NULL,
    line_to          INTEGER NOT NULL,
    message_count    INTEGER NOT NULL,
    duration_minutes INTEGER NOT NULL,
    completed_tasks  INTEGER NOT NULL,
    files_modified   INTEGER NOT NULL,
    revision         INTEGER NOT NULL,      -- xxh3 of what is delivered, without indexed_at
    made_by          INTEGER NOT NULL,      -- name.n: version of the rules and settings
    graph            INTEGER NOT NULL,      -- name.n: the group, fixed at first use
    indexed_at       INTEGER NOT NULL,      -- set once
    body_bytes       INTEGER NOT NULL,      -- UTF-8 bytes of its text
    read_bytes       INTEGER NOT NULL,      -- the tally, from here on
    records          INTEGER NOT NULL,
    prompts          INTEGER NOT NULL,
    messages         INTEGER NOT NULL,
    calls            INTEGER NOT NULL,
    failures         INTEGER NOT NULL,
    refusals         INTEGER NOT NULL,
    user_bytes       INTEGER NOT NULL,
    agent_bytes      INTEGER NOT NULL,
    digest_bytes     INTEGER NOT NULL,
    output_bytes     INTEGER NOT NULL,
    input_tokens     INTEGER NOT NULL,
    output_tokens    INTEGER NOT NULL,
    cache_read       INTEGER NOT NULL,
    cache_write      INTEGER NOT NULL,
    stale            INTEGER NOT NULL DEFAULT 0 -- 1: a rebuild began that has not told it again
);
CREATE INDEX episode_session ON episode (session);
CREATE INDEX episode_open ON episode (file) WHERE sealed = 0;
CREATE INDEX episode_stale ON episode (file) WHERE stale = 1;

-- An episode's text. Apart, so that counting and listing don't read it.
CREATE TABLE body (
    episode INTEGER PRIMARY KEY,            -- episode.n
    text    TEXT NOT NULL                   -- packed
);

-- Tool calls of an episode.
CREATE TABLE episode_tool (
    episode INTEGER NOT NULL,               -- episode.n
    tool    INTEGER NOT NULL,               -- name.n
    calls   INTEGER NOT NULL,
    failed  INTEGER NOT NULL,
    PRIMARY KEY (episode, tool)
) WITHOUT ROWID;

-- Paths that an episode's tool calls name.
CREATE TABLE episode_path (
    episode INTEGER NOT NULL,               -- episode.n
    path    INTEGER NOT NULL,               -- name.n
    PRIMARY KEY (episode, path)
) WITHOUT ROWID;

-- The full-text index over episodes; its rowid is episode.n. It holds no text of its own and
-- takes texts as store/words.rs prepares them: all judgement about words and Unicode is there,
-- and what is left is what the `ascii` tokenizer does.
CREATE VIRTUAL TABLE words USING fts5 (
    title, text, glued,
    content = '', contentless_delete = 1, tokenize = 'ascii'
);
-- Each transaction adds a segment. Merging them four by four as they come costs a quarter of a
-- first run; 64 are still searched in the time of one.
INSERT INTO words (words, rank) VALUES ('automerge', 0), ('crisismerge', 64);

-- Sessions that a person wanted gone. What their logs still say stays out.
CREATE TABLE forgotten (
    session TEXT PRIMARY KEY,               -- session.id
    at      INTEGER NOT NULL
) WITHOUT ROWID;

-- What a person agreed to, word for word.
CREATE TABLE consent (
    n       INTEGER PRIMARY KEY,
    scope   TEXT NOT NULL,                  -- 'tracking', later an endpoint
    text    TEXT NOT NULL,
    version TEXT NOT NULL,
    at      INTEGER NOT NULL
);

-- Tracking switched on or off; the last word counts.
CREATE TABLE switch (
    project TEXT PRIMARY KEY,               -- '' : everywhere
    tracked INTEGER NOT NULL,
    at      INTEGER NOT NULL
) WITHOUT ROWID;
