-- Schema version 9: a session in one page is an episode too, of source `session_summary`. It counts
-- nothing of its own: whatever sums up episodes leaves it out.

-- Sessions that changed since their page was written.
CREATE TABLE unsummarised (
    session INTEGER PRIMARY KEY             -- session.n
);
INSERT INTO unsummarised (session) SELECT DISTINCT session FROM episode;

-- What a language model said to a session beside the facts, or is still to be asked.
CREATE TABLE telling (
    session  INTEGER PRIMARY KEY,           -- session.n
    content  INTEGER NOT NULL,              -- xxh3 of the ids and revisions of the session's chunks
    state    TEXT NOT NULL,                 -- 'waiting', 'told', 'refused': as it is, for good
    attempts INTEGER NOT NULL DEFAULT 0,    -- that failed
    next_at  INTEGER,                       -- of the next one; NULL: any time
    error    TEXT,                          -- of the last one; never content
    summary  TEXT,                          -- packed JSON, Summary, where it was told
    at       INTEGER                        -- of the last one
);
CREATE INDEX telling_waits ON telling (state, next_at) WHERE state = 'waiting';

-- What language models cost, by day.
CREATE TABLE spent (
    day           INTEGER PRIMARY KEY,      -- since the epoch, UTC
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    usd           REAL NOT NULL             -- by the prices of that day
);
