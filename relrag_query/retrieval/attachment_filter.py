"""Passages that have to do with an attachment of a type: its own, and those of the record that it is attached to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    import duckdb

Attachment = Literal[
    "any", "pdf", "image", "audio", "video", "document", "spreadsheet", "presentation", "calendar", "archive"
]
TYPES: tuple[Attachment, ...] = get_args(Attachment)
NOWHERE = frozenset({"00000000-0000-0000-0000-000000000000"})
"""an id that no passage has: a limit that leaves nothing"""


class _Form(NamedTuple):
    suffixes: str
    """ends of file names, separated by blanks"""
    media: str
    """pattern of how media types begin (RFC 6838)"""


_OFFICE = r"vnd\.(openxmlformats-officedocument\.|oasis\.opendocument\.)"
_FORMS: Mapping[Attachment, _Form] = {
    "any": _Form("", ""),
    "pdf": _Form("pdf", "application/pdf"),
    "image": _Form("jpg jpeg png gif webp heic heif tif tiff bmp svg avif", "image/"),
    "audio": _Form("opus ogg oga mp3 m4a aac wav flac amr wma", "audio/"),
    "video": _Form("mp4 mov m4v avi mkv webm 3gp", "video/"),
    "document": _Form(
        "doc docx odt rtf txt md pages epub html htm",
        rf"application/(msword|rtf|epub|{_OFFICE}(wordprocessing|text))|text/(plain|markdown|html|rtf)",
    ),
    "spreadsheet": _Form(
        "xls xlsx ods csv tsv numbers", rf"application/(vnd\.ms-excel|{_OFFICE}spreadsheet)|text/(csv|tab-separated)"
    ),
    # .key is a private key as often as a presentation of Keynote
    "presentation": _Form(
        "ppt pptx odp", rf"application/(vnd\.ms-powerpoint|vnd\.apple\.keynote|x-iwork-keynote|{_OFFICE}presentation)"
    ),
    "calendar": _Form("ics vcs", "text/calendar"),
    "archive": _Form("zip 7z rar tar gz tgz bz2 xz", r"application/(x-)?(zip|7z|rar|vnd\.rar|tar|gzip|bzip|xz)"),
}
PASSAGES = """
    WITH files AS (
        SELECT src_asset_ref AS attachment, dst_asset_ref AS parent, lower(coalesce(content_type, '')) AS media,
            regexp_extract(lower(trim(coalesce(file_name, ''))), '[.]([a-z0-9]+)$', 1) AS suffix
        FROM asset_asset_edges JOIN records ON asset_id = src_asset_ref
        WHERE relation_type = 'attachment_of'),
    attached AS (
        SELECT attachment, parent FROM files
        -- a mailer's media type is often a guess, so it counts where the name says nothing
        WHERE list_contains($suffixes, suffix)
            OR (NOT list_contains($telling, suffix) AND regexp_matches(media, $media))),
    assets AS (SELECT attachment AS asset FROM attached UNION SELECT parent FROM attached),
    windows AS (
        SELECT src_asset_ref AS asset FROM asset_asset_edges
        WHERE relation_type = 'chunk_of' AND dst_asset_ref IN (SELECT asset FROM assets))
    SELECT chunk_id FROM chunks WHERE asset_id IN (SELECT asset FROM assets UNION SELECT asset FROM windows)
"""


def values(attachment: Attachment) -> dict[str, Any]:
    """The values of the parameters of PASSAGES, the query of the ids."""
    form = _FORMS[attachment]
    telling = [] if attachment == "any" else [suffix for other in _FORMS.values() for suffix in other.suffixes.split()]
    return {"suffixes": form.suffixes.split(), "telling": telling, "media": f"^({form.media})"}


def passages(connection: duckdb.DuckDBPyConnection, attachment: Attachment) -> frozenset[str]:
    """The ids of the passages; NOWHERE if there are none."""
    return frozenset(row[0] for row in connection.execute(PASSAGES, values(attachment)).fetchall()) or NOWHERE
