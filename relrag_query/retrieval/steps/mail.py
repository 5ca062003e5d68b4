"""Loads fields of hits that are mail: whether they are bulk mail, and their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relrag_pipelines.sources import RecordType, record_type
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import Hit

_BULK_REASONS = frozenset({"list_id", "unsubscribe", "precedence", "campaign"})
"""reasons that mark a mail as bulk: neither discussion lists nor bills sent by a mass mailer"""


def bulk_hits(hits: Sequence[Hit], context: QueryContext) -> list[Hit]:
    """The hits that are bulk mail, or attached to it."""
    return [hit for hit, extra in _mail_extras(hits, context) if extra.get("bulk") in _BULK_REASONS]


def labelled_hits(hits: Sequence[Hit], context: QueryContext) -> list[Hit]:
    """The hits that are mail with an excluded label, or attached to it.

    Gmail labels the mail in its tab of promotions `Category Promotions`.
    """

    def has_excluded_label(extra: dict[str, Any]) -> bool:
        names = {str(label).casefold().removeprefix("category ") for label in extra.get("labels", ())}
        return not names.isdisjoint(context.excluded_labels)

    return [hit for hit, extra in _mail_extras(hits, context) if has_excluded_label(extra)]


def _mail_extras(hits: Sequence[Hit], context: QueryContext) -> list[tuple[Hit, dict[str, Any]]]:
    """The hits that are mail or attached to it, with the mail's own fields."""
    mails = [
        (hit, hit.chunk.parent_asset_id if record_type(hit.chunk.rag_source_type).part_of else hit.chunk.asset_id)
        for hit in hits
        if _is_mail(record_type(hit.chunk.rag_source_type))
    ]
    refs = list(dict.fromkeys(ref for _, ref in mails if ref))
    extras = catalog_reader.extras(context.connection, refs) if refs else {}
    return [(hit, extras.get(ref or "", {})) for hit, ref in mails]


def _is_mail(kind: RecordType) -> bool:
    return kind.mail or record_type(kind.part_of).mail
