-- Schema version 14: each page and each session that begins asks for the operations of some minutes.
CREATE INDEX git_operation_at ON git_operation (session, at);
