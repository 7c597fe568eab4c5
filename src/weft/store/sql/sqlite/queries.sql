-- Placeholders are SQLite's named style, :name. `namespace` is the namespace's number; every statement
-- that touches user data is bound to it, directly or through a number that was looked up under it.

-- name: find_namespace
SELECT number, generation, chunks, length FROM namespace WHERE name = :name;

-- name: write_namespace
INSERT INTO namespace (name) VALUES (:name) ON CONFLICT (name) DO NOTHING;

-- name: touch_namespace
UPDATE namespace
SET generation = generation + 1, chunks = chunks + :chunks, length = length + :length
WHERE number = :namespace;

-- name: list_namespaces
SELECT name FROM namespace AS n
WHERE EXISTS (SELECT 1 FROM document WHERE namespace = n.number) OR EXISTS (SELECT 1 FROM fact WHERE namespace = n.number)
ORDER BY name;

-- name: all_namespaces
SELECT number, name, chunks, length FROM namespace ORDER BY number;

-- name: delete_namespace
DELETE FROM namespace WHERE name = :name;

-- name: write_document
INSERT INTO document (namespace, id, source, title, metadata, content_hash, unit)
VALUES (:namespace, :id, :source, :title, :metadata, :content_hash, :unit)
ON CONFLICT (namespace, id) DO UPDATE SET
    source = excluded.source, title = excluded.title, metadata = excluded.metadata,
    content_hash = excluded.content_hash, unit = excluded.unit
RETURNING number;

-- name: document_number
SELECT number FROM document WHERE namespace = :namespace AND id = :id;

-- name: delete_document
DELETE FROM document WHERE namespace = :namespace AND number = :document;

-- name: delete_labels
DELETE FROM label WHERE namespace = :namespace AND document = :document;

-- name: write_label
INSERT INTO label (namespace, document, key, value) VALUES (:namespace, :document, :key, :value);

-- name: documents_by_id
SELECT d.id, d.source, d.title, d.metadata, d.content_hash, d.unit,
    (SELECT count(*) FROM chunk WHERE chunk.document = d.number)
FROM document AS d
WHERE d.namespace = :namespace AND d.id IN (SELECT value FROM json_each(:ids));

-- name: find_documents
SELECT d.id, d.source, d.title, d.metadata, d.content_hash, d.unit,
    (SELECT count(*) FROM chunk WHERE chunk.document = d.number)
FROM document AS d
WHERE d.namespace = :namespace
    AND d.source > :after
    AND (:all_documents OR d.id IN (SELECT value FROM json_each(:documents)))
    AND substr(d.source, 1, length(:prefix)) = :prefix
    AND NOT EXISTS (
        SELECT 1 FROM json_each(:labels) AS wanted
        WHERE NOT EXISTS (
            SELECT 1 FROM label
            WHERE label.namespace = :namespace AND label.document = d.number
                AND label.key = wanted.value ->> 0 AND label.value = wanted.value ->> 1
        )
    )
ORDER BY d.source
LIMIT :limit;

-- name: filter_chunks
SELECT c.number FROM document AS d JOIN chunk AS c ON c.document = d.number
WHERE d.namespace = :namespace
    AND (:all_documents OR d.id IN (SELECT value FROM json_each(:documents)))
    AND substr(d.source, 1, length(:prefix)) = :prefix
    AND NOT EXISTS (
        SELECT 1 FROM json_each(:labels) AS wanted
        WHERE NOT EXISTS (
            SELECT 1 FROM label
            WHERE label.namespace = :namespace AND label.document = d.number
                AND label.key = wanted.value ->> 0 AND label.value = wanted.value ->> 1
        )
    );

-- name: document_chunks
SELECT number, id, terms, length FROM chunk WHERE namespace = :namespace AND document = :document;

-- name: write_chunk
INSERT INTO chunk (namespace, document, id, ordinal, heading, start_line, end_line, text, terms, length)
VALUES (:namespace, :document, :id, :ordinal, :heading, :start_line, :end_line, :text, :terms, :length)
RETURNING number;

-- name: move_chunk
UPDATE chunk
SET ordinal = :ordinal, heading = :heading, start_line = :start_line, end_line = :end_line, text = :text,
    terms = :terms, length = :length
WHERE namespace = :namespace AND number = :number;

-- name: delete_chunk
DELETE FROM chunk WHERE namespace = :namespace AND number = :number;

-- name: chunks_by_id
SELECT c.id, d.id, c.ordinal, c.heading, c.start_line, c.end_line, c.text
FROM chunk AS c JOIN document AS d ON d.number = c.document
WHERE c.namespace = :namespace AND c.id IN (SELECT value FROM json_each(:ids));

-- name: sample_chunks
SELECT c.id, d.id, c.ordinal, c.heading, c.start_line, c.end_line, c.text
FROM chunk AS c JOIN document AS d ON d.number = c.document
WHERE c.namespace = :namespace
ORDER BY c.id
LIMIT :limit;

-- name: chunks_by_document
SELECT c.id, d.id, c.ordinal, c.heading, c.start_line, c.end_line, c.text
FROM chunk AS c JOIN document AS d ON d.number = c.document
WHERE d.namespace = :namespace AND d.id = :id
ORDER BY c.ordinal;

-- name: chunk_ids
SELECT c.number, c.id FROM json_each(:numbers) AS k
CROSS JOIN chunk AS c ON c.number = k.value AND c.namespace = :namespace; -- CROSS: look up these, not all

-- name: list_models
SELECT number, name, fingerprint, dimension, active FROM model WHERE namespace = :namespace
ORDER BY active DESC, fingerprint;

-- name: write_model
INSERT INTO model (namespace, name, fingerprint, dimension, active)
VALUES (:namespace, :name, :fingerprint, :dimension, 0)
ON CONFLICT (namespace, fingerprint) DO UPDATE SET name = excluded.name
RETURNING number;

-- name: delete_other_models
DELETE FROM model WHERE namespace = :namespace AND number <> :model;

-- name: activate_model
UPDATE model SET active = 1 WHERE namespace = :namespace AND number = :model;

-- name: find_calibration
SELECT c.value FROM namespace AS n JOIN calibration AS c ON c.namespace = n.number
WHERE n.name = :name AND c.model IS (SELECT number FROM model WHERE namespace = n.number AND active);

-- name: write_calibration
INSERT INTO calibration (namespace, model, value)
VALUES (:namespace, (SELECT number FROM model WHERE namespace = :namespace AND active), :value);

-- name: delete_calibration
DELETE FROM calibration WHERE namespace = :namespace;

