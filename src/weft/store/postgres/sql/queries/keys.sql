-- API keys. They belong to no namespace.

-- name: match_key
SELECT k.id, k.name, k.digest, k.namespaces, k.access, k.created, k.revoked FROM weft.find_key(:id, :digest) AS k;

-- name: find_key_presence
SELECT k.stored, k.valid FROM weft.key_presence() AS k;
