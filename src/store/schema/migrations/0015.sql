-- Schema version 15: who did a git operation, or wrote a file: an agent's name, 'person' (no session that is
-- stored did it) or 'unknown'. Logs come late, so it is judged again when a session of those minutes grows.
ALTER TABLE git_operation ADD COLUMN agent TEXT;                    -- NULL: nobody judged it yet
ALTER TABLE git_operation ADD COLUMN judged INTEGER NOT NULL DEFAULT 0;
CREATE INDEX git_operation_unjudged ON git_operation (at) WHERE judged = 0;

ALTER TABLE tracked_episode ADD COLUMN agent TEXT;                  -- of files that git wrote, the operation's counts
ALTER TABLE tracked_episode ADD COLUMN judged INTEGER NOT NULL DEFAULT 0;
CREATE INDEX tracked_episode_unjudged ON tracked_episode (at) WHERE judged = 0;
CREATE INDEX tracked_episode_at ON tracked_episode (at);

-- Operations whose verdict may change: they left commits, took some back, or have a mode that only the
-- repository's state says. Older ones count as open until they are judged.
ALTER TABLE git_operation ADD COLUMN open INTEGER NOT NULL DEFAULT 1;
CREATE INDEX git_operation_open ON git_operation (session, at) WHERE open = 1;