-- name: delete_other_calibration
DELETE FROM calibration WHERE namespace = :namespace AND model IS NOT :model;

-- name: write_vector
INSERT INTO chunk_vector (chunk, model, vector) VALUES (:chunk, :model, :vector)
ON CONFLICT (model, chunk) DO UPDATE SET vector = excluded.vector;

-- name: write_vector_by_id
INSERT INTO chunk_vector (chunk, model, vector)
SELECT number, :model, :vector FROM chunk WHERE namespace = :namespace AND id = :id
ON CONFLICT (model, chunk) DO UPDATE SET vector = excluded.vector;

-- name: find_unembedded
SELECT c.id FROM chunk AS c
WHERE c.namespace = :namespace AND NOT EXISTS (
    SELECT 1 FROM chunk_vector AS v JOIN model AS m ON m.number = v.model
    WHERE v.chunk = c.number AND m.namespace = :namespace AND m.fingerprint = :fingerprint
)
ORDER BY c.id
LIMIT :limit;

-- name: search_vector
-- The mean and the deviation of all cosines come with the best ones; the join is left to those that can win.
WITH scored AS MATERIALIZED (
    SELECT chunk AS number, 1.0 - vec_distance_cosine(vector, :vector) AS score
    FROM chunk_vector
    WHERE model = :model
), allowed AS MATERIALIZED (
    SELECT number, score FROM scored
    WHERE :everything OR number IN (SELECT value FROM json_each(:numbers))
), least (score) AS (
    SELECT score FROM allowed ORDER BY score DESC LIMIT 1 OFFSET :limit - 1
), spread (mean, squares, compared) AS (
    SELECT avg(score), avg(score * score), count(*) FROM scored
)
SELECT c.id, a.score, spread.mean, spread.squares, spread.compared
FROM allowed AS a JOIN chunk AS c ON c.number = a.number, spread
WHERE c.namespace = :namespace AND a.score >= coalesce((SELECT score FROM least), -2)
ORDER BY a.score DESC, c.id
LIMIT :limit;

-- name: all_vectors
SELECT chunk, vector FROM chunk_vector WHERE model = :model;

-- name: count_vectors
SELECT count(*) FROM chunk_vector WHERE model = :model;

-- name: read_posting
SELECT entries FROM posting WHERE namespace = :namespace AND term = :term AND block = :block;

-- name: write_posting
INSERT INTO posting (namespace, term, block, entries) VALUES (:namespace, :term, :block, :entries)
ON CONFLICT (namespace, term, block) DO UPDATE SET entries = excluded.entries;

-- name: delete_posting
DELETE FROM posting WHERE namespace = :namespace AND term = :term AND block = :block;

-- name: delete_postings
DELETE FROM posting WHERE namespace = :namespace;

-- name: term_postings
SELECT block, entries FROM posting WHERE namespace = :namespace AND term = :term ORDER BY block;

-- name: term_blocks
SELECT p.block, p.entries FROM json_each(:blocks) AS k
CROSS JOIN posting AS p ON p.namespace = :namespace AND p.term = :term AND p.block = k.value;

-- name: count_blocks
SELECT count(*) FROM (SELECT 1 FROM posting WHERE namespace = :namespace AND term = :term LIMIT :limit);

-- name: all_postings
SELECT term, block, entries FROM posting WHERE namespace = :namespace;

-- name: all_terms
SELECT number, terms, length FROM chunk WHERE namespace = :namespace;

-- name: set_counts
UPDATE namespace SET chunks = :chunks, length = :length, generation = generation + 1 WHERE number = :namespace;

-- name: count_documents
SELECT count(*) FROM document WHERE namespace = :namespace;

-- name: count_terms
SELECT count(DISTINCT term) FROM posting WHERE namespace = :namespace;

-- name: forget_content_hash
UPDATE document SET content_hash = '' WHERE namespace = :namespace AND id = :id;

-- name: all_chunks
SELECT d.id, d.title, c.id, c.ordinal, c.heading, c.text
FROM document AS d JOIN chunk AS c ON c.document = d.number
WHERE d.namespace = :namespace
ORDER BY d.number, c.ordinal;

-- name: bad_vectors
SELECT count(*) FROM chunk_vector AS v JOIN model AS m ON m.number = v.model
WHERE m.namespace = :namespace AND length(v.vector) <> 4 * m.dimension;

-- name: chunk_numbers
SELECT id, number, document FROM chunk WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids));

-- ── the graph ──────────────────────────────────────────────────────────────────────────────────

-- name: document_nominations
SELECT n.key FROM chunk AS c JOIN nomination AS n ON n.chunk = c.number
WHERE c.namespace = :namespace AND c.document = :document AND n.origin = '';

-- name: delete_nominations
DELETE FROM nomination
WHERE chunk IN (SELECT number FROM chunk WHERE namespace = :namespace AND document = :document) AND origin = '';

-- name: chunk_keys
SELECT DISTINCT key FROM nomination WHERE chunk = :chunk;

-- name: origin_keys
SELECT DISTINCT key FROM nomination WHERE chunk = :chunk AND origin = :origin;

-- name: origin_nominations
SELECT chunk, key, name, kind, type, description, about, alias_of, reason FROM nomination
WHERE namespace = :namespace AND origin = :origin AND origin <> '';

-- name: origin_claims
SELECT chunk, source, target, type, weight, description FROM claim
WHERE namespace = :namespace AND origin = :origin AND origin NOT IN ('', '*');

-- name: delete_origin
DELETE FROM nomination WHERE chunk = :chunk AND origin = :origin;

-- name: write_nomination
INSERT INTO nomination
    (namespace, chunk, document, origin, key, name, kind, vote, rank, type, description, about, alias_of, reason)
VALUES (
    :namespace, :chunk, :document, :origin, :key, :name, :kind, :vote, :rank, :type, :description, :about, :alias_of,
    :reason
)
ON CONFLICT (chunk, key, kind, name, origin) DO NOTHING;

-- name: chunk_claims
SELECT source, target, type, origin FROM claim WHERE chunk = :chunk;

-- name: write_claim
INSERT INTO claim (namespace, chunk, origin, source, target, type, weight, description, place)
VALUES (:namespace, :chunk, :origin, :source, :target, :type, :weight, :description, :place)
ON CONFLICT (chunk, source, target, type, origin) DO UPDATE SET
    weight = excluded.weight, description = excluded.description;

-- name: delete_claim
DELETE FROM claim
WHERE namespace = :namespace AND chunk = :chunk AND source = :source AND target = :target AND type = :type
    AND origin = :origin;

