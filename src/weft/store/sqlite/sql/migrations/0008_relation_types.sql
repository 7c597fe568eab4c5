-- Relations of one type, strongest first: a hub has many, but few that cite or introduce.
-- What only follows from mentions is left out: it is nearly all there is, and nobody asks for it by type.

CREATE INDEX relation_by_source_type ON relation (source, type, weight DESC, place, target)
WHERE type NOT IN ('co_occurs_with', 'mentions');
CREATE INDEX relation_by_target_type ON relation (target, type, weight DESC, place, source)
WHERE type NOT IN ('co_occurs_with', 'mentions');
