"""How well personal data is found in texts of many countries: recall and precision by type and country.

bench/findings/<cc>.jsonl holds about 66 texts of a country, half of them near misses, written by somebody who knew
nothing of the recognisers; SOURCE.md says more. Each is looked at by the default policy, as an archive that is at home
in that country has it. Some countries are held back: nobody looks at their texts, only at their shares.

`python -m bench.findings_by_country` prints the shares, with `--faults TYPE` also what goes wrong in the other
countries.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import pii_scores
from bench.measurement import Figure
from bench.pii_scores import Found, Score
from relrag_pipelines.pii import PIIRedactor
from relrag_pipelines.pii.policies import EntityCatalog
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.settings import Policy
from relrag_pipelines.settings.policy_presets import POLICIES

FOLDER = Path(__file__).parent / "findings"
HELD_BACK = frozenset({"IL", "CZ", "DK", "SE", "CN"})
TYPES = ("PHONE_NUMBER", "EMAIL_ADDRESS", "CREDIT_CARD", "IBAN_CODE", "NATIONAL_ID")
GATE = 0.95
"""least recall and least precision of each type over all countries"""
_UNLABELLED = frozenset(
    {"IP_ADDRESS", "MAC_ADDRESS", "CREDENTIALS", "API_KEY", "PASSPORT", "DRIVER_LICENSE", "BANK_ACCOUNT"}
)
"""Entities that policies hide and the texts do not label. All others outside TYPES count as national ids."""


def texts_of(country: str) -> list[dict[str, Any]]:
    """The labelled texts of a country."""
    lines = (FOLDER / f"{country.lower()}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def countries() -> list[str]:
    """The countries there are texts of."""
    return sorted(path.stem.upper() for path in FOLDER.glob("*.jsonl"))


def redactor(country: str) -> PIIRedactor:
    """One that redacts all that the default policy names, in an archive of that country."""
    keys = Keys(b"i" * 32, b"p" * 32, "k1")
    policy = Policy.model_validate({**POLICIES["default"], "action": "replace", "actions": {}})
    return PIIRedactor({"default": policy}, keys, catalog=EntityCatalog(regions=(country,)))


def find(ours: PIIRedactor, text: str) -> list[Found]:
    """What is found in a text, by the types of the labels."""
    found = (
        (one.type if one.type in TYPES else "NATIONAL_ID", one.start, one.end)
        for one in ours.detect(text, "default")
        if one.type not in _UNLABELLED
    )
    return list(found)


def by_country() -> dict[str, dict[str, Score]]:
    """The score of each type in each country."""
    scored = {}
    for country in countries():
        ours = redactor(country)
        texts = [(row["text"], [(name, start, end) for start, end, name in row["spans"]]) for row in texts_of(country)]
        scored[country] = pii_scores.scores(texts, lambda text, ours=ours: find(ours, text), TYPES)  # type: ignore[misc]
    return scored


def total(scores: list[Score]) -> Score:
    """The score of several countries together."""
    names = ("annotated", "met", "exact", "found", "right", "leaked")
    return Score(*(sum(getattr(one, name) for one in scores) for name in names))


def figures() -> list[Figure]:
    """Recall and precision of each type over all countries, with gates, and in each country."""
    scored = by_country()
    overall = {name: total([one[name] for one in scored.values()]) for name in TYPES}
    apart = {name: total([one[name] for country, one in scored.items() if country in HELD_BACK]) for name in TYPES}
    return [
        *(one for name, score in overall.items() for one in _rows(f"{len(scored)} countries, {name}", score, GATE)),
        *(one for name, score in apart.items() for one in _rows(f"held-back countries, {name}", score, None)),
        *(
            one
            for country, table in scored.items()
            for name, score in table.items()
            if score.annotated or score.found
            for one in _rows(f"{country}, {name}", score, None)
        ),
    ]


def _rows(what: str, score: Score, gate: float | None) -> Iterator[Figure]:
    for measure in ("recall", "precision"):
        yield Figure(f"{what}, {measure}", getattr(score, measure), "of 1", at_least=gate)


def main() -> None:
    """Prints the shares."""
    scored = by_country()
    kinds = {"all": scored, "open": {c: s for c, s in scored.items() if c not in HELD_BACK}}
    kinds["held back"] = {c: s for c, s in scored.items() if c in HELD_BACK}
    for what, some in kinds.items():
        for name in TYPES:
            _print(what, name, total([one[name] for one in some.values()]))
    for country, table in scored.items():
        for name, score in table.items():
            _print(country, name, score)
    if "--faults" in sys.argv:
        _print_faults(sys.argv[sys.argv.index("--faults") + 1])


def _print(what: str, name: str, score: Score) -> None:
    counts = f"{score.met}/{score.annotated} met, {score.right}/{score.found} right, {score.leaked} leak"
    print(f"{what:10} {name:14} R {score.recall:.3f}  P {score.precision:.3f}  {counts}")


def _print_faults(name: str) -> None:
    for country in (one for one in countries() if one not in HELD_BACK):
        ours = redactor(country)
        for row in texts_of(country):
            wanted = [(start, end) for start, end, kind in row["spans"] if kind == name]
            found = [(start, end) for kind, start, end in find(ours, row["text"]) if kind == name]
            missed = [row["text"][a:b] for a, b in wanted if not any(a < d and c < b for c, d in found)]
            wrong = [row["text"][a:b] for a, b in found if not any(a < d and c < b for c, d in wanted)]
            if missed or wrong:
                print(f"{country} missed {missed} wrong {wrong} | {row['text']!r} | {row.get('why', '')}")


if __name__ == "__main__":
    main()
