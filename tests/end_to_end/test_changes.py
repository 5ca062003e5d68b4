"""Whatever changes between two syncs, the second ends well and leaves what a first sync of the same would leave.

With the built-in model and with redaction, as archives have it. `make test` makes a few changes, `make slow` many.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from relrag_pipelines import embedders
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import catalog, generations, lake
from relrag_query.cli.commands import forget as forgetting
from relrag_query.cli.commands.sync import sync
from relrag_query.forgetting import ForgetRequest
from relrag_query.people.indexed_person import PeopleError
from relrag_query.statements import merge_split
from tests import archive, clean_build

CLOCK = "2024-06-15T12:00:00+00:00"
CONFIG = """
archive = "test"
keys_file = "test.keys"
timezone = "Europe/Prague"
pii_redaction_enabled = true
owner = "Petr Kolar"
{settings}
"""
KINDS = {"chat": "whatsapp", "mail": "gmail", "papers": "document", "notes": "jsonl", "cards": "contacts"}
SETTINGS = {
    "chunk_tokens": ("32", "256"),
    "embedder": ('"e5"', '"none"'),
    "link_max_records": ("2", "50"),
    "person_unnamed_after": ("1", "10"),
    "pii_redaction_enabled": ("true", "false"),
}
PEOPLE = {"Dana Levi": "dana@levi.example", "Petr Kolar": "petr@kolar.example", "Ota": "ota@plumber.example"}
TEXTS = (
    "",
    "👍",
    "The boiler of the cabin is broken again.",
    "Call me on +420 601 234 567 or write to dana@levi.example.",
    "Invoice 2024-0931 is paid, says Dana Levi.",
    "Who has the key of the cabin? " * 12,
)
MONTHS = ("2024-01", "2024-02", "2024-04")

sources, months = st.sampled_from(sorted(KINDS)), st.sampled_from(MONTHS)
people, texts = st.sampled_from(sorted(PEOPLE)), st.sampled_from(TEXTS)
Item = tuple[str, str, str]
"""month, sender and text"""
additions = st.tuples(sources, st.tuples(months, people, texts))


FIRST, LAST = "01/01/2024, 08:00 - Ota: Welcome to the group\n", "30/05/2024, 08:00 - Ota: See you\n"


def chat_line(month: str, sender: str, text: str, number: int) -> str:
    year, of_year = month.split("-")
    said = f"{sender}: {text}" if text else f'{sender} changed the subject to "Hiking {number}"'
    return f"{number % 28 + 1:02}/{of_year}/{year}, 10:{number % 60:02} - {said}\n"


def mail(month: str, sender: str, text: str, number: int) -> str:
    head = f"Message-ID: <m{number}@x.example>\nFrom: {sender} <{PEOPLE[sender]}>\nTo: Dana Levi <dana@levi.example>\n"
    day = {"2024-01": "13 Jan", "2024-02": "14 Feb", "2024-04": "15 Apr"}[month]
    answers = f"In-Reply-To: <m{number - 1}@x.example>\n" if number % 2 else ""
    return f"{head}{answers}Date: {day} 2024 08:00:00 +0000\nSubject: {'cabin' if text else ''}\n\n{text}\n"


def note(month: str, sender: str, text: str, number: int) -> str:
    fields = {"id": f"n{number}", "text": text, "timestamp": f"{month}-05T08:00:00Z", "from": sender}
    return json.dumps(fields) + "\n"


def card(month: str, sender: str, text: str, number: int) -> str:
    telephone = f"TEL:+42060123456{number % 10}\n"
    return f"BEGIN:VCARD\nVERSION:3.0\nFN:{sender}\nEMAIL:{PEOPLE[sender]}\n{telephone if text else ''}END:VCARD\n"


class Changes(RuleBasedStateMachine):
    """An archive of five kinds, and what may happen to it between two syncs."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = Path(tempfile.mkdtemp())
        self._config = self._folder / "archive" / "relrag.toml"
        self._items: dict[str, dict[int, Item]] = {name: {} for name in KINDS}
        self._settings = {name: values[0] for name, values in SETTINGS.items()}
        self._kinds = dict(KINDS)
        self._number, self._merged = 0, False
        self._config.parent.mkdir()
        for name in KINDS:
            (self._config.parent / name).mkdir()
        self._configure()

    def teardown(self) -> None:
        try:
            self.syncs()
        finally:
            shutil.rmtree(self._folder)

    @initialize(added=st.lists(additions, min_size=8, max_size=12))
    def begins(self, added: list[tuple[str, Item]]) -> None:
        self.adds(added)

    @rule(added=st.lists(additions, min_size=1, max_size=3))
    def adds(self, added: list[tuple[str, Item]]) -> None:
        for source, item in added:
            self._number += 1
            self._items[source][self._number] = item
            self._write(source)

    @precondition(lambda self: any(self._items.values()))
    @rule(data=st.data(), text=texts)
    def edits(self, data: st.DataObject, text: str) -> None:
        source, number = self._any_item(data)
        month, sender, _ = self._items[source][number]
        self._items[source][number] = (month, sender, text)
        self._write(source)

    @precondition(lambda self: any(self._items.values()))
    @rule(data=st.data())
    def deletes(self, data: st.DataObject) -> None:
        source, number = self._any_item(data)
        del self._items[source][number]
        self._write(source)

    @precondition(lambda self: any(self._items.values()))
    @rule(data=st.data())
    def empties(self, data: st.DataObject) -> None:
        source, _ = self._any_item(data)
        self._items[source] = {}
        self._write(source)

    @rule(source=sources)
    def takes_away_or_brings_back(self, source: str) -> None:
        if source in self._kinds and len(self._kinds) > 1:
            del self._kinds[source]
        else:
            self._kinds[source] = KINDS[source]
        self._configure()

    @rule(name=st.sampled_from(sorted(SETTINGS)))
    def changes_a_setting(self, name: str) -> None:
        (other,) = {*SETTINGS[name]} - {self._settings[name]}
        self._settings[name] = other
        self._configure()

    @precondition(lambda self: self._published and not self._merged)
    @rule()
    def merges_people(self) -> None:
        with contextlib.suppress(PeopleError):  # one of them is not in the index
            merge_split.merge("Dana Levi", ["Ota"], config=self._config)
            self._merged = True

    @precondition(lambda self: self._published)
    @rule(data=st.data())
    def forgets(self, data: st.DataObject) -> None:
        current = generations.current_number(archive.home(self._config.parent))
        with catalog.open(archive.home(self._config.parent) / "published" / str(current) / "catalog.duckdb") as opened:
            ids = [one for (one,) in opened.execute("SELECT asset_id FROM records ORDER BY 1").fetchall()]
        if ids:
            asked = ForgetRequest(refs=[data.draw(st.sampled_from(ids))])
            assert forgetting.forget(asked, self._config, yes=True) in (0, 1)

    @rule()
    def syncs(self) -> None:
        assert sync(self._config, accept_deletions=True) in (0, 1)
        clean = clean_build.copy_exports(self._config.parent, self._folder / "clean")
        assert sync(clean) in (0, 1)
        assert clean_build.differences(self._config, clean) == []

    @property
    def _published(self) -> bool:
        return generations.current_number(archive.home(self._config.parent)) is not None

    def _any_item(self, data: st.DataObject) -> tuple[str, int]:
        there = [(source, number) for source, items in self._items.items() for number in items]
        return data.draw(st.sampled_from(there))

    def _configure(self) -> None:
        stated = CONFIG.replace("pii_redaction_enabled = true\n", "")
        text = stated.format(settings="\n".join(f"{name} = {value}" for name, value in self._settings.items()))
        for name, kind in self._kinds.items():
            text += f'[[sources]]\nname = "{name}"\nkind = "{kind}"\npath = "{name}"\n'
        self._config.write_text(text)

    def _write(self, source: str) -> None:
        """Writes the items of a source: each a file of its own, or all in one."""
        folder = self._config.parent / source
        shutil.rmtree(folder)
        folder.mkdir()
        items = sorted(self._items[source].items())
        if source == "mail":
            for number, item in items:
                (folder / f"{number}.eml").write_text(mail(*item, number))
        elif source == "papers":
            for number, (month, _, text) in items:
                (folder / f"paper {number} {month}-05.md").write_text(text)
        elif items:
            name, line = {
                "chat": ("WhatsApp Chat with Hiking.txt", chat_line),
                "notes": ("notes.jsonl", note),
                "cards": ("people.vcf", card),
            }[source]
            lines = [line(*item, number) for number, item in items]
            if source == "chat":  # what is older or newer than an export holds is not deleted, so both ends stay
                lines = [FIRST, *lines, LAST]
            (folder / name).write_text("".join(lines))


