"""Parses the community reports of an index: what each is about, and its findings with their citations."""

from __future__ import annotations

from pydantic import BaseModel, Field

from relrag_query.graphrag.index import Index, ids


class ReportReply(BaseModel):
    """A report on a community."""

    community: int = Field(description="the number that citations name: [Data: Reports (5)]")
    title: str
    summary: str
    content: str = Field(description="findings with their citations, as Markdown")
    passages: int = Field(description="text units of the community")
    entities: int


def reports(index: Index) -> list[ReportReply]:
    """The reports of the top level, those of most text units first."""
    communities, table = index.tables["communities"], index.tables["community_reports"]
    sizes = {
        int(number): (len(ids(units)), len(ids(members)))
        for number, units, members in zip(
            communities["community"], communities["text_unit_ids"], communities["entity_ids"], strict=True
        )
    }
    levels = table["level"].fillna(0).astype(int) if len(table) else table["level"]
    top = levels.min() if len(table) else 0
    replies = [
        _report(row, *sizes.get(int(row["community"]), (0, 0)))
        for row, level in zip(table.to_dict("records"), levels, strict=True)
        if level == top
    ]
    return sorted(replies, key=lambda reply: (-reply.passages, reply.community))


def _report(row: dict[str, object], passages: int, entities: int) -> ReportReply:
    title, summary, content = (
        value if isinstance(value := row[name], str) else "" for name in ("title", "summary", "full_content")
    )
    plain = content.removeprefix(f"# {title}").strip().removeprefix(summary).strip()
    return ReportReply(
        community=int(str(row["community"])),
        title=title,
        summary=summary,
        content=plain,
        passages=passages,
        entities=entities,
    )
