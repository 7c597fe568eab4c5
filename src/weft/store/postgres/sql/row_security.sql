-- Row security is the second barrier after the `WHERE namespace = ...` of each statement. A transaction runs
--     SET LOCAL weft.namespace = 'default'
-- and sees only the rows of this namespace; without the setting it sees none. Policies are forced, so they apply to the
-- owner of the tables too, but not to roles with BYPASSRLS; with Citus they are not forced. CURRENT_USER is the role that creates the policy, the owner:
-- it and its members may also list namespaces and manage keys.
-- A statement with {table} is repeated for each table with a namespace.

ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON {table} USING (namespace = current_setting('weft.namespace', TRUE));

CREATE POLICY owner_reads ON weft.namespace FOR SELECT TO CURRENT_USER USING (TRUE);

-- Keys are checked before a namespace is bound, so other roles see none. They use functions with the rights of the owner.
ALTER TABLE weft.api_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.api_key FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_manages ON weft.api_key TO CURRENT_USER USING (TRUE);

-- The key with an exact id and digest.
CREATE FUNCTION weft.find_key(key_id text, key_digest text)
RETURNS SETOF weft.api_key LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$BEGIN RETURN QUERY
SELECT a.* FROM weft.api_key AS a WHERE a.id = key_id AND a.digest = key_digest; END$$;

-- Whether there are keys. An application role does not learn how many.
CREATE FUNCTION weft.key_presence()
RETURNS TABLE (stored boolean, valid boolean) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$BEGIN RETURN QUERY
SELECT EXISTS (SELECT 1 FROM weft.api_key), EXISTS (SELECT 1 FROM weft.api_key AS a WHERE a.revoked IS NULL); END$$;
