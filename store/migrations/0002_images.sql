ALTER TABLE sessions ADD COLUMN image TEXT NOT NULL DEFAULT '';      -- from which it was begun; may be gone
ALTER TABLE sessions ADD COLUMN begun INTEGER NOT NULL DEFAULT 0;    -- seq of the last event that came with it

-- Messages that images hold, each once. The hash covers the message and the
-- hash of its parent, the message before, and so all of the conversation up to
-- here: images that begin alike share what they have in common.
CREATE TABLE nodes (
	n      INTEGER PRIMARY KEY,
	hash   BLOB NOT NULL UNIQUE,                            -- SHA-256
	parent INTEGER REFERENCES nodes (n) CHECK (parent < n), -- NULL of a first message; order is n
	event  TEXT NOT NULL                                    -- JSON, as in the log
) STRICT;

CREATE INDEX nodes_by_parent ON nodes (parent);

-- System prompts and files, each once.
CREATE TABLE blobs (
	n    INTEGER PRIMARY KEY,
	hash BLOB NOT NULL UNIQUE, -- SHA-256
	data BLOB NOT NULL
) STRICT;

-- The id follows from head, system, model, tools and files. What a row says
-- beside that is how the image came to be; these rows may be gone.
CREATE TABLE images (
	n           INTEGER PRIMARY KEY,
	id          TEXT NOT NULL UNIQUE,
	name        TEXT UNIQUE,    -- NULL until it is given one
	description TEXT NOT NULL,
	container   TEXT NOT NULL,
	agent       TEXT NOT NULL,
	session     TEXT NOT NULL,
	parent      TEXT NOT NULL,
	created     INTEGER NOT NULL,                    -- Unix milliseconds
	system      INTEGER NOT NULL REFERENCES blobs (n),
	model       TEXT NOT NULL,
	tools       TEXT NOT NULL,                       -- JSON
	head        INTEGER REFERENCES nodes (n),        -- the last message; NULL where nothing was said
	length      INTEGER NOT NULL                     -- of messages
) STRICT;

CREATE INDEX images_by_head ON images (head);
CREATE INDEX images_by_system ON images (system);

-- What is other in the work directory.
CREATE TABLE files (
	image INTEGER NOT NULL REFERENCES images (n) ON DELETE CASCADE,
	path  TEXT NOT NULL,
	mode  INTEGER NOT NULL,
	blob  INTEGER REFERENCES blobs (n), -- NULL where it was deleted
	PRIMARY KEY (image, path)
) STRICT, WITHOUT ROWID;

CREATE INDEX files_by_blob ON files (blob);

CREATE TRIGGER nodes_never_change BEFORE UPDATE ON nodes
BEGIN
	SELECT raise(ABORT, 'a node never changes');
END;

CREATE TRIGGER blobs_never_change BEFORE UPDATE ON blobs
BEGIN
	SELECT raise(ABORT, 'a blob never changes');
END;

CREATE TRIGGER files_never_change BEFORE UPDATE ON files
BEGIN
	SELECT raise(ABORT, 'a file of an image never changes');
END;

CREATE TRIGGER images_never_change BEFORE UPDATE OF
	n, id, description, container, agent, session, parent, created, system, model, tools, head, length ON images
BEGIN
	SELECT raise(ABORT, 'an image never changes');
END;

CREATE TRIGGER images_are_named_once BEFORE UPDATE OF name ON images
WHEN old.name IS NOT NULL
BEGIN
	SELECT raise(ABORT, 'an image has one name');
END;

CREATE TRIGGER images_leave_blobs AFTER DELETE ON images
BEGIN
	DELETE FROM blobs
	WHERE n = old.system
		AND NOT EXISTS (SELECT 1 FROM images WHERE system = old.system)
		AND NOT EXISTS (SELECT 1 FROM files WHERE blob = old.system);
END;

CREATE TRIGGER files_leave_blobs AFTER DELETE ON files
BEGIN
	DELETE FROM blobs
	WHERE n = old.blob
		AND NOT EXISTS (SELECT 1 FROM images WHERE system = old.blob)
		AND NOT EXISTS (SELECT 1 FROM files WHERE blob = old.blob);
END;
