-- Entities, mentions, relations, nominations and claims.

-- name: write_names
-- Gives keys a number. Pairs of a key and its spelling, or NULL.
INSERT INTO name (namespace, key, spelling) SELECT :namespace, value ->> 0, value ->> 1 FROM json_each(:keys) WHERE TRUE
ON CONFLICT (namespace, key) DO NOTHING;

-- name: name_numbers
SELECT w.key, w.number, w.spelling FROM json_each(:keys) AS k CROSS JOIN name AS w ON w.namespace = :namespace AND w.key = k.value;

-- name: deferred_chunk
SELECT deferred FROM namespace WHERE number = :namespace;

-- name: defer_chunks
UPDATE namespace SET deferred = coalesce(deferred, :chunk) WHERE number = :namespace;

-- name: forget_deferred
UPDATE namespace SET deferred = NULL WHERE number = :namespace;

-- name: deferred_chunks
SELECT number FROM chunk WHERE number >= :chunk AND +namespace = :namespace;

-- name: count_deferred
-- Documents and chunks of a first load that are not in the graph yet.
SELECT count(DISTINCT c.document), count(*)
FROM namespace AS n CROSS JOIN chunk AS c ON c.number >= n.deferred AND +c.namespace = n.number
WHERE n.number = :namespace;

-- name: deferred_keys
-- Keys that chunks nominate, and whether one of the nominations is of one of these kinds.
SELECT w.key, max(n.kind IN (SELECT value FROM json_each(:kinds)))
FROM nomination AS n CROSS JOIN name AS w ON w.number = n.key
WHERE n.chunk >= :chunk AND +n.namespace = :namespace
GROUP BY +n.key;

-- name: deferred_claims
SELECT DISTINCT c.chunk, s.key, t.key, c.type
FROM claim AS c CROSS JOIN name AS s ON s.number = c.source CROSS JOIN name AS t ON t.number = c.target
WHERE c.chunk >= :chunk AND +c.namespace = :namespace;

-- name: delete_unused_names
DELETE FROM name
WHERE namespace = :namespace AND key IN (SELECT value FROM json_each(:keys))
    AND NOT EXISTS (SELECT 1 FROM entity WHERE number = name.number)
    AND NOT EXISTS (SELECT 1 FROM nomination WHERE key = name.number)
    AND NOT EXISTS (SELECT 1 FROM claim WHERE source = name.number)
    AND NOT EXISTS (SELECT 1 FROM claim WHERE target = name.number);

-- name: document_nominations
SELECT w.key FROM chunk AS c JOIN nomination AS n ON n.chunk = c.number JOIN name AS w ON w.number = n.key
WHERE c.namespace = :namespace AND c.document = :document AND n.origin = '';

-- name: delete_nominations
DELETE FROM nomination
WHERE chunk IN (SELECT number FROM chunk WHERE namespace = :namespace AND document = :document) AND origin = '';

-- name: chunk_keys
SELECT DISTINCT w.key FROM nomination AS n JOIN name AS w ON w.number = n.key WHERE n.chunk = :chunk;

-- name: origin_keys
SELECT DISTINCT w.key FROM nomination AS n JOIN name AS w ON w.number = n.key
WHERE n.chunk = :chunk AND n.origin = :origin;

-- name: origin_nominations
SELECT n.chunk, w.key, coalesce(n.name, w.spelling), n.kind, n.type, n.description, n.about, n.alias_of, n.reason, n.extractor
FROM nomination AS n JOIN name AS w ON w.number = n.key
WHERE n.namespace = :namespace AND n.origin = :origin AND n.origin <> '';

-- name: origin_claims
SELECT c.chunk, s.key, t.key, c.type, c.weight, c.description, c.extractor
FROM claim AS c JOIN name AS s ON s.number = c.source JOIN name AS t ON t.number = c.target
WHERE c.namespace = :namespace AND c.origin = :origin AND c.origin <> '';

-- name: delete_origin
DELETE FROM nomination WHERE chunk = :chunk AND origin = :origin;

-- name: write_nomination
-- `key` is a number; its spelling is not repeated. A nomination that the chunk has already keeps its place and is left as
-- it is. A definition with the description of the title refers to it.
INSERT INTO nomination
    (chunk, place, namespace, document, origin, key, name, code, vote, rank, type, description, about, alias_of, reason,
    extractor)
