-- Schema version 12: files of tracked projects are episodes too, of source `filesystem_watch`, and of
-- `git_bulk_update` where git wrote them. They stand in a session of their project that has no log.

CREATE TABLE tracked_project (
    n          INTEGER PRIMARY KEY,
    root       TEXT NOT NULL UNIQUE,        -- as in the configuration, resolved
    paused_at  INTEGER,                     -- NULL: it is looked at
    changed_at INTEGER,                     -- when a look last found news
    told_to    INTEGER NOT NULL DEFAULT 0   -- git_operation.n: those up to it were there before the last look
);

-- The catalogue: what the last look saw.
CREATE TABLE tracked_file (
    project   INTEGER NOT NULL,             -- tracked_project.n
    path      BLOB NOT NULL,                -- from the root, as the file system has it
    print     INTEGER NOT NULL,             -- xxh3 of size, mtime, ctime, inode; 0: they don't tell the next change
    size      INTEGER NOT NULL,
    mtime_ns  INTEGER NOT NULL,
    inode     INTEGER NOT NULL,
    sha256    TEXT,                         -- NULL: it was not read
    blob      TEXT,                         -- the id that git gives its content
    episode   BLOB,                         -- episode.id that has its content
    operation TEXT,                         -- create or update, as that episode was told
    PRIMARY KEY (project, path)
) WITHOUT ROWID;

-- What an episode tells of a file.
CREATE TABLE tracked_episode (
    n         INTEGER PRIMARY KEY,
    episode   BLOB NOT NULL UNIQUE,         -- episode.id
    project   INTEGER NOT NULL,             -- tracked_project.n
    path      BLOB NOT NULL,
    operation TEXT NOT NULL,                -- create, update, delete, move, rename
    at        INTEGER NOT NULL,
    invalid_at INTEGER,                     -- since when it is not so any more
    facts     TEXT NOT NULL                 -- packed JSON, FileFacts
);
CREATE INDEX tracked_episode_path ON tracked_episode (project, path, at);

-- Files that could not be read, and why. Never content.
CREATE TABLE tracked_failure (
    project INTEGER NOT NULL,               -- tracked_project.n
    path    BLOB NOT NULL,
    print   INTEGER NOT NULL,
    at      INTEGER NOT NULL,               -- the first time
    reason  TEXT NOT NULL,
    PRIMARY KEY (project, path)
) WITHOUT ROWID;