-- name: key_standings
-- Whether keys are entities: one strong vote, or weak votes of two documents; and whether in their own right.
SELECT k.value,
    EXISTS (SELECT 1 FROM nomination WHERE namespace = :namespace AND key = k.value AND vote = 2),
    (SELECT min(document) FROM nomination WHERE namespace = :namespace AND key = k.value AND vote = 1)
    IS NOT (SELECT max(document) FROM nomination WHERE namespace = :namespace AND key = k.value AND vote = 1),
    EXISTS (
        SELECT 1 FROM nomination INDEXED BY nomination_own
        WHERE namespace = :namespace AND key = k.value AND vote = 2 AND alias_of = ''
            AND kind IN ('title', 'definition', 'field', 'given')
    )
FROM json_each(:keys) AS k;

-- name: key_aliases
-- What keys are said to be other names of, the first few of each, from one to the next without reading all who say so.
WITH RECURSIVE said (key, alias_of, nth) AS (
    SELECT k.value, (
        SELECT min(alias_of) FROM nomination WHERE namespace = :namespace AND key = k.value AND alias_of <> ''
    ), 1
    FROM json_each(:keys) AS k
    UNION ALL
    SELECT said.key, (
        SELECT min(alias_of) FROM nomination
        WHERE namespace = :namespace AND key = said.key AND alias_of > said.alias_of AND alias_of <> ''
    ), said.nth + 1
    FROM said
    WHERE said.alias_of IS NOT NULL AND said.nth < :limit
)
SELECT said.key, said.alias_of, (
    SELECT min(reason) FROM nomination
    WHERE namespace = :namespace AND key = said.key AND alias_of = said.alias_of AND alias_of <> ''
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
INSERT INTO entity (namespace, id, key, strong, same_as, reason)
VALUES (:namespace, :id, :key, :strong, :same_as, :reason)
ON CONFLICT (namespace, key) DO UPDATE SET
    strong = excluded.strong, same_as = excluded.same_as, reason = excluded.reason;

-- name: write_head
UPDATE entity SET head = :head WHERE number = :number;

-- name: delete_entity
DELETE FROM entity WHERE namespace = :namespace AND key = :key;

-- name: known_keys
SELECT key, number FROM entity WHERE namespace = :namespace AND key IN (SELECT value FROM json_each(:keys));

-- name: chunk_texts
SELECT c.number, c.text, c.id FROM json_each(:chunks) AS k
CROSS JOIN chunk AS c ON c.number = k.value AND c.namespace = :namespace;

-- name: chunk_subjects
SELECT DISTINCT chunk, key FROM nomination WHERE chunk IN (SELECT value FROM json_each(:chunks)) AND about;

-- name: chunks_about
SELECT chunk FROM nomination WHERE namespace = :namespace AND key = :key AND about;

-- name: chunk_mentions
SELECT e.key, e.number, m.count, m.about FROM mention AS m JOIN entity AS e ON e.number = m.entity WHERE m.chunk = :chunk;

-- name: entity_chunks
SELECT chunk FROM mention WHERE entity = :entity;

-- name: delete_mention
DELETE FROM mention
WHERE entity = :entity AND about = :about AND count = :count AND place = :place AND chunk = :chunk;

-- name: write_mention
INSERT INTO mention (entity, chunk, count, about, place) VALUES (:entity, :chunk, :count, :about, :place);

-- name: count_mentions
UPDATE entity SET mentions = mentions + :mentions, chunks = chunks + :chunks WHERE number = :entity;

-- name: pair_support
-- For pairs of entities: how many chunks say so, counted to 256, and the largest weight anybody gave.
SELECT s.number, t.number, p.value ->> 2, s.key, t.key,
    (SELECT count(*) FROM (
        SELECT DISTINCT chunk FROM claim INDEXED BY claim_by_pair
        WHERE namespace = :namespace AND source = s.key AND target = t.key AND type = p.value ->> 2
        LIMIT 256
    )),
    (SELECT max(weight) FROM claim
     WHERE namespace = :namespace AND source = s.key AND target = t.key AND type = p.value ->> 2 AND origin <> '*')
FROM json_each(:pairs) AS p
CROSS JOIN entity AS s ON s.namespace = :namespace AND s.key = p.value ->> 0  -- CROSS keeps the order of the joins
CROSS JOIN entity AS t ON t.namespace = :namespace AND t.key = p.value ->> 1;

-- name: claims_of_keys
SELECT c.source, c.target, c.type FROM json_each(:keys) AS k
CROSS JOIN claim AS c ON c.namespace = :namespace AND c.source = k.value
UNION
SELECT c.source, c.target, c.type FROM json_each(:keys) AS k
CROSS JOIN claim AS c ON c.namespace = :namespace AND c.target = k.value;

-- name: delete_relation
DELETE FROM relation WHERE source = :source AND target = :target AND type = :type;

-- name: write_relation
INSERT INTO relation (source, target, type, weight, support, place)
VALUES (:source, :target, :type, :weight, :support, :place)
ON CONFLICT (source, target, type) DO UPDATE SET weight = excluded.weight, support = excluded.support
WHERE weight <> excluded.weight OR support <> excluded.support;

-- name: write_entity_vector
INSERT INTO entity_vector (chunk, key, model, vector) VALUES (:chunk, :key, :model, :vector)
ON CONFLICT (model, chunk, key) DO UPDATE SET vector = excluded.vector;

-- name: resolve_keys
SELECT key, same_as, number FROM entity WHERE namespace = :namespace AND key IN (SELECT value FROM json_each(:keys));

-- name: heads_of
SELECT e.key, h.key FROM entity AS e JOIN entity AS h ON h.number = e.head
WHERE e.namespace = :namespace AND e.key IN (SELECT value FROM json_each(:keys));

-- name: names_of
SELECT h.id, e.number FROM entity AS h JOIN entity AS e ON e.head = h.number
WHERE h.namespace = :namespace AND h.id IN (SELECT value FROM json_each(:ids))
ORDER BY e.key;

-- name: names_by_id
SELECT h.id, e.key FROM entity AS h JOIN entity AS e ON e.head = h.number
WHERE h.namespace = :namespace AND h.id IN (SELECT value FROM json_each(:ids))
ORDER BY e.key;

-- name: keys_by_id
SELECT id, key FROM entity WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids));

