-- name: adopt_job
UPDATE weft.job SET run = :run
WHERE namespace = :namespace AND id = :id AND content_hash = :content_hash AND recipe = :recipe AND state = 'running';

-- name: write_job
INSERT INTO weft.job
    (namespace, id, run, source, content_hash, recipe, payload, state, attempts, worker, expires, result, error)
VALUES (:namespace, :id, :run, :source, :content_hash, :recipe, :payload, 'waiting', 0, '', 0, '', '')
ON CONFLICT (namespace, id) DO UPDATE SET
    run = excluded.run, source = excluded.source, content_hash = excluded.content_hash, recipe = excluded.recipe,
    payload = excluded.payload, state = excluded.state, attempts = excluded.attempts, worker = excluded.worker,
    expires = excluded.expires, result = excluded.result, error = excluded.error;

-- name: fail_job
UPDATE weft.job
SET state = CASE WHEN attempts >= :attempts THEN 'failed' ELSE 'waiting' END, worker = '', error = :error
WHERE namespace = :namespace AND id = :id AND worker = :worker AND state = 'running';

-- name: finish_job
UPDATE weft.job
SET state = 'done', worker = '', expires = :expires, result = :result, payload = '', error = ''
WHERE namespace = :namespace AND id = :id AND worker = :worker AND state = 'running';

-- name: withdraw_jobs
DELETE FROM weft.job WHERE namespace = :namespace AND run = :run AND state = :state;

-- name: failed_jobs
SELECT id, run, source, content_hash, recipe, attempts, error FROM weft.job
WHERE namespace = :namespace AND state = 'failed' AND (:run = '' OR run = :run)
ORDER BY source
LIMIT :limit;

-- name: count_jobs
SELECT state, count(*) FROM weft.job
WHERE namespace = :namespace AND (:run = '' OR run = :run) AND (:recipe = '' OR recipe = :recipe)
GROUP BY state;

-- name: all_jobs
SELECT id, source, state, result FROM weft.job WHERE namespace = :namespace ORDER BY id;

-- name: pick_jobs
SELECT id, run, source, content_hash, recipe, payload, attempts, error FROM weft.job
WHERE namespace = :namespace AND recipe = :recipe AND attempts BETWEEN :lowest AND :highest
    AND (state = 'waiting' OR (state = 'running' AND expires <= :at))
ORDER BY attempts, id
LIMIT :limit
FOR UPDATE SKIP LOCKED;

-- name: claim_jobs
UPDATE weft.job SET state = 'running', attempts = attempts + 1, worker = :worker, expires = :expires
WHERE namespace = :namespace AND id IN texts(:ids);

-- name: give_up_jobs
UPDATE weft.job SET state = 'failed', worker = '', error = CASE WHEN error = '' THEN :error ELSE error END
WHERE namespace = :namespace AND id IN texts(:ids);

-- name: held_jobs
SELECT id FROM weft.job WHERE namespace = :namespace AND worker = :worker AND state = 'running' FOR UPDATE SKIP LOCKED;

-- name: renew_jobs
UPDATE weft.job SET expires = :expires WHERE namespace = :namespace AND id IN texts(:ids);

-- name: release_jobs
UPDATE weft.job SET state = 'waiting', worker = '', attempts = attempts - :back
WHERE namespace = :namespace AND id IN texts(:ids);

-- name: done_jobs
SELECT id, run, source, content_hash, recipe, attempts, result FROM weft.job
WHERE namespace = :namespace AND run = :run AND state = 'done'
ORDER BY id
LIMIT :limit
FOR UPDATE SKIP LOCKED;

-- name: delete_jobs
DELETE FROM weft.job WHERE namespace = :namespace AND id IN texts(:ids);

-- name: discard_jobs
DELETE FROM weft.job WHERE namespace = :namespace AND state <> 'done' AND id IN texts(:ids);

-- name: expired_jobs
SELECT id FROM weft.job WHERE namespace = :namespace AND state = 'done' AND expires <= :at FOR UPDATE SKIP LOCKED;
