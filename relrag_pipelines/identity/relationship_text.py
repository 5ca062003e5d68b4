"""The text of a relationship that is embedded: description, type, attitude and proximity in words, notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

MAX_NOTES_CHARS = 1000
"""characters of the notes together"""


class RelationshipWords(NamedTuple):
    """Words for attitude and proximity, from 1 to 5."""

    attitude: tuple[str, str, str, str, str]
    proximity: tuple[str, str, str, str, str]


DEFAULT = RelationshipWords(
    ("very_negative", "negative", "neutral", "positive", "very_positive"),
    ("distant", "acquainted", "familiar", "close", "very_close"),
)

_PAIRS = {
    "person-person": """hostile unfriendly neutral friendly close
        stranger acquaintance familiar known-well intimate-knowledge""",
    "person-concept": """dislikes skeptical neutral interested passionate
        unfamiliar aware understands experienced expert""",
    "person-entity": """negative-view unfavorable neutral favorable strongly-positive
        distant aware-of familiar-with involved-with deeply-connected""",
    "concept-concept": """contradicts conflicts independent complementary integral
        loosely-related somewhat-related related closely-related inseparable""",
    "concept-entity": """peripheral minor relevant important central
        tangential mentioned involved key-component essential""",
    "entity-entity": """adversarial competing independent cooperative integrated
        distantly-connected indirectly-connected connected closely-linked tightly-coupled""",
}


def _words(text: str) -> RelationshipWords:
    a1, a2, a3, a4, a5, p1, p2, p3, p4, p5 = text.split()
    return RelationshipWords((a1, a2, a3, a4, a5), (p1, p2, p3, p4, p5))


WORDS: Mapping[str, RelationshipWords] = MappingProxyType({pair: _words(text) for pair, text in _PAIRS.items()})
"""the words that Saturn has for the kinds of nodes at the two ends; DEFAULT is what relrag writes"""


def relationship_text(
    description: str | None,
    relationship_type: str,
    attitude: int | None = None,
    proximity: int | None = None,
    notes: Sequence[str] = (),
    words: RelationshipWords = DEFAULT,
) -> str:
    """`<description> <type> <attitude> <proximity> <notes>`; what is missing leaves no gap.

    Raises ValueError for an attitude or a proximity that is not 1 to 5.
    """
    noted = " ".join(note.strip() for note in notes if note.strip())[:MAX_NOTES_CHARS].rstrip()
    parts = [
        (description or "").strip(),
        relationship_type,
        _word("attitude", attitude, words.attitude),
        _word("proximity", proximity, words.proximity),
        noted,
    ]
    return " ".join(filter(None, parts))


def _word(name: str, value: int | None, words: tuple[str, ...]) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or value not in range(1, 6):
        raise ValueError(f"{name} is {value!r}; it is a whole number from 1 ({words[0]}) to 5 ({words[-1]})")
    return words[value - 1]
