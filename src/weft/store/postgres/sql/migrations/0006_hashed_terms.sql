-- All terms are hashed with a secret.
ALTER TABLE weft.namespace ALTER COLUMN secret SET NOT NULL;
