-- Schema version 9: a session in one page is an episode too, of source `session_summary`. It counts
-- nothing of its own: whatever sums up episodes leaves it out.

-- Sessions that changed since their page was written.
CREATE TABLE unsummarised (
    session INTEGER PRIMARY KEY             -- session.n
);
INSERT INTO unsummarised (session) SELECT DISTINCT session FROM episode;