SELECT
    :chunk, coalesce(
        (SELECT place FROM nomination
         WHERE chunk = :chunk AND key = :key AND kind = :kind AND name IS nullif(:name, w.spelling) AND +origin = :origin),
        (SELECT max(place) + 1 FROM nomination WHERE chunk = :chunk AND key = :key),
        0
    ), :namespace, :document, :origin, :key, nullif(:name, w.spelling), CASE :kind
        WHEN 'phrase' THEN 0 WHEN 'title' THEN 1 WHEN 'definition' THEN 2 WHEN 'quoted' THEN 3 WHEN 'variant' THEN 4
        WHEN 'abbreviation' THEN 5 WHEN 'heading' THEN 6 WHEN 'link' THEN 7 WHEN 'label' THEN 8 WHEN 'section' THEN 9
        WHEN 'page' THEN 10 WHEN 'anchor' THEN 11 WHEN 'name' THEN 12 WHEN 'identifier' THEN 13 WHEN 'term' THEN 14
        WHEN 'metadata' THEN 15 WHEN 'field' THEN 16 WHEN 'given' THEN 17 ELSE :kind
    END, :vote, :rank, :type, coalesce(
        (SELECT place FROM nomination
         WHERE chunk = :chunk AND key = :key AND kind = 'title' AND +origin = '' AND description = :description
             AND :kind = 'definition' AND :origin = '' AND :description > ''),
        :description
    ), :about, :alias_of, :reason, :extractor
FROM name AS w WHERE w.number = :key
ON CONFLICT (chunk, key, place) DO NOTHING;

-- name: write_new_nomination
-- The same for a chunk without stored nominations: the caller gives the place, and the place of the title as description.
INSERT INTO nomination
    (chunk, place, namespace, document, origin, key, name, code, vote, rank, type, description, about, alias_of, reason,
    extractor)
VALUES (
    :chunk, :place, :namespace, :document, :origin, :key, nullif(:name, :spelling), CASE :kind
        WHEN 'phrase' THEN 0 WHEN 'title' THEN 1 WHEN 'definition' THEN 2 WHEN 'quoted' THEN 3 WHEN 'variant' THEN 4
        WHEN 'abbreviation' THEN 5 WHEN 'heading' THEN 6 WHEN 'link' THEN 7 WHEN 'label' THEN 8 WHEN 'section' THEN 9
        WHEN 'page' THEN 10 WHEN 'anchor' THEN 11 WHEN 'name' THEN 12 WHEN 'identifier' THEN 13 WHEN 'term' THEN 14
        WHEN 'metadata' THEN 15 WHEN 'field' THEN 16 WHEN 'given' THEN 17 ELSE :kind
    END, :vote, :rank, :type, :description, :about, :alias_of, :reason, :extractor
)
ON CONFLICT (chunk, key, place) DO NOTHING;

-- name: chunk_claims
SELECT c.chunk, s.key, t.key, c.type, c.origin FROM json_each(:chunks) AS k CROSS JOIN claim AS c ON c.chunk = k.value
CROSS JOIN name AS s ON s.number = c.source CROSS JOIN name AS t ON t.number = c.target;

-- name: write_claim
-- `source` and `target` are numbers of keys.
INSERT INTO claim (namespace, chunk, origin, source, target, code, weight, description, place, extractor)
VALUES (
    :namespace, :chunk, :origin, :source, :target,
    CASE :type WHEN 'co_occurs_with' THEN 0 WHEN 'mentions' THEN 1 ELSE :type END, :weight, :description, :place, :extractor
)
ON CONFLICT (chunk, source, target, code, origin) DO UPDATE SET
    weight = excluded.weight, description = excluded.description, extractor = excluded.extractor;

-- name: delete_claim
DELETE FROM claim
WHERE namespace = :namespace AND chunk = :chunk AND source = :source AND target = :target AND origin = :origin
    AND code = CASE :type WHEN 'co_occurs_with' THEN 0 WHEN 'mentions' THEN 1 ELSE :type END;

-- name: key_votes
-- Votes for keys: any strong vote; without one, weak votes of two documents; whether a key is named in its own right.
-- Weak votes have rank 5 or 6, so other nominations of the key are not read.
SELECT k.value,
    EXISTS (SELECT 1 FROM nomination INDEXED BY nomination_strong WHERE key = w.number AND vote = 2) AS strong,
    CASE WHEN NOT EXISTS (SELECT 1 FROM nomination INDEXED BY nomination_strong WHERE key = w.number AND vote = 2)
        THEN EXISTS (
            SELECT 1 FROM nomination AS n
            WHERE n.key = w.number AND n.rank IN (5, 6) AND n.vote = 1 AND n.document <> (
                SELECT document FROM nomination WHERE key = w.number AND rank IN (5, 6) AND vote = 1 LIMIT 1
            )
        )
        ELSE FALSE
    END,
    EXISTS (
        SELECT 1 FROM nomination INDEXED BY nomination_own
        WHERE key = w.number AND vote = 2 AND alias_of = '' AND kind IN ('title', 'definition', 'field', 'given')
    )
FROM json_each(:keys) AS k LEFT JOIN name AS w ON w.namespace = :namespace AND w.key = k.value;

