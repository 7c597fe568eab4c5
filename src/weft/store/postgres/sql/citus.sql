-- Citus reads shards as the current role, on a connection of its own for each role. A function with the rights of the
-- owner would not see the rows that its own transaction wrote. So all roles can read `chunk_term`, the names of
-- namespaces in it included.

DROP POLICY IF EXISTS all_read ON weft.chunk_term;
CREATE POLICY all_read ON weft.chunk_term FOR SELECT USING (TRUE);
ALTER FUNCTION weft.search_terms SECURITY INVOKER;
ALTER FUNCTION weft.find_holders SECURITY INVOKER;
