"""Removes stored answers of language models about passages that no longer exist."""

from __future__ import annotations

from pathlib import Path

from relrag_pipelines.privacy.pseudonyms import to_entity_type
from relrag_pipelines.stores import model_answers, parquet_file


def prune_answers(home: Path) -> int:
    """Removes models' answers about passages that are no longer in the lake; returns how many."""
    if not any((home / name).exists() for name in model_answers.FILES):
        return 0
    months = (home / "lake" / "chunks").glob("*/*.parquet")
    columns = (parquet_file.read(month, ["text"])[0] for month in months)
    texts = (text.as_py() for column in columns for text in column)
    # a model that is asked for facts of people is shown no pseudonyms
    return model_answers.prune(
        home, {model_answers.text_hash(shown) for text in texts for shown in (text, to_entity_type(text))}
    )
