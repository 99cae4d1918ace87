ALTER TABLE sessions ADD COLUMN shared INTEGER NOT NULL DEFAULT 0; -- how many events of its log lie with the branches it came from

-- Of what the log of a session is made, in order and without gaps: last its own
-- events, from first on and open at the end; before them those that it shares
-- with branches it came from, each under the key of its owner. An event has the
-- same seq in every log that it is in.
CREATE TABLE parts (
	session INTEGER NOT NULL REFERENCES sessions (n) ON DELETE CASCADE,
	first   INTEGER NOT NULL CHECK (first > 0),        -- seq
	last    INTEGER NOT NULL CHECK (last >= first),    -- seq; 0xffffffff of its own
	owner   INTEGER NOT NULL CHECK (owner <= session), -- n of a session; who shares is younger
	PRIMARY KEY (session, first)
) STRICT, WITHOUT ROWID;

CREATE INDEX parts_lent ON parts (owner, first) WHERE owner <> session;

INSERT INTO parts SELECT n, 1, 0xffffffff, n FROM sessions;

CREATE TRIGGER parts_never_change BEFORE UPDATE ON parts
BEGIN
	SELECT raise(ABORT, 'a part never changes');
END;

-- Branches are deleted together, the youngest first.
CREATE TRIGGER sessions_keep_what_is_lent BEFORE DELETE ON sessions
WHEN EXISTS (SELECT 1 FROM parts WHERE owner = old.n AND owner <> session)
BEGIN
	SELECT raise(ABORT, 'other branches share what this one says');
END;
