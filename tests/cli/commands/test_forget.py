"""`relrag forget` as a user meets it: what goes, that it stays away, what is said, and how it is taken back."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from relrag_pipelines.erasure import byte_search, record_selection, rule_file
from relrag_pipelines.erasure.rule_file import ForgettingError
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.journal import journal
from relrag_pipelines.links import manual as links
from relrag_pipelines.privacy.keys import KeysError
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import generations, lake, lake_damage, unit_state
from relrag_query.cli.commands import forget as commands
from relrag_query.cli.commands import sync as syncing
from relrag_query.cli.commands.forget import forget
from relrag_query.cli.commands.verify import verify
from relrag_query.forgetting import ForgetRequest
from relrag_query.service.archive_status import collect
from tests import archive

LEASE = "papers/lease 2024-01-05.md"


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synced")
    archive.first_sync(archive.make(folder), dagster=True)
    return folder


@pytest.fixture
def config(synced: Path, tmp_path: Path) -> Path:
    """An archive that was synced, to be changed."""
    archive.clone(synced, tmp_path / "archive")
    return tmp_path / "archive" / "relrag.toml"


@pytest.fixture
def unpublished(config: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One in which nothing is made from the private records, which takes most of the time."""
    monkeypatch.setattr(commands, "_publish", lambda workspace: [])
    return config


def ids(config: Path) -> set[str]:
    """asset_ids of all private records."""
    return {
        one
        for _, _, table in record_selection.private_months(archive.workspace(config))
        for one in table["asset_id"].to_pylist()
    }


def read(config: Path) -> None:
    """Brings the private records up to date; what is made from them would take most of the time."""
    workspace = archive.workspace(config)
    for source in workspace.settings.sources:
        ingest(workspace, source)


def holding(config: Path, *values: str) -> list[str]:
    """Files of the home that hold one of the values."""
    return list(byte_search.search(archive.workspace(config).home, values).holding)


