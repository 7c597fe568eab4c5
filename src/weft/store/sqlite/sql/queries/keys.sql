-- API keys. They belong to no namespace.

-- name: match_key
SELECT id, name, digest, namespaces, access, created, revoked FROM api_key WHERE id = :id AND digest = :digest;

-- name: find_key_presence
SELECT EXISTS (SELECT 1 FROM api_key), EXISTS (SELECT 1 FROM api_key WHERE revoked IS NULL);
