ALTER TABLE sessions ADD COLUMN cache_write_1h INTEGER NOT NULL DEFAULT 0; -- of cache_write

-- What each request to a model took. It outlives its session, and has no row
-- for what a fork repeats or an image brings: that was paid once.
CREATE TABLE ledger (
	n              INTEGER PRIMARY KEY,
	at             INTEGER NOT NULL, -- Unix milliseconds; when the message began
	session        TEXT NOT NULL,    -- may be gone
	turn           TEXT NOT NULL,
	message        TEXT NOT NULL,    -- of the assistant; empty where none began
	model          TEXT NOT NULL,    -- that answered, behind the provider where it is known
	requests       INTEGER NOT NULL, -- 1; more only in what came from an older schema, which knows no session
	input          INTEGER NOT NULL,
	output         INTEGER NOT NULL,
	cache_read     INTEGER NOT NULL,
	cache_write    INTEGER NOT NULL,
	cache_write_1h INTEGER NOT NULL,
	reasoning      INTEGER NOT NULL,
	cost           INTEGER           -- millionths of a millionth of a dollar; NULL where nobody knows
) STRICT;

CREATE INDEX ledger_by_session ON ledger (session, turn);

CREATE TRIGGER ledger_never_changes BEFORE UPDATE ON ledger
BEGIN
	SELECT raise(ABORT, 'what was spent never changes');
END;

CREATE TRIGGER ledger_forgets_nothing BEFORE DELETE ON ledger
BEGIN
	SELECT raise(ABORT, 'what was spent stays so');
END;

ALTER TABLE usage RENAME TO usage_by_turns;

-- The sums of the ledger, so that a month is some rows to add up.
CREATE TABLE usage (
	day            TEXT NOT NULL, -- 2006-01-02, UTC
	model          TEXT NOT NULL,
	requests       INTEGER NOT NULL,
	input          INTEGER NOT NULL,
	output         INTEGER NOT NULL,
	cache_read     INTEGER NOT NULL,
	cache_write    INTEGER NOT NULL,
	cache_write_1h INTEGER NOT NULL,
	reasoning      INTEGER NOT NULL,
	cost           INTEGER NOT NULL, -- of the requests whose price is known
	unpriced       INTEGER NOT NULL, -- requests whose price is not
	PRIMARY KEY (day, model)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER ledger_adds_up AFTER INSERT ON ledger
BEGIN
	INSERT INTO usage VALUES (
		coalesce(strftime('%Y-%m-%d', new.at / 1000, 'unixepoch'), ''), new.model, new.requests,
		new.input, new.output, new.cache_read, new.cache_write, new.cache_write_1h, new.reasoning,
		coalesce(new.cost, 0), iif(new.cost IS NULL, new.requests, 0))
	ON CONFLICT (day, model) DO UPDATE
	SET requests = requests + excluded.requests,
		input = input + excluded.input, output = output + excluded.output,
		cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write,
		cache_write_1h = cache_write_1h + excluded.cache_write_1h, reasoning = reasoning + excluded.reasoning,
		cost = cost + excluded.cost, unpriced = unpriced + excluded.unpriced;
END;

-- What was counted by the day stays so: in the log deleted sessions are missing
-- and forks are double. Where some turns of a day had a price and some had none,
-- nobody knows whose the tokens were.
INSERT INTO ledger (at, session, turn, message, model, requests, input, output, cache_read, cache_write, cache_write_1h, reasoning, cost)
SELECT unixepoch(day) * 1000, '', '', '', model, iif(unpriced > 0, unpriced, turns), input, output, cache_read, cache_write, 0, reasoning, iif(unpriced > 0, NULL, cost)
FROM usage_by_turns
WHERE input + output + cache_read + cache_write <> 0
ORDER BY day, model;

INSERT INTO ledger (at, session, turn, message, model, requests, input, output, cache_read, cache_write, cache_write_1h, reasoning, cost)
SELECT unixepoch(day) * 1000, '', '', '', model, turns - unpriced, 0, 0, 0, 0, 0, 0, cost
FROM usage_by_turns
WHERE unpriced > 0 AND cost <> 0
ORDER BY day, model;

DROP TABLE usage_by_turns;
