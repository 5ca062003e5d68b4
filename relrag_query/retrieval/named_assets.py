"""The records that a question names: by the name of a file, a reference number, or a subject in quotes."""

from __future__ import annotations

import re

import duckdb

from relrag_pipelines.text.reference_numbers import FILE_NAME, find_reference_numbers
from relrag_query.retrieval import catalog_reader

_QUOTED = re.compile(r"[\"“„«״]([^\"“”„«»״]{4,120})[\"”“»״]")


def named_assets(question: str, connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """Refs of the records that the question names; ambiguous names are left out. `question` is redacted."""
    files, numbers = FILE_NAME.findall(question), find_reference_numbers(question)
    subjects = _QUOTED.findall(question)
    if not (files or numbers or subjects):
        return ()
    return tuple(catalog_reader.refs_by_name(connection, files, numbers, subjects))
