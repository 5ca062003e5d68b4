"""The SQL statements that build a catalog, in the order in which they run.

They read the views `lake_<table>`, in which `part` orders rows by source and month and `lake_month` names these; the
views `kept_<table>`, which are what a catalog on top of another leaves of it, else empty; the views `former_<table>`,
with the keys and times of the rows of the catalog before; and `owner_links`, what the owner said of edges, which counts
for more than any claim.
"""

FORMER_MONTHS = "lake_month IN (SELECT lake_month FROM catalog.replaced UNION SELECT lake_month FROM previous.replaced)"
"""What is on top of a base was in these months, if in any: a row moves only between months that differ."""

LOST = """
CREATE TEMP TABLE lost AS
    WITH several AS (SELECT asset_id FROM lake_records GROUP BY asset_id HAVING count(*) > 1)
    SELECT asset_id AS ref, part FROM lake_records SEMI JOIN several USING (asset_id)
    QUALIFY row_number() OVER (PARTITION BY asset_id
        ORDER BY coalesce(json_extract_string(extra, '$.changed'), '') DESC, part) > 1
"""
"""What another part (source, then month) holds in a newer version, or else an earlier part: the refs of records, later
of their chunks too."""

LOST_CHUNKS = """
INSERT INTO lost
    SELECT 'chunk:' || chunk_id, part FROM lake_chunks SEMI JOIN lost ON ref = asset_id AND lost.part = lake_chunks.part
    WHERE len(members) = 0
    UNION ALL
    SELECT held.asset_id, held.part
    FROM (SELECT asset_id, part, unnest(members) AS member FROM lake_chunks WHERE len(members) > 0) AS held
    LEFT JOIN lost ON lost.ref = held.member AND lost.part = held.part
    GROUP BY held.asset_id, held.part HAVING count(*) = count(lost.ref)
"""
"""A chat window is lost with the last of its messages, not with the first."""

LOST_TWINS = """
INSERT INTO lost
    WITH windows AS (SELECT DISTINCT asset_id, part FROM lake_chunks WHERE len(members) > 0),
    held AS (SELECT * FROM windows ANTI JOIN lost ON lost.ref = windows.asset_id AND lost.part = windows.part)
    SELECT held.asset_id, held.part
    FROM held JOIN (SELECT asset_id, min(part) AS part FROM held GROUP BY asset_id) AS kept
        ON kept.asset_id = held.asset_id AND kept.part < held.part
"""
"""Two windows may begin and end alike, and one source have a message between that the other lacks."""

SHARED = """
INSERT INTO shared
    WITH held AS (SELECT asset_id, lake_month FROM lake_records
        UNION SELECT asset_id, lake_month FROM lake_chunks WHERE len(members) > 0)
    FROM held SEMI JOIN lost ON lost.ref = held.asset_id ORDER BY ALL
"""

TANGLED = """
SELECT (SELECT count(*) FROM kept_records SEMI JOIN lake_records USING (asset_id))
    + (SELECT count(*) FROM kept_chunks SEMI JOIN (SELECT asset_id FROM lake_chunks WHERE len(members) > 0)
        USING (asset_id))
    + (SELECT count(*) FROM base.shared WHERE lake_month IN (FROM replaced))
    + (SELECT count(*) FROM kept_chunks SEMI JOIN lake_records ON lake_records.asset_id = kept_chunks.parent_asset_id
        WHERE section = 'quoted')
    + (SELECT count(*) FROM kept_chunks AS kept SEMI JOIN lake_chunks AS found
        ON found.text_hash = kept.text_hash AND found.section IS NOT NULL
            AND (found.ts, found.chunk_id) < (kept.ts, kept.chunk_id)
        WHERE kept.section IS NOT NULL)
"""
"""What is replaced and what is kept hold the same records or windows, or signatures, or the mail to a history below
another: which of them counts takes a look at all."""
LOST_APART = """
INSERT INTO lost
    WITH present AS (SELECT asset_id FROM lake_records UNION SELECT asset_id FROM kept_records),
    apart AS (
        SELECT chunk_id, part, text_hash, ts FROM lake_chunks
        WHERE section IS NOT NULL
            AND NOT (section = 'quoted' AND parent_asset_id IS NOT NULL AND parent_asset_id IN (FROM present))
            AND text_hash NOT IN (SELECT text_hash FROM kept_chunks WHERE section IS NOT NULL)),
    kept AS (SELECT chunk_id FROM apart
             QUALIFY row_number() OVER (PARTITION BY text_hash ORDER BY ts, chunk_id, part) = 1)
    SELECT 'chunk:' || chunk_id, part FROM lake_chunks ANTI JOIN kept USING (chunk_id) WHERE section IS NOT NULL
"""
"""What stands beside a mail's text is a passage once: a signature in the first mail that has it; the history below an
answer in none where the mail that is answered is in the archive itself."""


