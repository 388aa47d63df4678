-- Schema version 17: projects that moved. What is stored under one path counts to the project at another.
CREATE TABLE moved_project (
    path TEXT PRIMARY KEY,                  -- the root that sessions were stored with
    root TEXT NOT NULL,                     -- where the project is
    at   INTEGER NOT NULL
) WITHOUT ROWID;

-- What a repository is known by again: the first commit of its main line. NULL: nobody looked, '': it has none.
ALTER TABLE workspace ADD COLUMN first_commit TEXT;
