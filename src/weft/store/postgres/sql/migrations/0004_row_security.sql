-- Row security without exceptions: other roles than the owner see no names of namespaces, no keys, and of the
-- keyword index only the rows of their namespace.
DROP POLICY all_read ON weft.namespace;
CREATE POLICY owner_reads ON weft.namespace FOR SELECT TO CURRENT_USER USING (TRUE);

DROP POLICY all_read ON weft.chunk_term;
CREATE POLICY owner_reads ON weft.chunk_term FOR SELECT TO CURRENT_USER USING (TRUE);

ALTER TABLE weft.api_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.api_key FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_manages ON weft.api_key TO CURRENT_USER USING (TRUE);

-- Functions with the rights of the owner. The first two answer for the namespace of the transaction only.
-- `vector_schema` stands for the schema of pgvector. Operators that an object in it could replace are qualified.

-- Chunks with any of the wanted terms, by the approximate score of all terms.
CREATE FUNCTION weft.search_terms(tenant text, wanted bigint[], query sparsevec, among bigint[], looks bigint)
RETURNS TABLE (chunk bigint, score double precision) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, vector_schema, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$BEGIN RETURN QUERY
SELECT t.chunk, -(t.weights <#> query) FROM weft.chunk_term AS t
WHERE t.namespace = tenant AND tenant = current_setting('weft.namespace', TRUE)
    AND t.held OPERATOR(pg_catalog.&&) wanted AND (among IS NULL OR t.chunk = ANY (among))
ORDER BY t.weights <#> query
LIMIT looks; END$$;

-- For each entry, the chunks that contain a term of each of its groups; the first group is the rarest.
CREATE FUNCTION weft.find_holders(tenant text, wanted jsonb)
RETURNS TABLE (name text, chunk bigint) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$BEGIN RETURN QUERY
SELECT w.value ->> 0, h.chunk FROM jsonb_array_elements(wanted) AS w (value)
CROSS JOIN LATERAL (
    SELECT t.chunk FROM weft.chunk_term AS t
    WHERE t.namespace = tenant AND tenant = current_setting('weft.namespace', TRUE)
        AND t.held && ARRAY(SELECT f.value::bigint FROM jsonb_array_elements_text(w.value -> 1) AS f (value))
        AND NOT EXISTS (
            SELECT 1 FROM jsonb_array_elements(w.value -> 2) AS g (value)
            WHERE NOT t.held && ARRAY(SELECT f.value::bigint FROM jsonb_array_elements_text(g.value) AS f (value))
        )
) AS h; END$$;

CREATE FUNCTION weft.find_key(key_id text, key_digest text)
RETURNS SETOF weft.api_key LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$BEGIN RETURN QUERY
SELECT a.* FROM weft.api_key AS a WHERE a.id = key_id AND a.digest = key_digest; END$$;

CREATE FUNCTION weft.count_keys()
RETURNS TABLE (stored bigint, valid bigint) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$BEGIN RETURN QUERY
SELECT count(*), count(*) FILTER (WHERE a.revoked IS NULL) FROM weft.api_key AS a; END$$;
