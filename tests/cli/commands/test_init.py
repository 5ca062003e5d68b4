"""`relrag init`: the plan it shows, the file it writes, and what it never touches."""

import json
import subprocess
import tomllib
from pathlib import Path

import pytest

from relrag_pipelines import settings
from relrag_pipelines.onboarding import environment
from relrag_pipelines.pii import PIIRedactor
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.settings import SettingsError
from relrag_query.cli.commands.init import EXAMPLE, LEVELS, init

CHAT = "24/12/2023, 18:00 - Dana: Hello\n28/12/2023, 09:15 - Petr: The cabin is booked\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Exports of three kinds, on a machine in Prague."""
    monkeypatch.setattr(environment, "time_zone", lambda: "Europe/Prague")
    place = tmp_path / "Rodinný archiv"
    (place / "chats").mkdir(parents=True)
    (place / "chats" / "WhatsApp Chat with Dana.txt").write_text(CHAT)
    (place / "papers").mkdir()
    (place / "papers" / "lease.md").write_text("# Lease\n")
    (place / "papers" / "broken.pdf").write_bytes(b"no pdf")
    (place / "notes.jsonl").write_text(json.dumps({"id": "n", "text": "t"}) + "\n")
    return place


def test_the_plan_is_shown_and_written_with_every_choice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert init(folder, yes=True) == 0
    said = capsys.readouterr().out
    rows = [line.replace("│", "").split() for line in said.splitlines() if line.startswith("│")]
    assert [row[:5] for row in rows] == [
        ["chats", "whatsapp", "chats", "1", f"{len(CHAT)}"],
        ["papers", "document", "papers", "2", "14"],
        ["jsonl", "jsonl", ".", "1", "25"],
    ]
    assert "The first sync takes about" in said
    assert (
        "- Passages in all languages are embedded, so that they are found by meaning too: on this machine, which takes "
        in said
    )
    assert "- 1 file is not recognised; a sync tries and lists what it cannot read: papers/broken.pdf" in said
    assert f"Wrote {folder}/relrag.toml. Next:\n\n  cd '{folder}'\n  relrag sync\n  relrag ask" in said

    found = settings.load(folder / "relrag.toml", {})
    assert found.archive.startswith("rodinny-archiv-")
    assert len(bytes.fromhex(found.archive.rsplit("-", 1)[1])) == 2
    assert (found.pii_redaction_enabled, found.asset_neighborhood_expansion_enabled) == (True, True)
    assert found.timezone == "Europe/Prague"
    assert [(one.name, one.kind, str(one.path)) for one in found.sources] == [
        ("chats", "whatsapp", "chats"),
        ("papers", "document", "papers"),
        ("jsonl", "jsonl", "."),
    ]
    written = (folder / "relrag.toml").read_text()
    assert "# chunk_tokens = 256" in written
    assert '# embedder = "e5"' in written


def test_a_relrag_toml_is_never_overwritten(folder: Path) -> None:
    config = folder / "relrag.toml"
    config.write_text('archive = "kept-0001"\nowner = "Jonah"\n')
    with pytest.raises(SettingsError) as caught:
        init(folder, yes=True)
    assert str(caught.value) == (f"{config} is already there; edit it, or replace it with --force, which keeps a copy")
    assert config.read_text() == 'archive = "kept-0001"\nowner = "Jonah"\n'


def test_force_keeps_copies_and_the_name_that_the_keys_are_stored_under(folder: Path) -> None:
    config = folder / "relrag.toml"
    config.write_text('archive = "kept-0001"\nowner = "Jonah"\n')
    assert init(folder, yes=True, force=True) == 0
    first = config.read_text()
    assert settings.load(config, {}).archive == "kept-0001"
    assert init(folder, yes=True, force=True) == 0
    assert (folder / "relrag.toml.bak").read_text() == 'archive = "kept-0001"\nowner = "Jonah"\n'
    assert (folder / "relrag.toml.bak2").read_text() == first


def test_two_archives_of_one_folder_name_differ(folder: Path, tmp_path: Path) -> None:
    outputs = [tmp_path / name / "relrag.toml" for name in "abc"]
    assert [init(folder, output=output, yes=True) for output in outputs] == [0, 0, 0]
    assert len({settings.load(output, {}).archive for output in outputs}) > 1