-- name: vague_names
-- Keys that are only possible spellings of one name and that are first words of other names.
SELECT k.value FROM json_each(:keys) AS k CROSS JOIN name AS w ON w.namespace = :namespace AND w.key = k.value
WHERE EXISTS (
    SELECT 1 FROM name AS longer CROSS JOIN nomination AS o INDEXED BY nomination_own
        ON o.key = longer.number AND o.vote = 2 AND o.alias_of = '' AND o.kind IN ('title', 'definition', 'field', 'given')
    WHERE longer.namespace = :namespace AND longer.key > k.value || ' ' AND longer.key < k.value || '!'
        AND longer.key NOT IN (SELECT n.alias_of FROM nomination AS n WHERE n.key = w.number AND n.alias_of <> '')
) AND NOT EXISTS (
    SELECT 1 FROM nomination INDEXED BY nomination_alias WHERE key = w.number AND alias_of <> '' AND vote > 0
);

-- name: key_aliases
-- First few alias targets of each key, by a skip scan that does not read every nomination.
WITH RECURSIVE said (key, number, alias_of, nth) AS (
    SELECT k.value, w.number, (
        SELECT min(alias_of) FROM nomination
        WHERE key = w.number AND alias_of >= '/' AND alias_of <> '' -- `!`: a link
    ), 1
    FROM json_each(:keys) AS k CROSS JOIN name AS w ON w.namespace = :namespace AND w.key = k.value
    UNION ALL
    SELECT said.key, said.number, (
        SELECT min(alias_of) FROM nomination
        WHERE key = said.number AND alias_of > said.alias_of AND alias_of <> ''
    ), said.nth + 1
    FROM said
    WHERE said.alias_of IS NOT NULL AND said.nth < :limit
)
SELECT said.key, said.alias_of, (
    SELECT min(reason) FROM nomination WHERE key = said.number AND alias_of = said.alias_of AND alias_of <> ''
)
FROM said
WHERE said.alias_of IS NOT NULL;

-- name: key_edits
SELECT kind, key, value FROM edit
WHERE namespace = :namespace
    AND (key IN (SELECT value FROM json_each(:keys)) OR value IN (SELECT value FROM json_each(:keys)));

-- name: all_edits
SELECT kind, key, value FROM edit WHERE namespace = :namespace ORDER BY kind, key, value;

-- name: write_edit
INSERT INTO edit (namespace, kind, key, value) VALUES (:namespace, :kind, :key, :value) ON CONFLICT DO NOTHING;

-- name: delete_edit
DELETE FROM edit WHERE namespace = :namespace AND kind = :kind AND key = :key AND value = :value;

-- name: entity_by_key
SELECT number, strong, same_as, reason FROM entity WHERE namespace = :namespace AND key = :key;

-- name: entities_by_key
SELECT key, strong, same_as, reason FROM entity
WHERE namespace = :namespace AND key IN (SELECT value FROM json_each(:keys));

-- name: keys_by_letters
SELECT e.key FROM json_each(:letters) AS k
CROSS JOIN entity AS e INDEXED BY entity_by_letters
    ON e.namespace = :namespace AND replace(e.key, ' ', '') = k.value;

-- name: write_entity
-- An entity has the number of its key.
INSERT INTO entity (number, namespace, hash, key, strong, alias_of, reason)
VALUES (
    (SELECT number FROM name WHERE namespace = :namespace AND key = :key), :namespace, unhex(substr(:id, 2)), :key, :strong,
    nullif(:same_as, :key), :reason
)
ON CONFLICT (namespace, key) DO UPDATE SET
    strong = excluded.strong, alias_of = excluded.alias_of, reason = excluded.reason;

-- name: write_head
UPDATE entity SET head = :head WHERE number = :number;

-- name: delete_entity
DELETE FROM entity WHERE namespace = :namespace AND key = :key;

-- name: known_keys
SELECT key, number FROM entity WHERE namespace = :namespace AND key IN (SELECT value FROM json_each(:keys));

-- name: all_known_keys
SELECT key, number FROM entity WHERE namespace = :namespace;

-- name: known_beginnings
-- Word pairs that start a longer entity key. Within keys only the end sorts before a space.
SELECT k.value FROM json_each(:pairs) AS k
WHERE EXISTS (
    SELECT 1 FROM entity WHERE namespace = :namespace AND key > k.value || ' ' AND key < k.value || '!'
);

-- name: named_beginnings
-- The same for all names that a question may contain: keys of entities and of facts.
SELECT k.value FROM json_each(:pairs) AS k
WHERE EXISTS (
    SELECT 1 FROM entity WHERE namespace = :namespace AND key > k.value || ' ' AND key < k.value || '!'
) OR EXISTS (
    SELECT 1 FROM fact_entity WHERE namespace = :namespace AND key > k.value || ' ' AND key < k.value || '!'
);