@pytest.fixture
def _one_model(monkeypatch: pytest.MonkeyPatch, without_dagster: None) -> None:
    """Loads the model once for all syncs, which it takes most of the time of."""
    load, loaded = embedders.load, dict[str, embedders.Embedder]()

    def load_once(settings: Settings) -> embedders.Embedder:
        if settings.embedder not in loaded:
            loaded[settings.embedder] = load(settings)
        return loaded[settings.embedder]

    monkeypatch.setattr(embedders, "load", load_once)
    monkeypatch.setenv("RELRAG_NOW", CLOCK)


def test_one_of_two_cards_of_a_person_is_forgotten(tmp_path: Path, without_dagster: None) -> None:
    (tmp_path / "cards").mkdir()
    cards = [card("2024-01", "Petr Kolar", "a number", number) for number in (1, 2)]
    (tmp_path / "cards" / "people.vcf").write_text("".join(cards))
    config = tmp_path / "relrag.toml"
    head = CONFIG.format(settings='embedder = "none"')
    config.write_text(f'{head}[[sources]]\nname = "cards"\nkind = "contacts"\npath = "cards"\n')
    home = archive.sync(config).home
    first, _ = lake.read(home, "private_records", "cards", "2000-01")["asset_id"].to_pylist()
    assert forgetting.forget(ForgetRequest(refs=[first]), config, yes=True) == 0


def test_a_generation_on_a_base_is_what_a_first_sync_would_make(
    tmp_path: Path, without_dagster: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELRAG_NOW", CLOCK)
    folder = tmp_path / "archive"
    folder.mkdir()
    config = archive.many_notes(folder, months=6)
    home = archive.sync(config).home
    with (config.parent / "notes.jsonl").open("a") as file:
        file.write('{"id": "new", "text": "The sauna is hot", "timestamp": "2023-03-15T08:00:00Z"}\n')
    archive.sync(config)
    assert (home / "published" / "2" / catalog.BASE).exists()
    clean = clean_build.copy_exports(config.parent, tmp_path / "clean")
    archive.sync(clean)
    assert clean_build.differences(config, clean) == []


def _run(examples: int, steps: int, *, random: bool) -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Changes,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
            derandomize=not random,
        ),
    )


def test_a_few_changes_leave_what_a_first_sync_would(_one_model: None) -> None:
    _run(2, 10, random=False)


@pytest.mark.slow
def test_many_changes_leave_what_a_first_sync_would(_one_model: None) -> None:
    _run(12, 25, random=True)
