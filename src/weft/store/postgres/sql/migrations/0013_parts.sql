-- The text of a namespace can be divided into parts.
ALTER TABLE weft.namespace ADD COLUMN parts integer NOT NULL DEFAULT 1;
