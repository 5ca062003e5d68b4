"""The order of what is found, where the words of a language have many forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from relrag_query.archive import Archive
from tests import query_hits

TEXTS = {
    "same form": "Půjčili jsme si od pana Hrušky vrtačku.",
    "other forms": "Žebříky, oba, jsou půjčené Boudovi na čištění okapů, vrátí je, až přestane pršet.",
    "same form he": "השאלנו את המקדחה",
    "other forms he": "הסולמות אצל רמי, מושאלים עד סוף החודש",
    "english": "The ladder was lent to Rami",
}


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    records = [query_hits.record(f"jsonl:n:{name}", text, source="n") for name, text in TEXTS.items()]
    filling = [query_hits.record(f"jsonl:n:{number}", f"Nic nového, den {number}.", source="n") for number in range(60)]
    lent = [
        query_hits.record(f"jsonl:n:l{number}", text, source="n")
        for number, text in enumerate(["půjčil jsem auto", "půjčka v bance", "השאלה אחת", "שאלתי אותו"] * 4)
    ]
    return query_hits.publish(tmp_path_factory.mktemp("forms"), [*records, *filling, *lent])


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Komu jsme půjčili žebřík?", "other forms"),
        ("komu jsme pujcili zebrik", "other forms"),
        ("למי השאלנו את הסולם?", "other forms he"),
        ("Who borrowed the ladder?", "english"),
    ],
)
def test_all_words_in_other_forms_stand_before_one_in_the_same_form(config: Path, question: str, first: str) -> None:
    with Archive.open(config) as archive:
        assert archive.search(question).hits[0].chunk.text == TEXTS[first]


def test_what_lies_within_the_time_stays_first_and_scores_fall(tmp_path: Path) -> None:
    """Forty short old mails say as much of the question's words as the long one of last week."""
    old = [
        query_hits.record(
            f"jsonl:n:o{day}", "Servis čerpadla v kotelně.", f"2024-03-{day % 28 + 1:02}T10:00:00+00:00", source="n"
        )
        for day in range(40)
    ]
    text = (
        "Byl tu technik a díval se na čerpadla, protože to v pondělí zase hučelo a nikdo nevěděl, co s tím dál dělat."
    )
    new = query_hits.record("jsonl:n:new", text, "2025-01-15T10:00:00+00:00", source="n")
    with Archive.open(query_hits.publish(tmp_path, [*old, new])) as archive:
        hits = archive.search("servis čerpadla v lednu 2025").hits
    assert hits[0].chunk.asset_id == "jsonl:n:new"
    rest = [hit.score for hit in hits[1:]]
    assert rest == sorted(rest, reverse=True)
