-- Schema version 13: what a model makes of an episode's text, where texts are compared by meaning. Empty
-- without such a model. A changed, emptied or removed text has no row.
CREATE TABLE embedding (
    episode  INTEGER PRIMARY KEY,           -- episode.n
    model    TEXT NOT NULL,                 -- its name; the rows of another one count for nothing
    state    TEXT NOT NULL,                 -- 'made', 'waiting', 'refused': for good
    attempts INTEGER NOT NULL,              -- that failed
    next_at  INTEGER,                       -- of the next one, of one that waits
    error    TEXT,                          -- of the last one; never content
    vector   BLOB                           -- of one that is 'made': model/embedding.rs
);
CREATE TRIGGER body_added AFTER INSERT ON body BEGIN
    DELETE FROM embedding WHERE episode = new.episode;
END;
CREATE TRIGGER body_changed AFTER UPDATE ON body BEGIN
    DELETE FROM embedding WHERE episode = new.episode;
END;
CREATE TRIGGER body_removed AFTER DELETE ON body BEGIN
    DELETE FROM embedding WHERE episode = old.episode;
END;
