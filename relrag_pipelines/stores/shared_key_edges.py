"""Relations across channels: what records of any source share becomes `references` edges, as SQL.

Two records share a number, a calendar event, the bytes of a file or a long text. Each such thing is a handle
(`SharedKey` in records.py). A handle that more records have than the setting `link_max_records` allows relates none
of them, and edges grow with the records, not with their square. Records of one thread or container are related already
and are not related again. An edge leads from the later record to the earlier one.

One record more may relate others of any month, or end what was rare. So these edges belong to no month of the lake but
to 256 parts of all months together, told apart by the edge's own hash: a catalog on top of another finds all of them
again and replaces the parts in which one differs.
"""

from __future__ import annotations

MAX_RECORDS = 20
"""the setting `link_max_records`, where it is not given"""
CROSS_SOURCE = "*"
"""what their `lake_month` begins with; with nothing behind it, that of what the owner said"""

LONG_TEXT = 400
"""Shorter texts are equal by chance, or by habit: `Thank you, I'll read it on the plane.`"""
LEAST_NUMBER, LONG_NUMBER = 4, 6
"""letters and digits: a shorter number is no handle, one below the second says less"""

FULLY_CONNECT_UP_TO = 10
"""so many that share something are related each with each; of more each to the first and to the one before"""

REASONS = {
    "bytes": (1.0, "the same file in both"),
    # RFC 5545, 3.8.4.7: unique in the world; but every meeting of a series has it
    "event": (0.95, "the same calendar event in both"),
    "text": (0.9, "the same text in both"),  # a copy, perhaps a form that many send
    # by seven digits of its hash; of 100,000 commits one in 2,700 shares them with another
    "commit": (0.9, "the same commit in both"),
    "personal": (0.9, "the same account, card or ID number in both"),
    "number": (0.8, "the same number in both"),  # of an invoice, order, account, issue; two firms may number alike
    "short": (0.6, "the same short number in both"),
}
"""kind of handle -> how sure it is that the two records belong together, and why, in words that reveal nothing"""

_PERSONAL = "<(?:IBAN_CODE|CREDIT_CARD|NATIONAL_ID|IL_ID_NUMBER|CZ_BIRTH_NUMBER|BANK_ACCOUNT):k[0-9]+:[0-9a-f]+>"
"""pseudonyms of what belongs to one person or firm; phones and addresses say who somebody is, not what it is about"""
_REPLACED = "<[A-Z_]+(?::k[0-9]+:[0-9a-f]+)?>"

_SHORT_HASH, _HASHES = 7, 20
"""git's own shortest form of a commit's hash, and how many of a text are looked at"""
_COMMIT = f"(?:^|[^0-9A-Za-z:-])([0-9a-f]{{{_SHORT_HASH},40}})\\b"
_SIZE = "len(regexp_replace(one, '[^\\pL\\pN]', '', 'g'))"
_OWN = "(kind <> 'gmail' OR contains(text, one) OR (parent_asset_id IS NULL AND contains(subject, one)))"
"""not a number that stands only in the history below an answer, or in the subject that every answer repeats"""