-- name: entity_cards
SELECT e.id, e.key, e.strong,
    coalesce(
        (SELECT value FROM edit WHERE namespace = e.namespace AND kind = 'rename' AND key = e.key LIMIT 1),
        (SELECT name FROM nomination WHERE namespace = e.namespace AND key = e.key ORDER BY rank, name LIMIT 1),
        e.key
    ),
    coalesce((SELECT type FROM nomination
        WHERE namespace = e.namespace AND key = e.key AND type <> '' ORDER BY rank, type LIMIT 1), ''),
    coalesce((SELECT description FROM nomination
        WHERE namespace = e.namespace AND key = e.key AND description <> '' ORDER BY rank, description LIMIT 1), '')
FROM entity AS e
WHERE e.namespace = :namespace AND e.key IN (SELECT value FROM json_each(:keys));

-- name: other_spelling
-- The first name by which others refer to a key that is not `name`.
SELECT coalesce(
    (SELECT min(name) FROM nomination WHERE namespace = :namespace AND key = :key AND rank = :rank AND name < :name),
    (SELECT min(name) FROM nomination WHERE namespace = :namespace AND key = :key AND rank = :rank AND name > :name)
);

-- name: other_names
SELECT key FROM entity WHERE namespace = :namespace AND same_as <> key AND same_as IN (SELECT value FROM json_each(:keys));

-- name: entity_numbers
SELECT h.key, e.key, e.mentions, e.chunks,
    coalesce((SELECT name FROM nomination WHERE namespace = e.namespace AND key = e.key ORDER BY rank, name LIMIT 1), e.key),
    e.reason
FROM entity AS h JOIN entity AS e ON e.head = h.number
WHERE h.namespace = :namespace AND h.key IN (SELECT value FROM json_each(:keys))
ORDER BY e.key;

-- name: mentions_of
-- One statement for a whole frontier: the strongest mentions under each name of each entity, as a JSON list.
SELECT h.id, e.chunks, e.strong, (
    SELECT json_group_array(json_array(c.id, m.count, m.about))
    FROM (
        SELECT chunk, count, about FROM mention WHERE entity = e.number
        ORDER BY about DESC, count DESC, place, chunk
        LIMIT :limit
    ) AS m JOIN chunk AS c ON c.number = m.chunk
)
FROM entity AS h JOIN entity AS e ON e.head = h.number
WHERE h.namespace = :namespace AND h.id IN (SELECT value FROM json_each(:ids));

-- name: mentions_in
SELECT c.id, h.id, m.count, m.about, e.chunks, e.strong
FROM chunk AS c JOIN mention AS m ON m.chunk = c.number
JOIN entity AS e ON e.number = m.entity JOIN entity AS h ON h.number = e.head
WHERE c.namespace = :namespace AND c.id IN (SELECT value FROM json_each(:ids));

-- name: relations_of
-- The same for relations, both directions.
SELECT (
    SELECT json_group_array(json_array(sh.id, th.id, r.type, r.weight))
    FROM (
        SELECT * FROM (
            SELECT source, target, type, weight FROM relation
            WHERE source = e.number AND weight >= :weight
                AND (:all_types OR type IN (SELECT value FROM json_each(:types)))
            ORDER BY weight DESC, place, target, type
            LIMIT :limit
        )
        UNION ALL
        SELECT * FROM (
            SELECT source, target, type, weight FROM relation
            WHERE target = e.number AND weight >= :weight
                AND (:all_types OR type IN (SELECT value FROM json_each(:types)))
            ORDER BY weight DESC, place, source, type
            LIMIT :limit
        )
    ) AS r
    JOIN entity AS s ON s.number = r.source JOIN entity AS sh ON sh.number = s.head
    JOIN entity AS t ON t.number = r.target JOIN entity AS th ON th.number = t.head
)
FROM entity AS h JOIN entity AS e ON e.head = h.number
WHERE h.namespace = :namespace AND h.id IN (SELECT value FROM json_each(:ids));

-- name: relations_of_type
-- Of each name, the strongest relations of one type, which is stated and not derived: those that go out, those that come in.
SELECT
    (
        SELECT json_group_array(json_array(sh.id, th.id, r.weight, r.place, r.target))
        FROM (
            SELECT source, target, weight, place FROM relation
            WHERE source = e.number AND type = :type AND type NOT IN ('co_occurs_with', 'mentions') AND weight >= :weight
            ORDER BY weight DESC, place, target
            LIMIT :limit
        ) AS r
        JOIN entity AS s ON s.number = r.source JOIN entity AS sh ON sh.number = s.head
        JOIN entity AS t ON t.number = r.target JOIN entity AS th ON th.number = t.head
    ),
    (
        SELECT json_group_array(json_array(sh.id, th.id, r.weight, r.place, r.source))
        FROM (
            SELECT source, target, weight, place FROM relation
            WHERE target = e.number AND type = :type AND type NOT IN ('co_occurs_with', 'mentions') AND weight >= :weight
            ORDER BY weight DESC, place, source
            LIMIT :limit
        ) AS r
        JOIN entity AS s ON s.number = r.source JOIN entity AS sh ON sh.number = s.head
        JOIN entity AS t ON t.number = r.target JOIN entity AS th ON th.number = t.head
    ),
    e.number
FROM entity AS h JOIN entity AS e ON e.head = h.number
WHERE h.namespace = :namespace AND h.id IN (SELECT value FROM json_each(:ids));

-- name: relations_between
SELECT source, target, type, weight FROM relation
WHERE source IN (SELECT value FROM json_each(:entities)) AND target IN (SELECT value FROM json_each(:entities));

-- name: relation_claims
SELECT k.id, k.text, claim.description, claim.weight FROM claim JOIN chunk AS k ON k.number = claim.chunk
WHERE claim.namespace = :namespace AND claim.source = :source AND claim.target = :target AND claim.type = :type
ORDER BY claim.weight DESC, claim.place, k.id, claim.origin
LIMIT :limit;

-- name: described_entities
SELECT v.key, v.vector FROM chunk AS c JOIN entity_vector AS v ON v.chunk = c.number AND v.model = :model
WHERE c.namespace = :namespace AND c.id IN (SELECT value FROM json_each(:ids));

-- name: unembedded_entities
SELECT c.id, n.key, n.name, n.description FROM nomination AS n JOIN chunk AS c ON c.number = n.chunk
WHERE n.namespace = :namespace AND n.vote = 2 AND n.description <> ''
    AND NOT EXISTS (
        SELECT 1 FROM entity_vector AS v JOIN model AS m ON m.number = v.model
        WHERE v.chunk = n.chunk AND v.key = n.key AND m.namespace = :namespace AND m.fingerprint = :fingerprint
    )
