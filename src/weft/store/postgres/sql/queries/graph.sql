-- Entities, mentions, relations, candidates and stated relations.

-- name: document_candidates
SELECT n.key FROM weft.chunk AS c JOIN weft.candidate AS n ON n.namespace = :namespace AND n.chunk = c.number
WHERE c.namespace = :namespace AND c.document = :document AND n.origin = '';

-- name: chunk_keys
SELECT DISTINCT n.key FROM weft.candidate AS n WHERE n.namespace = :namespace AND n.chunk = :chunk;

-- name: origin_keys
SELECT DISTINCT n.key FROM weft.candidate AS n
WHERE n.namespace = :namespace AND n.chunk = :chunk AND n.origin = :origin;

-- name: origin_candidates
SELECT n.chunk, n.key, n.name, n.kind, n.type, n.description, n.about, n.alias_of, n.reason, n.extractor
FROM weft.candidate AS n
WHERE n.namespace = :namespace AND n.origin = :origin AND n.origin <> '';

-- name: origin_stated_relations
SELECT c.chunk, c.source, c.target, c.type, c.weight, c.description, c.extractor FROM weft.stated_relation AS c
WHERE c.namespace = :namespace AND c.origin = :origin AND c.origin <> '';

-- name: write_candidate
INSERT INTO weft.candidate
    (namespace, chunk, document, origin, key, name, kind, vote, rank, type, description, about, alias_of, reason, extractor)
VALUES (
    :namespace, :chunk, :document, :origin, :key, :name, :kind, :vote, :rank, :type, :description, :about, :alias_of,
    :reason, :extractor
)
ON CONFLICT (namespace, chunk, key, kind, name, origin) DO NOTHING;

-- name: chunk_stated_relations
SELECT c.chunk, c.source, c.target, c.type, c.origin FROM weft.stated_relation AS c
WHERE c.namespace = :namespace AND c.chunk IN numbers(:chunks);

-- name: write_stated_relation
INSERT INTO weft.stated_relation (namespace, chunk, origin, source, target, type, weight, description, place, extractor)
VALUES (:namespace, :chunk, :origin, :source, :target, :type, :weight, :description, :place, :extractor)
ON CONFLICT (namespace, chunk, source, target, type, origin) DO UPDATE SET
    weight = excluded.weight, description = excluded.description, extractor = excluded.extractor;

-- name: key_votes
-- Votes for keys: any strong vote, weak votes of two documents, and whether a key is named in its own right.
SELECT k.value,
    EXISTS (SELECT 1 FROM weft.candidate AS n WHERE n.namespace = :namespace AND n.key = k.value AND n.vote = 2),
    (SELECT min(n.document) FROM weft.candidate AS n
     WHERE n.namespace = :namespace AND n.key = k.value AND n.vote = 1)
    IS DISTINCT FROM (
        SELECT max(n.document) FROM weft.candidate AS n
        WHERE n.namespace = :namespace AND n.key = k.value AND n.vote = 1
    ),
    EXISTS (
        SELECT 1 FROM weft.candidate AS n
        WHERE n.namespace = :namespace AND n.key = k.value AND n.vote = 2 AND n.alias_of = ''
            AND n.kind IN ('title', 'definition', 'field', 'given')
    )
FROM texts(:keys) AS k;

-- name: vague_names
-- Keys that are only possible spellings of one name and that are first words of other names.
SELECT k.value FROM texts(:keys) AS k
CROSS JOIN LATERAL (
    SELECT o.key FROM weft.candidate AS o
    WHERE o.namespace = :namespace AND o.key > k.value || ' ' AND o.key < k.value || '!'
        AND o.vote = 2 AND o.alias_of = '' AND o.kind IN ('title', 'definition', 'field', 'given')
        AND o.key NOT IN (
            SELECT n.alias_of FROM weft.candidate AS n
            WHERE n.namespace = :namespace AND n.key = k.value AND n.alias_of <> ''
        )
    ORDER BY o.key
    LIMIT 1
) AS other
LEFT JOIN LATERAL (
    SELECT n.key FROM weft.candidate AS n
    WHERE n.namespace = :namespace AND n.key = k.value AND n.alias_of <> '' AND n.vote > 0
    LIMIT 1
) AS certain ON TRUE
WHERE certain.key IS NULL;

-- name: key_aliases
-- First few alias targets of each key, by a skip scan that does not read every candidate.
WITH RECURSIVE said (key, alias_of, nth) AS (
    SELECT k.value, (
        SELECT min(n.alias_of) FROM weft.candidate AS n
        WHERE n.namespace = :namespace AND n.key = k.value AND n.alias_of >= '/' AND n.alias_of <> '' -- `!`: a link
    ), 1
    FROM texts(:keys) AS k
    UNION ALL
    SELECT said.key, (
        SELECT min(n.alias_of) FROM weft.candidate AS n
        WHERE n.namespace = :namespace AND n.key = said.key AND n.alias_of > said.alias_of AND n.alias_of <> ''
    ), said.nth + 1
    FROM said
    WHERE said.alias_of IS NOT NULL AND said.nth < :limit
)
SELECT said.key, said.alias_of, (
    SELECT min(n.reason) FROM weft.candidate AS n
    WHERE n.namespace = :namespace AND n.key = said.key AND n.alias_of = said.alias_of AND n.alias_of <> ''
)
FROM said
WHERE said.alias_of IS NOT NULL;

