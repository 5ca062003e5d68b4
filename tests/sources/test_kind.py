"""Words by which questions name types of records: those of each language's kinds.toml."""

from __future__ import annotations

import pytest

from relrag_pipelines import languages
from relrag_pipelines.sources import RECORD_TYPES


def test_words_for_a_type_are_those_of_all_languages() -> None:
    words = set(RECORD_TYPES["calendar_event"].words.split())
    assert {"appointment", "cita", "Termin".lower(), "schůzka", "פגישה", "rendez-vous", "встреча"} <= words
    assert set(RECORD_TYPES["slack"].words.split()) >= {"slack", "message", "Nachricht".lower(), "zpráva", "סלאק"}
    assert "móvil" in RECORD_TYPES["contact"].content_words.split()
    assert RECORD_TYPES["contact"].words == ""


@pytest.mark.parametrize("code", languages.codes("kinds"))
def test_each_entry_of_a_language_names_a_type(code: str) -> None:
    entries = {kind.wording for kind in RECORD_TYPES.values()} | {kind.tells for kind in RECORD_TYPES.values()}
    assert languages.table(code, "kinds").keys() <= entries | RECORD_TYPES.keys()
