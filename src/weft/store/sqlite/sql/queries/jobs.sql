-- Job queue.

-- name: read_clock
SELECT unixepoch('now', 'subsec');
