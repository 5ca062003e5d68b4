"""The display filter, layer by layer, and the question about Daniella that it was made for."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines.settings import Settings, load
from relrag_query.display.source_filter import apply_source_filter, filter_sources_for_display


@dataclass
class Node:
    name: str
    display_score: float
    source: str = "calls"
    source_role: str | None = None
    sender: str | None = None
    chat_name: str | None = None
    rag_source_type: str = "call_recording"
    text: str = ""
    promoted: bool = False
    writer_ids: tuple[int, ...] = ()


ANSWER = "דניאלה ליבר פיקל (Daniella Lever Pickel) היא אשתו של איתן פיקל. היא מלמדת ביולוגיה בתיכון בחיפה."
"""speaks of Daniella and of Eitan; the name Pickel stands in it, as in the names of people it does not speak of"""

DANIELLA = [
    Node("entity Daniella Pickel", 1.0, "entity_store", text="דניאלה פיקל"),
    Node("entity Daniella", 1.0, "entity_store", text="דניאלה"),
    Node("entity Daniella Lever", 1.0, "entity_store", text="Daniella Lever"),
    Node("entity Daniella Lever Pickel", 1.0, "entity_store", text="דניאלה ליבר פיקל"),
    Node("call with Eitan", 0.85, sender="איתן פיקל", text="דניאלה מלמדת ביולוגיה בתיכון בחיפה"),
    Node("call with Shely", 0.5, source_role="context_expansion", sender="Shely Yakov"),
    Node("call with Riki", 0.5, source_role="context_expansion", sender="Riki Pickel"),
    Node("Vizhnitz 1", 0.35, "whatsapp", "recency_supplement", chat_name="חסידות ויזניץ", rag_source_type="whatsapp"),
    Node("Vizhnitz 2", 0.33, "whatsapp", "recency_supplement", chat_name="חסידות ויזניץ", rag_source_type="whatsapp"),
    Node("bank letter", 0.33, "paperless", sender="Bank", rag_source_type="documentation", text="Pickel, account"),
    Node("call with Shlomo 1", 0.25, sender="Shlomo Pickel", text="hello from Shlomo"),
    Node("call with Shlomo 2", 0.25, sender="Shlomo Pickel", text="hello again"),
]


def names(nodes: list[Node]) -> list[str]:
    return [node.name for node in nodes]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    config = tmp_path / "relrag.toml"
    config.write_text("")
    return load(config, {})


@pytest.mark.requirement("S4-15")
@pytest.mark.requirement("S4-12")
def test_daniella_keeps_the_four_entities_and_the_call_about_her() -> None:
    assert names(filter_sources_for_display(DANIELLA, ANSWER)) == names(DANIELLA[:5])


@pytest.mark.requirement("S4-15")
@pytest.mark.parametrize(
    ("without", "comes_back"),
    [
        ({"exclude_roles": set(), "answer_filter": False}, ["call with Shely", "call with Riki"]),
        ({"min_score": 0.0, "answer_filter": False}, ["bank letter", "call with Shlomo 1", "call with Shlomo 2"]),
    ],
)
def test_each_of_the_others_falls_to_its_layer(without: dict[str, Any], comes_back: list[str]) -> None:
    assert names(filter_sources_for_display(DANIELLA, ANSWER, **without))[5:] == comes_back


@pytest.mark.requirement("S4-15")
def test_the_bank_letter_falls_to_the_answer_even_without_a_lowest_score() -> None:
    assert "bank letter" not in names(filter_sources_for_display(DANIELLA, ANSWER, min_score=0.0))


@pytest.mark.requirement("S4-2")
def test_system_entries_are_never_shown() -> None:
    node = Node("placeholder", 1.0, "system", promoted=True)
    assert filter_sources_for_display([node], "", 0.0, 8, set(), False) == []


@pytest.mark.requirement("S4-3")
@pytest.mark.parametrize("role", ["context_expansion", "recency_supplement", "asset_neighborhood"])
def test_passages_added_for_context_are_not_shown(role: str) -> None:
    node = Node("added", 0.9, source_role=role, sender="Alex")
    assert filter_sources_for_display([node], "Alex said so") == []
    assert filter_sources_for_display([node], "Alex said so", exclude_roles=set()) == [node]
    assert filter_sources_for_display([node], "Alex said so", exclude_roles={"other"}) == [node]


def test_a_promoted_neighbour_passes_role_score_and_answer() -> None:
    node = Node("parent mail", 0.4, source_role="asset_neighborhood", promoted=True)
    assert filter_sources_for_display([node], "nothing of it") == [node]


@pytest.mark.requirement("S4-8")
@pytest.mark.parametrize(("score", "kept"), [(0.49, False), (0.5, True), (0.51, True)])
def test_the_lowest_score_is_shown(score: float, kept: bool) -> None:
    node = Node("call", score, sender="Alex")
    assert bool(filter_sources_for_display([node], "Alex")) is kept


@pytest.mark.requirement("S4-9")
@pytest.mark.parametrize(
    ("node", "answer", "kept"),
    [
        (Node("full name", 1, sender="Alex Rubin"), "Then Alex Rubin agreed.", True),
        (Node("case", 1, sender="ALEX RUBIN"), "then alex rubin agreed", True),
        (Node("with address", 1, sender="Alex Rubin <alex@x.example>"), "Alex Rubin agreed", True),
        (Node("address only", 1, sender="<alex@x.example>"), "alex@x.example agreed", True),
        (Node("one of several", 1, sender="Noa, Alex Rubin"), "Alex Rubin agreed", True),
        (Node("Hebrew prefix", 1, sender="דניאלה"), "נתתי לדניאלה ספר", True),
        (Node("family name alone", 1, sender="Shlomo Pickel"), "Daniella Pickel teaches", False),
        (Node("inside a word", 1, sender="Al"), "Also totally", False),
        (Node("nobody", 1, sender=None), "Alex", False),
        (Node("empty", 1, sender=" "), "Alex", False),
        (Node("chat", 1, chat_name="Family", rag_source_type="whatsapp"), "In the Family chat", True),
        (Node("chat text", 1, rag_source_type="whatsapp", text="one two three four"), "one two three four", False),
        (Node("facts", 1, "entity_store"), "", True),
        (Node("call words", 1, text="we said seven thousand by Friday"), "So: seven thousand by Friday.", True),
        (Node("call, three words", 1, text="we said seven thousand"), "So: we said seven.", False),
        (Node("amount", 1, text="Total: 7,980.00"), "He owes 7,980.00 now", True),
        (Node("amount without marks", 1, text="Total: 7,980₪"), "He owes 7980₪", True),
        (Node("a year is no figure", 1, text="signed in 2024"), "In 2024 nothing happened", False),
        (Node("document", 1, rag_source_type="documentation", text="IBAN in letter"), "Nothing", False),
    ],
    ids=lambda value: value.name if isinstance(value, Node) else None,
)
def test_what_the_answer_speaks_of(node: Node, answer: str, kept: bool) -> None:
    assert bool(filter_sources_for_display([node], answer)) is kept


@pytest.mark.requirement("S4-10")
def test_no_more_than_the_cap() -> None:
    nodes = [Node(str(number), 1.0, "entity_store") for number in range(12)]
    assert names(filter_sources_for_display(nodes, "")) == [str(number) for number in range(8)]
    assert len(filter_sources_for_display(nodes, "", max_count=12)) == 12


@pytest.mark.requirement("S4-11")
@pytest.mark.requirement("S4-14")
def test_settings_rule_the_layers_and_off_means_the_old_list(settings: Settings) -> None:
    assert names(apply_source_filter(DANIELLA, ANSWER, settings)) == names(DANIELLA[:5])
    off = settings.model_copy(update={"source_display_filter_enabled": False})
    assert apply_source_filter(DANIELLA, ANSWER, off) == DANIELLA
    capped = settings.model_copy(update={"source_display_max_count": 2})
    assert names(apply_source_filter(DANIELLA, ANSWER, capped)) == names(DANIELLA[:2])


@pytest.mark.requirement("S4-13")
@pytest.mark.parametrize(
    ("setting", "value", "count"),
    [
        ("source_display_min_score", 0.9, 4),
        ("source_display_min_score", 0.0, 5),
        ("source_display_answer_filter", False, 5),
        ("source_display_max_count", 3, 3),
    ],
)
def test_each_setting_tunes_its_layer(settings: Settings, setting: str, value: object, count: int) -> None:
    assert len(apply_source_filter(DANIELLA, ANSWER, settings.model_copy(update={setting: value}))) == count


def test_whose_a_source_is_counts_and_not_how_the_name_is_written() -> None:
    """A person's records stay across scripts; those of a namesake do not come along."""
    mine = Node("in Hebrew", 0.9, "chat", sender="שירן", rag_source_type="whatsapp", writer_ids=(42,))
    other = Node("a namesake", 0.9, "chat", sender="Shiran", rag_source_type="whatsapp", writer_ids=(43,))
    unknown = Node("nobody known", 0.9, "chat", sender="Shiran", rag_source_type="whatsapp")
    answer = "Shiran: the boiler is broken"
    assert names(filter_sources_for_display([mine, other, unknown], answer)) == ["a namesake", "nobody known"]
    assert names(filter_sources_for_display([mine, other, unknown], answer, people={42})) == [
        "in Hebrew",
        "nobody known",
    ]
    letter = Node("chat of that name", 0.9, "chat", sender="Ota", chat_name="Shiran", writer_ids=(7,))
    assert names(filter_sources_for_display([letter], answer, people={42})) == ["chat of that name"]
