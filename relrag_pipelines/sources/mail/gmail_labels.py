"""Gmail's labels in `X-Gmail-Labels`, as Google Takeout writes them: encoded, and in the owner's language."""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterable

from relrag_pipelines import languages
from relrag_pipelines.sources.mail import headers


@functools.cache
def _own_labels() -> dict[str, str]:
    """Labels that Gmail gives itself, in all languages, in lower case -> in English."""
    tables = [languages.table(code, "exports").get("gmail_labels", {}) for code in languages.codes("exports")]
    labels = {name.casefold(): label for table in tables for label, names in table.items() for name in names}
    return labels | {label: label for table in tables for label in table}


def parse_labels(values: Iterable[bytes]) -> list[str]:
    """The labels, each once; those that Gmail gives itself in English, the owner's own as they are."""
    labels: dict[str, None] = {}
    own_labels = _own_labels()
    for value in values:
        for label in next(csv.reader([headers.decode(value)], skipinitialspace=True), []):
            if plain := " ".join(label.split()):
                labels[own_labels.get(plain.casefold(), plain)] = None
    return list(labels)
