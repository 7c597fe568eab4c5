-- A first load derives the graph once for many transactions.
ALTER TABLE namespace ADD COLUMN deferred INTEGER;
