-- Schema version 7: what is counted of an episode is a list, one entry for each exchange. What an
-- older program stored stays one object for the whole episode.
ALTER TABLE activity RENAME COLUMN tally TO exchanges; -- packed JSON, [ExchangeTally]

-- What summaries are made of: where an episode's items are in its text, and what was found in them.
-- An episode that an older program stored has no row.
CREATE TABLE outline (
    episode  INTEGER PRIMARY KEY,           -- episode.n
    items    BLOB NOT NULL,                 -- store/outline.rs
    findings TEXT                           -- packed JSON, [[item, Finding]]; absent: none
);
