"""The command line: what it prints, how it ends, and what it does not import."""

import json
import os
import re
import shlex
import subprocess
import sys
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import pytest
import typer

from docs.generate import every_command
from relrag_query import cli
from relrag_query.archive import Archive
from relrag_query.cli.commands import ask as ask_command
from tests.cases import cases
from tests.query_hits import publish, record

MAIL = "type=email; from=dodavatel@firma.cz; subj=Sanitární čerpadlo - faktura; when=2025-01-15; related=1"
FILE = "type=attachment[0]:faktura.pdf; from=dodavatel@firma.cz; subj=Sanitární čerpadlo - faktura; when=2025-01-15"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    known = {"from_": "dodavatel@firma.cz", "subject": "Sanitární čerpadlo - faktura", "source": "mail"}
    return publish(
        tmp_path_factory.mktemp("cli"),
        [
            record("gmail:p1", "Posíláme fakturu za sanitární čerpadlo dle objednávky.", "2025-01-15T08:12:00Z",
                   rag_source_type="email", total_siblings=1, locations=["inbox.mbox#1"], thread_id="t", **known),
            record("gmail:p1/0", "Faktura č. 2025/0042\nPoložka: Sanitární čerpadlo GRUNDFOS UP 20-30",
                   "2025-01-15T08:12:00Z", rag_source_type="email_attachment", parent_asset_id="gmail:p1",
                   index_in_parent=0, file_name="faktura.pdf", **known),
            record("jsonl:evil", "Reboot \x1b[2J\x1b]0;owned\x07 and \u202ereversed\u202c", source="notes"),
        ],
    )  # fmt: skip


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command."""
    monkeypatch.setattr(sys, "argv", ["relrag", *words])
    code = cli.command()
    said = capsys.readouterr()
    return code, said.out, said.err


def test_help_imports_nothing_of_the_archive() -> None:
    heavy = ("pyarrow", "duckdb", "pydantic", "numpy", "rich", "dagster", "presidio_analyzer", "qdrant_edge")
    script = f"import sys, relrag_query.cli; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_version_is_told_and_little_is_imported_for_it() -> None:
    script = (
        "import sys; from relrag_query import cli; sys.argv = ['relrag', '--version']; code = cli.command()\n"
        "print(code, [name for name in ('pyarrow', 'pydantic', 'rich', 'dagster') if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout == f"relrag {version('relrag')}\n0 []\n"


def test_a_question_imports_neither_dagster_nor_presidio_nor_pandas(config: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from relrag_query.archive import Archive\n"
        f"with Archive.open(Path({str(config)!r})) as archive: print(bool(archive.ask('čerpadlo').quotes))\n"
        "print([name for name in ('dagster', 'presidio_analyzer', 'pandas', 'spacy') if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout == "True\n[]\n"


def test_ask_prints_sentences_and_numbered_sources(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = run(capsys, monkeypatch, "ask", "Kdy jsme řešili", "sanitární čerpadlo?", "-c", str(config))
    assert (code, err) == (0, "")
    assert out == (
        "Posíláme fakturu za sanitární čerpadlo dle objednávky. [1]\n\n"
        "Faktura č. 2025/0042\nPoložka: Sanitární čerpadlo GRUNDFOS UP 20-30 [2]\n\n"
        '[1] 2025-01-15 10:12, dodavatel@firma.cz, e-mail "Sanitární čerpadlo - faktura"\n'
        '[2] 2025-01-15 10:12, dodavatel@firma.cz, příloha faktura.pdf k "Sanitární čerpadlo - faktura"\n'
    )


@pytest.mark.requirement("S3-22")
@pytest.mark.requirement("S3-21")
def test_show_sources_prints_line_and_text_as_the_seed_does(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, out, _ = run(capsys, monkeypatch, "ask", "sanitární čerpadlo", "--show-sources", "-c", str(config))
    assert out.endswith(
        f"\n\n[1] {MAIL}\nPosíláme fakturu za sanitární čerpadlo dle objednávky.\n"
        "    2025-01-15 10:12, mail, inbox.mbox#1, gmail:p1\n"
        f"[2] {FILE}\nFaktura č. 2025/0042\nPoložka: Sanitární čerpadlo GRUNDFOS UP 20-30\n"
        "    2025-01-15 10:12, mail, gmail:p1/0\n"
    )


def test_search_lists_passages_readably_and_show_prints_them(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = run(capsys, monkeypatch, "search", "GRUNDFOS", "-n", "1", "-c", str(config))
    assert code == 0
    assert out == (
        '1. 2025-01-15 10:12, dodavatel@firma.cz, attachment faktura.pdf of "Sanitární čerpadlo - faktura"\n'
        "   Faktura č. 2025/0042 Položka: Sanitární čerpadlo GRUNDFOS UP 20-30\n"
    )
    assert run(capsys, monkeypatch, "show", "1", "-c", str(config))[1].startswith("id            gmail:p1/0\n")
    stored = config.parent / ".relrag/private/conversation.json"
    assert stored.stat().st_mode & 0o777 == 0o600
    assert json.loads(stored.read_text())["sources"] == ["gmail:p1/0"]
    assert "GRUNDFOS" not in stored.read_text()
    _, out, _ = run(capsys, monkeypatch, "search", "GRUNDFOS", "-n", "1", "--show-sources", "-c", str(config))
    assert out == (
        f"1. {FILE}\n   Faktura č. 2025/0042 Položka: Sanitární čerpadlo GRUNDFOS UP 20-30\n"
        "   2025-01-15 10:12, mail, gmail:p1/0, score 1.00\n"
    )
    assert run(capsys, monkeypatch, "search", "zeppelin", "-c", str(config))[:2] == (
        0,
        "Nothing found.\nSearched 3 passages in mail, notes.\nNo passage holds: zeppelin.\n"
        "Try other words for it, one word alone, or fewer limits.\n",
    )


def test_a_number_of_the_last_answer_names_its_record(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(capsys, monkeypatch, "ask", "sanitární čerpadlo", "-c", str(config))
    assert run(capsys, monkeypatch, "show", "2", "-c", str(config))[1].startswith("id            gmail:p1/0\n")
    code, _, err = run(capsys, monkeypatch, "show", "3", "-c", str(config))
    assert (code, err) == (2, "relrag: the last answer or search has no number 3; it had 2\n")


def test_a_thread_is_printed_as_it_went(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "2025-01-15 10:12  dodavatel@firma.cz\n    Posíláme fakturu za sanitární čerpadlo dle objednávky.\n\n"
    for ref in ("thread:t", "t", "gmail:p1"):
        assert run(capsys, monkeypatch, "thread", ref, "-c", str(config))[:2] == (0, said)
    code, _, err = run(capsys, monkeypatch, "thread", "jsonl:evil", "-c", str(config))
    assert (code, err) == (2, 'relrag: "jsonl:evil" is in no thread\n')
    code, _, err = run(capsys, monkeypatch, "thread", "gmail:nothing", "-c", str(config))
    assert (code, err) == (2, 'relrag: the archive has nothing named "gmail:nothing"; `relrag search` shows ids\n')


def test_a_follow_up_keeps_what_was_asked(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (config.parent / ".relrag/private/conversation.json").unlink(missing_ok=True)
    code, _, err = run(capsys, monkeypatch, "ask", "--continue", "a kolik?", "-c", str(config))
    assert (code, err) == (2, "relrag: there is no question to follow up; ask one without --continue first\n")
    run(capsys, monkeypatch, "ask", "sanitární čerpadlo v lednu 2025", "-c", str(config))
    _, out, _ = run(capsys, monkeypatch, "ask", "--continue", "a ta faktura?", "--json", "-c", str(config))
    answer = json.loads(out)
    assert answer["when"]["phrase"] == "lednu 2025"
    assert {source["asset_id"] for source in answer["sources"]} == {"gmail:p1", "gmail:p1/0"}


def test_json(config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    _, out, _ = run(capsys, monkeypatch, "ask", "sanitární čerpadlo", "--json", "-c", str(config))
    answer = json.loads(out)
    assert answer["confidence"] in ("sure", "unsure")
    assert all(one["answering"] in one["text"] for one in answer["quotes"])
    assert [one["sources"] for one in answer["quotes"]] == [[1], [2]]
    assert [(one["number"], one["asset_id"], one["line"]) for one in answer["sources"]] == [
        (1, "gmail:p1", MAIL),
        (2, "gmail:p1/0", FILE),
    ]
    assert answer["sources"][0]["locations"] == ["inbox.mbox#1"]
    _, out, _ = run(capsys, monkeypatch, "search", "čerpadlo", "--json", "-c", str(config))
    assert {hit["asset_id"] for hit in json.loads(out)["hits"]} == {"gmail:p1", "gmail:p1/0"}


def test_show_and_thread_print_json(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = json.loads(run(capsys, monkeypatch, "show", "gmail:p1", "--json", "-c", str(config))[1])
    assert (shown["record"]["from"], shown["record"]["locations"]) == ("dodavatel@firma.cz", ["inbox.mbox#1"])
    assert {(one["relation_type"], one["ref"]) for one in shown["related"]} >= {
        ("thread_member", "thread:t"),
        ("attachment_of", "gmail:p1/0"),
    }
    thread = json.loads(run(capsys, monkeypatch, "thread", "gmail:p1", "--json", "-c", str(config))[1])
    assert (thread["thread_id"], [one["asset_id"] for one in thread["records"]]) == ("t", ["gmail:p1"])


@pytest.mark.requirement("S3-1", "S3-4")
def test_show_gives_the_payload_of_a_passage_with_its_time_and_points(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Archive.open(config) as archive:
        (passage,) = archive.chunks_of("gmail:p1/0")
        published = archive.generation.manifest["published_at"]
    ref = f"chunk:{passage.chunk_id}"
    (shown,) = json.loads(run(capsys, monkeypatch, "show", ref, "--json", "-c", str(config))[1])["passages"]
    at = datetime.fromisoformat(published).timestamp()
    # the clock is read before the catalog is built, and again behind it
    assert at - 60 <= datetime.fromisoformat(shown["created_at"]).timestamp() <= at
    assert shown["vector_store_ids"] == [passage.chunk_id], "within the process a passage is its point"
    universal = ("parent_asset_id", "parent_ref", "index_in_parent", "content_type", "chunk_index", "chunk_count")
    assert [shown[field] for field in universal] == ["gmail:p1", passage.parent_ref, 0, passage.content_type, 0, 1]
    record = json.loads(run(capsys, monkeypatch, "show", "gmail:p1/0", "--json", "-c", str(config))[1])["record"]
    assert record["vector_store_ids"] == [passage.chunk_id]


COMMANDS = dict(every_command(typer.main.get_command(cli.app)))  # type: ignore[arg-type]
PRINT_NO_DATA = {
    *(
        "ask",
        "backfill",
        "backfill legacy",
        "backup",
        "calls approve",
        "calls leave-out",
        "calls swap-speakers",
        "failures retry",
        "forget",
        "open",
        "original",
    ),
    *("graphrag add", "graphrag remove", "login", "mcp", "people fact", "people merge", "people note", "people relate"),
    *("people split", "pii new-keys", "pii rotate-key", "pii test", "restore", "reveal", "serve", "ui", "watch"),
} - {"ask"}
"""commands that do something, or whose output is for a person alone"""


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_of_the_command_and_json_where_it_prints_data(name: str) -> None:
    command = COMMANDS[name]
    assert str(command.epilog).startswith(f"Example: relrag {name}")
    options = {option for parameter in command.params for option in parameter.opts}
    assert ("--json" in options) == (name not in PRINT_NO_DATA)


@pytest.mark.parametrize("name", COMMANDS)
def test_an_example_names_options_that_the_command_has(name: str) -> None:
    command = COMMANDS[name]
    words = shlex.split(str(command.epilog).removeprefix(f"Example: relrag {name}"))
    command.make_context(name, words, resilient_parsing=False)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("relrag sea", {"search"}),
        ("relrag st", {"status"}),
        ("relrag people s", {"show", "suggestions", "split"}),
        ("relrag search --sh", {"--show-sources"}),
    ],
)
def test_the_shell_completes_commands_and_options(typed: str, offered: set[str]) -> None:
    words = {"_RELRAG_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    relrag = str(Path(sys.executable).with_name("relrag"))
    ended = subprocess.run([relrag], capture_output=True, text=True, env={**os.environ, **words}, check=False)
    assert set(ended.stdout.split()) == offered, ended.stderr


def test_no_answer_is_said_with_what_was_searched(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = run(capsys, monkeypatch, "ask", "zeppelin", "--source", "notes", "--from", "2024", "-c", str(config))
    assert code == 0
    assert out == (
        "The archive does not hold an answer to this.\n\n"
        "Searched 0 passages in notes, from 2024-01-01.\nNo passage holds: zeppelin.\n"
    )


def test_trace_tells_the_steps(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, out, _ = run(capsys, monkeypatch, "ask", "sanitární čerpadlo", "--trace", "-c", str(config))
    steps = re.findall(r"^  (\d) ([a-z ]+): (\d+) in, (\d+) out", out.partition("\nTrace:\n")[2], re.MULTILINE)
    assert [int(number) for number, *_ in steps] == sorted(int(number) for number, *_ in steps)
    assert {(number, name) for number, name, *_ in steps} >= {
        ("2", "rerank"),
        ("5", "neighborhood"),
        ("8", "token budget"),
    }
    assert steps[-1][3] == "2"


def test_show(config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = run(capsys, monkeypatch, "show", "gmail:p1", "-c", str(config))
    assert code == 0
    assert out.startswith("id            gmail:p1\ntype          email\n")
    assert "\nPosíláme fakturu za sanitární čerpadlo dle objednávky.\n\nRelated:\n  -> thread_member thread:t\n" in out
    assert "  <- attachment_of gmail:p1/0\n" in out
    assert run(capsys, monkeypatch, "show", "thread:t", "-c", str(config))[1].startswith("2025-01-15 10:12  gmail:p1\n")


def test_retrieved_text_cannot_command_the_terminal(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in ("ask", "search", "show"):
        words = ["jsonl:evil"] if command == "show" else ["reboot"]
        _, out, _ = run(capsys, monkeypatch, command, *words, "-c", str(config))
        assert "Reboot" in out
        assert not {"\x1b", "\x07", "\u202e"}.intersection(out)


@pytest.mark.parametrize(*cases(__file__, "what_cannot_be_done_is_one_line_and_code_2"))
def test_what_cannot_be_done_is_one_line_and_code_2(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    code, out, err = run(capsys, monkeypatch, *words, "-c", str(config))
    assert (code, out) == (2, "")
    assert err.startswith(f"relrag: {message}")
    assert err.count("\n") == 1


def test_an_archive_without_generation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "relrag.toml").write_text("")
    code, _, err = run(capsys, monkeypatch, "ask", "x", "-c", str(tmp_path / "relrag.toml"))
    assert (code, err) == (2, "relrag: nothing is published yet; run `relrag sync`\n")


def test_a_fault_shows_its_place_but_no_text(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> int:
        raise ValueError("the text of a private message")

    monkeypatch.setattr(ask_command, "ask", fail)
    code, _, err = run(capsys, monkeypatch, "ask", "x", "-c", str(config))
    assert code == 2
    assert err.startswith("relrag: unexpected ValueError at test_cli.py:")
    assert "private" not in err


def test_usage_errors_end_with_2(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(capsys, monkeypatch, "search", "x", "--limit", "0")[0] == 2
    assert run(capsys, monkeypatch, "nonsense")[0] == 2
