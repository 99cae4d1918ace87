CREATE TABLE sessions (
	n            INTEGER PRIMARY KEY,
	id           TEXT NOT NULL UNIQUE,
	title        TEXT NOT NULL,
	model        TEXT NOT NULL,
	dir          TEXT NOT NULL,       -- folder in which it was begun
	parent       TEXT NOT NULL,       -- session of which it is a fork; may be gone
	created      INTEGER NOT NULL,    -- Unix milliseconds
	updated      INTEGER NOT NULL,

	-- Derived from the log, in the transaction that makes it longer.
	head         INTEGER NOT NULL DEFAULT 0, -- seq of the last event
	messages     INTEGER NOT NULL DEFAULT 0, -- of the user and of the assistant
	turn         TEXT NOT NULL DEFAULT '',   -- user's message that has no turn_response yet
	interrupted  INTEGER NOT NULL DEFAULT 0, -- how the last turn ended
	input        INTEGER NOT NULL DEFAULT 0,
	output       INTEGER NOT NULL DEFAULT 0,
	cache_read   INTEGER NOT NULL DEFAULT 0,
	cache_write  INTEGER NOT NULL DEFAULT 0,
	reasoning    INTEGER NOT NULL DEFAULT 0,
	cost         INTEGER NOT NULL DEFAULT 0, -- millionths of a millionth of a dollar
	unpriced     INTEGER NOT NULL DEFAULT 0  -- turns that used tokens of unknown price
) STRICT;

-- The log is the session: message and turn events in the order in which they
-- were presented, each written once, when it is complete. The key is the
-- session's n << 32 | seq: a session lies together, in order, and needs no index.
CREATE TABLE events (
	n       INTEGER PRIMARY KEY,
	session TEXT NOT NULL,
	seq     INTEGER NOT NULL CHECK (seq = n & 0xffffffff), -- from 1, without gaps; order is seq, never time
	type    TEXT NOT NULL,
	at      INTEGER NOT NULL, -- Unix milliseconds
	event   TEXT NOT NULL     -- JSON: {"type", "timestamp", "data"}
) STRICT;

CREATE TRIGGER sessions_take_events AFTER DELETE ON sessions
BEGIN
	DELETE FROM events WHERE n BETWEEN old.n << 32 AND old.n << 32 | 0xffffffff;
END;

CREATE TRIGGER events_never_change BEFORE UPDATE ON events
BEGIN
	SELECT raise(ABORT, 'an event never changes');
END;

-- The index of what was said. It keeps no text of its own, and not where in a
-- text a word is: that would be half as much again as the text. A positive
-- rowid is an event's n, a negative one the n of a session whose title it is.
CREATE VIRTUAL TABLE words USING fts5 (
	text, content = '', contentless_delete = 1, detail = none, tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TRIGGER events_leave_words AFTER DELETE ON events
BEGIN
	DELETE FROM words WHERE rowid = old.n;
END;

CREATE TRIGGER sessions_leave_words AFTER DELETE ON sessions
BEGIN
	DELETE FROM words WHERE rowid = -old.n;
END;

-- What was used, by day and model. It outlives the sessions, and a fork, which
-- repeats a log, does not count twice.
CREATE TABLE usage (
	day         TEXT NOT NULL, -- 2006-01-02, UTC
	model       TEXT NOT NULL,
	turns       INTEGER NOT NULL,
	calls       INTEGER NOT NULL,
	input       INTEGER NOT NULL,
	output      INTEGER NOT NULL,
	cache_read  INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	reasoning   INTEGER NOT NULL,
	cost        INTEGER NOT NULL,
	unpriced    INTEGER NOT NULL,
	PRIMARY KEY (day, model)
) STRICT, WITHOUT ROWID;

-- What is being written and not sent. The session may not exist yet.
CREATE TABLE drafts (
	session TEXT PRIMARY KEY,
	text    TEXT NOT NULL,
	at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Messages that wait for the running turn, in the order of n.
CREATE TABLE queue (
	n       INTEGER PRIMARY KEY,
	session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	id      TEXT NOT NULL,
	message TEXT NOT NULL, -- JSON
	UNIQUE (session, id)
) STRICT;

-- What was typed, for the arrow up.
CREATE TABLE prompts (
	n    INTEGER PRIMARY KEY,
	text TEXT NOT NULL,
	at   INTEGER NOT NULL
) STRICT;

-- What a runtime wants kept under a name.
CREATE TABLE states (
	id    TEXT PRIMARY KEY,
	state BLOB NOT NULL
) STRICT, WITHOUT ROWID;
