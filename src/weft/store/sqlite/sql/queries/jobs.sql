-- Job queue.

-- name: read_clock
SELECT unixepoch('now', 'subsec');

-- name: pick_jobs
SELECT id, run, source, content_hash, recipe, payload, attempts, error FROM job
WHERE namespace = :namespace AND recipe = :recipe AND attempts BETWEEN :lowest AND :highest
    AND (state = 'waiting' OR (state = 'running' AND expires <= :at))
ORDER BY attempts, id
LIMIT :limit;

-- name: claim_jobs
UPDATE job SET state = 'running', attempts = attempts + 1, worker = :worker, expires = :expires
WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids));

-- name: give_up_jobs
UPDATE job SET state = 'failed', worker = '', error = CASE WHEN error = '' THEN :error ELSE error END
WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids));

-- name: held_jobs
SELECT id FROM job WHERE namespace = :namespace AND worker = :worker AND state = 'running';

-- name: renew_jobs
UPDATE job SET expires = :expires
WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids));

-- name: release_jobs
UPDATE job SET state = 'waiting', worker = '', attempts = attempts - :back
WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids));

-- name: done_jobs
SELECT id, run, source, content_hash, recipe, attempts, result FROM job
WHERE namespace = :namespace AND run = :run AND state = 'done'
ORDER BY id
LIMIT :limit;

-- name: delete_jobs
DELETE FROM job WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids));

-- name: discard_jobs
DELETE FROM job
WHERE namespace = :namespace AND state <> 'done' AND id IN (SELECT value FROM json_each(:ids));

-- name: expired_jobs
SELECT id FROM job WHERE namespace = :namespace AND state = 'done' AND expires <= :at;
