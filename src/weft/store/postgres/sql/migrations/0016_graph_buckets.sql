-- Claims, mentions and relations of several parts move to buckets, away from the chunks and entities that they refer to.
-- Their rows are moved after this file.
ALTER TABLE weft.claim DROP CONSTRAINT claim_namespace_chunk_fkey;
ALTER TABLE weft.mention DROP CONSTRAINT mention_namespace_entity_fkey;
ALTER TABLE weft.mention DROP CONSTRAINT mention_namespace_chunk_fkey;
ALTER TABLE weft.relation DROP CONSTRAINT relation_namespace_source_fkey;
ALTER TABLE weft.relation DROP CONSTRAINT relation_namespace_target_fkey;
ALTER TABLE weft.claim ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.mention ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
ALTER TABLE weft.relation ADD FOREIGN KEY (namespace) REFERENCES weft.namespace (namespace) ON DELETE CASCADE;
