-- Files that go with what is being written, as they were when they were
-- attached: where one lies may be gone before the message is sent.
CREATE TABLE draft_files (
	session TEXT NOT NULL,
	path    TEXT NOT NULL,
	data    BLOB NOT NULL,
	PRIMARY KEY (session, path)
) STRICT;