-- name: keys_by_letters
SELECT e.key FROM weft.entity AS e
WHERE e.namespace = :namespace AND e.letters IN texts(:letters);

-- name: write_entity
INSERT INTO weft.entity (namespace, id, key, strong, same_as, reason)
VALUES (:namespace, :id, :key, :strong, :same_as, :reason)
ON CONFLICT (namespace, key) DO UPDATE SET
    strong = excluded.strong, same_as = excluded.same_as, reason = excluded.reason;

-- name: write_heads
UPDATE weft.entity AS e SET head = h.head FROM (
    SELECT (j.value ->> 0)::bigint AS number, (j.value ->> 1)::bigint AS head
    FROM rows(:heads) AS j
) AS h
WHERE e.namespace = :namespace AND e.number = h.number AND e.head <> h.head;

-- name: named_beginnings
-- The same for all names that a question may contain: keys of entities and of facts.
SELECT k.value FROM texts(:pairs) AS k
LEFT JOIN LATERAL (
    SELECT e.key FROM weft.entity AS e
    WHERE e.namespace = :namespace AND e.key > k.value || ' ' AND e.key < k.value || '!'
    ORDER BY e.key
    LIMIT 1
) AS named ON TRUE
LEFT JOIN LATERAL (
    SELECT f.key FROM weft.fact_entity AS f
    WHERE f.namespace = :namespace AND f.key > k.value || ' ' AND f.key < k.value || '!'
    ORDER BY f.key
    LIMIT 1
) AS remembered ON TRUE
WHERE named.key IS NOT NULL OR remembered.key IS NOT NULL;

-- name: chunk_names
-- Keys that chunks propose, and whether they are subjects. Aliases of resolved links are statements of other documents.
SELECT n.chunk, n.key, bool_or(n.about) FROM weft.candidate AS n
WHERE n.namespace = :namespace AND n.origin NOT LIKE '@%' AND n.chunk IN numbers(:chunks)
GROUP BY n.chunk, n.key;

-- name: chunk_mentions
SELECT m.chunk, m.key, m.count, m.about, m.sentences FROM weft.mention AS m
WHERE m.namespace = :namespace AND m.chunk IN numbers(:chunks);

-- name: write_mention
INSERT INTO weft.mention (namespace, key, chunk, count, about, place, sentences)
VALUES (:namespace, :key, :chunk, :count, :about, :place, :sentences);

-- name: count_mentions
-- Changes of counts, also of names that are no entities yet.
INSERT INTO weft.mention_delta (namespace, key, mentions, chunks) VALUES (:namespace, :key, :mentions, :chunks);

-- name: fold_mentions
UPDATE weft.entity AS e SET mentions = e.mentions + d.mentions, chunks = e.chunks + d.chunks
FROM (
    SELECT p.key, sum(p.mentions) AS mentions, sum(p.chunks) AS chunks FROM weft.mention_delta AS p
    WHERE p.namespace = :namespace
    GROUP BY p.key
) AS d
WHERE e.namespace = :namespace AND e.key = d.key AND (d.mentions <> 0 OR d.chunks <> 0);

-- name: delete_mention_deltas
DELETE FROM weft.mention_delta WHERE namespace = :namespace;

-- name: count_new_entities
-- Counts that result in the number of rows after the pending changes.
UPDATE weft.entity AS e
SET mentions = found.mentions - coalesce(found.pending_mentions, 0),
    chunks = found.chunks - coalesce(found.pending_chunks, 0)
FROM (
    SELECT k.value AS key, stored.mentions, stored.chunks, pending.mentions AS pending_mentions,
        pending.chunks AS pending_chunks
    FROM texts(:keys) AS k
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(m.count), 0) AS mentions, count(*) AS chunks FROM weft.mention AS m
        WHERE m.namespace = :namespace AND m.key = k.value
    ) AS stored
    CROSS JOIN LATERAL (
        SELECT sum(p.mentions) AS mentions, sum(p.chunks) AS chunks FROM weft.mention_delta AS p
        WHERE p.namespace = :namespace AND p.key = k.value
    ) AS pending
) AS found
WHERE e.namespace = :namespace AND e.key = found.key;

-- name: pair_support
-- For pairs of entities: the largest weight of their stated relations, NULL without one.
SELECT s.number, t.number, p.value ->> 2, s.key, t.key, (
    SELECT max(c.weight) FROM weft.stated_relation AS c
    WHERE c.namespace = :namespace AND c.source = s.key AND c.target = t.key AND c.type = p.value ->> 2
)
FROM rows(:pairs) AS p
CROSS JOIN LATERAL (  -- LIMIT keeps the join order
    SELECT e.number, e.key FROM weft.entity AS e WHERE e.namespace = :namespace AND e.key = p.value ->> 0 LIMIT 1
) AS s
CROSS JOIN LATERAL (
    SELECT e.number, e.key FROM weft.entity AS e WHERE e.namespace = :namespace AND e.key = p.value ->> 1 LIMIT 1
) AS t;

