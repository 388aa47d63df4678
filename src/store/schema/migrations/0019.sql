-- Schema version 19: tokens of an episode by model and half hour, for costs. Episodes that an older program
-- stored have none until `run --rebuild` reads their logs again; their sums in `episode` are whole all the same.
CREATE TABLE episode_usage (
    episode        INTEGER NOT NULL,        -- episode.n
    model          INTEGER NOT NULL,        -- name.n, as the log writes it; of '' where it names none
    half_hour      INTEGER NOT NULL,        -- since 1970, UTC
    input_tokens   INTEGER NOT NULL,
    output_tokens  INTEGER NOT NULL,
    cache_read     INTEGER NOT NULL,
    cache_write    INTEGER NOT NULL,        -- all of it
    cache_write_1h INTEGER NOT NULL,        -- of it, what stays for an hour
    PRIMARY KEY (episode, model, half_hour)
) WITHOUT ROWID;