SHARED_KEYS = f"""
INSERT INTO shared_handles BY NAME
    WITH told AS (
        SELECT asset_id, coalesce(thread_id, parent_asset_id, asset_id) AS whole, ts, lake_month,
            list_distinct(flatten([
                [CASE WHEN {_SIZE} >= {LONG_NUMBER} THEN 'number:' WHEN {_SIZE} >= {LEAST_NUMBER} THEN 'short:' END
                    || upper(one) FOR one IN numbers IF NOT regexp_matches(one, '{_REPLACED}') AND {_OWN}],
                ['personal:' || one FOR one IN
                    CASE WHEN contains(text, '<') THEN regexp_extract_all(text, '{_PERSONAL}') END],
                ['personal:' || one FOR one IN numbers IF regexp_full_match(one, '{_PERSONAL}')],
                CASE WHEN kind = 'git' THEN ['commit:' || left(source_id, {_SHORT_HASH})] END,
                ['commit:' || left(one, {_SHORT_HASH}) FOR one IN
                    CASE WHEN kind <> 'code' THEN regexp_extract_all(text, '{_COMMIT}', 1)[:{_HASHES}] END
                    IF regexp_matches(one, '[a-f]') AND regexp_matches(one, '[0-9]')],
                CASE WHEN contains(extra, '"bytes_hash":"') AND json_type(extra, '$.bytes_hash') = 'VARCHAR'
                    THEN ['bytes:' || json_extract_string(extra, '$.bytes_hash')] END,
                CASE WHEN contains(extra, '"calendar_uid":"') AND json_type(extra, '$.calendar_uid') = 'VARCHAR'
                    THEN ['event:' || json_extract_string(extra, '$.calendar_uid')] END,
                CASE WHEN contains(extra, '"events":')
                    THEN ['event:' || one FOR one IN json_extract_string(extra, '$.events[*].uid') IF one <> ''] END,
                CASE WHEN len(text) >= {LONG_TEXT} AND file_name IS NOT NULL AND kind <> 'code'
                    THEN ['text:' || md5(text)] END
            ])) AS handles
        FROM records)
    SELECT asset_id, unnest(handles) AS handle, whole, ts, lake_month FROM told ORDER BY asset_id, handle
"""  # noqa: S608  made of the constants above
"""What each record of this catalog shares, if another one has it too."""

RELATED = f"""
CREATE TEMP TABLE related AS
    WITH handles AS (FROM shared_handles UNION ALL BY NAME FROM kept_shared_handles),
    rare AS (
        SELECT handle FROM handles GROUP BY handle
        HAVING count(*) BETWEEN 2 AND getvariable('link_max_records') AND min(whole) <> max(whole)),
    telling AS (
        SELECT asset_id, handle, whole, confidence, provenance, count(*) OVER holders AS holders,
            row_number() OVER (holders ORDER BY ts NULLS FIRST, asset_id) AS place
        FROM handles SEMI JOIN rare USING (handle) JOIN reasons ON kind = split_part(handle, ':', 1)
        WINDOW holders AS (PARTITION BY handle)),
    pairs AS (
        SELECT later.asset_id AS src_asset_ref, earlier.asset_id AS dst_asset_ref,
            max(later.confidence) AS confidence,
            arg_max(later.provenance, (later.confidence, later.provenance)) AS provenance
        FROM telling AS later JOIN telling AS earlier
            ON later.handle = earlier.handle AND later.whole <> earlier.whole AND earlier.place < later.place
                AND (later.holders <= {FULLY_CONNECT_UP_TO} OR earlier.place = 1 OR earlier.place = later.place - 1)
        GROUP BY ALL),
    told AS (
        SELECT src_asset_ref, dst_asset_ref FROM claims WHERE holds AND relation_type = 'references'
        UNION ALL SELECT src_asset_ref, dst_asset_ref FROM kept_asset_asset_edges
            WHERE relation_type = 'references' AND NOT starts_with(lake_month, '{CROSS_SOURCE}')
        UNION ALL SELECT src_asset_ref, dst_asset_ref FROM owner_links WHERE deleted AND relation_type = 'references')
    SELECT pairs.*, 'references' AS relation_type,
        '{CROSS_SOURCE}' || left(md5(src_asset_ref || ' ' || dst_asset_ref), 2) AS lake_month
    FROM pairs ANTI JOIN told USING (src_asset_ref, dst_asset_ref)
        ANTI JOIN (SELECT dst_asset_ref AS src_asset_ref, src_asset_ref AS dst_asset_ref FROM told)
            USING (src_asset_ref, dst_asset_ref)
"""  # noqa: S608  made of the constants above
"""Pairs of records that share something rare and that no record itself names as related."""

ONLY_DIFFERENT = f"""
INSERT INTO replaced
    WITH earlier AS (
        SELECT src_asset_ref, dst_asset_ref, confidence, provenance, relation_type, lake_month
        FROM kept_asset_asset_edges WHERE lake_month LIKE '{CROSS_SOURCE}__'),
    differing AS ((FROM related EXCEPT FROM earlier) UNION ALL (FROM earlier EXCEPT FROM related))
    SELECT DISTINCT lake_month FROM differing;
DELETE FROM related WHERE lake_month NOT IN (FROM replaced)
"""  # noqa: S608  made of the constants above
"""The parts that are as in the base stay there."""