-- name: stated_relations_of_keys
-- Stated relations of new entities.
SELECT c.source, c.target, c.type FROM weft.stated_relation AS c
WHERE c.namespace = :namespace AND c.source IN texts(:keys)
UNION
SELECT c.source, c.target, c.type FROM weft.stated_relation AS c
WHERE c.namespace = :namespace AND c.target IN texts(:keys);

-- name: delete_relation
DELETE FROM weft.relation AS r
WHERE r.namespace = :namespace AND r.source = :source AND r.target = :target AND r.type = :type;

-- name: write_relation
INSERT INTO weft.relation AS r (namespace, source, target, type, weight, place)
VALUES (:namespace, :source, :target, :type, :weight, :place)
ON CONFLICT (namespace, source, target, type) DO UPDATE SET weight = excluded.weight
WHERE r.weight <> excluded.weight;

-- name: write_entity_vector
INSERT INTO weft.entity_vector (namespace, chunk, key, model, vector)
VALUES (:namespace, :chunk, :key, :model, :vector::vector)
ON CONFLICT (namespace, model, chunk, key) DO UPDATE SET vector = excluded.vector;

-- name: keys_by_id
SELECT e.id, e.key FROM weft.entity AS e
WHERE e.namespace = :namespace AND e.id IN texts(:ids);

-- name: known_entities
-- For each key: its entity, number of mentioning chunks under all names, number of defining chunks up to a limit, and
-- whether facts name it; then, without an id, the names known only from facts.
SELECT e.key, h.id, h.strong, found.chunks, found.defining_chunks, found.remembered
FROM weft.entity AS e JOIN weft.entity AS h ON h.namespace = :namespace AND h.number = e.head
CROSS JOIN LATERAL (
    SELECT
        (SELECT sum(o.chunks + coalesce((
            SELECT sum(p.chunks) FROM weft.mention_delta AS p WHERE p.namespace = :namespace AND p.key = o.key
         ), 0))::bigint
         FROM weft.entity AS o WHERE o.namespace = :namespace AND o.head = h.number) AS chunks,
        (SELECT count(DISTINCT a.chunk)
         FROM weft.entity AS o CROSS JOIN LATERAL (
             SELECT m.chunk FROM weft.mention AS m
             WHERE m.namespace = :namespace AND m.key = o.key AND m.about
             LIMIT :max_defining
         ) AS a
         WHERE o.namespace = :namespace AND o.head = h.number) AS defining_chunks,
        EXISTS (
            SELECT 1 FROM weft.fact_entity AS f WHERE f.namespace = :namespace AND f.key = e.key
        ) AS remembered
) AS found
WHERE e.namespace = :namespace AND e.key IN texts(:keys)
UNION ALL
SELECT f.key, NULL, TRUE, 0, 0, TRUE
FROM weft.fact_entity AS f
WHERE f.namespace = :namespace AND f.key IN texts(:keys)
    AND NOT EXISTS (SELECT 1 FROM weft.entity AS e WHERE e.namespace = :namespace AND e.key = f.key);

-- part: best_name(key)
coalesce(
    (SELECT d.value FROM weft.edit AS d
     WHERE d.namespace = :namespace AND d.kind = 'rename' AND d.key = {key} ORDER BY d.value LIMIT 1),
    (SELECT n.name FROM weft.candidate AS n
     WHERE n.namespace = :namespace AND n.key = {key} ORDER BY n.rank, n.name LIMIT 1),
    {key}
)

-- name: entity_names
SELECT h.id, {best_name(h.key)}
FROM weft.entity AS e JOIN weft.entity AS h ON h.namespace = :namespace AND h.number = e.head
WHERE e.namespace = :namespace AND e.id IN texts(:ids);

-- name: entity_cards
-- For each key and each id: its entity and the aliases of that, in order. The description is the first one; if a model
-- wrote any, the others are returned too, for merging.
SELECT e.key, e.id, h.id, h.key, h.strong, h.mentions + pending.mentions, h.chunks + pending.chunks,
    {best_name(h.key)},
    coalesce((SELECT n.type FROM weft.candidate AS n
        WHERE n.namespace = :namespace AND n.key = h.key AND n.type <> '' ORDER BY n.rank, n.type LIMIT 1), ''),
    coalesce((SELECT n.description FROM weft.candidate AS n
        WHERE n.namespace = :namespace AND n.key = h.key AND n.description <> ''
        ORDER BY n.rank, n.description LIMIT 1), ''),
    CASE WHEN EXISTS (
        SELECT 1 FROM weft.candidate AS n WHERE n.namespace = :namespace AND n.key = h.key AND n.extractor <> ''
    ) THEN coalesce((SELECT json_agg(json_build_array(d.rank, d.description, d.extractor)) FROM (
        SELECT n.rank, n.description, n.extractor FROM weft.candidate AS n
        WHERE n.namespace = :namespace AND n.key = h.key AND n.description <> ''
        ORDER BY n.rank, n.description
        LIMIT :limit
    ) AS d), '[]')::text END,
    coalesce((SELECT json_agg(json_build_array(o.name, o.reason, o.mentions, o.chunks) ORDER BY o.key) FROM (
        SELECT other.key, other.reason, other.mentions + changed.mentions AS mentions,
            other.chunks + changed.chunks AS chunks, coalesce(
            (SELECT n.name FROM weft.candidate AS n
             WHERE n.namespace = :namespace AND n.key = other.key ORDER BY n.rank, n.name LIMIT 1),
            (SELECT d.value FROM weft.edit AS d
             WHERE d.namespace = :namespace AND d.kind = 'rename' AND d.key = other.key ORDER BY d.value LIMIT 1),
            other.key
        ) AS name
        FROM weft.entity AS other
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(p.mentions), 0)::bigint AS mentions, coalesce(sum(p.chunks), 0)::bigint AS chunks
            FROM weft.mention_delta AS p WHERE p.namespace = :namespace AND p.key = other.key
        ) AS changed
        WHERE other.namespace = :namespace AND other.head = h.number AND other.number <> h.number
    ) AS o), '[]')::text
