-- Job queue. Transactions without the namespace lock skip rows that others have locked; they never wait, so there is
-- no deadlock.

-- name: read_clock
SELECT extract(EPOCH FROM now())::double precision;
