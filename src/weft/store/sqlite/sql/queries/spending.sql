-- Costs of language models.

-- name: list_llm_runs
SELECT id, at, model, usage FROM llm_run WHERE namespace = :namespace ORDER BY at, id;

-- name: delete_llm_runs
DELETE FROM llm_run WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids));
