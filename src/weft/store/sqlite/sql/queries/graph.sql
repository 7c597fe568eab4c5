-- Entities, mentions, relations, candidates and stated relations.

-- name: write_names
-- Gives new keys a number. Pairs of a key and its spelling, or NULL.
INSERT INTO name (namespace, key, spelling) SELECT :namespace, value ->> 0, value ->> 1 FROM json_each(:keys)
RETURNING key, number, spelling;

-- name: name_numbers
SELECT w.key, w.number, w.spelling FROM json_each(:keys) AS k CROSS JOIN name AS w ON w.namespace = :namespace AND w.key = k.value;

-- name: delete_unused_names
DELETE FROM name
WHERE namespace = :namespace AND key IN (SELECT value FROM json_each(:keys))
    AND NOT EXISTS (SELECT 1 FROM entity WHERE number = name.number)
    AND NOT EXISTS (SELECT 1 FROM candidate WHERE key = name.number)
    AND NOT EXISTS (SELECT 1 FROM stated_relation WHERE source = name.number)
    AND NOT EXISTS (SELECT 1 FROM stated_relation WHERE target = name.number);

-- name: document_candidates
SELECT w.key FROM chunk AS c JOIN candidate AS n ON n.chunk = c.number JOIN name AS w ON w.number = n.key
WHERE c.namespace = :namespace AND c.document = :document AND n.origin = '';

-- name: chunk_keys
SELECT DISTINCT w.key FROM candidate AS n JOIN name AS w ON w.number = n.key WHERE n.chunk = :chunk;

-- name: origin_keys
SELECT DISTINCT w.key FROM candidate AS n JOIN name AS w ON w.number = n.key
WHERE n.chunk = :chunk AND n.origin = :origin;

-- name: origin_candidates
SELECT n.chunk, w.key, coalesce(n.name, w.spelling), n.kind, n.type, n.description, n.about, n.alias_of, n.reason, n.extractor
FROM candidate AS n JOIN name AS w ON w.number = n.key
WHERE n.namespace = :namespace AND n.origin = :origin AND n.origin <> '';

-- name: origin_stated_relations
SELECT c.chunk, s.key, t.key, c.type, c.weight, c.description, c.extractor
FROM stated_relation AS c JOIN name AS s ON s.number = c.source JOIN name AS t ON t.number = c.target
WHERE c.namespace = :namespace AND c.origin = :origin AND c.origin <> '';

-- name: write_candidate
-- `key` is a number, `code` that of a kind; a name that is the spelling of the key is NULL. A candidate that the chunk has
-- already keeps its place and is left as it is. A definition with the description of the title refers to it.
INSERT INTO candidate
    (chunk, place, namespace, document, origin, key, name, code, vote, rank, type, description, about, alias_of, reason,
    extractor)
SELECT
    :chunk, coalesce(
        (SELECT place FROM candidate
         WHERE chunk = :chunk AND key = :key AND code = :code AND name IS :name AND +origin = :origin),
        (SELECT max(place) + 1 FROM candidate WHERE chunk = :chunk AND key = :key),
        :place
    ), :namespace, :document, :origin, :key, :name, :code, :vote, :rank, :type, coalesce(
        (SELECT place FROM candidate
         WHERE chunk = :chunk AND key = :key AND kind = 'title' AND +origin = '' AND description = :description
             AND :code = 2 AND :origin = '' AND :description > ''),
        :description
    ), :about, :alias_of, :reason, :extractor
WHERE TRUE
ON CONFLICT (chunk, key, place) DO NOTHING;

-- name: write_new_candidate
-- The same for a chunk without stored candidates: the caller gives the place, and the place of the title as description.
INSERT INTO candidate
    (chunk, place, namespace, document, origin, key, name, code, vote, rank, type, description, about, alias_of, reason,
    extractor)
VALUES (
    :chunk, :place, :namespace, :document, :origin, :key, :name, :code, :vote, :rank, :type, :description, :about,
    :alias_of, :reason, :extractor
)
ON CONFLICT (chunk, key, place) DO NOTHING;

