-- API keys. They belong to no namespace.

-- name: list_keys
SELECT a.id, a.name, a.digest, a.namespaces, a.access, a.created, a.revoked FROM weft.api_key AS a
ORDER BY a.created, a.id;

-- name: find_keys
SELECT a.id, a.name, a.digest, a.namespaces, a.access, a.created, a.revoked FROM weft.api_key AS a
WHERE a.id IN (SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value))
ORDER BY a.created, a.id;

-- name: match_key
SELECT k.id, k.name, k.digest, k.namespaces, k.access, k.created, k.revoked FROM weft.find_key(:id, :digest) AS k;

-- name: find_key_presence
SELECT k.stored, k.valid FROM weft.key_presence() AS k;

-- name: delete_keys
DELETE FROM weft.api_key AS a
WHERE a.id IN (SELECT k.value FROM jsonb_array_elements_text(:ids::jsonb) AS k(value));
