ALTER TABLE sessions ADD COLUMN trunk TEXT NOT NULL DEFAULT ''; -- session of which it is a branch, or itself
ALTER TABLE sessions ADD COLUMN tags TEXT NOT NULL DEFAULT '';  -- in order, a space between them, and the same on all branches
UPDATE sessions SET trunk = id;
CREATE INDEX sessions_of_trunk ON sessions (trunk);