FROM weft.entity AS e JOIN weft.entity AS h ON h.namespace = :namespace AND h.number = e.head
CROSS JOIN LATERAL (
    SELECT coalesce(sum(p.mentions), 0)::bigint AS mentions, coalesce(sum(p.chunks), 0)::bigint AS chunks
    FROM weft.mention_delta AS p WHERE p.namespace = :namespace AND p.key = h.key
) AS pending
WHERE e.namespace = :namespace AND (
    e.key IN texts(:keys)
    OR e.id IN texts(:ids)
);

-- name: entity_extractors
-- Extractors of entities under any name: each model by a skip scan; the rules if among the first candidates.
WITH RECURSIVE named (id, key) AS (
    SELECT h.id, e.key FROM texts(:ids) AS k
    JOIN weft.entity AS h ON h.namespace = :namespace AND h.id = k.value
    JOIN weft.entity AS e ON e.namespace = :namespace AND e.head = h.number
),
said (id, key, extractor) AS (
    SELECT named.id, named.key, (
        SELECT min(n.extractor) FROM weft.candidate AS n
        WHERE n.namespace = :namespace AND n.key = named.key AND n.extractor <> ''
    )
    FROM named
    UNION ALL
    SELECT said.id, said.key, (
        SELECT min(n.extractor) FROM weft.candidate AS n
        WHERE n.namespace = :namespace AND n.key = said.key AND n.extractor > said.extractor AND n.extractor <> ''
    )
    FROM said
    WHERE said.extractor IS NOT NULL
)
SELECT said.id, said.extractor FROM said WHERE said.extractor IS NOT NULL
UNION
SELECT named.id, '' FROM named WHERE EXISTS (
    SELECT 1 FROM (
        SELECT n.extractor FROM weft.candidate AS n WHERE n.namespace = :namespace AND n.key = named.key
        ORDER BY n.rank, n.name
        LIMIT :limit
    ) AS first
    WHERE first.extractor = ''
);

-- name: other_spelling
-- First name other than `name` by which links refer to a key.
SELECT coalesce(
    (SELECT min(n.name) FROM weft.candidate AS n
     WHERE n.namespace = :namespace AND n.key = :key AND n.rank = :rank AND n.name < :name),
    (SELECT min(n.name) FROM weft.candidate AS n
     WHERE n.namespace = :namespace AND n.key = :key AND n.rank = :rank AND n.name > :name)
);

-- name: other_names
SELECT e.key FROM weft.entity AS e
WHERE e.namespace = :namespace AND e.same_as <> e.key AND e.same_as IN texts(:keys);

-- part: link_columns()
g.id, g.subject, g.predicate, g.object, g.confidence, g.created

-- part: best_facts(end)
SELECT a.* FROM ({valid_facts({link_columns()}, {end}, e.key, :looks)}) AS a
ORDER BY a.confidence DESC, a.created DESC, a.id
LIMIT :looks::bigint

-- part: chunks_of_key()
e.chunks + coalesce((
    SELECT sum(p.chunks) FROM weft.mention_delta AS p WHERE p.namespace = :namespace AND p.key = e.key
), 0)::bigint