RECORDS = """
INSERT INTO records BY NAME
    WITH several AS (SELECT DISTINCT ref AS asset_id FROM lost),
    named AS (SELECT asset_id, part, unnest(locations) AS location, generate_subscripts(locations, 1) AS position
              FROM lake_records SEMI JOIN several USING (asset_id)),
    places AS (SELECT asset_id, list(location ORDER BY place) AS locations
               FROM (SELECT asset_id, location, min((part, position)) AS place FROM named GROUP BY asset_id, location)
               GROUP BY asset_id)
    SELECT found.* EXCLUDE (part) REPLACE (coalesce(places.locations, found.locations) AS locations)
    FROM lake_records AS found ANTI JOIN lost ON lost.ref = found.asset_id AND lost.part = found.part
    LEFT JOIN places ON places.asset_id = found.asset_id
    ORDER BY found.asset_id
"""

IDENTIFIERS = """
INSERT INTO identifiers BY NAME
    SELECT found.* EXCLUDE (part)
    FROM lake_identifiers AS found ANTI JOIN lost ON lost.ref = found.asset_id AND lost.part = found.part
    ORDER BY asset_id, role, kind, keyed, entry
"""

PERSON_ASSETS = """
INSERT INTO person_assets BY NAME
    WITH held AS (SELECT asset_id, rag_source_type, lake_month FROM lake_records AS found
                  ANTI JOIN lost ON lost.ref = found.asset_id AND lost.part = found.part),
    appearing AS (SELECT DISTINCT asset_id, role, entry, person_id AS pinned, lake_month FROM identifiers),
    named AS (
        SELECT DISTINCT who.person_id, asset_id, role, 1.0 AS confidence, lake_month
        FROM appearing JOIN person_entries AS who ON who.source = split_part(lake_month, '/', 1)
            AND who.entry = appearing.entry AND who.pinned_person_id = coalesce(pinned, -1)
        UNION ALL SELECT person_id, asset_id, 'mentioned', 0.9, lake_month FROM person_mentions),
    linked AS (
        SELECT person_id, any_value(rag_source_type) AS asset_type, asset_id AS asset_ref, role,
            max(confidence) AS confidence, lake_month
        FROM named JOIN held USING (asset_id, lake_month) GROUP BY person_id, asset_id, role, lake_month)
    SELECT linked.*, coalesce(former.created_at, getvariable('published_at')) AS created_at
    FROM linked LEFT JOIN former_person_assets AS former USING (person_id, asset_ref, role)
    ORDER BY person_id, asset_ref, role
"""
"""The identifiers of each record as people, and who its text names."""

PEOPLE = """
CREATE TEMP TABLE people AS
    WITH named AS (SELECT DISTINCT asset_ref AS asset_id, role = 'mentioned' AS mentioned, person_id
                   FROM person_assets),
    windows AS (SELECT asset_id, unnest(members) AS member FROM lake_chunks WHERE len(members) > 0),
    everyone AS (SELECT * FROM named
                 UNION SELECT windows.asset_id, mentioned, person_id
                 FROM windows JOIN named ON named.asset_id = windows.member)
    SELECT asset_id,
        coalesce(list(person_id ORDER BY person_id) FILTER (NOT mentioned), []) AS person_ids,
        coalesce(list(person_id ORDER BY person_id) FILTER (mentioned), []) AS mentioned_person_ids
    FROM everyone GROUP BY asset_id
"""