-- name: chunk_texts
SELECT c.number, unpack_text(c.text), c.id FROM json_each(:chunks) AS k
CROSS JOIN chunk AS c ON c.number = k.value AND c.namespace = :namespace;

-- name: chunk_subjects
SELECT DISTINCT n.chunk, w.key FROM json_each(:chunks) AS k
CROSS JOIN nomination AS n ON n.chunk = k.value AND n.about CROSS JOIN name AS w ON w.number = n.key;

-- name: chunks_about
SELECT w.key, n.chunk FROM json_each(:keys) AS k
CROSS JOIN name AS w ON w.namespace = :namespace AND w.key = k.value
CROSS JOIN nomination AS n ON n.key = w.number AND n.about;

-- name: chunk_mentions
SELECT m.chunk, e.key, e.number, m.count, m.about FROM mention AS m JOIN entity AS e ON e.number = m.entity
WHERE m.chunk IN (SELECT value FROM json_each(:chunks));

-- name: entity_chunks
SELECT chunk, about FROM mention WHERE entity = :entity;

-- name: postpone_new_name
-- A row of the name as a lost one stays: its chunk is read for all names.
INSERT INTO reread (namespace, chunk, key) SELECT :namespace, value, :key FROM json_each(:chunks) WHERE TRUE
ON CONFLICT (chunk, key) DO NOTHING;

-- name: postpone_lost_name
INSERT INTO reread (namespace, chunk, key, lost) SELECT :namespace, chunk, :key, about FROM mention WHERE entity = :entity
ON CONFLICT (chunk, key) DO UPDATE SET lost = excluded.lost;

-- name: first_reread
SELECT 1 FROM reread WHERE namespace = :namespace LIMIT 1;

-- name: rereads_after
SELECT r.chunk, r.key, r.lost
FROM (
    SELECT DISTINCT chunk FROM reread WHERE namespace = :namespace AND chunk > :chunk ORDER BY chunk LIMIT :limit
) AS f
CROSS JOIN reread AS r ON r.chunk = f.chunk;

-- name: lost_names
SELECT r.chunk, r.key, r.lost FROM json_each(:chunks) AS k CROSS JOIN reread AS r ON r.chunk = k.value
WHERE r.lost IS NOT NULL AND +r.namespace = :namespace;

-- name: delete_rereads
DELETE FROM reread WHERE chunk IN (SELECT value FROM json_each(:chunks)) AND +namespace = :namespace;

-- name: forget_rereads
DELETE FROM reread WHERE namespace = :namespace;

-- name: count_rereads
-- Documents and chunks that wait to be read again.
SELECT count(DISTINCT c.document), count(*)
FROM (SELECT DISTINCT chunk FROM reread WHERE namespace = :namespace) AS r CROSS JOIN chunk AS c ON c.number = r.chunk;

-- name: delete_mention
DELETE FROM mention
WHERE entity = :entity AND about = :about AND count = :count AND place = :place >> 9 AND chunk = :chunk;

-- name: write_mention
-- `place` has 32 bits, of which 23 are stored.
INSERT INTO mention (entity, chunk, count, about, place) VALUES (:entity, :chunk, :count, :about, :place >> 9);

-- name: count_mentions
UPDATE entity SET mentions = mentions + :mentions, chunks = chunks + :chunks WHERE number = :entity;

-- name: packed_support
-- For pairs of entities: the packed chunks that derive it, the chunks that state it, at most 256, and the largest weight.
SELECT s.number, t.number, p.type, s.key, t.key, r.chunks,
    (SELECT json_group_array(chunk) FROM (
        SELECT DISTINCT chunk FROM claim INDEXED BY claim_by_pair
        WHERE source = s.number AND target = t.number AND code = p.code
        LIMIT 256
    )),
    (SELECT max(weight) FROM claim INDEXED BY claim_by_pair
     WHERE source = s.number AND target = t.number AND code = p.code)
FROM (
    SELECT value ->> 0 AS source, value ->> 1 AS target, value ->> 2 AS type,
        CASE value ->> 2 WHEN 'co_occurs_with' THEN 0 WHEN 'mentions' THEN 1 ELSE value ->> 2 END AS code
    FROM json_each(:pairs)
) AS p
CROSS JOIN entity AS s ON s.namespace = :namespace AND s.key = p.source  -- CROSS keeps the join order
CROSS JOIN entity AS t ON t.namespace = :namespace AND t.key = p.target
LEFT JOIN relation AS r ON r.source = s.number AND r.target = t.number AND r.code = p.code;

