-- Schema version 8: a sink is a name at an address.

-- Where it is: `http://…`, `redis://…`, a folder; NULL: an older program didn't note it. A sink whose
-- name is at another address by now is called `NAME at ADDRESS`.
ALTER TABLE sink ADD COLUMN address TEXT;

-- What nobody can say of whether it is there, nobody can say of that it was removed.
DROP TRIGGER episode_removed;
CREATE TRIGGER episode_removed AFTER DELETE ON episode BEGIN
    UPDATE delivery SET state = CASE state WHEN 'unverified' THEN 'kept' ELSE 'gone' END
    WHERE id = old.id AND state <> 'before';
    DELETE FROM delivery WHERE id = old.id AND state = 'before';
END;
