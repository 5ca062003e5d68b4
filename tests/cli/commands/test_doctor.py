"""`relrag doctor`: each fault is found, told with what to do, and nothing is changed or revealed."""

import sqlite3
import sys
from pathlib import Path

import pytest

from relrag_pipelines import settings
from relrag_pipelines.embedders import e5
from relrag_pipelines.ingest.scan import SourceScan
from relrag_pipelines.onboarding import environment
from relrag_pipelines.onboarding.estimate import FIXED_BYTES
from relrag_pipelines.privacy.key_stores import KeyFile
from relrag_pipelines.stores import generations, lock
from relrag_query.cli.check_result import CheckResult
from relrag_query.cli.commands import doctor as module
from relrag_query.cli.commands.doctor import doctor, examine

CONFIG = """
archive = "test"
keys_file = "test.keys"
embedder = "none"
timezone = "Europe/Prague"
pii_redaction_enabled = true
[[sources]]
name = "chat"
kind = "whatsapp"
path = "chats"
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sound archive on a sound machine in Prague."""
    monkeypatch.setattr(environment, "time_zone", lambda: "Europe/Prague")
    monkeypatch.setattr(environment, "network_file_system", lambda folder: None)
    monkeypatch.setattr(module, "_MODULES", ("json",))
    (tmp_path / "chats").mkdir()
    (tmp_path / "chats" / "a.txt").write_text("12345")
    path = tmp_path / "relrag.toml"
    path.write_text(CONFIG)
    return path


@pytest.fixture
def indexed(config: Path) -> Path:
    """The same with an index, as a sync leaves it."""
    home = settings.load(config, {}).home_path
    (home / "private").mkdir(parents=True, mode=0o700)
    home.chmod(0o700)
    KeyFile(config.parent / "test.keys").create()
    (generations.begin(home) / "catalog.duckdb").write_bytes(b"x" * 10)
    generations.finish(home, {"inputs": "", "counts": {}}, settings.now({}))
    return config


def findings(config: Path, what: str, **environ: str) -> list[tuple[str, str]]:
    """Level and words of all findings about one thing."""
    return [(one.level, one.finding) for one in examine(config, environ) if one.what == what]


def test_a_sound_archive_has_no_warning(indexed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.stat().st_mtime_ns for path in indexed.parent.rglob("*")}
    assert {one.level for one in examine(indexed, {})} == {"ok"}
    assert doctor(indexed) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[-1] == "Nothing prevents a sync; 0 warnings."
    assert "12345" not in said
    assert (indexed.parent / "test.keys").read_text().split('"ids": "')[1][:16] not in said
    assert {path: path.stat().st_mtime_ns for path in indexed.parent.rglob("*")} == before


def test_a_new_archive_is_sound_and_stays_untouched(config: Path) -> None:
    assert {one.level for one in examine(config, {})} == {"ok"}
    assert findings(config, "keys") == [
        ("ok", f"the first sync creates {config.parent / 'test.keys'}; then keep a copy in a safe place")
    ]
    assert findings(config, "generation") == [("ok", "nothing is published yet; run `relrag sync`")]
    assert sorted(path.name for path in config.parent.iterdir()) == ["chats", "relrag.toml"]