@pytest.mark.usefixtures("without_dagster")
def test_a_record_goes_everywhere_and_stays_away(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = archive.workspace(config).home
    (home / "private" / "records" / "notes" / ".2024-02.parquet.99.tmp").write_text("quoted 7,980")
    assert any("catalog" in path for path in holding(config, "The plumber quoted"))
    assert forget(ForgetRequest(refs=["jsonl:notes:n1"]), config, yes=True) == 0
    said = capsys.readouterr().out
    assert "notes: 1 of 2 records, 2024-02" in said
    assert "Forgotten: 1 record, as rule 1" in said
    assert re.search(r"that only it held, not for the \d+ others named above: 0 hold any\.", said)
    assert holding(config, "The plumber quoted", "jsonl:notes:n1") == []
    assert generations.numbers(home) == [2]
    assert verify(config) == 0
    assert plans.build_plan(archive.workspace(config)).empty
    # the export still holds it, and is read again
    with (config.parent / "notes.jsonl").open("a") as file:
        file.write(json.dumps({"id": "n3", "text": "a third", "timestamp": "2024-02-21"}) + "\n")
    assert syncing.sync(config, full=True) == 0
    assert {"jsonl:notes:n2", "jsonl:notes:n3"} < ids(config)
    assert holding(config, "The plumber quoted", "jsonl:notes:n1") == []
    # and comes back when that is wished
    assert commands.undo(1, config) == 0
    assert syncing.sync(config) == 0
    assert "jsonl:notes:n1" in ids(config)
    assert any("catalog" in path for path in holding(config, "The plumber quoted"))


def test_a_forgotten_document_leaves_no_name_and_its_copy_stays_away(unpublished: Path) -> None:
    config, folder = unpublished, unpublished.parent
    home = archive.workspace(config).home
    (asset_id,) = [one for one in ids(config) if one.startswith("document:")]
    assert forget(ForgetRequest(refs=[asset_id]), config, yes=True) == 2  # the lake is as it was
    (state,) = unit_state.load(home, "papers").values()
    assert state.path.startswith(unit_state.HIDDEN)
    assert "lease" not in str(pq.read_table(home / "private" / "units" / "papers.parquet").to_pylist())
    assert plans.build_plan(archive.workspace(config)).exports == []
    # copied elsewhere, edited where it is, and read anew
    shutil.copy(folder / LEASE, folder / "papers" / "z copy.md")
    read(config)
    (folder / LEASE).write_text("The tenant of the orangery has paid.")
    read(config)
    assert not [one for one in ids(config) if one.startswith("document:")]
    private = home / "private"
    assert byte_search.search(private, ["lease 2024-01-05", "orangery", "z copy"]).holding == {}
    assert plans.build_plan(archive.workspace(config)).exports == []
    assert commands.undo(1, config) == 0
    read(config)
    assert sorted(unit_state.load(home, "papers")) == ["lease 2024-01-05.md", "z copy.md"]
    assert len([one for one in ids(config) if one.startswith("document:")]) == 2


@pytest.mark.usefixtures("without_dagster")
def test_a_person_goes_from_every_source_with_the_chat_that_is_named_for_them(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, folder = archive.workspace(config).home, config.parent
    (folder / "chats" / "WhatsApp Chat with Ota Novak.txt").write_text("13/01/2024, 10:15 - Dana Levi: are you there\n")
    (folder / "chats" / "WhatsApp Chat with Ota Novak and all.txt").write_bytes(b"")
    (folder / "papers" / "minutes.md").write_text("# Minutes\n\nOTA   NOVAK was absent.\n")
    with (folder / "notes.jsonl").open("a") as file:
        file.write(json.dumps({"id": "n4", "text": "see you", "extra": {"cc": "Novak, Ota <on@example.org>"}}) + "\n")
        file.write(json.dumps({"id": "n5", "text": "Otakar Novak is somebody else"}) + "\n")
    read(config)
    assert len(unit_state.load_failures(home, "chat")) == 1
    capsys.readouterr()
    assert forget(ForgetRequest(person="Ota Novak"), config, yes=True) == 0
    said = capsys.readouterr().out
    assert "chat: 1 of 6 records" in said
    assert "papers: 1 of 2 records" in said
    assert "notes: 1 of 4 records" in said
    assert unit_state.load_failures(home, "chat") == []
    assert holding(config, "Ota Novak", "OTA   NOVAK", "Novak, Ota") == []
    assert {"jsonl:notes:n5", "jsonl:notes:n1"} < ids(config)
    # whatever names them later stays out, and is not read again and again
    (folder / "papers" / "later.md").write_text("Ask Ota Novak.")
    read(config)
    assert plans.build_plan(archive.workspace(config)).exports == []
    assert holding(config, "Ota Novak", "later.md") == []


@pytest.mark.parametrize("killed", [False, True], ids=["to its end", "killed before it published"])
@pytest.mark.usefixtures("without_dagster")
def test_what_the_owner_said_of_somebody_leaves_every_generation(
    config: Path, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    """Somebody of whom there is no record, so that nothing is deleted."""
    home = archive.workspace(config).home
    links.link_assets("jsonl:notes:n1", "jsonl:notes:n2", "references", provenance="as Zdenek Hora said", config=config)
    assert syncing.sync(config) == 0
    links.link_assets("jsonl:notes:n1", "jsonl:notes:n2", "references", provenance="certainly", config=config)
    assert syncing.sync(config) == 0
    assert sorted(generations.numbers(home)) == [2, 3]
    assert {path.split("/")[1] for path in holding(config, "Zdenek Hora")} == {"2", "journal.jsonl"}
    with monkeypatch.context() as cut:
        if killed:
            cut.setattr(commands, "_publish", lambda workspace: [])
        forget(ForgetRequest(person="Zdenek Hora"), config, yes=True)
    if killed:
        assert syncing.sync(config) == 0
    assert generations.numbers(home) == [4]
    assert holding(config, "Zdenek Hora") == []
    assert plans.build_plan(archive.workspace(config)).empty


@pytest.mark.usefixtures("without_dagster")
def test_what_the_owner_said_does_not_go_for_its_files_name(unpublished: Path) -> None:
    archive.write_notes(unpublished.parent, *({"id": name, "text": f"The {name}"} for name in ("journal", "link")))
    read(unpublished)
    links.link_assets("jsonl:notes:n1", "jsonl:notes:n2", "references", config=unpublished)
    home = archive.workspace(unpublished).home
    before = journal.entries(home)
    forget(ForgetRequest(refs=["jsonl:notes:journal", "jsonl:notes:link"]), unpublished, yes=True)
    forget(ForgetRequest(person="Link"), unpublished, yes=True)
    assert journal.entries(home) == before
    assert not {"jsonl:notes:journal", "jsonl:notes:link"} & ids(unpublished)


def test_what_is_older_stays_out_of_later_exports_too(unpublished: Path) -> None:
    config = unpublished
    forget(ForgetRequest(before="2024-02"), config, yes=True)
    assert len(ids(config)) == 3
    with (config.parent / "notes.jsonl").open("a") as file:
        file.write(json.dumps({"id": "old", "text": "an old one", "timestamp": "2024-01-31T22:59:59Z"}) + "\n")
        file.write(json.dumps({"id": "new", "text": "a new one", "timestamp": "2024-01-31T23:00:00Z"}) + "\n")
        file.write(json.dumps({"id": "undated", "text": "an undated one"}) + "\n")
    read(config)
    # the day begins by the owner's clock, in Prague
    assert {"jsonl:notes:new", "jsonl:notes:undated"} < ids(config)
    assert "jsonl:notes:old" not in ids(config)


def test_a_source_is_read_no_more(unpublished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config, home = unpublished, archive.workspace(unpublished).home
    forget(ForgetRequest(source="chat"), config, yes=True)
    assert "chat" not in lake.sources(home)
    read(config)
    assert not [one for one in ids(config) if one.startswith("whatsapp:")]
    assert holding(config, "The cabin is booked") == ["published/1/catalog.duckdb"]  # until a sync publishes
    assert plans.build_plan(archive.workspace(config)).exports == []
    capsys.readouterr()
    assert commands.list_rules(config) == 0
    assert 'the source "chat"; 5 records went' in capsys.readouterr().out
    assert commands.undo(1, config) == 0
    read(config)
    assert len([one for one in ids(config) if one.startswith("whatsapp:")]) == 5


@pytest.mark.usefixtures("without_dagster")
def test_threads_and_passages_name_their_records(unpublished: Path) -> None:
    config = unpublished
    forget(ForgetRequest(refs=["thread:thanks"]), config, yes=True)
    assert "jsonl:notes:n2" not in ids(config)
    chunk = next(one for one in archive.chunks(config, "chat") if "booked" in one.text)
    forget(ForgetRequest(refs=[f"chunk:{chunk.chunk_id}"]), config, yes=True)
    assert not ids(config) & set(chunk.members)
    found = collect(archive.workspace(config).settings).forgotten
    assert found == {"rules": 2, "records": 1 + len(chunk.members)}


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (ForgetRequest(), "name what is to be forgotten"),
        (ForgetRequest(refs=["a"], before="2024"), "name what is to be forgotten"),
        (ForgetRequest(refs=["jsonl:notes:n9"]), 'has nothing named "jsonl:notes:n9"'),
        (ForgetRequest(person="--"), "is not a name"),
        (ForgetRequest(source="chats"), "sources in relrag.toml: chat, papers, notes"),
        (ForgetRequest(before="soon"), '"soon" is not a date'),
        (ForgetRequest(refs=["jsonl:notes:n1"]), "add --yes"),  # nobody is there to be asked
    ],
)
def test_what_cannot_be_done_changes_nothing(synced: Path, wanted: ForgetRequest, said: str) -> None:
    config = synced / "relrag.toml"
    private = archive.workspace(config).home / "private"
    before = archive.contents(private)
    with pytest.raises(Exception, match=said):
        forget(wanted, config)
    assert archive.changed(before, archive.contents(private)) == []


def test_no_is_no(synced: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda prompt: "")
    assert forget(ForgetRequest(refs=["jsonl:notes:n1"]), synced / "relrag.toml") == 2
    assert "Nothing was changed." in capsys.readouterr().out


def test_what_is_left_anywhere_is_named(unpublished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = unpublished
    home = archive.workspace(config).home
    (home / "private" / "stray.jsonl").write_text(json.dumps({"note": "The plumber quoted 7,980 for the boiler."}))
    assert forget(ForgetRequest(refs=["jsonl:notes:n1"]), config, yes=True) == 2
    said = capsys.readouterr().out
    assert "private/stray.jsonl still holds" in said
    assert "lake/records/notes/2024-02.parquet still holds" in said
    assert "Something is left" in said


def test_what_is_kept_about_a_record_beside_it_goes_too(unpublished: Path) -> None:
    config, private = unpublished, archive.workspace(unpublished).home / "private"
    (private / "threads").mkdir()
    index = pa.table({"asset_id": ["jsonl:notes:n1", "jsonl:notes:n2"], "thread": ["a", "b"]})
    pq.write_table(index, private / "threads" / "notes.parquet")
    (private / "made" / "notes").mkdir(parents=True)
    for name in ("n1", "n2"):
        (private / "made" / "notes" / f"{name}.vtt").write_text("a transcript")
    (private / "made" / "other").mkdir()  # a source that has the same id for something else
    (private / "made" / "other" / "n1.vtt").write_text("a transcript")
    lines = ['{"at": 1, "of": {"asset_id": "jsonl:notes:n1"}}\n', '{"at": 2, "asset_id": "jsonl:notes:n2"}\n', '{"to']
    (private / "stray.jsonl").write_text("".join(lines))
    forget(ForgetRequest(refs=["jsonl:notes:n1"]), config, yes=True)
    assert pq.read_table(private / "threads" / "notes.parquet").to_pydict() == {
        "asset_id": ["jsonl:notes:n2"],
        "thread": ["b"],
    }
    assert [path.name for path in (private / "made" / "notes").iterdir()] == ["n2.vtt"]
    assert (private / "made" / "other" / "n1.vtt").is_file()
    assert (private / "stray.jsonl").read_text() == "".join(lines[1:])


@pytest.mark.usefixtures("without_dagster")
def test_an_open_reader_is_waited_for_and_then_named(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(commands, "_MAX_READER_SECONDS", 0.2)
    with generations.open_current(archive.workspace(config).home):
        assert forget(ForgetRequest(refs=["jsonl:notes:n1"]), config, yes=True) == 2
    said = capsys.readouterr().out
    assert "generation 1 is still being read" in said
    assert "published/1/catalog.duckdb still holds" in said
    generations.sweep(archive.workspace(config).home, 2)
    assert holding(config, "The plumber quoted") == []


def interrupting(replace: Callable[[Path, Path], Path], home: Path, write: int) -> Callable[[Path, Path], Path]:
    """`Path.replace` that is interrupted before the given replacement within the home, and before all that follow."""
    seen = 0

    def interrupted(source: Path, target: Path) -> Path:
        nonlocal seen
        if source.is_relative_to(home) and "dagster" not in source.relative_to(home).parts:
            seen += 1
            if seen >= write:
                raise KeyboardInterrupt
        return replace(source, target)

    return interrupted


@pytest.mark.parametrize("write", range(1, 13))
def test_a_kill_between_any_two_writes_is_made_good_by_the_next_sync(
    unpublished: Path, monkeypatch: pytest.MonkeyPatch, write: int
) -> None:
    config, home = unpublished, archive.workspace(unpublished).home
    (asset_id,) = [one for one in ids(config) if one.startswith("document:")]
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", interrupting(Path.replace, home, write))
        with pytest.raises(KeyboardInterrupt):
            forget(ForgetRequest(refs=[asset_id, "jsonl:notes:n1"]), config, yes=True)
    # the second is that of the rule itself, after its hash: before it nothing was done
    assert rule_file.load(home).unfinished == (write > 2)
    read(config)
    assert not rule_file.load(home).unfinished
    gone = {asset_id, "jsonl:notes:n1"}
    assert ids(config) & gone == (gone if write <= 2 else set())
    assert "jsonl:notes:n2" in ids(config)
    assert (
        write <= 2
        or byte_search.search(home / "private", ["lease 2024", "orangery", "The plumber quoted"]).holding == {}
    )
    assert not [
        line for source in ("chat", "papers", "notes") for line in lake_damage.verify(home, source) if "private" in line
    ]


def test_a_stage_that_fails_is_said_and_what_it_left_is_named(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("relrag_pipelines.stages.month_stages.run", lambda *args: 1 / 0)
        assert forget(ForgetRequest(refs=["jsonl:notes:n1"]), config, yes=True) == 2
    said = capsys.readouterr().out
    assert "error: notes__redacted: ZeroDivisionError" in said
    assert "lake/records/notes/2024-02.parquet still holds" in said


@pytest.mark.usefixtures("without_dagster")
def test_half_replaced_records_wait_outside_of_the_lake(config: Path) -> None:
    home = archive.workspace(config).home
    states = unit_state.load(home, "chat")
    for state in states.values():
        state.reader = unit_state.UNFINISHED
    unit_state.save(home, "chat", states)
    assert forget(ForgetRequest(person="Dana Levi"), config, yes=True) == 0
    assert holding(config, "Dana Levi") == []
    assert not lake.manifest(home, "records", "chat").keys() & {"2023-12", "2024-01"}
    read(config)
    assert len([one for one in ids(config) if one.startswith("whatsapp:")]) == 2
    assert holding(config, "Dana Levi") == []


def test_other_keys_cannot_bring_it_back(unpublished: Path) -> None:
    config = unpublished
    forget(ForgetRequest(refs=["jsonl:notes:n1"]), config, yes=True)
    from relrag_pipelines.privacy.key_stores import KeyFile

    (config.parent / "test.keys").unlink()
    KeyFile(config.parent / "test.keys").create()
    with pytest.raises(KeysError, match="written with other keys"):
        read(config)


def test_an_unknown_rule_is_named(synced: Path) -> None:
    with pytest.raises(ForgettingError, match="there is no rule 7; rules: none"):
        commands.undo(7, synced / "relrag.toml")


MAIL = """\
Message-ID: <plan>
Date: 6 Jan 2025 08:40:00 +0000
From: Eva Hora <eva@host.example>
Subject: the plan
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b

The keys are with the neighbour until the ninth of May, ask her before noon.
--b
Content-Type: text/markdown
Content-Disposition: attachment; filename="plan.md"

# Plan of the garden

--b--
"""
REPLY = """\
Message-ID: <reply>
In-Reply-To: <plan>
Date: 7 Jan 2025 08:40:00 +0000
From: Jan <jan@host.example>
Subject: Re: the plan

I will.

Eva Hora wrote:
> The keys are with the neighbour until the ninth of May, ask her before noon.
"""


@pytest.fixture
def with_mail(tmp_path: Path) -> Path:
    """An archive with a mail, an answer that quotes it, a note that says the same and its attachment, saved."""
    config = archive.make(tmp_path, '[[sources]]\nname = "mail"\nkind = "gmail"\npath = "mail"')
    (tmp_path / "mail").mkdir()
    (tmp_path / "mail" / "plan.eml").write_text(MAIL)
    (tmp_path / "mail" / "reply.eml").write_text(REPLY)
    (tmp_path / "papers" / "plan.md").write_text("# Plan of the garden\n")
    (tmp_path / "papers" / "note.md").write_text("Eva: the keys are with the neighbour until the ninth of May, ask.\n")
    archive.first_sync(config)
    return config


@pytest.mark.usefixtures("without_dagster")
def test_what_stays_although_it_says_the_same_is_named_and_what_quotes_is_cut(
    with_mail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    private = [
        row
        for _, _, table in record_selection.private_months(archive.workspace(with_mail))
        for row in table.to_pylist()
    ]
    note, copy = (
        next(one["asset_id"] for one in private if one["source"] == "papers" and one["text"].startswith(text))
        for text in ("Eva: the keys", "# Plan of")
    )
    assert forget(ForgetRequest(refs=["gmail:plan"]), with_mail, yes=True) == 0
    said = capsys.readouterr().out
    assert "Quoted in 1 other mail, where it is cut out; what that says itself stays:\n  gmail:reply\n" in said
    assert f"Said again, 12 words or more in a row, in 1 other record and kept there:\n  {note}\n" in said
    assert f"The same file or message is 1 other record, and kept there:\n  {copy}\n" in said
    assert "To have these forgotten as well, give their ids to `relrag forget`." in said
    assert "Quoted in 1 other mail, and cut out there:\n  gmail:reply\n" in said.split("Forgotten:")[1]
    assert holding(with_mail, "ask her before noon") == []
    # what was said to be kept is kept by later syncs too
    assert syncing.sync(with_mail, full=True) == 0
    assert {note, copy, "gmail:reply"} < ids(with_mail)
    assert holding(with_mail, "ask her before noon") == []


def test_before_and_source_say_that_quotations_stay(with_mail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ForgettingError, match="add --yes"):
        forget(ForgetRequest(before="2025-01-07"), with_mail)
    said = capsys.readouterr().out
    assert "Quoted in 1 other mail, and kept there:\n  gmail:reply\n" in said
    assert "To have these forgotten as well" in said


@pytest.mark.usefixtures("without_dagster")
def test_a_person_under_other_names_is_told(with_mail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (with_mail.parent / "papers" / "list.md").write_text("Ask Eve Horové.\n")
    archive.sync(with_mail)
    assert forget(ForgetRequest(person="Eva Hora"), with_mail, yes=True) == 0
    said = capsys.readouterr().out
    assert said.count("Eve Horové  (written alike; 1 record)") == 2  # before, and again when it is done
    assert any("catalog" in path for path in holding(with_mail, "Eve Horové"))


def test_the_preview_shows_no_personal_data(unpublished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = {"id": "n9", "subject": "Reach me at +420 777 123 456", "from": "Petr <petr@example.org>"}
    archive.write_notes(unpublished.parent, {**secret, "text": "The gate.", "timestamp": "2024-06-02T08:00:00Z"})
    read(unpublished)
    forget(ForgetRequest(refs=["jsonl:notes:n9"]), unpublished, yes=True)
    shown = capsys.readouterr().out
    assert "Reach me at <PHONE_NUMBER:" in shown
    assert "777" not in shown
    assert "petr@example.org" not in shown