ORDER BY c.id, n.key, n.rank, n.name, n.description
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
-- By type, how many entities are called so, not only as what a name of something else would be: one pass over an index.
SELECT n.type, count(DISTINCT e.head)
FROM nomination AS n INDEXED BY nomination_with_type JOIN entity AS e ON e.namespace = n.namespace AND e.key = n.key
WHERE n.namespace = :namespace AND n.type <> '' AND n.alias_of = ''
GROUP BY n.type
ORDER BY n.type;

-- name: count_stated
-- By type, how many pairs of entities are said to stand in a relation: one pass over an index of what is said.
SELECT c.type, count(*) FROM (
    SELECT DISTINCT s.head AS source, t.head AS target, claim.type AS type
    FROM claim INDEXED BY claim_given
    CROSS JOIN entity AS s ON s.namespace = claim.namespace AND s.key = claim.source
    CROSS JOIN entity AS t ON t.namespace = claim.namespace AND t.key = claim.target
    WHERE claim.namespace = :namespace AND claim.origin <> '*' AND s.head <> t.head
) AS c
GROUP BY c.type
ORDER BY c.type;

-- name: entities_after
SELECT key FROM entity
WHERE namespace = :namespace AND key > :key AND head = number
ORDER BY key
LIMIT :limit;

-- name: top_entities
SELECT key FROM entity WHERE namespace = :namespace AND same_as = key AND strong ORDER BY chunks DESC, key LIMIT :limit;

-- name: delete_entity_vectors
-- What the document no longer describes goes, unless an import describes it.
DELETE FROM entity_vector
WHERE chunk = :chunk AND key NOT IN (SELECT value FROM json_each(:keys))
    AND key NOT IN (SELECT key FROM nomination WHERE chunk = :chunk AND origin <> '' AND description <> '');

-- name: delete_annotated_vectors
DELETE FROM entity_vector
WHERE chunk = :chunk
    AND key NOT IN (SELECT key FROM nomination WHERE chunk = :chunk AND origin = '' AND description <> '');

-- ── the graph: is it sound? ────────────────────────────────────────────────────────────────────

-- name: all_keys
-- Every key that documents, imports or the user name, those that share their letters one after another.
SELECT key FROM (
    SELECT DISTINCT key FROM nomination WHERE namespace = :namespace
    UNION
    SELECT key FROM edit WHERE namespace = :namespace
    UNION
    SELECT value FROM edit WHERE namespace = :namespace AND kind <> 'rename'
)
ORDER BY replace(key, ' ', ''), key;

-- name: all_chunk_numbers
SELECT number FROM chunk WHERE namespace = :namespace ORDER BY number;

-- name: all_entities
SELECT number, id, key, strong, same_as, reason, mentions, chunks, head FROM entity WHERE namespace = :namespace;

-- name: all_pairs
-- What relations rest on: how many chunks say so, and the largest weight anybody gave.
SELECT source, target, type, count(DISTINCT chunk), max(CASE WHEN origin <> '*' THEN weight END) FROM claim
WHERE namespace = :namespace
GROUP BY source, target, type
ORDER BY source, target, type;

-- name: all_relations
SELECT s.key, t.key, r.type, t.namespace, r.weight, r.support, r.place
FROM entity AS s CROSS JOIN relation AS r ON r.source = s.number JOIN entity AS t ON t.number = r.target
WHERE s.namespace = :namespace
ORDER BY s.key, t.key, r.type;

-- name: all_mentions_in
SELECT m.chunk, e.namespace, e.key, m.count, m.about, m.place FROM json_each(:chunks) AS k
CROSS JOIN mention AS m ON m.chunk = k.value JOIN entity AS e ON e.number = m.entity;

-- name: all_derived_claims_in
SELECT c.chunk, c.source, c.target, c.type, c.weight, c.description FROM json_each(:chunks) AS k
CROSS JOIN claim AS c ON c.chunk = k.value
WHERE c.origin = '*';

-- name: misplaced_claims
-- Claims that do not carry the namespace and the place of their chunk.
SELECT count(*) FROM json_each(:places) AS k CROSS JOIN claim AS c ON c.chunk = k.value ->> 0
WHERE c.namespace <> :namespace OR c.place <> k.value ->> 1;

-- name: place_claims
UPDATE claim SET namespace = :namespace, place = :place
WHERE chunk = :chunk AND (namespace <> :namespace OR place <> :place);

-- name: misplaced_nominations
SELECT count(*) FROM chunk AS c JOIN nomination AS n ON n.chunk = c.number
WHERE c.namespace = :namespace AND (n.namespace <> c.namespace OR n.document <> c.document);

-- name: place_nominations
UPDATE nomination SET namespace = c.namespace, document = c.document FROM chunk AS c
WHERE c.namespace = :namespace AND nomination.chunk = c.number
    AND (nomination.namespace <> c.namespace OR nomination.document <> c.document);

-- name: nomination_kinds
SELECT kind, vote, rank, count(*) FROM nomination WHERE namespace = :namespace GROUP BY kind, vote, rank;

-- name: set_kind
UPDATE nomination SET vote = :vote, rank = :rank
WHERE namespace = :namespace AND kind = :kind AND (vote <> :vote OR rank <> :rank);

-- name: delete_derived_claims
DELETE FROM claim WHERE namespace = :namespace AND origin = '*';

-- name: delete_entities
DELETE FROM entity WHERE namespace = :namespace;

-- name: stray_entity_vectors
-- Vectors of names that their chunk does not describe, or of another length than the embedder gives.
SELECT count(*) FROM model AS m JOIN entity_vector AS v ON v.model = m.number
WHERE m.namespace = :namespace AND (
    length(v.vector) <> 4 * m.dimension
    OR NOT EXISTS (SELECT 1 FROM nomination WHERE chunk = v.chunk AND key = v.key AND description <> '')
);

-- name: delete_stray_entity_vectors
DELETE FROM entity_vector
WHERE EXISTS (
    SELECT 1 FROM model AS m
    WHERE m.number = entity_vector.model AND m.namespace = :namespace AND (
        length(entity_vector.vector) <> 4 * m.dimension
        OR NOT EXISTS (
            SELECT 1 FROM nomination
            WHERE chunk = entity_vector.chunk AND key = entity_vector.key AND description <> ''
        )
    )
);

-- name: delete_lost_mentions
-- This and the next: what would have gone with the row it belongs to.
DELETE FROM mention WHERE entity NOT IN (SELECT number FROM entity) OR chunk NOT IN (SELECT number FROM chunk);

-- name: delete_lost_relations
DELETE FROM relation WHERE source NOT IN (SELECT number FROM entity) OR target NOT IN (SELECT number FROM entity);

