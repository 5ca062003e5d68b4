"""How well personal data is found: precision, recall, F2 and leaks by entity, on annotated texts and on sentences.

`python -m bench.pii_scores` prints the gates, and with `--tune` what goes wrong in the sentences for tuning.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bench import pii_sentences, redaction
from bench.measurement import Figure
from relrag_pipelines.pii import PIIRedactor
from relrag_pipelines.pii.entities import ENTITIES, FURTHER
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.settings import Policy

Found = tuple[str, int, int]
"""entity, start, end"""

GATES = {
    "EMAIL_ADDRESS": (1.0, 1.0),
    "IP_ADDRESS": (1.0, 1.0),
    "IBAN_CODE": (0.99, 0.0),
    "CREDIT_CARD": (0.97, 0.97),
    "PHONE_NUMBER": (0.95, 0.90),
    "US_SSN": (0.97, 0.90),
}
"""least recall and precision on the annotated texts"""
_UNGATED = ("f2", "to_the_letter", "leaked_share")
"""further figures of each, without a gate"""
SENTENCE_GATE = (0.98, 0.95)
"""the same of each entity on the sentences of the test"""


@dataclass
class Score:
    """Counts of one entity; a finding and an annotation meet where they overlap."""

    annotated: int = 0
    met: int = 0
    exact: int = 0
    found: int = 0
    right: int = 0
    leaked: int = 0
    """annotated values of which a letter or digit is in no finding of any entity"""

    @property
    def recall(self) -> float:
        return self.met / max(1, self.annotated)

    @property
    def precision(self) -> float:
        return self.right / max(1, self.found)

    @property
    def to_the_letter(self) -> float:
        """Share of the annotated values that are found with their first and last character."""
        return self.exact / max(1, self.annotated)

    @property
    def leaked_share(self) -> float:
        """Share of the annotated values of which a letter or digit stays."""
        return self.leaked / max(1, self.annotated)

    @property
    def f2(self) -> float:
        """Recall weighs four times what precision does."""
        low = 4 * self.precision + self.recall
        return 5 * self.precision * self.recall / low if low else 0.0


def redactor(names: Iterable[str]) -> PIIRedactor:
    """One that looks for these."""
    return PIIRedactor({"default": Policy(entities=list(names), action="replace")}, Keys(b"i" * 32, b"p" * 32, "k1"))


def scores(
    texts: Iterable[tuple[str, list[Found]]], detect: Callable[[str], list[Found]], names: Iterable[str]
) -> dict[str, Score]:
    """The score of each entity."""
    counted = {name: Score() for name in names}
    for text, wanted in texts:
        found = detect(text)
        covered = {place for _, start, end in found for place in range(start, end)}
        for name, score in counted.items():
            ours, theirs = ([one[1:] for one in some if one[0] == name] for some in (found, wanted))
            score.annotated += len(theirs)
            score.found += len(ours)
            score.met += sum(any(a < end and start < b for a, b in ours) for start, end in theirs)
            score.right += sum(any(a < end and start < b for start, end in theirs) for a, b in ours)
            score.exact += sum(one in ours for one in theirs)
            score.leaked += sum(
                any(text[place].isalnum() and place not in covered for place in range(start, end))
                for start, end in theirs
            )
    return counted


def on_annotated() -> dict[str, Score]:
    """On the annotated texts of presidio-research that are at hand; empty where they are absent."""
    rows = redaction.annotated()
    ours = redactor([*ENTITIES, *FURTHER])
    texts = [
        (row["full_text"], [(one["entity_type"], one["start_position"], one["end_position"]) for one in row["spans"]])
        for row in rows
    ]
    return scores(texts, lambda text: _found(ours, text), GATES) if rows else {}


def on_sentences(half: pii_sentences.Half) -> dict[str, Score]:
    """On the sentences of one half."""
    ours = redactor(pii_sentences.TEMPLATES)
    texts = [
        (one.text, [(one.entity, one.start, one.end)] if one.entity else []) for one in pii_sentences.sentences(half)
    ]
    return scores(texts, lambda text: _found(ours, text), pii_sentences.TEMPLATES)


def figures() -> list[Figure]:
    """Recall and precision with their gates, F2, and the shares found to the letter and of which a part stays."""
    annotated = [(f"annotated texts, {name}", score, *GATES[name]) for name, score in on_annotated().items()]
    made = [(f"sentences, {name}", score, *SENTENCE_GATE) for name, score in on_sentences("test").items()]
    return [
        Figure(f"{what}, {measure}", getattr(score, measure), "of 1", at_least=least or None)
        for what, score, recall, precision in [*annotated, *made]
        for measure, least in (("recall", recall), ("precision", precision), *dict.fromkeys(_UNGATED, 0.0).items())
    ]


def _found(ours: PIIRedactor, text: str) -> list[Found]:
    return [(one.type, one.start, one.end) for one in ours.detect(text, "default")]


def main() -> None:
    """Prints the scores."""
    tables = {"annotated": on_annotated(), "sentences, test": on_sentences("test")}
    if "--tune" in sys.argv:
        tables = {"sentences, tune": on_sentences("tune")}
        _print_faults()
    for name, table in tables.items():
        for entity, one in table.items():
            print(
                f"{name:16} {entity:16} P {one.precision:.3f}  R {one.recall:.3f}  F2 {one.f2:.3f}  "
                f"exact {one.exact}/{one.annotated}  leaked {one.leaked}"
            )


def _print_faults() -> None:
    ours = redactor(pii_sentences.TEMPLATES)
    for one in pii_sentences.sentences("tune"):
        found = _found(ours, one.text)
        if [(name, a, b) for name, a, b in found] != ([(one.entity, one.start, one.end)] if one.entity else []):
            print(one.entity or "decoy", "|", one.text, "|", [(name, one.text[a:b]) for name, a, b in found])


if __name__ == "__main__":
    main()