-- name: links_of
-- For many entities, given by id or by the key of a name: each name, the name of the entity, the strongest chunks that state
-- it, the strongest relations in both directions, and the facts between it and other entities, as JSON lists. One end of a
-- relation is the entity itself, so only the other end is looked up. Facts are those of highest confidence at a time, if it
-- is given. `alone` are keys of entities known only from facts; these have no id.
-- UNION, not UNION ALL, between facts: one from a name to itself is found from both ends and must count once.
SELECT e.id, e.key, {best_name(e.head_key)}, {chunks_of_key()}, e.strong, mentioned.mentions, related.relations, stated.facts
FROM (
    SELECT h.id, h.key AS head_key, n.number, n.key, n.chunks, n.strong
    FROM weft.entity AS h JOIN weft.entity AS n ON n.namespace = :namespace AND n.head = h.number
    WHERE h.namespace = :namespace AND (
        h.id IN texts(:ids)
        OR h.number = ANY (ARRAY(
            SELECT a.head FROM weft.entity AS a
            WHERE a.namespace = :namespace AND a.key IN texts(:keys)
        ))
    )
    UNION ALL
    SELECT NULL, NULL, NULL, k.value, 0, FALSE FROM texts(:alone) AS k
) AS e
CROSS JOIN LATERAL (
    SELECT coalesce(
        json_agg(json_build_array(c.id, m.count, m.about) ORDER BY m.about DESC, m.count DESC, m.place, m.chunk), '[]'
    )::text AS mentions
    FROM (
        SELECT i.chunk, i.count, i.about, i.place FROM weft.mention AS i
        WHERE i.namespace = :namespace AND i.key = e.key
        ORDER BY i.about DESC, i.count DESC, i.place, i.chunk
        LIMIT :mentions
    ) AS m JOIN weft.chunk AS c ON c.namespace = :namespace AND c.number = m.chunk
) AS mentioned
CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(
        CASE WHEN r.outgoing
            THEN json_build_array(e.id, th.id, r.type, r.weight)
            ELSE json_build_array(th.id, e.id, r.type, r.weight)
        END
    ), '[]')::text AS relations
    FROM (
        (
            SELECT TRUE AS outgoing, o.target AS other, o.type, o.weight FROM weft.relation AS o
            WHERE o.namespace = :namespace AND o.source = e.number AND o.weight >= :weight::double precision
            ORDER BY o.weight DESC, o.place, o.target, o.type
            LIMIT :relations
        )
        UNION ALL
        (
            SELECT FALSE AS outgoing, i.source AS other, i.type, i.weight FROM weft.relation AS i
            WHERE i.namespace = :namespace AND i.target = e.number AND i.weight >= :weight::double precision
            ORDER BY i.weight DESC, i.place, i.source, i.type
            LIMIT :relations
        )
    ) AS r
    JOIN weft.entity AS t ON t.namespace = :namespace AND t.number = r.other
    JOIN weft.entity AS th ON th.namespace = :namespace AND th.number = t.head
) AS related
CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(
        json_build_array(sh.id, f.subject, th.id, f.object, f.predicate, f.confidence, f.created, f.id)
    ), '[]')::text AS facts
    FROM (
        (
            {best_facts(subject)}
        )
        UNION
        (
            {best_facts(object)}
        )
    ) AS f
    LEFT JOIN weft.entity AS s ON s.namespace = :namespace AND s.key = f.subject
    LEFT JOIN weft.entity AS sh ON sh.namespace = :namespace AND sh.number = s.head
    LEFT JOIN weft.entity AS t ON t.namespace = :namespace AND t.key = f.object
    LEFT JOIN weft.entity AS th ON th.namespace = :namespace AND th.number = t.head
    WHERE f.object <> ''
) AS stated;

-- name: definitions
-- For each name of many entities: the name of the entity, its strongest defining chunk with the number of mentions and the
-- document, and those of `hits` that are in this document.
WITH near AS MATERIALIZED (
    SELECT i.id, i.document FROM weft.chunk AS i
    WHERE i.namespace = :namespace AND i.id IN texts(:hits)
)
SELECT h.id, {best_name(h.key)}, (
    SELECT json_build_array(
        c.id, m.count, d.id, coalesce((SELECT json_agg(near.id) FROM near WHERE near.document = c.document), '[]')
    )::text
    FROM (
        SELECT i.chunk, i.count FROM weft.mention AS i
        WHERE i.namespace = :namespace AND i.key = e.key AND i.about
        ORDER BY i.count DESC, i.place, i.chunk
        LIMIT 1
    ) AS m
    JOIN weft.chunk AS c ON c.namespace = :namespace AND c.number = m.chunk
    JOIN weft.document AS d ON d.namespace = :namespace AND d.number = c.document
)
FROM weft.entity AS h JOIN weft.entity AS e ON e.namespace = :namespace AND e.head = h.number
WHERE h.namespace = :namespace AND h.id IN texts(:ids);

-- name: candidate_texts
-- Of chunks that may mention a name, given by its position, the first by id: the text, and the longer names in it with
-- their number of mentions.
SELECT first.at, c.id, c.text, coalesce((
    SELECT json_agg(json_build_array(m.key, m.count))
    FROM weft.mention AS m JOIN weft.entity AS e ON e.namespace = :namespace AND e.key = m.key
    WHERE m.namespace = :namespace AND m.chunk = c.number AND m.sentences <> 0 AND m.key <> first.key
        AND strpos(m.key, first.key) > 0
), '[]')::text
FROM (
    SELECT (j.value ->> 0)::integer AS at, j.value ->> 1 AS key, i.number,
        row_number() OVER (PARTITION BY j.value ->> 0 ORDER BY i.id) AS nth
    FROM rows(:candidates) AS j
    JOIN weft.chunk AS i ON i.namespace = :namespace AND i.number = (j.value ->> 2)::bigint
) AS first
JOIN weft.chunk AS c ON c.namespace = :namespace AND c.number = first.number
WHERE first.nth <= :limit;

-- part: strongest_mentions(key)
SELECT i.chunk, i.about, i.sentences FROM weft.mention AS i
WHERE i.namespace = :namespace AND i.key = {key}
ORDER BY i.about DESC, i.count DESC, i.place, i.chunk
LIMIT :chunks

-- part: own_chunks()
own AS MATERIALIZED (
    SELECT h.id, h.number AS head, e.key, b.chunk, b.about, b.sentences
    FROM weft.entity AS h JOIN weft.entity AS e ON e.namespace = :namespace AND e.head = h.number
    CROSS JOIN LATERAL (
        {strongest_mentions(e.key)}
    ) AS b
    WHERE h.namespace = :namespace AND h.id IN texts(:ids)
)

