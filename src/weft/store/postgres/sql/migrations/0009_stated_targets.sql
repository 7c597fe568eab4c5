-- Claims are looked up by their target only if a document or an import states them.
DROP INDEX weft.claim_by_target;
CREATE INDEX claim_by_target ON weft.claim (namespace, target) WHERE origin <> '*';