-- name: claims_of_keys
-- Claims of new entities.
SELECT w.key, t.key, c.type FROM json_each(:keys) AS k
CROSS JOIN name AS w ON w.namespace = :namespace AND w.key = k.value
CROSS JOIN claim AS c ON c.source = w.number CROSS JOIN name AS t ON t.number = c.target
UNION
SELECT s.key, w.key, c.type FROM json_each(:keys) AS k
CROSS JOIN name AS w ON w.namespace = :namespace AND w.key = k.value
CROSS JOIN claim AS c ON c.target = w.number CROSS JOIN name AS s ON s.number = c.source;

-- name: delete_relation
DELETE FROM relation
WHERE source = :source AND target = :target
    AND code = CASE :type WHEN 'co_occurs_with' THEN 0 WHEN 'mentions' THEN 1 ELSE :type END;

-- name: write_packed_relation
INSERT INTO relation (source, target, code, weight, support, places, chunks)
VALUES (
    :source, :target, CASE :type WHEN 'co_occurs_with' THEN 0 WHEN 'mentions' THEN 1 ELSE :type END,
    :weight, :support, :places, :chunks
)
ON CONFLICT (source, target, code) DO UPDATE SET
    weight = excluded.weight, support = excluded.support, chunks = excluded.chunks
WHERE weight <> excluded.weight OR support <> excluded.support OR chunks <> excluded.chunks;

-- name: write_entity_vector
INSERT INTO entity_vector (chunk, key, model, vector) VALUES (:chunk, :key, :model, :vector)
ON CONFLICT (model, chunk, key) DO UPDATE SET vector = excluded.vector;

-- name: resolve_keys
SELECT key, same_as, number FROM entity WHERE namespace = :namespace AND key IN (SELECT value FROM json_each(:keys));

-- name: names_by_id
SELECT h.id, e.key FROM entity AS h JOIN entity AS e ON e.head = h.number
WHERE h.namespace = :namespace AND h.hash IN (SELECT unhex(substr(value, 2)) FROM json_each(:ids))
ORDER BY e.key;

-- name: ids_by_key
SELECT e.key, h.id
FROM json_each(:keys) AS k
CROSS JOIN entity AS e ON e.namespace = :namespace AND e.key = k.value
CROSS JOIN entity AS h ON h.number = e.head;

-- name: keys_by_id
SELECT id, key FROM entity
WHERE namespace = :namespace AND hash IN (SELECT unhex(substr(value, 2)) FROM json_each(:ids));

-- name: known_entities
-- For each key: its entity, number of mentioning chunks under all names, number of defining chunks up to a limit, and
-- whether facts name it; then, without an id, the names known only from facts.
SELECT e.key, h.id, h.strong,
    (SELECT sum(chunks) FROM entity WHERE head = h.number),
    (SELECT count(*) FROM (
        SELECT DISTINCT m.chunk FROM entity AS o CROSS JOIN mention AS m ON m.entity = o.number AND m.about = 1
        WHERE o.head = h.number
        LIMIT :max_defining
    )),
    EXISTS (SELECT 1 FROM fact_entity WHERE namespace = :namespace AND key = e.key)
FROM json_each(:keys) AS k
CROSS JOIN entity AS e ON e.namespace = :namespace AND e.key = k.value
CROSS JOIN entity AS h ON h.number = e.head
UNION ALL
SELECT f.key, NULL, 1, 0, 0, 1
FROM json_each(:keys) AS k CROSS JOIN fact_entity AS f ON f.namespace = :namespace AND f.key = k.value
WHERE NOT EXISTS (SELECT 1 FROM entity WHERE namespace = :namespace AND key = f.key);

-- name: entity_names
SELECT h.id, coalesce(
    (SELECT value FROM edit WHERE namespace = :namespace AND kind = 'rename' AND key = h.key LIMIT 1),
    (SELECT name FROM best_name WHERE key = h.number),
    h.key
)
FROM entity AS e JOIN entity AS h ON h.number = e.head
WHERE e.namespace = :namespace AND e.hash IN (SELECT unhex(substr(value, 2)) FROM json_each(:ids));

-- name: entity_cards
-- For each key: its entity and the aliases of that, in order. The description is the first one; if a model wrote any,
-- the others are returned too, for merging.
SELECT e.key, h.id, h.key, h.strong, h.mentions, h.chunks,
    coalesce(
        (SELECT value FROM edit WHERE namespace = :namespace AND kind = 'rename' AND key = h.key LIMIT 1),
        (SELECT name FROM best_name WHERE key = h.number),
        h.key
    ),
    coalesce((SELECT type FROM nomination
        WHERE key = h.number AND type <> '' ORDER BY rank, type LIMIT 1), ''),
    coalesce((SELECT description FROM nomination
        WHERE key = h.number AND description > '' ORDER BY rank, description LIMIT 1), ''),
    CASE WHEN EXISTS (SELECT 1 FROM nomination WHERE key = h.number AND extractor <> '') THEN (
        SELECT json_group_array(json_array(d.rank, d.description, d.extractor)) FROM (
            SELECT rank, description, extractor FROM nomination
            WHERE key = h.number AND description > ''
            ORDER BY rank, description
            LIMIT :limit
        ) AS d
    ) END,
    (SELECT json_group_array(json_array(o.name, o.reason, o.mentions, o.chunks)) FROM (
        SELECT coalesce(
            (SELECT name FROM best_name WHERE key = other.number),
            (SELECT value FROM edit WHERE namespace = :namespace AND kind = 'rename' AND key = other.key LIMIT 1),
            other.key
        ) AS name, other.reason, other.mentions, other.chunks
        FROM entity AS other
        WHERE other.head = h.number AND other.number <> h.number
        ORDER BY other.key
    ) AS o)