-- part: co_occurrence_counts()
-- Shared chunks that mention both in a sentence, that are about the first alone, and about the other alone.
count(*) FILTER (WHERE m.sentences & own.sentences <> 0),
    count(*) FILTER (WHERE own.about AND NOT m.about), count(*) FILTER (WHERE m.about AND NOT own.about)

-- name: co_occurrences
-- Entities in the strongest chunks of each name of an entity: the number of these chunks that mention both in a sentence,
-- that are about the first alone, and about the other alone.
WITH {own_chunks()}
SELECT own.id, own.key, oh.id, o.key, {co_occurrence_counts()}
FROM own JOIN weft.mention AS m ON m.namespace = :namespace AND m.chunk = own.chunk AND m.key <> own.key
JOIN weft.entity AS o ON o.namespace = :namespace AND o.key = m.key
JOIN weft.entity AS oh ON oh.namespace = :namespace AND oh.number = o.head AND oh.number <> own.head
GROUP BY own.id, own.key, oh.id, o.key;

-- name: co_occurrences_with
-- The same for the entities of two lists.
WITH {own_chunks()}, far AS MATERIALIZED (
    SELECT h.id, h.number AS head, e.key
    FROM weft.entity AS h JOIN weft.entity AS e ON e.namespace = :namespace AND e.head = h.number
    WHERE h.namespace = :namespace AND h.id IN texts(:others)
)
SELECT own.id, own.key, far.id, far.key, {co_occurrence_counts()}
FROM own JOIN far ON far.head <> own.head
JOIN weft.mention AS m ON m.namespace = :namespace AND m.chunk = own.chunk AND m.key = far.key
GROUP BY own.id, own.key, far.id, far.key;

-- part: named_pairs()
FROM (
    SELECT v.value ->> 0 AS place, sn.key AS source, tn.key AS target, v.value ->> 3 AS type
    FROM rows(:stated_relations) AS v
    JOIN weft.entity AS sh ON sh.namespace = :namespace AND sh.id = v.value ->> 1
    JOIN weft.entity AS sn ON sn.namespace = :namespace AND sn.head = sh.number
    JOIN weft.entity AS th ON th.namespace = :namespace AND th.id = v.value ->> 2
    JOIN weft.entity AS tn ON tn.namespace = :namespace AND tn.head = th.number
) AS w
ORDER BY w.place::integer, w.source, w.target

-- name: shared_chunks
-- For each position, ids of source and target, and derived type: of the strongest chunks of each name of the source, the
-- first by id that it is derived from, as a JSON list.
SELECT w.place, w.source, w.target, coalesce((
    SELECT json_agg(c.id) FROM (
        SELECT k.id
        FROM (
            {strongest_mentions(w.source)}
        ) AS a
        JOIN weft.mention AS b ON b.namespace = :namespace AND b.chunk = a.chunk AND b.key = w.target
        JOIN weft.chunk AS k ON k.namespace = :namespace AND k.number = a.chunk
        WHERE CASE w.type
            WHEN 'co_occurs_with' THEN a.sentences & b.sentences <> 0 ELSE a.about AND NOT b.about END
        ORDER BY k.id
        LIMIT :limit
    ) AS c
), '[]')::text
{named_pairs()};

-- name: mentions_in
-- For each chunk: its text, and its mentions as a JSON list, each with its key. Besides a mention: whether the entity may
-- be mentioned elsewhere and, if it is strong, whether it has a defining chunk. With `about`, only mentions in defining
-- chunks, without text.
SELECT c.id, CASE WHEN NOT :about THEN c.text END, coalesce((
    SELECT json_agg(json_build_array(
        h.id, c.id, m.count, m.about, e.chunks + pending.chunks, e.strong,
        e.chunks + pending.chunks > 1 OR EXISTS (
            SELECT 1 FROM weft.entity AS o JOIN weft.mention AS i ON i.namespace = :namespace AND i.key = o.key
            WHERE o.namespace = :namespace AND o.head = e.head AND o.number <> e.number
        ),
        m.about OR (e.strong AND EXISTS (
            SELECT 1 FROM weft.entity AS o
            JOIN weft.mention AS a ON a.namespace = :namespace AND a.key = o.key AND a.about
            WHERE o.namespace = :namespace AND o.head = e.head
        )), e.key
    ))
    FROM weft.mention AS m JOIN weft.entity AS e ON e.namespace = :namespace AND e.key = m.key
    JOIN weft.entity AS h ON h.namespace = :namespace AND h.number = e.head
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(p.chunks), 0)::bigint AS chunks FROM weft.mention_delta AS p
        WHERE p.namespace = :namespace AND p.key = e.key
    ) AS pending
    WHERE m.namespace = :namespace AND m.chunk = c.number AND (m.about OR NOT :about)
), '[]')::text
FROM weft.chunk AS c
WHERE c.namespace = :namespace AND c.id IN texts(:ids);