-- name: delete_lost_claims
DELETE FROM claim WHERE chunk NOT IN (SELECT number FROM chunk);

-- name: delete_lost_nominations
DELETE FROM nomination WHERE chunk NOT IN (SELECT number FROM chunk);

-- name: delete_lost_entity_vectors
DELETE FROM entity_vector WHERE chunk NOT IN (SELECT number FROM chunk) OR model NOT IN (SELECT number FROM model);

-- ── facts ──────────────────────────────────────────────────────────────────────────────────────

-- name: write_fact
INSERT INTO fact (
    namespace, id, subject, predicate, object, value, content, confidence, source, status, created, valid_from, valid_to,
    accessed, accesses, supersedes, note, spelling
)
VALUES (
    :namespace, :id, :subject, :predicate, :object, :value, :content, :confidence, :source, :status, :created,
    :valid_from, :valid_to, :accessed, :accesses, :supersedes, :note, :spelling
)
ON CONFLICT (namespace, id) DO UPDATE SET
    subject = excluded.subject, predicate = excluded.predicate, object = excluded.object, value = excluded.value,
    content = excluded.content, confidence = excluded.confidence, source = excluded.source, status = excluded.status,
    created = excluded.created, valid_from = excluded.valid_from, valid_to = excluded.valid_to,
    supersedes = excluded.supersedes, note = excluded.note, spelling = excluded.spelling;

-- name: write_fact_event
INSERT INTO fact_event (namespace, fact, place, at, action, detail, other)
SELECT :namespace, :fact, 1 + coalesce(max(place), 0), :at, :action, :detail, :other FROM fact_event
WHERE namespace = :namespace AND fact = :fact;

-- name: write_fact_entity
INSERT INTO fact_entity (namespace, key, name, description, type, declared)
VALUES (:namespace, :key, :name, :description, :type, :declared)
ON CONFLICT (namespace, key) DO UPDATE SET
    description = excluded.description, type = excluded.type, declared = excluded.declared;

-- name: write_fact_word
INSERT INTO fact_word (namespace, word, key, size) VALUES (:namespace, :word, :key, :size)
ON CONFLICT (namespace, word, key) DO NOTHING;

-- name: facts_by_id
SELECT f.id, f.subject, s.name, f.predicate, f.object, coalesce(o.name, f.value), f.confidence, f.source, f.status,
    f.created, f.valid_from, f.valid_to, f.accessed, f.accesses, f.supersedes, f.note, f.spelling
FROM json_each(:ids) AS k
CROSS JOIN fact AS f ON f.namespace = :namespace AND f.id = k.value
JOIN fact_entity AS s ON s.namespace = :namespace AND s.key = f.subject
LEFT JOIN fact_entity AS o ON o.namespace = :namespace AND o.key = f.object AND f.object <> '';

-- name: fact_ids_by_content
SELECT f.id FROM json_each(:contents) AS k CROSS JOIN fact AS f ON f.namespace = :namespace AND f.content = k.value
ORDER BY f.created, f.id;

-- name: fact_ids_by_predicate
SELECT id FROM fact WHERE namespace = :namespace AND subject = :subject AND predicate = :predicate
ORDER BY created, id;

-- name: facts_about
-- One statement for a whole frontier: the surest that hold at a time, of each subject.
SELECT f.id, f.subject, s.name, f.predicate, f.object, coalesce(o.name, f.value), f.confidence, f.source, f.status,
    f.created, f.valid_from, f.valid_to, f.accessed, f.accesses, f.supersedes, f.note, f.spelling
FROM json_each(:keys) AS k CROSS JOIN fact AS f
JOIN fact_entity AS s ON s.namespace = :namespace AND s.key = f.subject
LEFT JOIN fact_entity AS o ON o.namespace = :namespace AND o.key = f.object AND f.object <> ''
WHERE f.number IN (
    SELECT number FROM (
        SELECT number FROM fact
        WHERE namespace = :namespace AND subject = k.value AND valid_to IS NULL AND status IN ('staged', 'confirmed')
            AND coalesce(valid_from, created) <= :at
        ORDER BY confidence DESC, created DESC, id
        LIMIT :limit
    )
    UNION ALL
    SELECT number FROM (
        SELECT number FROM fact
        WHERE namespace = :namespace AND subject = k.value AND valid_to IS NOT NULL AND status <> 'rejected'
            AND valid_to > :at AND coalesce(valid_from, created) <= :at
        ORDER BY confidence DESC, created DESC, id
        LIMIT :limit
    )
);

-- name: facts_leading_to
-- The same, of each object.
SELECT f.id, f.subject, s.name, f.predicate, f.object, coalesce(o.name, f.value), f.confidence, f.source, f.status,
    f.created, f.valid_from, f.valid_to, f.accessed, f.accesses, f.supersedes, f.note, f.spelling
FROM json_each(:keys) AS k CROSS JOIN fact AS f
JOIN fact_entity AS s ON s.namespace = :namespace AND s.key = f.subject
LEFT JOIN fact_entity AS o ON o.namespace = :namespace AND o.key = f.object
WHERE f.number IN (
    SELECT number FROM (
        SELECT number FROM fact
        WHERE namespace = :namespace AND object = k.value AND object <> ''
            AND valid_to IS NULL AND status IN ('staged', 'confirmed') AND coalesce(valid_from, created) <= :at
        ORDER BY confidence DESC, created DESC, id
        LIMIT :limit
    )
    UNION ALL
    SELECT number FROM (
        SELECT number FROM fact
        WHERE namespace = :namespace AND object = k.value AND object <> ''
            AND valid_to IS NOT NULL AND status <> 'rejected'
            AND valid_to > :at AND coalesce(valid_from, created) <= :at
        ORDER BY confidence DESC, created DESC, id
        LIMIT :limit
    )
);

-- name: has_fact_links
SELECT EXISTS (SELECT 1 FROM fact WHERE namespace = :namespace AND object <> '');