FROM json_each(:keys) AS k
CROSS JOIN entity AS e ON e.namespace = :namespace AND e.key = k.value
CROSS JOIN entity AS h ON h.number = e.head;

-- name: entity_extractors
-- Extractors of entities under any name: each model by a skip scan; the rules if among the first nominations.
WITH RECURSIVE named (id, number) AS (
    SELECT h.id, e.number FROM entity AS h JOIN entity AS e ON e.head = h.number
    WHERE h.namespace = :namespace AND h.hash IN (SELECT unhex(substr(value, 2)) FROM json_each(:ids))
),
said (id, number, extractor) AS (
    SELECT id, number, (
        SELECT min(extractor) FROM nomination INDEXED BY nomination_by_extractor
        WHERE key = named.number AND extractor <> ''
    )
    FROM named
    UNION ALL
    SELECT said.id, said.number, (
        SELECT min(extractor) FROM nomination INDEXED BY nomination_by_extractor
        WHERE key = said.number AND extractor > said.extractor AND extractor <> ''
    )
    FROM said
    WHERE said.extractor IS NOT NULL
)
SELECT id, extractor FROM said WHERE extractor IS NOT NULL
UNION
SELECT id, '' FROM named WHERE '' IN (
    SELECT extractor FROM nomination WHERE key = named.number ORDER BY rank, name LIMIT :limit
);

-- name: other_spelling
-- First name other than `name` by which links refer to a key.
SELECT (
    SELECT min(n.name) FROM (
        SELECT min(name) AS name FROM nomination WHERE key = w.number AND rank = :rank AND name < :name
        UNION ALL
        SELECT min(name) FROM nomination WHERE key = w.number AND rank = :rank AND name > :name
        UNION ALL
        SELECT nullif(w.spelling, :name)
        WHERE EXISTS (SELECT 1 FROM nomination WHERE key = w.number AND rank = :rank AND name IS NULL)
    ) AS n
)
FROM name AS w
WHERE w.namespace = :namespace AND w.key = :key;

-- name: other_names
SELECT key FROM entity WHERE namespace = :namespace AND alias_of IN (SELECT value FROM json_each(:keys));

-- name: links_of
-- For many entities: the strongest mentions under each name, and the strongest relations in both directions, as JSON
-- lists. One end of a relation is the entity itself, so only the other end is looked up. Types are read from their code,
-- because an index does not have the computed column.
SELECT h.id, e.chunks, e.strong, (
    SELECT json_group_array(json_array(c.id, m.count, m.about))
    FROM (
        SELECT chunk, count, about FROM mention WHERE entity = e.number
        ORDER BY about DESC, count DESC, place, chunk
        LIMIT :mentions
    ) AS m CROSS JOIN chunk AS c ON c.number = m.chunk
), (
    SELECT json_group_array(iif(
        r.outgoing, json_array(h.id, oh.id, r.name, r.weight), json_array(oh.id, h.id, r.name, r.weight)
    ))
    FROM (
        SELECT * FROM (
            SELECT 1 AS outgoing, target AS other, weight,
                CASE code WHEN 0 THEN 'co_occurs_with' WHEN 1 THEN 'mentions' ELSE code END AS name
            FROM relation
            WHERE source = e.number AND weight >= :weight
                AND (:all_types OR name IN (SELECT value FROM json_each(:types)))
            ORDER BY weight DESC, target_place, target, name
            LIMIT :relations
        )
        UNION ALL
        SELECT * FROM (
            SELECT 0, source, weight,
                CASE code WHEN 0 THEN 'co_occurs_with' WHEN 1 THEN 'mentions' ELSE code END AS name
            FROM relation
            WHERE target = e.number AND weight >= :weight
                AND (:all_types OR name IN (SELECT value FROM json_each(:types)))
            ORDER BY weight DESC, source_place, source, name
            LIMIT :relations
        )
    ) AS r
    CROSS JOIN entity AS o ON o.number = r.other CROSS JOIN entity AS oh ON oh.number = o.head
)
FROM entity AS h JOIN entity AS e ON e.head = h.number
WHERE h.namespace = :namespace AND h.hash IN (SELECT unhex(substr(value, 2)) FROM json_each(:ids));

