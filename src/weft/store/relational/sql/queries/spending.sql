-- name: write_llm_run
INSERT INTO weft.llm_run (namespace, id, at, model, usage) VALUES (:namespace, :id, :at, :model, :usage)
ON CONFLICT (namespace, id) DO UPDATE SET at = excluded.at, model = excluded.model, usage = excluded.usage;

-- name: list_llm_runs
SELECT r.id, r.at, r.model, r.usage FROM weft.llm_run AS r WHERE r.namespace = :namespace ORDER BY r.at, r.id;

-- name: delete_llm_runs
DELETE FROM weft.llm_run AS r WHERE r.namespace = :namespace AND r.id IN texts(:ids);
