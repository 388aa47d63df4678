-- Schema version 2.

-- The rules for secrets that everything here was masked by. One row, once a run was made; none:
-- what is here may hold secrets.
CREATE TABLE redaction (
    version TEXT NOT NULL
);

-- What an episode's work is told by, so that a new table or classification scores it again. An
-- episode that an older program stored has no row.
CREATE TABLE activity (
    episode INTEGER PRIMARY KEY,            -- episode.n
    tally   TEXT NOT NULL                   -- packed JSON, ActivityTally
);