-- name: mentions_in
-- Also: whether the entity may be mentioned elsewhere and, if it is strong, whether it has a defining chunk.
SELECT
    CASE WHEN e.head = e.number THEN e.id ELSE (SELECT id FROM entity WHERE number = e.head) END, c.id,
    m.count, m.about, e.chunks, e.strong,
    CASE WHEN e.chunks > 1 THEN 1 ELSE EXISTS (
        SELECT 1 FROM entity AS o WHERE o.head = e.head AND o.number <> e.number AND o.chunks > 0
    ) END,
    CASE
        WHEN m.about THEN 1
        WHEN NOT e.strong THEN 0
        WHEN EXISTS (SELECT 1 FROM mention WHERE entity = e.head AND about = 1) THEN 1
        ELSE EXISTS (
            SELECT 1 FROM entity AS o JOIN mention AS a ON a.entity = o.number AND a.about = 1
            WHERE o.head = e.head AND o.number <> e.head
        )
    END
FROM chunk AS c JOIN mention AS m ON m.chunk = c.number JOIN entity AS e ON e.number = m.entity
WHERE c.namespace = :namespace AND c.id IN (SELECT value FROM json_each(:ids)) AND (m.about OR NOT :about);

-- name: relations_of_type
-- For each name, the strongest relations of one stated type: outgoing ones, then incoming ones.
SELECT
    (
        SELECT json_group_array(json_array(h.id, oh.id, r.weight, r.place, r.target))
        FROM (
            SELECT target, weight, target_place AS place FROM relation
            WHERE source = e.number AND code = :type AND code NOT IN (0, 1) AND weight >= :weight
            ORDER BY weight DESC, target_place, target
            LIMIT :limit
        ) AS r
        CROSS JOIN entity AS o ON o.number = r.target CROSS JOIN entity AS oh ON oh.number = o.head
    ),
    (
        SELECT json_group_array(json_array(oh.id, h.id, r.weight, r.place, r.source))
        FROM (
            SELECT source, weight, source_place AS place FROM relation
            WHERE target = e.number AND code = :type AND code NOT IN (0, 1) AND weight >= :weight
            ORDER BY weight DESC, source_place, source
            LIMIT :limit
        ) AS r
        CROSS JOIN entity AS o ON o.number = r.source CROSS JOIN entity AS oh ON oh.number = o.head
    ),
    e.number
FROM entity AS h JOIN entity AS e ON e.head = h.number
WHERE h.namespace = :namespace AND h.hash IN (SELECT unhex(substr(value, 2)) FROM json_each(:ids));

-- name: relations_between
-- Relations under any name. Each pair is looked up, because a hub has too many relations to scan.
WITH named (id, number) AS MATERIALIZED (
    SELECT h.id, e.number FROM entity AS h JOIN entity AS e ON e.head = h.number
    WHERE h.namespace = :namespace AND h.hash IN (SELECT unhex(substr(value, 2)) FROM json_each(:ids))
)
SELECT s.id, t.id, r.type, r.weight
FROM named AS s CROSS JOIN named AS t CROSS JOIN relation AS r ON r.source = s.number AND r.target = t.number;

-- name: relations_with
-- Relations under any name between one list of entities and another, in both directions.
WITH near (id, number) AS MATERIALIZED (
    SELECT h.id, e.number FROM entity AS h JOIN entity AS e ON e.head = h.number
    WHERE h.namespace = :namespace AND h.hash IN (SELECT unhex(substr(value, 2)) FROM json_each(:ids))
),
far (id, number) AS MATERIALIZED (
    SELECT h.id, e.number FROM entity AS h JOIN entity AS e ON e.head = h.number
    WHERE h.namespace = :namespace AND h.hash IN (SELECT unhex(substr(value, 2)) FROM json_each(:others))
)
SELECT s.id, t.id, r.type, r.weight
FROM near AS s CROSS JOIN far AS t CROSS JOIN relation AS r ON r.source = s.number AND r.target = t.number
UNION
SELECT s.id, t.id, r.type, r.weight
FROM near AS t CROSS JOIN far AS s CROSS JOIN relation AS r ON r.source = s.number AND r.target = t.number;

