-- Schema version 4.

-- Consent to endpoints: the scope of a consent is 'tracking' or an endpoint, and taking one back is
-- a row too. The last row of a scope counts.
ALTER TABLE consent ADD COLUMN given INTEGER NOT NULL DEFAULT 1;

-- Who wanted a session gone: 'asked' (`forget`), 'marker' (words in one of its prompts).
ALTER TABLE forgotten ADD COLUMN reason TEXT NOT NULL DEFAULT 'asked';

-- What was said before a time and is to stay out, by the beginning of a namespace ('': all).
CREATE TABLE forgotten_before (
    namespace TEXT PRIMARY KEY,
    before    INTEGER NOT NULL,
    at        INTEGER NOT NULL
) WITHOUT ROWID;

-- Episodes that were removed because somebody wanted them gone: sinks are asked to forget them too.
CREATE TABLE forgotten_episode (
    id BLOB PRIMARY KEY,                    -- episode.id
    at INTEGER NOT NULL
) WITHOUT ROWID;

-- Which sink has forgotten which of them.
CREATE TABLE forgotten_by (
    sink TEXT NOT NULL,
    id   BLOB NOT NULL,                     -- forgotten_episode.id
    PRIMARY KEY (sink, id)
) WITHOUT ROWID;

-- What has to be done before a run may say that it is done: 'compact', so that no free page keeps
-- what was removed, whenever the program that removed it died.
CREATE TABLE due (
    task TEXT PRIMARY KEY
) WITHOUT ROWID;