def test_written_elsewhere_the_paths_are_absolute(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    assert init(folder, output=tmp_path / "elsewhere", yes=True) == 0
    found = settings.load(tmp_path / "elsewhere" / "relrag.toml", {})
    assert found.source_path(found.source("chats")) == folder / "chats"
    assert not (folder / "relrag.toml").exists()


def test_an_empty_folder_is_told_what_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "photos.zip").write_bytes(b"PK\x03\x04")
    assert init(tmp_path, yes=True) == 2
    said = capsys.readouterr().out
    assert f"Nothing in {tmp_path} is recognised. What can be read:\n" in said
    assert "\n  whatsapp       WhatsApp: exported chats " in said
    assert "There, but damaged, encrypted or something else: photos.zip\n" in said
    assert not (tmp_path / "relrag.toml").exists()


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere is not a folder; name the folder that holds your exports"):
        init(tmp_path / "nowhere")


@pytest.mark.parametrize(("answer", "code"), [("", 0), ("y", 0), ("Yes", 0), ("n", 2), ("what?", 2)])
def test_on_a_terminal_it_asks(folder: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    asked = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or answer)
    assert init(folder, owner="Petr") == code
    assert asked == ["balanced, strict or off? [balanced] ", f"Write {folder}/relrag.toml? [Y/n] "]
    assert (folder / "relrag.toml").exists() == (code == 0)


def test_without_a_zone_it_writes_utc_and_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "time_zone", lambda: None)
    assert init(folder, yes=True) == 0
    assert "- This machine has no time zone set, so timezone is UTC." in capsys.readouterr().out
    assert settings.load(folder / "relrag.toml", {}).timezone == "UTC"


def test_the_zone_of_the_machine_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "time_zone", lambda: "Etc/UTC")
    assert init(folder, yes=True) == 0
    assert "- Local times in chats are read as those of Etc/UTC, " in capsys.readouterr().out