-- name: relation_claims
-- For each position, source, target and type: the claims of largest weight, as a JSON list. Derived ones weigh 1.
SELECT w.place, w.source, w.target, (
    SELECT json_group_array(json_array(c.weight, c.id, c.number, c.description, c.by)) FROM (
        SELECT * FROM (
            SELECT claim.weight, k.id, k.number, claim.description, claim.extractor AS by, claim.origin
            FROM claim INDEXED BY claim_by_pair JOIN chunk AS k ON k.number = claim.chunk
            WHERE claim.source = w.from_number AND claim.target = w.to_number AND claim.code = w.code
            ORDER BY claim.weight DESC, claim.place, k.id, claim.origin
            LIMIT :limit
        )
        UNION ALL
        SELECT 1.0, k.id, k.number, '', NULL, '*'
        FROM relation AS r JOIN json_each(list_chunks(r.chunks)) AS l JOIN chunk AS k ON k.number = l.value
        WHERE r.source = w.from_number AND r.target = w.to_number AND r.code = w.code
        ORDER BY 1 DESC, 2, 6
        LIMIT :limit
    ) AS c
)
FROM (
    SELECT value ->> 0 AS place, value ->> 1 AS source, value ->> 2 AS target,
        (SELECT number FROM name WHERE namespace = :namespace AND key = value ->> 1) AS from_number,
        (SELECT number FROM name WHERE namespace = :namespace AND key = value ->> 2) AS to_number,
        CASE value ->> 3 WHEN 'co_occurs_with' THEN 0 WHEN 'mentions' THEN 1 ELSE value ->> 3 END AS code
    FROM json_each(:claims)
) AS w;

-- name: described_entities
SELECT v.key, v.vector FROM chunk AS c JOIN entity_vector AS v ON v.chunk = c.number AND v.model = :model
WHERE c.namespace = :namespace AND c.id IN (SELECT value FROM json_each(:ids));

-- name: unembedded_entities
SELECT c.id, w.key, coalesce(n.name, w.spelling), n.description
FROM chunk AS c CROSS JOIN nomination AS n ON n.chunk = c.number CROSS JOIN name AS w ON w.number = n.key
WHERE c.namespace = :namespace AND n.vote = 2 AND n.description > ''
    AND NOT EXISTS (
        SELECT 1 FROM entity_vector AS v JOIN model AS m ON m.number = v.model
        WHERE v.chunk = n.chunk AND v.key = w.key AND m.namespace = :namespace AND m.fingerprint = :fingerprint
    )
ORDER BY c.id, w.key, n.rank, coalesce(n.name, w.spelling), n.description
LIMIT :limit;

-- name: write_entity_vector_by_id
INSERT INTO entity_vector (chunk, key, model, vector)
SELECT number, :key, :model, :vector FROM chunk WHERE namespace = :namespace AND id = :id
ON CONFLICT (model, chunk, key) DO UPDATE SET vector = excluded.vector;

-- name: count_entities
SELECT count(*) FROM entity WHERE namespace = :namespace;

-- name: count_relations
SELECT count(*) FROM entity AS e JOIN relation AS r ON r.source = e.number WHERE e.namespace = :namespace;

-- name: count_types
-- Number of entities of each type, without types of aliases only. One index scan.
SELECT n.type, count(DISTINCT e.head)
FROM nomination AS n INDEXED BY nomination_with_type JOIN entity AS e ON e.number = n.key
WHERE n.namespace = :namespace AND n.type <> '' AND n.alias_of = ''
GROUP BY n.type
ORDER BY n.type;

-- name: count_stated
-- Number of stated relations of each type. One index scan over stated claims.
SELECT c.type, count(*) FROM (
    SELECT DISTINCT s.head AS source, t.head AS target, claim.type AS type
    FROM claim INDEXED BY claim_by_pair
    CROSS JOIN entity AS s ON s.number = claim.source CROSS JOIN entity AS t ON t.number = claim.target
    WHERE s.namespace = :namespace AND s.head <> t.head
) AS c
GROUP BY c.type
ORDER BY c.type;

-- name: entities_after
SELECT key FROM entity
WHERE namespace = :namespace AND key > :key AND head = number
ORDER BY key
LIMIT :limit;

-- name: has_entities
SELECT EXISTS (SELECT 1 FROM entity WHERE namespace = :namespace AND alias_of IS NULL AND strong);

-- name: top_entities
SELECT key FROM entity WHERE namespace = :namespace AND alias_of IS NULL AND strong ORDER BY chunks DESC, key LIMIT :limit;

-- name: delete_entity_vectors
-- Deletes vectors of names that the document no longer describes, unless an import describes them.
DELETE FROM entity_vector
WHERE chunk = :chunk AND key NOT IN (SELECT value FROM json_each(:keys))
    AND key NOT IN (
        SELECT w.key FROM nomination AS n JOIN name AS w ON w.number = n.key
        WHERE n.chunk = :chunk AND n.origin <> '' AND n.description > ''
    );

-- name: delete_annotated_vectors
DELETE FROM entity_vector
WHERE chunk = :chunk
    AND key NOT IN (
        SELECT w.key FROM nomination AS n JOIN name AS w ON w.number = n.key
        WHERE n.chunk = :chunk AND n.origin = '' AND n.description > ''
    );