-- name: chunk_stated_relations
SELECT c.chunk, s.key, t.key, c.type, c.origin FROM json_each(:chunks) AS k CROSS JOIN stated_relation AS c ON c.chunk = k.value
CROSS JOIN name AS s ON s.number = c.source CROSS JOIN name AS t ON t.number = c.target;

-- name: write_stated_relation
-- `source` and `target` are numbers of keys.
INSERT INTO stated_relation (namespace, chunk, origin, source, target, type, weight, description, place, extractor)
VALUES (:namespace, :chunk, :origin, :source, :target, :type, :weight, :description, :place, :extractor)
ON CONFLICT (chunk, source, target, type, origin) DO UPDATE SET
    weight = excluded.weight, description = excluded.description, extractor = excluded.extractor;

-- name: key_votes
-- Votes for keys: any strong vote; without one, weak votes of two documents; whether a key is named in its own right.
-- Weak votes have rank 5 or 6, so other candidates of the key are not read.
SELECT k.value,
    EXISTS (SELECT 1 FROM candidate INDEXED BY candidate_strong WHERE key = w.number AND vote = 2) AS strong,
    CASE WHEN NOT EXISTS (SELECT 1 FROM candidate INDEXED BY candidate_strong WHERE key = w.number AND vote = 2)
        THEN EXISTS (
            SELECT 1 FROM candidate AS n
            WHERE n.key = w.number AND n.rank IN (5, 6) AND n.vote = 1 AND n.document <> (
                SELECT document FROM candidate WHERE key = w.number AND rank IN (5, 6) AND vote = 1 LIMIT 1
            )
        )
        ELSE FALSE
    END,
    EXISTS (
        SELECT 1 FROM candidate INDEXED BY candidate_strong
        WHERE key = w.number AND vote = 2 AND alias_of = '' AND code IN (1, 2, 16, 17) -- title, definition, field, given
    )
FROM json_each(:keys) AS k LEFT JOIN name AS w ON w.namespace = :namespace AND w.key = k.value;

-- name: vague_names
-- Keys that are only possible spellings of one name and that are first words of other names.
SELECT k.value FROM json_each(:keys) AS k CROSS JOIN name AS w ON w.namespace = :namespace AND w.key = k.value
WHERE EXISTS (
    SELECT 1 FROM name AS longer CROSS JOIN candidate AS o INDEXED BY candidate_strong
        ON o.key = longer.number AND o.vote = 2 AND o.alias_of = '' AND o.code IN (1, 2, 16, 17)
    WHERE longer.namespace = :namespace AND longer.key > k.value || ' ' AND longer.key < k.value || '!'
        AND longer.key NOT IN (SELECT n.alias_of FROM candidate AS n WHERE n.key = w.number AND n.alias_of <> '')
) AND NOT EXISTS (
    SELECT 1 FROM candidate INDEXED BY candidate_alias WHERE key = w.number AND alias_of <> '' AND vote > 0
);

-- name: key_aliases
-- First few alias targets of each key, by a skip scan that does not read every candidate.
WITH RECURSIVE said (key, number, alias_of, nth) AS (
    SELECT k.value, w.number, (
        SELECT min(alias_of) FROM candidate
        WHERE key = w.number AND alias_of >= '/' AND alias_of <> '' -- `!`: a link
    ), 1
    FROM json_each(:keys) AS k CROSS JOIN name AS w ON w.namespace = :namespace AND w.key = k.value
    UNION ALL
    SELECT said.key, said.number, (
        SELECT min(alias_of) FROM candidate
        WHERE key = said.number AND alias_of > said.alias_of AND alias_of <> ''
    ), said.nth + 1
    FROM said
    WHERE said.alias_of IS NOT NULL AND said.nth < :limit
)
SELECT said.key, said.alias_of, (
    SELECT min(reason) FROM candidate WHERE key = said.number AND alias_of = said.alias_of AND alias_of <> ''
)
FROM said
WHERE said.alias_of IS NOT NULL;

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

-- name: write_heads
UPDATE entity SET head = j.value ->> 1 FROM json_each(:heads) AS j
WHERE entity.number = j.value ->> 0 AND +entity.namespace = :namespace AND entity.head <> j.value ->> 1;

