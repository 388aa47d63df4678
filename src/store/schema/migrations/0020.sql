-- Schema version 20.

-- The vectors of many episodes in a row, for searches, which compare all of them. A copy: what is in no pack is read
-- from `embedding`, and the next run that asks a model packs it.
CREATE TABLE vector_pack (
    first   INTEGER PRIMARY KEY,            -- of a range of episode.n: the pack has whatever is 'made' in it
    last    INTEGER NOT NULL,               -- the range's last; ranges don't overlap
    model   TEXT NOT NULL,                  -- embedding.model of all of them
    vectors BLOB NOT NULL                   -- store/search/vector_packs.rs
);
CREATE TRIGGER embedding_added AFTER INSERT ON embedding BEGIN
    DELETE FROM vector_pack WHERE last >= new.episode
        AND first = (SELECT max(first) FROM vector_pack WHERE first <= new.episode);
END;
CREATE TRIGGER embedding_changed AFTER UPDATE ON embedding BEGIN
    DELETE FROM vector_pack WHERE last >= new.episode
        AND first = (SELECT max(first) FROM vector_pack WHERE first <= new.episode);
END;
CREATE TRIGGER embedding_removed AFTER DELETE ON embedding BEGIN
    DELETE FROM vector_pack WHERE last >= old.episode
        AND first = (SELECT max(first) FROM vector_pack WHERE first <= old.episode);
END;

-- What a file told: all of it is marked when the file is read again (`run --rebuild`).
CREATE INDEX episode_file ON episode (file);
