-- API keys. They belong to no namespace.

-- name: list_keys
SELECT id, name, digest, namespaces, access, created, revoked FROM api_key ORDER BY created, id;

-- name: find_keys
SELECT id, name, digest, namespaces, access, created, revoked FROM api_key
WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY created, id;

-- name: match_key
SELECT id, name, digest, namespaces, access, created, revoked FROM api_key WHERE id = :id AND digest = :digest;

-- name: find_key_presence
SELECT EXISTS (SELECT 1 FROM api_key), EXISTS (SELECT 1 FROM api_key WHERE revoked IS NULL);

-- name: delete_keys
DELETE FROM api_key WHERE id IN (SELECT value FROM json_each(:ids));
