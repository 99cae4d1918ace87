ALTER TABLE sessions ADD COLUMN system TEXT NOT NULL DEFAULT ''; -- system prompt with which it goes on