-- name: named_beginnings
-- The same for all names that a question may contain: keys of entities and of facts.
SELECT k.value FROM json_each(:pairs) AS k
WHERE EXISTS (
    SELECT 1 FROM entity WHERE namespace = :namespace AND key > k.value || ' ' AND key < k.value || '!'
) OR EXISTS (
    SELECT 1 FROM fact_entity WHERE namespace = :namespace AND key > k.value || ' ' AND key < k.value || '!'
);

-- name: chunk_names
-- Keys that chunks propose, and whether they are subjects. Aliases of resolved links are statements of other documents.
SELECT n.chunk, w.key, max(n.about) FROM json_each(:chunks) AS k
CROSS JOIN candidate AS n ON n.chunk = k.value CROSS JOIN name AS w ON w.number = n.key
WHERE n.origin NOT LIKE '@%'
GROUP BY n.chunk, n.key;

-- name: chunk_mentions
SELECT m.chunk, w.key, m.count, m.about, m.sentences FROM json_each(:chunks) AS k
CROSS JOIN mention AS m ON m.chunk = k.value CROSS JOIN name AS w ON w.number = m.key;

-- name: write_mention
INSERT INTO mention (key, chunk, count, about, place, sentences)
VALUES (:key, :chunk, :count, :about, :place, :sentences);

-- name: count_mentions
-- `key` is a number, also of a name that is no entity.
UPDATE entity SET mentions = mentions + :mentions, chunks = chunks + :chunks
WHERE number = :key AND namespace = :namespace;

-- name: count_new_entities
UPDATE entity SET (mentions, chunks) = (
    SELECT coalesce(sum(m.count), 0), count(*) FROM mention AS m WHERE m.key = entity.number
)
WHERE namespace = :namespace AND key IN (SELECT value FROM json_each(:keys));

-- name: pair_support
-- For pairs of entities: the largest weight of their stated relations, NULL without one.
SELECT s.number, t.number, p.type, s.key, t.key,
    (SELECT max(weight) FROM stated_relation INDEXED BY stated_relation_by_pair
     WHERE source = s.number AND target = t.number AND type = p.type)
FROM (
    SELECT value ->> 0 AS source, value ->> 1 AS target, value ->> 2 AS type FROM json_each(:pairs)
) AS p
CROSS JOIN entity AS s ON s.namespace = :namespace AND s.key = p.source  -- CROSS keeps the join order
CROSS JOIN entity AS t ON t.namespace = :namespace AND t.key = p.target;

-- name: stated_relations_of_keys
-- Stated relations of new entities.
SELECT w.key, t.key, c.type FROM json_each(:keys) AS k
CROSS JOIN name AS w ON w.namespace = :namespace AND w.key = k.value
CROSS JOIN stated_relation AS c ON c.source = w.number CROSS JOIN name AS t ON t.number = c.target
UNION
SELECT s.key, w.key, c.type FROM json_each(:keys) AS k
CROSS JOIN name AS w ON w.namespace = :namespace AND w.key = k.value
CROSS JOIN stated_relation AS c ON c.target = w.number CROSS JOIN name AS s ON s.number = c.source;

-- name: delete_relation
DELETE FROM relation WHERE source = :source AND target = :target AND type = :type;

-- name: write_relation
INSERT INTO relation (source, target, type, weight, place) VALUES (:source, :target, :type, :weight, :place)
ON CONFLICT (source, target, type) DO UPDATE SET weight = excluded.weight WHERE weight <> excluded.weight;

-- name: write_entity_vector
INSERT INTO entity_vector (chunk, key, model, vector) VALUES (:chunk, :key, :model, :vector)
ON CONFLICT (model, chunk, key) DO UPDATE SET vector = excluded.vector;

-- name: keys_by_id
SELECT id, key FROM entity
WHERE namespace = :namespace AND hash IN (SELECT unhex(substr(value, 2)) FROM json_each(:ids));

