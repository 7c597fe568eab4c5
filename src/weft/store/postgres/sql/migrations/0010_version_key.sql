-- Citus rebalances a database only if every table has a primary key.

ALTER TABLE weft.schema_version ADD PRIMARY KEY (version);