-- name: fact_links
-- One statement for a whole frontier: facts between entities of the graph, among the surest of each of their names.
SELECT sh.id, th.id, f.predicate, f.confidence, f.created, f.id
FROM entity AS h CROSS JOIN entity AS e ON e.head = h.number CROSS JOIN fact AS f
JOIN entity AS s ON s.namespace = :namespace AND s.key = f.subject JOIN entity AS sh ON sh.number = s.head
JOIN entity AS t ON t.namespace = :namespace AND t.key = f.object JOIN entity AS th ON th.number = t.head
WHERE h.namespace = :namespace AND h.id IN (SELECT value FROM json_each(:ids)) AND f.number IN (
    SELECT number FROM (
        SELECT * FROM (
            SELECT number, confidence, created, id FROM fact
            WHERE namespace = :namespace AND subject = e.key
                AND valid_to IS NULL AND status IN ('staged', 'confirmed') AND coalesce(valid_from, created) <= :at
            ORDER BY confidence DESC, created DESC, id
            LIMIT :looks
        )
        UNION ALL
        SELECT * FROM (
            SELECT number, confidence, created, id FROM fact
            WHERE namespace = :namespace AND subject = e.key AND valid_to IS NOT NULL AND status <> 'rejected'
                AND valid_to > :at AND coalesce(valid_from, created) <= :at
            ORDER BY confidence DESC, created DESC, id
            LIMIT :looks
        )
        ORDER BY confidence DESC, created DESC, id
        LIMIT :looks
    )
    UNION ALL
    SELECT number FROM (
        SELECT * FROM (
            SELECT number, confidence, created, id FROM fact
            WHERE namespace = :namespace AND object = e.key AND object <> ''
                AND valid_to IS NULL AND status IN ('staged', 'confirmed') AND coalesce(valid_from, created) <= :at
            ORDER BY confidence DESC, created DESC, id
            LIMIT :looks
        )
        UNION ALL
        SELECT * FROM (
            SELECT number, confidence, created, id FROM fact
            WHERE namespace = :namespace AND object = e.key AND object <> ''
                AND valid_to IS NOT NULL AND status <> 'rejected'
                AND valid_to > :at AND coalesce(valid_from, created) <= :at
            ORDER BY confidence DESC, created DESC, id
            LIMIT :looks
        )
        ORDER BY confidence DESC, created DESC, id
        LIMIT :looks
    )
);

-- name: fact_ids_after
SELECT id FROM fact WHERE namespace = :namespace AND id > :id ORDER BY id LIMIT :limit;

-- name: fact_ids_of_subject_after
SELECT id FROM fact WHERE namespace = :namespace AND subject = :subject AND id > :id ORDER BY id LIMIT :limit;

-- name: fact_history
SELECT fact, at, action, detail, other FROM fact_event WHERE namespace = :namespace AND fact = :id ORDER BY place;

-- name: fact_keys
SELECT DISTINCT e.key FROM json_each(:ids) AS k
CROSS JOIN fact AS f ON f.namespace = :namespace AND f.id = k.value
JOIN fact_entity AS e ON e.namespace = :namespace AND e.key IN (f.subject, f.object);

-- name: delete_facts
DELETE FROM fact WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids));

-- name: delete_fact_events
DELETE FROM fact_event WHERE namespace = :namespace AND fact IN (SELECT value FROM json_each(:ids));

-- name: forget_superseded
UPDATE fact SET supersedes = ''
WHERE namespace = :namespace AND supersedes <> '' AND supersedes IN (SELECT value FROM json_each(:ids));

-- name: forget_other
UPDATE fact_event SET other = ''
WHERE namespace = :namespace AND other <> '' AND other IN (SELECT value FROM json_each(:ids));

-- name: unneeded_fact_keys
SELECT k.value FROM json_each(:keys) AS k
WHERE NOT EXISTS (SELECT 1 FROM fact WHERE namespace = :namespace AND subject = k.value)
    AND NOT EXISTS (SELECT 1 FROM fact WHERE namespace = :namespace AND object = k.value AND object <> '')
    AND (
        k.value IN (SELECT value FROM json_each(:released))
        OR NOT EXISTS (SELECT 1 FROM fact_entity WHERE namespace = :namespace AND key = k.value AND declared)
    );

-- name: delete_fact_origins
DELETE FROM fact_origin WHERE namespace = :namespace AND fact IN (SELECT value FROM json_each(:ids));

-- name: fact_origins
SELECT o.fact, o.document FROM json_each(:ids) AS k
CROSS JOIN fact_origin AS o ON o.namespace = :namespace AND o.fact = k.value
ORDER BY o.fact, o.document;

-- name: facts_of_document
SELECT fact FROM fact_origin WHERE namespace = :namespace AND document = :document AND document <> '' ORDER BY fact;

-- name: write_fact_origin
INSERT INTO fact_origin (namespace, fact, document) VALUES (:namespace, :fact, :document)
ON CONFLICT (namespace, fact, document) DO NOTHING;

-- name: keep_facts
-- What somebody states by hand stays when the documents that state it too are gone.
INSERT INTO fact_origin (namespace, fact, document)
SELECT DISTINCT :namespace, o.fact, '' FROM json_each(:ids) AS k
CROSS JOIN fact_origin AS o ON o.namespace = :namespace AND o.fact = k.value
WHERE TRUE
ON CONFLICT (namespace, fact, document) DO NOTHING;

-- name: delete_fact_origin
DELETE FROM fact_origin
WHERE namespace = :namespace AND document = :document AND fact IN (SELECT value FROM json_each(:ids));

-- name: delete_fact_entities
DELETE FROM fact_entity WHERE namespace = :namespace AND key IN (SELECT value FROM json_each(:keys));

-- name: delete_fact_words
DELETE FROM fact_word WHERE namespace = :namespace AND key IN (SELECT value FROM json_each(:keys));

-- name: delete_fact_vectors
DELETE FROM fact_vector
WHERE model IN (SELECT number FROM model WHERE namespace = :namespace) AND key IN (SELECT value FROM json_each(:keys));

-- name: touch_facts
UPDATE fact SET accesses = accesses + 1, accessed = max(:at, coalesce(accessed, :at))
WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids));

-- name: fact_entities
SELECT e.key, e.name, e.description, e.type, e.declared FROM json_each(:keys) AS k
CROSS JOIN fact_entity AS e ON e.namespace = :namespace AND e.key = k.value;

-- name: fact_entities_after
SELECT key, name, description, type, declared FROM fact_entity WHERE namespace = :namespace AND key > :key
ORDER BY key
LIMIT :limit;

-- name: search_fact_words
SELECT w.key, count(*) FROM json_each(:words) AS k
CROSS JOIN fact_word AS w ON w.namespace = :namespace AND w.word = k.value
GROUP BY w.key
ORDER BY count(*) DESC, min(w.size), w.key
LIMIT :limit;

