-- Relations of one type, strongest first: a hub has many relations, but few of one stated type.
-- Derived types are left out: they are nearly all rows, and no query selects them by type.

CREATE INDEX relation_by_source_type ON relation (source, type, weight DESC, place, target)
WHERE type NOT IN ('co_occurs_with', 'mentions');
CREATE INDEX relation_by_target_type ON relation (target, type, weight DESC, place, source)
WHERE type NOT IN ('co_occurs_with', 'mentions');
