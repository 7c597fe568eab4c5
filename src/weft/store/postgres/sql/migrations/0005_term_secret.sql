-- Secret of each namespace, the key of its term hashes. NULL: the terms are not hashed again yet.
ALTER TABLE weft.namespace ADD COLUMN secret uuid;
ALTER TABLE weft.namespace ALTER COLUMN secret SET DEFAULT gen_random_uuid();