-- name: written_names
-- Strong entities with a defining chunk, of keys that a text may contain: chunks that state the name, and whether any chunk
-- states the entity.
SELECT e.key, h.id, {chunks_of_key()}, EXISTS (
    SELECT 1 FROM weft.entity AS o JOIN weft.mention AS i ON i.namespace = :namespace AND i.key = o.key
    WHERE o.namespace = :namespace AND o.head = e.head
)
FROM weft.entity AS e JOIN weft.entity AS h ON h.namespace = :namespace AND h.number = e.head
WHERE e.namespace = :namespace AND e.strong AND e.key IN texts(:keys)
    AND EXISTS (
        SELECT 1 FROM weft.entity AS o
        JOIN weft.mention AS a ON a.namespace = :namespace AND a.key = o.key AND a.about
        WHERE o.namespace = :namespace AND o.head = e.head
    );

-- name: relations_of_type
-- For each name, the strongest relations of one type: outgoing ones, then incoming ones.
SELECT outgoing.relations, incoming.relations, e.number
FROM weft.entity AS h JOIN weft.entity AS e ON e.namespace = :namespace AND e.head = h.number
CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(json_build_array(h.id, th.id, r.weight, r.place, r.target)), '[]')::text AS relations
    FROM (
        SELECT o.target, o.weight, o.place FROM weft.relation AS o
        WHERE o.namespace = :namespace AND o.source = e.number AND o.type = :type AND o.weight >= :weight::double precision
        ORDER BY o.weight DESC, o.place, o.target
        LIMIT :limit
    ) AS r
    JOIN weft.entity AS t ON t.namespace = :namespace AND t.number = r.target
    JOIN weft.entity AS th ON th.namespace = :namespace AND th.number = t.head
) AS outgoing
CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(json_build_array(sh.id, h.id, r.weight, r.place, r.source)), '[]')::text AS relations
    FROM (
        SELECT i.source, i.weight, i.place FROM weft.relation AS i
        WHERE i.namespace = :namespace AND i.target = e.number AND i.type = :type AND i.weight >= :weight::double precision
        ORDER BY i.weight DESC, i.place, i.source
        LIMIT :limit
    ) AS r
    JOIN weft.entity AS s ON s.namespace = :namespace AND s.number = r.source
    JOIN weft.entity AS sh ON sh.namespace = :namespace AND sh.number = s.head
) AS incoming
WHERE h.namespace = :namespace AND h.id IN texts(:ids);

-- name: relations_between
-- Relations under any name. Each pair is looked up, because a hub has too many relations to scan.
WITH named AS MATERIALIZED (
    SELECT h.id, e.number FROM weft.entity AS h JOIN weft.entity AS e ON e.namespace = :namespace AND e.head = h.number
    WHERE h.namespace = :namespace AND h.id IN texts(:ids)
)
SELECT s.id, t.id, r.type, r.weight
FROM weft.relation AS r JOIN named AS s ON s.number = r.source JOIN named AS t ON t.number = r.target
WHERE r.namespace = :namespace
    AND r.source = ANY (ARRAY(SELECT n.number FROM named AS n))
    AND r.target = ANY (ARRAY(SELECT n.number FROM named AS n));

-- name: relations_with
-- Relations under any name between one list of entities and another, in both directions.
WITH near AS MATERIALIZED (
    SELECT h.id, e.number FROM weft.entity AS h JOIN weft.entity AS e ON e.namespace = :namespace AND e.head = h.number
    WHERE h.namespace = :namespace AND h.id IN texts(:ids)
),
far AS MATERIALIZED (
    SELECT h.id, e.number FROM weft.entity AS h JOIN weft.entity AS e ON e.namespace = :namespace AND e.head = h.number
    WHERE h.namespace = :namespace AND h.id IN texts(:others)
)
SELECT s.id, t.id, r.type, r.weight
FROM weft.relation AS r JOIN near AS s ON s.number = r.source JOIN far AS t ON t.number = r.target
WHERE r.namespace = :namespace
    AND r.source = ANY (ARRAY(SELECT n.number FROM near AS n))
    AND r.target = ANY (ARRAY(SELECT n.number FROM far AS n))
UNION
SELECT s.id, t.id, r.type, r.weight
FROM weft.relation AS r JOIN far AS s ON s.number = r.source JOIN near AS t ON t.number = r.target
WHERE r.namespace = :namespace
    AND r.source = ANY (ARRAY(SELECT n.number FROM far AS n))
    AND r.target = ANY (ARRAY(SELECT n.number FROM near AS n));

-- name: relation_stated_relations
-- For each position, ids of source and target, and type: the stated relations of largest weight for each pair of names, as a JSON
-- list.
-- Stated relations are selected before their chunks are looked up, including ties with the last one.
SELECT w.place, w.source, w.target, coalesce((
    SELECT json_agg(json_build_array(c.weight, c.id, c.description, c.extractor)) FROM (
        SELECT m.weight, k.id, m.description, m.extractor
        FROM (
            SELECT o.chunk, o.origin, o.description, o.weight, o.place, o.extractor FROM weft.stated_relation AS o
            WHERE o.namespace = :namespace AND o.source = w.source AND o.target = w.target
                AND o.type = w.type
            ORDER BY o.weight DESC, o.place
            FETCH FIRST (:limit::bigint) ROWS WITH TIES
        ) AS m JOIN weft.chunk AS k ON k.namespace = :namespace AND k.number = m.chunk
        ORDER BY m.weight DESC, m.place, k.id, m.origin
        LIMIT :limit::bigint
    ) AS c
), '[]')::text
{named_pairs()};