CHUNKS = """
INSERT INTO chunks BY NAME
    SELECT found.* EXCLUDE (part, ref),
        coalesce(people.person_ids, []) AS person_ids,
        coalesce(people.mentioned_person_ids, []) AS mentioned_person_ids,
        coalesce(former.created_at, getvariable('published_at')) AS created_at
    FROM (SELECT *, CASE WHEN len(members) > 0 THEN asset_id ELSE 'chunk:' || chunk_id END AS ref FROM lake_chunks)
        AS found ANTI JOIN lost ON lost.ref = found.ref AND lost.part = found.part
    LEFT JOIN people ON people.asset_id = found.asset_id
    LEFT JOIN former_chunks AS former ON former.chunk_id = found.chunk_id
    ORDER BY found.chunk_id
"""

REFS = """
CREATE TEMP TABLE refs AS
    SELECT asset_id AS ref FROM records
    UNION SELECT CASE WHEN len(members) > 0 THEN asset_id ELSE 'chunk:' || chunk_id END FROM chunks
"""

KEPT_REFS = """
INSERT INTO refs
    WITH named AS (FROM kept_pending_edges UNION ALL BY NAME FROM owner_links),
    asked AS (SELECT dst_asset_ref AS ref FROM lake_asset_asset_edges
        UNION SELECT src_asset_ref FROM named UNION SELECT dst_asset_ref FROM named)
    SELECT asset_id FROM kept_records SEMI JOIN asked ON ref = asset_id
    UNION SELECT asset_id FROM kept_chunks SEMI JOIN asked ON ref = asset_id
    UNION SELECT 'chunk:' || chunk_id FROM kept_chunks SEMI JOIN asked ON ref = 'chunk:' || chunk_id
    UNION SELECT dst_asset_ref FROM kept_asset_asset_edges SEMI JOIN asked ON ref = dst_asset_ref
        WHERE relation_type IN ('thread_member', 'transcript_of')
"""
"""Of what is kept only what a claim names."""

CLAIMS = """
CREATE TEMP TABLE claims AS
    WITH found AS (
        SELECT src_asset_ref, dst_asset_ref, relation_type, arg_min(confidence, part) AS confidence,
            arg_min(provenance, part) AS provenance, arg_min(lake_month, part) AS lake_month
        FROM lake_asset_asset_edges AS rows ANTI JOIN lost ON lost.ref = src_asset_ref AND lost.part = rows.part
        GROUP BY src_asset_ref, dst_asset_ref, relation_type
        UNION ALL BY NAME FROM kept_pending_edges),
    claimed AS (
        SELECT found.* FROM found ANTI JOIN owner_links USING (src_asset_ref, dst_asset_ref, relation_type)
        UNION ALL BY NAME SELECT * EXCLUDE (deleted), '*' AS lake_month FROM owner_links WHERE NOT deleted),
    sourced AS (SELECT * FROM claimed SEMI JOIN refs ON ref = src_asset_ref),
    ends AS (SELECT ref FROM refs UNION SELECT dst_asset_ref FROM sourced
             WHERE relation_type IN ('thread_member', 'transcript_of'))
    SELECT claimed.*, source.ref IS NOT NULL AND target.ref IS NOT NULL AS holds
    FROM claimed LEFT JOIN refs AS source ON source.ref = src_asset_ref
    LEFT JOIN ends AS target ON target.ref = dst_asset_ref
"""

EDGES = """
INSERT INTO asset_asset_edges BY NAME
    SELECT (SELECT coalesce(max(id), 0) FROM kept_asset_asset_edges)
            + row_number() OVER (ORDER BY src_asset_ref, dst_asset_ref, relation_type) AS id,
        src_asset_ref, dst_asset_ref, relation_type, confidence, provenance, lake_month,
        coalesce(created_at, getvariable('published_at')) AS created_at
    FROM (
        FROM claims WHERE holds
        UNION ALL BY NAME SELECT *, true AS holds FROM related)
    LEFT JOIN former_asset_asset_edges USING (src_asset_ref, dst_asset_ref, relation_type) ORDER BY id
"""

PENDING = """
INSERT INTO pending_edges BY NAME
    SELECT * EXCLUDE (holds) FROM claims WHERE NOT holds ORDER BY src_asset_ref, dst_asset_ref, relation_type
"""

