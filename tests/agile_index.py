"""The GraphRAG index of the question "what is agile": the pages of two papers of the demo archive, in 3.x's layout.

Ids differ from human_readable_ids, rows are not in the order of communities, and pages stand in the documents' texts
only: they end with form feeds. Which pages a community is about is what examples/archive/answers.json plans.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pypdfium2

from tests import ROOT

ARCHIVE = ROOT / "examples" / "archive"
PLAN: dict[str, Any] = next(
    one["graphrag"]
    for one in json.loads((ARCHIVE / "answers.json").read_text(encoding="utf-8"))["questions"]
    if one["name"] == "agile"
)
ANSWER: str = PLAN["answer"]
PAPERS = ("Cooper, R. (2018). Agile-Stage-Gate Hybrids.pdf", "Schwaber, K. (2020). Scrum Guide.pdf")
COOPER, SCHWABER = PAPERS


def write(folder: Path) -> Path:
    """Writes the index; returns its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in tables().items():
        frame.to_parquet(folder / f"{name}.parquet", index=False)
    return folder


def tables() -> dict[str, pd.DataFrame]:
    pages = [(name, number, text) for name in PAPERS for number, text in enumerate(_pages(name), 1)]
    unit_ids = {(name, number): _id(f"unit {name} {number}") for name, number, _ in pages}
    entities = [_entity(place, name, number, unit_ids) for place, (name, number, _) in enumerate(pages)]
    entity_ids = {(name, number): _id(f"entity {name} {number}") for name, number, _ in pages}
    plan = {int(number): [(name, page) for name, page in rows] for number, rows in PLAN["communities"].items()}
    communities = [
        _community(number, plan.get(number, []), entity_ids, unit_ids) for number in reversed(range(max(plan) + 1))
    ]
    return {
        "documents": pd.DataFrame(
            {
                "id": [_id(name) for name in PAPERS],
                "human_readable_id": range(len(PAPERS)),
                "title": PAPERS,
                "text": ["\f".join(_pages(name)) for name in PAPERS],
                "text_unit_ids": [[unit for (of, _), unit in unit_ids.items() if of == name] for name in PAPERS],
            }
        ),
        "text_units": pd.DataFrame(
            {
                "id": list(unit_ids.values()),
                "human_readable_id": range(len(pages)),
                "text": [text for _, _, text in pages],
                "document_id": [_id(name) for name, _, _ in pages],
            }
        ),
        "entities": pd.DataFrame(entities),
        "relationships": pd.DataFrame(
            {
                "id": [_id("relationship")],
                "human_readable_id": [0],
                "source": [entities[0]["title"]],
                "target": [entities[1]["title"]],
                "text_unit_ids": [entities[1]["text_unit_ids"]],
            }
        ),
        "communities": pd.DataFrame(communities),
        "community_reports": pd.DataFrame(
            {
                "id": [_id(f"report {one['community']}") for one in communities],
                "human_readable_id": [one["community"] for one in communities],
                "community": [one["community"] for one in communities],
                "title": [f"Theme {one['community']}" for one in communities],
                "full_content": [f"# Theme {one['community']}" for one in communities],
            }
        ),
    }


def _community(
    number: int,
    pages: list[tuple[str, int]],
    entity_ids: dict[tuple[str, int], str],
    unit_ids: dict[tuple[str, int], str],
) -> dict[str, Any]:
    return {
        "id": _id(f"community {number}"),
        "human_readable_id": number,
        "community": number,
        "title": f"Community {number}",
        "children": [],
        "entity_ids": [entity_ids[page] for page in pages],
        "relationship_ids": [],
        "text_unit_ids": [unit_ids[page] for page in pages],
    }


def _entity(place: int, name: str, number: int, unit_ids: dict[tuple[str, int], str]) -> dict[str, Any]:
    """Entities 5 and 7, which the answer cites, stand on pages that its reports are about as well."""
    page = {5: 14, 7: 9}.get(place, number)
    return {
        "id": _id(f"entity {name} {number}"),
        "human_readable_id": place,
        "title": f"{name.split(',')[0].upper()} {number}",
        "text_unit_ids": [unit_ids[name, page]],
    }


def _pages(name: str) -> list[str]:
    with pypdfium2.PdfDocument(ARCHIVE / "documents" / "papers" / name) as document:
        return [page.get_textpage().get_text_range().replace("\r\n", "\n") for page in document]


def _id(name: str) -> str:
    return hashlib.sha512(name.encode()).hexdigest()
