-- Which database this is: a write-ahead log belongs to one only.
INSERT OR IGNORE INTO states VALUES ('database', randomblob(16));
