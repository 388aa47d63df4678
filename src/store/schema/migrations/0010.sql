-- Schema version 10: what people curated is an episode too, of source `text` (and what groups are told
-- about their owner, of source `message`). Its words are the episode's. It stands in a session of its
-- project that has no log: `session.standing` is -1, `episode.file` is 0.

CREATE TABLE memory (
    id      BLOB PRIMARY KEY,               -- episode.id
    kind    TEXT NOT NULL,
    scope   TEXT NOT NULL,                  -- session, workspace, global; a refused one's as it was written
    origin  TEXT NOT NULL,                  -- promoted, directive
    state   TEXT NOT NULL,                  -- said (nobody judged it yet), kept, undone, refused, forgotten
    session TEXT,                           -- session.id, where it was said in one
    text    TEXT,                           -- of one that is 'said'
    reason  TEXT,                           -- of a refused one; never content. Of a 'said' one: it names its scope
    git     TEXT,                           -- where the work tree was: 'main@1a2b3c4, dirty'
    at      INTEGER NOT NULL,               -- when it was said
    edited  INTEGER
) WITHOUT ROWID;
CREATE INDEX memory_state ON memory (state);

-- What names a project's group, fixed when a run first meets the project.
CREATE TABLE workspace (
    namespace TEXT PRIMARY KEY,
    key       TEXT NOT NULL                 -- 'github_repo:…', else its path
) WITHOUT ROWID;
