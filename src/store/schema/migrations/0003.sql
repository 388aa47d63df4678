-- What an episode's work is told by, so that a new table or classification scores it again. An
-- episode that an older program stored has no row.
CREATE TABLE activity (
    episode INTEGER PRIMARY KEY,            -- episode.n
    tally   TEXT NOT NULL                   -- packed JSON, ActivityTally
);