FAILURES = """
INSERT INTO failures BY NAME
    SELECT DISTINCT ON (source, unit, location, fault) * EXCLUDE (part, lake_month) FROM lake_failures
    ORDER BY source, unit, location, fault, part
"""

DIFFERENT_CHUNKS = """
CREATE TEMP TABLE earlier AS
    SELECT * EXCLUDE (created_at, lake_month) FROM published_chunks
    WHERE lake_month IN (FROM replaced);
CREATE TEMP TABLE different AS
    SELECT * EXCLUDE (created_at, lake_month) FROM chunks EXCEPT SELECT * FROM earlier
"""
"""What the previous catalog and this one have of the months on top; and of this one what differs."""

NEW_CHUNKS = "FROM different ORDER BY chunk_id"

GONE_CHUNKS = """
SELECT chunk_id FROM earlier ANTI JOIN (SELECT chunk_id FROM chunks EXCEPT SELECT chunk_id FROM different)
    USING (chunk_id) ORDER BY chunk_id
"""

REMOVED = """
WITH earlier AS (SELECT * FROM published_records WHERE NOT EXISTS (FROM catalog.replaced)
        OR lake_month IN (SELECT lake_month FROM catalog.replaced UNION SELECT lake_month FROM previous.replaced)),
    later AS (SELECT asset_id, content_hash, text, locations FROM {records})
SELECT count(*) FROM earlier LEFT JOIN later USING (asset_id, content_hash, text)
WHERE later.locations IS NULL OR NOT list_has_all(
    list_transform(later.locations, lambda place: split_part(place, '#', 1)),
    list_transform(earlier.locations, lambda place: split_part(place, '#', 1)))
"""

REMOVED_FAILURES = """
SELECT count(*) FROM published_failures ANTI JOIN failures USING (source, unit, location, fault)
"""

DANGLING = {
    "edges_without_end": """
        WITH asked AS (SELECT hash(src_asset_ref) AS ref FROM catalog.asset_asset_edges
            UNION SELECT hash(dst_asset_ref) FROM catalog.asset_asset_edges),
        ends AS (SELECT hash(asset_id) AS ref FROM records SEMI JOIN asked ON ref = hash(asset_id)
            UNION SELECT hash(asset_id) FROM chunks SEMI JOIN asked ON ref = hash(asset_id)
            UNION SELECT hash('chunk:' || chunk_id) FROM chunks SEMI JOIN asked ON ref = hash('chunk:' || chunk_id)
            UNION SELECT hash(dst_asset_ref) FROM asset_asset_edges SEMI JOIN asked ON ref = hash(dst_asset_ref)
                WHERE relation_type IN ('thread_member', 'transcript_of'))
        SELECT count(*) FROM catalog.asset_asset_edges
        WHERE hash(src_asset_ref) NOT IN (FROM ends) OR hash(dst_asset_ref) NOT IN (FROM ends)""",
    "chunks_without_record": """
        SELECT count(DISTINCT chunk_id) FROM (
            SELECT chunk_id, hash(unnest(CASE WHEN len(members) > 0 THEN members ELSE [asset_id] END)) AS member
            FROM catalog.chunks
        ) ANTI JOIN records ON member = hash(asset_id)""",
}
"""Ends are compared by 64-bit hashes, half of the memory. Among ten million ids, a dangling end has the hash of one of
them, and is overlooked, with odds of 1 to 1.8 trillion. No end is null: the columns of the tables are not nullable."""

ALL_CHUNKS = "SELECT * EXCLUDE (created_at, lake_month) FROM chunks ORDER BY chunk_id"

WITH_VECTORS = """
SELECT chunks.* EXCLUDE (created_at, lake_month), found.vector, found.span_vectors FROM chunks
LEFT JOIN (
    SELECT chunk_id, lake_month, vector, span_vectors FROM lake_embeddings JOIN parts_embeddings USING (filename)
) AS found
    ON found.chunk_id = chunks.chunk_id AND found.lake_month = chunks.lake_month
WHERE chunks.chunk_id IN (SELECT chunk_id FROM {only})
ORDER BY chunks.chunk_id
"""
"""Passages with the vectors that each has in the month it comes from, null where it has none."""
