"""The words around answers: each language has them all, and what it lacks is English."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from relrag_pipelines import languages
from relrag_pipelines.languages import LanguageError
from relrag_query.display.page_texts import DEFAULT_TEXTS, PageTexts, page_texts

NAMES = [entry.name for entry in fields(PageTexts) if entry.name not in ("language", "nouns")]


def filled_in(text: str) -> set[str]:
    """The names in braces."""
    return set(re.findall(r"{(\w+)}", text))


@pytest.mark.parametrize("code", languages.codes("page"))
def test_a_language_has_all_texts_and_fills_in_nothing_that_english_does_not(code: str) -> None:
    texts = page_texts(code)
    assert set(languages.table(code, "page")) - {"nouns", "web"} == set(NAMES)
    assert [
        name for name in NAMES if not filled_in(getattr(texts, name)) <= filled_in(getattr(DEFAULT_TEXTS, name))
    ] == []


def test_a_language_without_the_file_has_english_texts() -> None:
    assert page_texts("xx") == DEFAULT_TEXTS


def test_what_a_language_lacks_is_english_and_a_mistake_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "qtz").mkdir()
    file = tmp_path / "qtz" / "page.toml"
    file.write_text('strong = "zub grintu"\n')
    monkeypatch.setenv(languages.VARIABLE, str(tmp_path))
    texts = page_texts("qtz")
    assert (texts.strong, texts.see_also, texts.language) == ("zub grintu", "See also", "qtz")
    (tmp_path / "qty").mkdir()
    (tmp_path / "qty" / "page.toml").write_text('strng = "zub"\n')
    with pytest.raises(LanguageError, match="strng is unknown"):
        page_texts("qty")


def test_records_are_named_and_counted_in_the_language() -> None:
    assert (DEFAULT_TEXTS.noun("email"), DEFAULT_TEXTS.count("email", 2)) == ("mail", "2 mails")
    assert (page_texts("es").noun("email"), page_texts("es").count("email", 2)) == ("correo", "correo: 2")