-- name: known_entities
-- For each key: its entity, number of mentioning chunks under all names, number of defining chunks up to a limit, and
-- whether facts name it; then, without an id, the names known only from facts.
SELECT e.key, h.id, h.strong,
    (SELECT sum(chunks) FROM entity WHERE head = h.number),
    (SELECT count(*) FROM (
        SELECT DISTINCT m.chunk FROM entity AS o CROSS JOIN mention AS m ON m.key = o.number AND m.about = 1
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

-- part: best_name(key, number)
coalesce(
    (SELECT value FROM edit WHERE namespace = :namespace AND kind = 'rename' AND key = {key} LIMIT 1),
    (SELECT name FROM best_name WHERE key = {number}),
    {key}
)

-- name: entity_names
SELECT h.id, {best_name(h.key, h.number)}
FROM entity AS e JOIN entity AS h ON h.number = e.head
WHERE e.namespace = :namespace AND e.hash IN (SELECT unhex(substr(value, 2)) FROM json_each(:ids));

-- name: entity_cards
-- For each key and each id: its entity and the aliases of that, in order. The description is the first one; if a model
-- wrote any, the others are returned too, for merging. Of descriptions with the same 48 characters, 64 are compared.
SELECT e.key, e.id, h.id, h.key, h.strong, h.mentions, h.chunks,
    {best_name(h.key, h.number)},
    coalesce((SELECT type FROM candidate
        WHERE key = h.number AND type <> '' ORDER BY rank, type LIMIT 1), ''),
    coalesce((SELECT description FROM (
        SELECT rank, description FROM candidate WHERE key = h.number AND description > ''
        ORDER BY rank, substr(description, 1, 48) LIMIT 64
    ) ORDER BY rank, description LIMIT 1), ''),
    CASE WHEN EXISTS (SELECT 1 FROM candidate WHERE key = h.number AND extractor <> '') THEN (
        SELECT json_group_array(json_array(d.rank, d.description, d.extractor)) FROM (
            SELECT rank, description, extractor FROM (
                SELECT rank, description, extractor FROM candidate WHERE key = h.number AND description > ''
                ORDER BY rank, substr(description, 1, 48) LIMIT 64
            )
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
FROM (
    SELECT number FROM json_each(:keys) CROSS JOIN entity ON namespace = :namespace AND entity.key = value
    UNION
    SELECT number FROM json_each(:ids) CROSS JOIN entity ON namespace = :namespace AND hash = unhex(substr(value, 2))
) AS k
CROSS JOIN entity AS e ON e.number = k.number
CROSS JOIN entity AS h ON h.number = e.head;

-- name: entity_extractors
-- Extractors of entities under any name: each model by a skip scan; the rules if among the first candidates.
WITH RECURSIVE named (id, number) AS (
    SELECT h.id, e.number FROM entity AS h JOIN entity AS e ON e.head = h.number
    WHERE h.namespace = :namespace AND h.hash IN (SELECT unhex(substr(value, 2)) FROM json_each(:ids))
),
said (id, number, extractor) AS (
    SELECT id, number, (
        SELECT min(extractor) FROM candidate INDEXED BY candidate_by_extractor
        WHERE key = named.number AND extractor <> ''
    )
    FROM named
    UNION ALL
    SELECT said.id, said.number, (
        SELECT min(extractor) FROM candidate INDEXED BY candidate_by_extractor
        WHERE key = said.number AND extractor > said.extractor AND extractor <> ''
    )
    FROM said
    WHERE said.extractor IS NOT NULL
)
SELECT id, extractor FROM said WHERE extractor IS NOT NULL
UNION
SELECT id, '' FROM named WHERE '' IN (
    SELECT extractor FROM candidate WHERE key = named.number ORDER BY rank, name LIMIT :limit
);

-- name: other_spelling
-- First name other than `name` by which links refer to a key.
SELECT (
    SELECT min(n.name) FROM (
        SELECT min(name) AS name FROM candidate WHERE key = w.number AND rank = :rank AND name < :name
        UNION ALL
        SELECT min(name) FROM candidate WHERE key = w.number AND rank = :rank AND name > :name
        UNION ALL
        SELECT nullif(w.spelling, :name)
        WHERE EXISTS (SELECT 1 FROM candidate WHERE key = w.number AND rank = :rank AND name IS NULL)
    ) AS n
)
FROM name AS w
WHERE w.namespace = :namespace AND w.key = :key;

-- name: other_names
SELECT key FROM entity WHERE namespace = :namespace AND alias_of IN (SELECT value FROM json_each(:keys));

-- part: link_columns()
number, confidence, created, id

-- part: best_facts(end)
SELECT number FROM (
    {valid_facts({link_columns()}, {end}, e.key, :looks)} ORDER BY confidence DESC, created DESC, id LIMIT :looks
)

-- name: links_of
-- For many entities, given by id or by the key of a name: each name, the name of the entity, the strongest chunks that state
-- it, the strongest relations in both directions, and the facts between it and other entities, as JSON lists. One end of a
-- relation is the entity itself, so only the other end is looked up. Facts are those of highest confidence at a time, if it
-- is given. `alone` are keys of entities known only from facts; these have no id.
SELECT e.id, e.key, {best_name(e.head_key, e.head)}, e.chunks, e.strong, (
    SELECT json_group_array(json_array(c.id, m.count, m.about))
    FROM (
        SELECT chunk, count, about FROM mention WHERE key = e.number
        ORDER BY about DESC, count DESC, place, chunk
        LIMIT :mentions
    ) AS m CROSS JOIN chunk AS c ON c.number = m.chunk
), (
    SELECT json_group_array(iif(
        r.outgoing, json_array(e.id, oh.id, r.type, r.weight), json_array(oh.id, e.id, r.type, r.weight)
    ))
    FROM (
        SELECT * FROM (
            SELECT 1 AS outgoing, target AS other, weight, type FROM relation
            WHERE source = e.number AND weight >= :weight
            ORDER BY weight DESC, place, target, type
            LIMIT :relations
        )
        UNION ALL
        SELECT * FROM (
            SELECT 0, source, weight, type FROM relation
            WHERE target = e.number AND weight >= :weight
            ORDER BY weight DESC, place, source, type
            LIMIT :relations
        )
    ) AS r
    CROSS JOIN entity AS o ON o.number = r.other CROSS JOIN entity AS oh ON oh.number = o.head
), CASE WHEN :at IS NULL THEN '[]' ELSE (
    SELECT json_group_array(
        json_array(sh.id, f.subject, th.id, f.object, f.predicate, f.confidence, f.created, f.id)
    )
    FROM fact AS f
    LEFT JOIN entity AS s ON s.namespace = :namespace AND s.key = f.subject LEFT JOIN entity AS sh ON sh.number = s.head
    LEFT JOIN entity AS t ON t.namespace = :namespace AND t.key = f.object LEFT JOIN entity AS th ON th.number = t.head
    WHERE f.object <> '' AND f.number IN (
        {best_facts(subject)}
        UNION ALL
        {best_facts(object)}
    )
) END
FROM (
    SELECT h.id, h.number AS head, h.key AS head_key, n.number, n.key, n.chunks, n.strong
    FROM entity AS h JOIN entity AS n ON n.head = h.number
    WHERE h.number IN (
        SELECT number FROM entity
        WHERE namespace = :namespace AND hash IN (SELECT unhex(substr(value, 2)) FROM json_each(:ids))
        UNION ALL
        SELECT head FROM entity WHERE namespace = :namespace AND key IN (SELECT value FROM json_each(:keys))
    )
    UNION ALL
    SELECT NULL, NULL, NULL, NULL, value, 0, 0 FROM json_each(:alone)
) AS e;

-- name: definitions
-- For each name of many entities: the name of the entity, its strongest defining chunk with the number of mentions and the
-- document, and those of `hits` that are in this document.
WITH near AS MATERIALIZED (
    SELECT c.id, c.document FROM json_each(:hits) AS k CROSS JOIN chunk AS c ON c.namespace = :namespace AND c.id = k.value
)
SELECT h.id, {best_name(h.key, h.number)}, (
    SELECT json_array(c.id, m.count, d.id, json((SELECT json_group_array(near.id) FROM near WHERE near.document = c.document)))
    FROM (
        SELECT chunk, count FROM mention WHERE key = e.number AND about = 1 ORDER BY count DESC, place, chunk LIMIT 1
    ) AS m CROSS JOIN chunk AS c ON c.number = m.chunk CROSS JOIN document AS d ON d.number = c.document
)
FROM entity AS h JOIN entity AS e ON e.head = h.number
WHERE h.namespace = :namespace AND h.hash IN (SELECT unhex(substr(value, 2)) FROM json_each(:ids));

-- name: candidate_texts
-- Of chunks that may mention a name, given by its position, the first by id: the text, and the longer names in it with
-- their number of mentions.
SELECT k.at, c.id, unpack_text(c.text), (
    SELECT json_group_array(json_array(e.key, m.count)) FROM mention AS m CROSS JOIN entity AS e ON e.number = m.key
    WHERE m.chunk = c.number AND m.sentences <> 0 AND e.key <> k.key AND instr(e.key, k.key)
)
FROM (
    SELECT j.value ->> 0 AS at, j.value ->> 1 AS key, i.number,
        row_number() OVER (PARTITION BY j.value ->> 0 ORDER BY i.id) AS nth
    FROM json_each(:candidates) AS j
    CROSS JOIN chunk AS i ON i.number = j.value ->> 2 AND i.namespace = :namespace
) AS k
CROSS JOIN chunk AS c ON c.number = k.number
WHERE k.nth <= :limit;

-- part: strongest_mentions(number)
SELECT chunk, about, sentences FROM mention
WHERE key = {number}
ORDER BY about DESC, count DESC, place, chunk
LIMIT :chunks

-- part: co_occurrences_in_own_chunks()
-- Shared chunks that mention both in a sentence, that are about the first alone, and about the other alone.
SELECT h.id, e.key, oh.id, o.key,
    sum(m.sentences & (own.value ->> 2) <> 0), sum((own.value ->> 1) AND NOT m.about), sum(m.about AND NOT (own.value ->> 1))
FROM entity AS h CROSS JOIN entity AS e ON e.head = h.number
CROSS JOIN json_each((
    SELECT json_group_array(json_array(b.chunk, b.about, b.sentences)) FROM (
        {strongest_mentions(e.number)}
    ) AS b
)) AS own

-- name: co_occurrences
-- Entities in the strongest chunks of each name of an entity: the number of these chunks that mention both in a sentence,
-- that are about the first alone, and about the other alone.
{co_occurrences_in_own_chunks()}
CROSS JOIN mention AS m ON m.chunk = own.value ->> 0 AND m.key <> e.number
CROSS JOIN entity AS o ON o.number = m.key CROSS JOIN entity AS oh ON oh.number = o.head AND oh.number <> h.number
WHERE h.namespace = :namespace AND h.hash IN (SELECT unhex(substr(value, 2)) FROM json_each(:ids))
GROUP BY e.number, o.number;

-- name: co_occurrences_with
-- The same for the entities of two lists.
{co_occurrences_in_own_chunks()}
CROSS JOIN entity AS oh ON oh.namespace = :namespace AND oh.number <> h.number
    AND oh.hash IN (SELECT unhex(substr(value, 2)) FROM json_each(:others))
CROSS JOIN entity AS o ON o.head = oh.number
CROSS JOIN mention AS m ON m.chunk = own.value ->> 0 AND m.key = o.number
WHERE h.namespace = :namespace AND h.hash IN (SELECT unhex(substr(value, 2)) FROM json_each(:ids))
GROUP BY e.number, o.number;

-- part: named_pairs()
FROM (
    SELECT value ->> 0 AS place, s.key AS source, t.key AS target, value ->> 3 AS type,
        s.number AS from_number, t.number AS to_number
    FROM json_each(:stated_relations)
    CROSS JOIN entity AS sh ON sh.namespace = :namespace AND sh.hash = unhex(substr(value ->> 1, 2))
    CROSS JOIN entity AS s ON s.head = sh.number
    CROSS JOIN entity AS th ON th.namespace = :namespace AND th.hash = unhex(substr(value ->> 2, 2))
    CROSS JOIN entity AS t ON t.head = th.number
    ORDER BY 1, 2, 3
) AS w

-- name: shared_chunks
-- For each position, ids of source and target, and derived type: of the strongest chunks of each name of the source, the
-- first by id that it is derived from, as a JSON list.
SELECT w.place, w.source, w.target, (
    SELECT json_group_array(c.id) FROM (
        SELECT k.id
        FROM (
            {strongest_mentions(w.from_number)}
        ) AS a
        CROSS JOIN mention AS b ON b.chunk = a.chunk AND b.key = w.to_number
        CROSS JOIN chunk AS k ON k.number = a.chunk
        WHERE CASE w.type WHEN 'co_occurs_with' THEN a.sentences & b.sentences <> 0 ELSE a.about AND NOT b.about END
        ORDER BY k.id
        LIMIT :limit
    ) AS c
)
{named_pairs()};

-- name: mentions_in
-- For each chunk: its text, and its mentions as a JSON list, each with its key. Besides a mention: whether the entity may
-- be mentioned elsewhere and, if it is strong, whether it has a defining chunk. With `about`, only mentions in defining
-- chunks, without text.
SELECT c.id, iif(:about, NULL, unpack_text(c.text)), (
    SELECT json_group_array(json_array(
        CASE WHEN e.head = e.number THEN e.id ELSE (SELECT id FROM entity WHERE number = e.head) END, c.id,
        m.count, m.about, e.chunks, e.strong,
        CASE WHEN e.chunks > 1 THEN 1 ELSE EXISTS (
            SELECT 1 FROM entity AS o WHERE o.head = e.head AND o.number <> e.number AND o.chunks > 0
        ) END,
        CASE
            WHEN m.about THEN 1
            WHEN NOT e.strong THEN 0
            WHEN EXISTS (SELECT 1 FROM mention WHERE key = e.head AND about = 1) THEN 1
            ELSE EXISTS (
                SELECT 1 FROM entity AS o JOIN mention AS a ON a.key = o.number AND a.about = 1
                WHERE o.head = e.head AND o.number <> e.head
            )
        END, e.key
    ))
    FROM mention AS m CROSS JOIN entity AS e ON e.number = m.key
    WHERE m.chunk = c.number AND (m.about OR NOT :about)
)
FROM chunk AS c
WHERE c.namespace = :namespace AND c.id IN (SELECT value FROM json_each(:ids));

-- name: written_names
-- Strong entities with a defining chunk, of keys that a text may contain: chunks that state the name, and whether any chunk
-- states the entity.
SELECT e.key, h.id, e.chunks, EXISTS (SELECT 1 FROM entity AS o WHERE o.head = e.head AND o.chunks > 0)
FROM json_each(:keys) AS k
CROSS JOIN entity AS e ON e.namespace = :namespace AND e.key = k.value AND e.strong
CROSS JOIN entity AS h ON h.number = e.head
WHERE EXISTS (
    SELECT 1 FROM entity AS o CROSS JOIN mention AS a ON a.key = o.number AND a.about = 1 WHERE o.head = e.head
);

-- name: relations_of_type
-- For each name, the strongest relations of one type: outgoing ones, then incoming ones.
SELECT
    (
        SELECT json_group_array(json_array(h.id, oh.id, r.weight, r.place, r.target))
        FROM (
            SELECT target, weight, place FROM relation
            WHERE source = e.number AND type = :type AND weight >= :weight
            ORDER BY weight DESC, place, target
            LIMIT :limit
        ) AS r
        CROSS JOIN entity AS o ON o.number = r.target CROSS JOIN entity AS oh ON oh.number = o.head
    ),
    (
        SELECT json_group_array(json_array(oh.id, h.id, r.weight, r.place, r.source))
        FROM (
            SELECT source, weight, place FROM relation
            WHERE target = e.number AND type = :type AND weight >= :weight
            ORDER BY weight DESC, place, source
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

-- name: relation_stated_relations
-- For each position, ids of source and target, and type: the stated relations of largest weight for each pair of names, as a JSON
-- list.
SELECT w.place, w.source, w.target, (
    SELECT json_group_array(json_array(c.weight, c.id, c.description, c.extractor)) FROM (
        SELECT stated_relation.weight, k.id, stated_relation.description, stated_relation.extractor
        FROM stated_relation INDEXED BY stated_relation_by_pair JOIN chunk AS k ON k.number = stated_relation.chunk
        WHERE stated_relation.source = w.from_number AND stated_relation.target = w.to_number AND stated_relation.type = w.type
        ORDER BY stated_relation.weight DESC, stated_relation.place, k.id, stated_relation.origin
        LIMIT :limit
    ) AS c
)
{named_pairs()};

-- name: unembedded_entities
SELECT c.id, w.key, coalesce(n.name, w.spelling), n.description
FROM chunk AS c CROSS JOIN candidate AS n ON n.chunk = c.number CROSS JOIN name AS w ON w.number = n.key
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

-- name: count_relations
SELECT count(*) FROM entity AS e JOIN relation AS r ON r.source = e.number WHERE e.namespace = :namespace;

-- name: count_types
-- Number of entities of each type, without types of aliases only. One index scan.
SELECT n.type, count(DISTINCT e.head)
FROM candidate AS n INDEXED BY candidate_with_type JOIN entity AS e ON e.number = n.key
WHERE n.namespace = :namespace AND n.type <> '' AND n.alias_of = ''
GROUP BY n.type
ORDER BY n.type;

-- name: count_stated
-- Number of stated relations of each type. One index scan over stated relations.
SELECT c.type, count(*) FROM (
    SELECT DISTINCT s.head AS source, t.head AS target, stated_relation.type AS type
    FROM stated_relation INDEXED BY stated_relation_by_pair
    CROSS JOIN entity AS s ON s.number = stated_relation.source CROSS JOIN entity AS t ON t.number = stated_relation.target
    WHERE s.namespace = :namespace AND s.head <> t.head
) AS c
GROUP BY c.type
ORDER BY c.type;

-- name: sample_types
-- The same among entities whose hash is below a bound: a random sample. Index lookups.
SELECT n.type, count(DISTINCT h.number)
FROM entity AS h CROSS JOIN entity AS e ON e.head = h.number CROSS JOIN candidate AS n ON n.key = e.number
WHERE h.namespace = :namespace AND h.hash < unhex(:below) AND n.type <> '' AND n.alias_of = ''
GROUP BY n.type
ORDER BY n.type;

-- name: sample_stated
-- Stated relations whose source is in that sample.
SELECT c.type, count(*) FROM (
    SELECT DISTINCT h.number AS source, t.head AS target, o.type AS type
    FROM entity AS h CROSS JOIN entity AS s ON s.head = h.number CROSS JOIN stated_relation AS o ON o.source = s.number
    CROSS JOIN entity AS t ON t.number = o.target
    WHERE h.namespace = :namespace AND h.hash < unhex(:below) AND t.head <> h.number
) AS c
GROUP BY c.type
ORDER BY c.type;

-- name: has_entities
SELECT EXISTS (SELECT 1 FROM entity WHERE namespace = :namespace AND alias_of IS NULL AND strong);

-- name: top_entities
SELECT key FROM entity WHERE namespace = :namespace AND alias_of IS NULL AND strong ORDER BY chunks DESC, key LIMIT :limit;

-- name: delete_entity_vectors
-- Deletes vectors of names that the document no longer describes, unless an import describes them.
DELETE FROM entity_vector
WHERE chunk = :chunk AND key NOT IN (SELECT value FROM json_each(:keys))
    AND key NOT IN (
        SELECT w.key FROM candidate AS n JOIN name AS w ON w.number = n.key
        WHERE n.chunk = :chunk AND n.origin <> '' AND n.description > ''
    );

-- name: delete_annotated_vectors
DELETE FROM entity_vector
WHERE chunk = :chunk
    AND key NOT IN (
        SELECT w.key FROM candidate AS n JOIN name AS w ON w.number = n.key
        WHERE n.chunk = :chunk AND n.origin = '' AND n.description > ''
    );
