-- Schema version 2: the rules for secrets that everything here was masked by. One row, once a run
-- was made; none: what is here may hold secrets.
CREATE TABLE redaction (
    version TEXT NOT NULL
);