def test_in_a_git_tree_the_index_ignores_itself(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    subprocess.run(["git", "-C", str(folder), "init"], check=True, capture_output=True)
    assert init(folder, yes=True) == 0
    assert f"- {folder}/.relrag lies in the git tree {folder}; it gets a .gitignore" in capsys.readouterr().out
    assert (folder / ".relrag").stat().st_mode & 0o777 == 0o700
    assert environment.tracking_git_tree(folder / ".relrag") is None
    assert not (folder / ".gitignore").exists()


def test_a_synced_folder_and_an_index_that_is_there_are_warned_of(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    synced = folder.rename(folder.with_name("Dropbox"))
    (synced / ".relrag" / "private").mkdir(parents=True)
    assert init(synced, yes=True) == 0
    said = capsys.readouterr().out
    assert f"- {synced}/.relrag would be copied to other machines by Dropbox, private texts included" in said
    assert f"- {synced}/.relrag already holds an index" in said


def test_a_relrag_config_that_names_another_file_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RELRAG_CONFIG", "/elsewhere/relrag.toml")
    assert init(folder, yes=True) == 0
    assert "- RELRAG_CONFIG names /elsewhere/relrag.toml, which stays in effect" in capsys.readouterr().out


MAIL = (
    "From: {who}\nTo: {to}\nDate: Mon, 13 Jan 2025 08:0{number}:00 +0000\nMessage-ID: <{number}@x.example>\n\nHello\n"
)
ASKS = "Whose archive is it, by the name in chats and mails? "


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What is asked on a terminal where everything is answered by Enter, and git knows nobody."""
    questions: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: questions.append(question) or "")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    return questions


def git_knows(tmp_path: Path, name: str) -> None:
    (tmp_path / "gitconfig").write_text(f"[user]\n\tname = {name}\n")


def test_the_owner_that_is_proposed_is_who_is_in_most_chats(folder: Path, asked: list[str]) -> None:
    git_knows(folder.parent, "petr99")
    (folder / "chats" / "WhatsApp Chat with Eva.txt").write_text(CHAT.replace("Dana", "Eva"))
    assert init(folder) == 0
    assert asked == [
        f"{ASKS}[Petr; - for nobody] ",
        "balanced, strict or off? [balanced] ",
        f"Write {folder}/relrag.toml? [Y/n] ",
    ]
    assert settings.load(folder / "relrag.toml", {}).owner == "Petr"


def test_the_owner_that_is_proposed_is_who_is_in_most_mails(folder: Path, asked: list[str]) -> None:
    (folder / "mail").mkdir()
    people = [("Eva <eva@x.example>", "Petr Kolar <p@x.example>"), ("Petr Kolar <p@x.example>", "Ota <ota@x.example>")]
    for number, (who, to) in enumerate([*people, ("Eva <eva@x.example>", "Petr Kolar <p@x.example>")]):
        (folder / "mail" / f"{number}.eml").write_text(MAIL.format(who=who, to=to, number=number))
    assert init(folder) == 0
    assert asked[0] == f"{ASKS}[Petr Kolar; - for nobody] "


def test_where_no_name_stands_out_git_may_know_one(folder: Path, asked: list[str]) -> None:
    git_knows(folder.parent, "Petr Kolář")
    assert init(folder) == 0
    assert asked[0] == f"{ASKS}[Petr Kolář; - for nobody] "
    assert settings.load(folder / "relrag.toml", {}).owner == "Petr Kolář"


@pytest.mark.parametrize(("answer", "owner"), [("Jonah", "Jonah"), ("  ", ""), ("-", "")])
def test_the_owner_is_whoever_is_named(
    folder: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch, answer: str, owner: str
) -> None:
    monkeypatch.setattr("builtins.input", lambda question: answer if question == ASKS else "")
    assert init(folder) == 0
    assert settings.load(folder / "relrag.toml", {}).owner == owner


def test_an_owner_that_was_named_before_is_proposed_again(folder: Path, asked: list[str]) -> None:
    (folder / "relrag.toml").write_text('archive = "kept-0001"\nowner = "Jonah"\n')
    assert init(folder, force=True) == 0
    assert asked[0] == f"{ASKS}[Jonah; - for nobody] "


def test_without_asking_a_guess_is_shown_and_not_taken(
    folder: Path, asked: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    git_knows(folder.parent, "Petr")
    told = "not set: write your name as it stands in your chats and mails, else questions about `me` are about nobody"
    assert init(folder, yes=True) == 0
    assert f'- owner is {told}.\n- It may be "Petr"; --owner "Petr" says so.\n' in capsys.readouterr().out
    assert f'\n# {told}\n# owner = ""\n' in (folder / "relrag.toml").read_text()
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    assert init(folder, force=True) == 0
    assert settings.load(folder / "relrag.toml", {}).owner == ""
    assert asked == []


def test_an_owner_that_is_given_is_not_asked_for(
    folder: Path, asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert init(folder, owner=" Dana Levi ") == 0
    assert asked == ["balanced, strict or off? [balanced] ", f"Write {folder}/relrag.toml? [Y/n] "]
    assert settings.load(folder / "relrag.toml", {}).owner == "Dana Levi"
    assert init(folder, owner='D "x"', yes=True, force=True) == 0
    assert settings.load(folder / "relrag.toml", {}).owner == 'D "x"'
    assert "owner is" not in capsys.readouterr().out


def test_the_example_of_each_level_is_what_becomes_of_it() -> None:
    for chosen, said in LEVELS.values():
        chosen_settings = settings.Settings.model_validate({"pii_redaction_enabled": True, **chosen})
        redactor = PIIRedactor.from_settings(chosen_settings, Keys(b"i" * 32, b"p" * 32, "k1"))
        assert redactor.redact_for_embedding(EXAMPLE, "gmail") == said


def test_how_much_is_hidden_is_written(folder: Path) -> None:
    for level, (chosen, _) in LEVELS.items():
        assert init(folder, redaction=level, yes=True, force=True) == 0
        written = tomllib.loads((folder / "relrag.toml").read_text())
        assert {name: written.get(name) for name in chosen} == chosen
        assert written["pii_redaction_enabled"] is (level != "off")
    with pytest.raises(SettingsError, match='--redaction is "most"; known: balanced, strict, off'):
        init(folder, redaction="most", yes=True, force=True)