-- name: unembedded_entities
SELECT c.id, n.key, n.name, n.description
FROM weft.candidate AS n JOIN weft.chunk AS c ON c.namespace = :namespace AND c.number = n.chunk
WHERE n.namespace = :namespace AND n.vote = 2 AND n.description <> ''
    AND NOT EXISTS (
        SELECT 1 FROM weft.entity_vector AS v
        JOIN weft.model AS m ON m.namespace = :namespace AND m.number = v.model
        WHERE v.namespace = :namespace AND v.chunk = n.chunk AND v.key = n.key AND m.fingerprint = :fingerprint
    )
ORDER BY c.id, n.key, n.rank, n.name, n.description
LIMIT :limit;

-- name: write_entity_vector_by_id
INSERT INTO weft.entity_vector (namespace, chunk, key, model, vector)
SELECT c.namespace, c.number, :key::text, :model::bigint, :vector::vector FROM weft.chunk AS c
WHERE c.namespace = :namespace AND c.id = :id
ON CONFLICT (namespace, model, chunk, key) DO UPDATE SET vector = excluded.vector;

-- name: count_relations
SELECT count(*) FROM weft.relation AS r WHERE r.namespace = :namespace;

-- name: count_types
-- Number of entities of each type, without types of aliases only.
SELECT n.type, count(DISTINCT e.head)
FROM weft.candidate AS n JOIN weft.entity AS e ON e.namespace = :namespace AND e.key = n.key
WHERE n.namespace = :namespace AND n.type <> '' AND n.alias_of = ''
GROUP BY n.type
ORDER BY n.type;

-- name: count_stated
-- Number of stated relations of each type. One index scan.
SELECT c.type, count(*) FROM (
    SELECT DISTINCT s.head AS source, t.head AS target, o.type AS type
    FROM weft.stated_relation AS o
    JOIN weft.entity AS s ON s.namespace = :namespace AND s.key = o.source
    JOIN weft.entity AS t ON t.namespace = :namespace AND t.key = o.target
    WHERE o.namespace = :namespace AND s.head <> t.head
) AS c
GROUP BY c.type
ORDER BY c.type;

-- name: sample_types
-- The same among entities whose id, a digest, is below a bound: a random sample. Index lookups.
SELECT n.type, count(DISTINCT h.number)
FROM weft.entity AS h
JOIN weft.entity AS e ON e.namespace = :namespace AND e.head = h.number
JOIN weft.candidate AS n ON n.namespace = :namespace AND n.key = e.key AND n.type <> '' AND n.alias_of = ''
WHERE h.namespace = :namespace AND h.id < 'e' || :below
GROUP BY n.type
ORDER BY n.type;

-- name: sample_stated
-- Stated relations whose source is in that sample.
SELECT c.type, count(*) FROM (
    SELECT DISTINCT h.number AS source, t.head AS target, o.type AS type
    FROM weft.entity AS h
    JOIN weft.entity AS s ON s.namespace = :namespace AND s.head = h.number
    JOIN weft.stated_relation AS o ON o.namespace = :namespace AND o.source = s.key
    JOIN weft.entity AS t ON t.namespace = :namespace AND t.key = o.target
    WHERE h.namespace = :namespace AND h.id < 'e' || :below AND t.head <> h.number
) AS c
GROUP BY c.type
ORDER BY c.type;

-- name: has_entities
SELECT EXISTS (SELECT 1 FROM weft.entity AS e WHERE e.namespace = :namespace AND e.same_as = e.key AND e.strong);

-- name: top_entities
-- The best of those without pending changes, by an index, and all others.
SELECT t.key FROM (
    (
        SELECT e.key, e.chunks FROM weft.entity AS e
        WHERE e.namespace = :namespace AND e.same_as = e.key AND e.strong AND NOT EXISTS (
            SELECT 1 FROM weft.mention_delta AS p WHERE p.namespace = :namespace AND p.key = e.key
        )
        ORDER BY e.chunks DESC, e.key
        LIMIT :limit
    )
    UNION ALL
    SELECT c.key, c.chunks + d.chunks FROM (
        SELECT p.key, sum(p.chunks) AS chunks FROM weft.mention_delta AS p WHERE p.namespace = :namespace GROUP BY p.key
    ) AS d
    JOIN weft.entity AS c ON c.namespace = :namespace AND c.key = d.key AND c.same_as = c.key AND c.strong
) AS t
ORDER BY t.chunks DESC, t.key
LIMIT :limit;

-- name: delete_entity_vectors
-- Deletes vectors of names that the document no longer describes, unless an import describes them.
DELETE FROM weft.entity_vector AS v
WHERE v.namespace = :namespace AND v.chunk = :chunk
    AND v.key NOT IN (SELECT k.value FROM texts(:keys) AS k)
    AND v.key NOT IN (
        SELECT n.key FROM weft.candidate AS n
        WHERE n.namespace = :namespace AND n.chunk = :chunk AND n.origin <> '' AND n.description <> ''
    );

-- name: delete_annotated_vectors
DELETE FROM weft.entity_vector AS v
WHERE v.namespace = :namespace AND v.chunk = :chunk
    AND v.key NOT IN (
        SELECT n.key FROM weft.candidate AS n
        WHERE n.namespace = :namespace AND n.chunk = :chunk AND n.origin = '' AND n.description <> ''
    );
