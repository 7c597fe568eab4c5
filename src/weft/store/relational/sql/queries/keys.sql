-- name: write_key
INSERT INTO weft.api_key (id, name, digest, namespaces, access, created, revoked)
VALUES (:id, :name, :digest, :namespaces, :access, :created, :revoked)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, digest = excluded.digest, namespaces = excluded.namespaces,
    access = excluded.access, created = excluded.created, revoked = excluded.revoked;

-- name: list_keys
SELECT a.id, a.name, a.digest, a.namespaces, a.access, a.created, a.revoked FROM weft.api_key AS a
ORDER BY a.created, a.id;

-- name: find_keys
SELECT a.id, a.name, a.digest, a.namespaces, a.access, a.created, a.revoked FROM weft.api_key AS a
WHERE a.id IN texts(:ids)
ORDER BY a.created, a.id;

-- name: delete_keys
DELETE FROM weft.api_key AS a WHERE a.id IN texts(:ids);