-- name: search_fact_vectors
-- The sketches choose whom to look at; the vectors of these decide.
WITH near AS MATERIALIZED (
    SELECT rowid AS number FROM fact_vector WHERE model = :model
    ORDER BY vec_distance_hamming(vec_bit(sketch), vec_bit(:sketch))
    LIMIT :looks
)
SELECT v.key, 1.0 - vec_distance_cosine(v.vector, :vector) AS score
FROM near CROSS JOIN fact_vector AS v ON v.rowid = near.number
ORDER BY score DESC, v.key
LIMIT :limit;

-- name: all_fact_vectors
SELECT key, vector FROM fact_vector WHERE model = :model;

-- name: unembedded_fact_entities
SELECT e.key, e.name, e.description FROM fact_entity AS e
WHERE e.namespace = :namespace AND NOT EXISTS (
    SELECT 1 FROM fact_vector AS v JOIN model AS m ON m.number = v.model
    WHERE v.key = e.key AND m.namespace = :namespace AND m.fingerprint = :fingerprint
)
ORDER BY e.key
LIMIT :limit;

-- name: write_fact_vector
INSERT INTO fact_vector (model, key, sketch, vector)
SELECT :model, key, :sketch, :vector FROM fact_entity WHERE namespace = :namespace AND key = :key
ON CONFLICT (model, key) DO UPDATE SET sketch = excluded.sketch, vector = excluded.vector;

-- name: frequent_subjects
-- Reads every fact that was ever accessed: for warming up in the background.
SELECT subject FROM fact WHERE namespace = :namespace AND accesses > 0 AND status IN ('staged', 'confirmed')
GROUP BY subject ORDER BY sum(accesses) DESC, subject
LIMIT :limit;

-- name: count_facts
SELECT (SELECT count(*) FROM fact WHERE namespace = :namespace),
    (SELECT count(*) FROM fact_entity WHERE namespace = :namespace);

-- name: all_facts
SELECT id, subject, predicate, object, value, content, confidence, status, created, valid_from, valid_to, accessed,
    accesses, supersedes
FROM fact WHERE namespace = :namespace ORDER BY id;

-- name: all_fact_entities
SELECT key, declared FROM fact_entity WHERE namespace = :namespace ORDER BY key;

-- name: all_fact_words
SELECT key, word, size FROM fact_word WHERE namespace = :namespace;

-- name: delete_all_fact_words
DELETE FROM fact_word WHERE namespace = :namespace;

-- name: strange_fact_events
SELECT DISTINCT e.fact FROM fact_event AS e
WHERE e.namespace = :namespace AND NOT EXISTS (SELECT 1 FROM fact WHERE namespace = :namespace AND id = e.fact)
ORDER BY e.fact;

-- name: facts_without_history
SELECT f.id, f.created, CASE
    WHEN f.status = 'staged' OR f.status IN (SELECT action FROM fact_event WHERE namespace = :namespace AND fact = f.id)
    THEN '' ELSE f.status END
FROM fact AS f
WHERE f.namespace = :namespace
    AND NOT EXISTS (SELECT 1 FROM fact_event WHERE namespace = :namespace AND fact = f.id AND action = 'added')
ORDER BY f.id;

-- name: write_first_fact_event
INSERT INTO fact_event (namespace, fact, place, at, action, detail, other)
SELECT :namespace, :fact, coalesce(min(place) - 1, 1), :at, :action, :detail, :other FROM fact_event
WHERE namespace = :namespace AND fact = :fact;

-- name: stray_fact_references
SELECT f.supersedes FROM fact AS f
WHERE f.namespace = :namespace AND f.supersedes <> ''
    AND NOT EXISTS (SELECT 1 FROM fact WHERE namespace = :namespace AND id = f.supersedes)
UNION
SELECT e.other FROM fact_event AS e
WHERE e.namespace = :namespace AND e.other <> ''
    AND NOT EXISTS (SELECT 1 FROM fact WHERE namespace = :namespace AND id = e.other);

-- name: stray_fact_origins
SELECT o.fact, o.document FROM fact_origin AS o
WHERE o.namespace = :namespace AND (
    NOT EXISTS (SELECT 1 FROM fact WHERE namespace = :namespace AND id = o.fact)
    OR (o.document <> '' AND NOT EXISTS (SELECT 1 FROM document WHERE namespace = :namespace AND id = o.document))
    OR (o.document = '' AND NOT EXISTS (
        SELECT 1 FROM fact_origin AS other
        WHERE other.namespace = :namespace AND other.fact = o.fact AND other.document <> ''
    ))
)
ORDER BY o.fact, o.document;

-- name: fact_vectors_of
SELECT v.rowid, v.key, v.sketch, v.vector, m.dimension, e.key IS NOT NULL
FROM fact_vector AS v JOIN model AS m ON m.number = v.model
LEFT JOIN fact_entity AS e ON e.namespace = m.namespace AND e.key = v.key
WHERE m.namespace = :namespace
ORDER BY v.rowid;

-- name: delete_fact_vector
DELETE FROM fact_vector WHERE rowid = :number;

-- name: set_fact_content
UPDATE fact SET content = :content WHERE namespace = :namespace AND id = :id;

-- name: set_fact_accesses
UPDATE fact SET accesses = :accesses, accessed = :accessed WHERE namespace = :namespace AND id = :id;

-- name: delete_lost_fact_vectors
DELETE FROM fact_vector WHERE model NOT IN (SELECT number FROM model);

-- name: delete_lost_facts
DELETE FROM fact WHERE namespace NOT IN (SELECT number FROM namespace);

-- name: delete_lost_fact_events
DELETE FROM fact_event WHERE namespace NOT IN (SELECT number FROM namespace);

-- name: delete_lost_fact_entities
DELETE FROM fact_entity WHERE namespace NOT IN (SELECT number FROM namespace);

-- name: delete_lost_fact_words
DELETE FROM fact_word WHERE namespace NOT IN (SELECT number FROM namespace);

-- name: delete_lost_fact_origins
DELETE FROM fact_origin WHERE namespace NOT IN (SELECT number FROM namespace);

-- name: write_key
INSERT INTO api_key (id, name, digest, namespaces, access, created, revoked)
VALUES (:id, :name, :digest, :namespaces, :access, :created, :revoked)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, digest = excluded.digest, namespaces = excluded.namespaces,
    access = excluded.access, created = excluded.created, revoked = excluded.revoked;

-- name: list_keys
SELECT id, name, digest, namespaces, access, created, revoked FROM api_key ORDER BY created, id;

-- name: find_keys
SELECT id, name, digest, namespaces, access, created, revoked FROM api_key
WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY created, id;

-- name: delete_keys
DELETE FROM api_key WHERE id IN (SELECT value FROM json_each(:ids));
