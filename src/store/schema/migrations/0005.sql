-- Schema version 5: what sinks got. `delivery` also knows what they are to forget.
DROP TABLE forgotten_by;
DROP TABLE forgotten_episode;

CREATE TABLE sink (
    n            INTEGER PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,      -- as the settings call it
    clean_to     INTEGER NOT NULL,          -- no episode.n up to here has to be sent
    failures     INTEGER NOT NULL,          -- times in a row that it was away
    paused_until INTEGER,
    error        TEXT                       -- why; never content
);

-- Where an episode stands at a sink. No row: it waits. Rows outlive their episodes, so that sinks
-- can be asked to forget them.
CREATE TABLE delivery (
    id       BLOB NOT NULL,                 -- episode.id
    sink     INTEGER NOT NULL,              -- sink.n
    revision INTEGER NOT NULL,              -- what was, or is to be, sent
    state    TEXT NOT NULL,                 -- before queued sent seen dead dropped gone
    attempts INTEGER NOT NULL,
    next_at  INTEGER,                       -- of a queued one
    at       INTEGER NOT NULL,              -- when it came to this state
    error    TEXT,                          -- never content
    place    TEXT NOT NULL,                 -- where the sink put it: a graph, a file
    PRIMARY KEY (id, sink)
) WITHOUT ROWID;
CREATE INDEX delivery_waiting ON delivery (sink, state) WHERE state NOT IN ('before', 'seen');

-- Whatever changes an episode makes it due again. Numbers of episodes that were removed are given
-- again, so that a new one may stand below what is clean.
CREATE TRIGGER episode_added AFTER INSERT ON episode BEGIN
    UPDATE sink SET clean_to = new.n - 1 WHERE clean_to >= new.n;
END;
CREATE TRIGGER episode_changed AFTER UPDATE OF revision ON episode
WHEN old.revision <> new.revision BEGIN
    UPDATE sink SET clean_to = new.n - 1 WHERE clean_to >= new.n;
END;
CREATE TRIGGER episode_removed AFTER DELETE ON episode BEGIN
    UPDATE delivery SET state = 'gone' WHERE id = old.id AND state <> 'before';
    DELETE FROM delivery WHERE id = old.id AND state = 'before';
END;