def test_every_wrong_setting_is_a_problem(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text('nightly = "noon"\nchunk_tokens = 1\n')
    assert [level for level, _ in findings(config, "settings")] == ["problem", "problem"]
    assert doctor(config) == 2
    said = capsys.readouterr().out
    assert 'problem  settings: relrag.toml: nightly is "noon"; write a time as HH:MM, or off\n' in said
    assert said.splitlines()[-1] == "Something prevents a sync: see the lines that begin with `problem`."


def test_an_unknown_variable_is_a_problem(config: Path) -> None:
    ((level, said),) = findings(config, "settings", RELRAG_HOMME="x")
    assert level == "problem"
    assert said.startswith("RELRAG_HOMME is not known (did you mean RELRAG_HOME?)")


def test_no_relrag_toml_is_a_problem(config: Path) -> None:
    config.unlink()
    ((level, said),) = findings(config, "settings")
    assert (level, said.split("; ")[1]) == ("problem", "`relrag init FOLDER` writes one")


def test_an_unknown_entity_and_redaction_turned_off_are_told(config: Path) -> None:
    config.write_text(CONFIG + '[pii_policies.whatsapp]\nentities = ["PHONE"]\naction = "redact"\n')
    ((level, said),) = findings(config, "redaction")
    assert (level, "PHONE" in said) == ("problem", True)
    config.write_text(CONFIG.replace("true", "false"))
    assert findings(config, "redaction")[0][0] == "warning"


def test_another_time_zone_than_the_machines_is_a_warning(config: Path) -> None:
    config.write_text(CONFIG.replace("Europe/Prague", "Asia/Tokyo"))
    assert findings(config, "time zone") == [
        ("warning", "Asia/Tokyo in relrag.toml, but this machine is in Europe/Prague")
    ]
    config.write_text(CONFIG.replace("Europe/Prague", "Europe/Berlin"))  # the same clock
    assert findings(config, "time zone") == [("ok", "Europe/Berlin")]


def test_a_fixed_clock_is_a_warning(config: Path) -> None:
    ((level, said),) = findings(config, "clock", RELRAG_NOW="2025-01-20")
    assert (level, said) == ("warning", "fixed at 2025-01-20 by RELRAG_NOW; unset it for real use")


def test_a_module_that_cannot_be_imported_is_a_problem(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MODULES", ("json", "no_such_module"))
    assert findings(config, "packages") == [("problem", "no_such_module cannot be imported; run `make setup` again")]


def test_a_python_that_is_too_new_is_a_problem(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.sys, "version_info", (3, 14, 0))
    assert findings(config, "python") == [("problem", "3.14.0; relrag needs 3.11, 3.12 or 3.13")]


def test_the_embedder_is_loaded_and_told(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert findings(config, "embedder") == [("ok", "none: passages are found only by their words")]
    config.write_text(CONFIG.replace('embedder = "none"\n', ""))
    name = "multilingual-e5-small-int8:1571fc98"
    said = f"{name}, 384 dimensions, all languages, on this machine; its files have the expected hashes"
    assert findings(config, "embedder") == [("ok", said)]
    monkeypatch.setattr(e5, "_SHA256", "0" * 64)
    ((level, said),) = findings(config, "embedder")
    assert (level, said) == (
        "problem",
        "e5-small-q4.bin of the embedder e5 is not the file that was checked; it is not loaded",
    )


def test_an_embedder_that_is_set_wrongly_is_told_and_the_rest_is_looked_at(config: Path) -> None:
    config.write_text(CONFIG.replace('"none"', '"openai"\nembedding_url = "ftp://host"'))
    assert findings(config, "embedder")[0][0] == "problem"
    assert findings(config, "writer") == [("ok", "nobody is writing")]


def test_an_embedder_without_its_package_is_told_and_the_rest_is_looked_at(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    config.write_text(CONFIG.replace('"none"', '"fastembed"\nembedding_model = "BAAI/bge-small-en-v1.5"'))
    said = 'embedder "fastembed" needs the package fastembed; install relrag[fastembed]'
    assert findings(config, "embedder") == [("problem", said)]
    assert findings(config, "writer") == [("ok", "nobody is writing")]
    assert doctor(config) == 2
    monkeypatch.setattr(e5, "_PACKAGE", "no_such_package")
    config.write_text(CONFIG.replace('embedder = "none"\n', ""))
    said = 'embedder "e5" needs the package no-such-package; run `make setup`'
    assert findings(config, "embedder") == [("problem", said)]


@pytest.mark.parametrize(("name", "variable"), [("openai", "OPENAI_API_KEY"), ("cohere", "COHERE_API_KEY")])
def test_a_key_that_is_missing_is_told_and_one_that_is_there_is_not_shown(
    config: Path, monkeypatch: pytest.MonkeyPatch, name: str, variable: str
) -> None:
    pytest.importorskip(name)
    monkeypatch.delenv("CO_API_KEY", raising=False)
    monkeypatch.delenv(variable, raising=False)
    config.write_text(CONFIG.replace('"none"', f'"{name}"\nanswerer = "{name}"'))
    said = f"{name} needs a key: set {variable} in the environment"
    assert findings(config, "embedder") == [("problem", said)]
    assert findings(config, "answerer") == [("warning", f"{said}; until then answers are excerpts")]
    monkeypatch.setenv(variable, "secret")
    told = findings(config, "embedder") + findings(config, "answerer")
    assert [level for level, _ in told] == ["ok", "ok"]
    assert f"redacted passages and questions are sent to api.{name}.com" in told[0][1]
    assert "secret" not in str(told)


def test_a_transcription_model_and_a_golden_set_that_cannot_be_used_are_warnings(config: Path) -> None:
    config.write_text('transcription_model = "whisper"\ngolden_set = "questions.jsonl"\n' + CONFIG)
    ((level, said),) = findings(config, "transcription")
    assert (level, said.split("; ")[0]) == (
        "warning",
        "transcription_model has no model.bin, config.json, tokenizer.json",
    )
    assert findings(config, "golden set")[0][0] == "warning"
    (config.parent / "questions.jsonl").write_text('{"question": "a", "gold": ["n1"]}\n')
    assert findings(config, "golden set") == [("ok", f"1 question in {config.parent / 'questions.jsonl'}")]


def test_an_open_home_is_a_warning(indexed: Path) -> None:
    home = indexed.parent / ".relrag"
    home.chmod(0o755)
    assert findings(indexed, "home") == [("warning", f"{home} is open to others; run: chmod 700 {home}")]


def test_a_home_that_is_a_file_is_a_problem(config: Path) -> None:
    (config.parent / ".relrag").write_text("")
    assert findings(config, "home")[0][0] == "problem"


def test_a_home_on_a_network_or_in_a_synced_folder_is_a_warning(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "network_file_system", lambda folder: "nfs4")
    (config.parent / ".stfolder").touch()
    warned = [said for level, said in findings(config, "home") if level == "warning"]
    assert ["Syncthing" in warned[0], "network file system (nfs4)" in warned[1]] == [True, True]


def test_keys_inside_home_missing_or_open_are_problems(indexed: Path) -> None:
    path = indexed.parent / "test.keys"
    path.chmod(0o644)
    assert findings(indexed, "keys") == [("problem", f"{path} can be read by others; run: chmod 600 {path}")]
    path.unlink()
    assert findings(indexed, "keys") == [
        ("problem", f"the archive's keys are missing: {path}; restore them from your backup")
    ]
    indexed.write_text(CONFIG.replace("test.keys", ".relrag/test.keys"))
    ((level, said),) = findings(indexed, "keys")
    assert (level, said.split("; ")[1]) == ("problem", "keep keys apart from what they protect")


def test_a_missing_and_an_empty_source_are_told(config: Path) -> None:
    (config.parent / "chats" / "a.txt").unlink()
    assert findings(config, "source chat") == [("warning", f"no whatsapp file in {config.parent / 'chats'}")]
    (config.parent / "chats").rmdir()
    assert findings(config, "source chat")[0][0] == "problem"
    config.write_text("pii_redaction_enabled = true\n")
    assert findings(config, "sources") == [("problem", "none; add a [[sources]] table to relrag.toml")]


def test_a_dead_link_in_a_source_is_a_warning(config: Path) -> None:
    (config.parent / "chats" / "b.txt").symlink_to("nowhere")
    assert findings(config, "source chat") == [("warning", "1 file cannot be read by this user, the first is b.txt")]


def test_a_key_that_goes_to_an_older_systems_server_unencrypted_is_a_warning(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = ("warning", "key and texts are sent unencrypted; use an https:// address")
    for url, key, warned in (
        ("http://qdrant.example.org:6333", "a-secret", True),
        ("http://qdrant.example.org:6333", "", False),
        ("http://127.0.0.1:6333", "a-secret", False),
    ):
        monkeypatch.setenv("QDRANT_SOURCE_API_KEY", key)
        config.write_text(
            f'[[sources]]\nname = "old"\nkind = "legacy"\npath = "old"\nurl = "{url}"\ncollection = "c"\n'
        )
        monkeypatch.setattr("relrag_pipelines.ingest.scan.scan_units", lambda *given, **named: SourceScan({}, (), ()))
        assert (told in findings(config, "source old")) == warned


@pytest.mark.parametrize(
    ("free", "level"), [(10**12, "ok"), (FIXED_BYTES + 10, "warning"), (FIXED_BYTES - 1, "problem")]
)
def test_disk_space_is_held_against_the_estimate(
    config: Path, monkeypatch: pytest.MonkeyPatch, free: int, level: str
) -> None:
    monkeypatch.setattr(environment, "free_bytes", lambda folder: free)
    assert [one for one, _ in findings(config, "disk")] == [level]


def test_a_writer_is_told(indexed: Path) -> None:
    with lock.writing(indexed.parent / ".relrag", "relrag sync"):
        ((level, said),) = findings(indexed, "writer")
    assert (level, said.startswith("relrag sync (process ")) == ("warning", True)


def test_a_damaged_generation_is_told(indexed: Path) -> None:
    published = indexed.parent / ".relrag" / "published"
    (published / "1" / "catalog.duckdb").write_bytes(b"cut")
    assert findings(indexed, "generation") == [
        ("warning", "1 file of generation 1 missing or cut, the first is catalog.duckdb; run `relrag verify`")
    ]
    (published / "1" / "MANIFEST.json").write_text("{")
    ((level, said),) = findings(indexed, "generation")
    assert (level, said.split("; ")[0]) == ("warning", "generation 1: its MANIFEST.json cannot be read")


def test_runs_that_never_ended_are_told(indexed: Path) -> None:
    history = indexed.parent / ".relrag" / "dagster" / "history"
    history.mkdir(parents=True)
    with sqlite3.connect(history / "runs.db") as database:
        database.execute("CREATE TABLE runs (run_id TEXT, status TEXT)")
        database.executemany(
            "INSERT INTO runs VALUES (?, ?)", [("a", "STARTED"), ("b", "SUCCESS"), ("c", "NOT_STARTED")]
        )
    database.close()
    assert findings(indexed, "dagster") == [("warning", "2 runs did not end; the next sync marks them failed")]
    (history / "runs.db").write_bytes(b"no database" * 100)
    assert findings(indexed, "dagster")[0][0] == "warning"


def test_a_line_begins_with_its_level(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    findings = [CheckResult("ok", "a", "x"), CheckResult("warning", "b", "y")]
    monkeypatch.setattr(module, "examine", lambda config: iter(findings))
    assert doctor(config) == 0
    assert capsys.readouterr().out.splitlines() == [
        "ok       a: x",
        "warning  b: y",
        "Nothing prevents a sync; 1 warning.",
    ]


def test_it_says_who_reads_passages_for_facts_about_people(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    pytest.importorskip("openai")
    assert findings(config, "people") == []
    config.write_text(CONFIG + '\n[people]\nmethod = "llm"\n')
    ((level, said),) = findings(config, "people")
    assert (level, said.partition(";")[2]) == ("warning", " until then facts come from patterns and cards alone")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert findings(config, "people") == [
        (
            "ok",
            "gpt-4.1-mini at api.openai.com, which is sent redacted passages to find facts about people",
        )
    ]
