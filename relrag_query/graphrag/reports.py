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
    """The reports of the uppermost level, those of most text units first."""
    communities, written = index.tables["communities"], index.tables["community_reports"]
    sizes = {
        int(number): (len(ids(units)), len(ids(members)))
        for number, units, members in zip(
            communities["community"], communities["text_unit_ids"], communities["entity_ids"], strict=True
        )
    }
    levels = written["level"].fillna(0).astype(int) if len(written) else written["level"]
    top = levels.min() if len(written) else 0
    found = [
        _report(row, *sizes.get(int(row["community"]), (0, 0)))
        for row, level in zip(written.to_dict("records"), levels, strict=True)
        if level == top
    ]
    return sorted(found, key=lambda one: (-one.passages, one.community))


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
