-- Costs of language models.

-- name: list_llm_runs
SELECT r.id, r.at, r.model, r.usage FROM weft.llm_run AS r WHERE r.namespace = :namespace ORDER BY r.at, r.id;

-- name: delete_llm_runs
DELETE FROM weft.llm_run AS r
WHERE r.namespace = :namespace
    AND r.id = ANY (ARRAY(SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value)));
