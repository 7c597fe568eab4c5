-- Adds the workers to the coordinator. May run again: it changes nothing then.
CREATE EXTENSION IF NOT EXISTS citus;
CREATE EXTENSION IF NOT EXISTS vector;
SELECT citus_set_coordinator_host('db', 5432);
SELECT citus_add_node('worker-1', 5432);
SELECT citus_add_node('worker-2', 5432);
