-- Costs of language models.

-- name: write_llm_run
INSERT INTO llm_run (namespace, id, at, model, usage) VALUES (:namespace, :id, :at, :model, :usage)
ON CONFLICT (namespace, id) DO UPDATE SET at = excluded.at, model = excluded.model, usage = excluded.usage;

-- name: list_llm_runs
SELECT id, at, model, usage FROM llm_run WHERE namespace = :namespace ORDER BY at, id;

-- name: delete_llm_runs
DELETE FROM llm_run WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids));
