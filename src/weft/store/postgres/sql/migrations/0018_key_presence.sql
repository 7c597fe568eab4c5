-- An application role learns whether there are keys, not how many.

DROP FUNCTION weft.count_keys();

CREATE FUNCTION weft.key_presence()
RETURNS TABLE (stored boolean, valid boolean) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$BEGIN RETURN QUERY
SELECT EXISTS (SELECT 1 FROM weft.api_key), EXISTS (SELECT 1 FROM weft.api_key AS a WHERE a.revoked IS NULL); END$$;
