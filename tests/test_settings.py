"""Settings: where a value comes from, what a wrong one is told, and that the template says what was chosen."""

import re
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines import settings
from relrag_pipelines.files import sealed_json
from relrag_pipelines.records import SCHEMA_VERSION
from relrag_pipelines.settings import POLICIES, Settings, SettingsError, Source
from relrag_pipelines.settings.models import STRUCTURED
from relrag_pipelines.sources import KINDS

KNOWN_SETTINGS = ", ".join(sorted(name for name in Settings.model_fields if name != "folder"))
USUAL = Settings.model_fields["embedder"].default
KNOWN_KEYS = ", ".join(sorted(Source.model_fields))
CHAT = '[[sources]]\nname = "chat"\nkind = "whatsapp"\npath = "chats"\n'


def write(folder: Path, text: str) -> Path:
    config = folder / "relrag.toml"
    config.write_text(text, encoding="utf-8")
    return config


def load(folder: Path, text: str, **environ: str) -> Settings:
    return settings.load(write(folder, text), environ)


def test_a_value_comes_from_the_environment_else_the_file_else_the_default(tmp_path: Path) -> None:
    assert load(tmp_path, "").chunk_tokens == 256
    assert load(tmp_path, "chunk_tokens = 100").chunk_tokens == 100
    assert load(tmp_path, "chunk_tokens = 100", RELRAG_CHUNK_TOKENS="64").chunk_tokens == 64
    assert load(tmp_path, "chunk_tokens = 100", RELRAG_CHUNK_TOKENS="").chunk_tokens == 100
    assert load(tmp_path, "", RELRAG_PII_REDACTION_ENABLED="true").pii_redaction_enabled is True


@pytest.mark.requirement("S0-81", "S0-101")
def test_flags_that_change_what_is_stored_or_found_are_off_until_they_are_asked_for(tmp_path: Path) -> None:
    found = load(tmp_path, "")
    assert found.pii_redaction_enabled is False
    assert found.asset_neighborhood_expansion_enabled is False


def test_the_built_in_model_is_the_usual_embedder(tmp_path: Path) -> None:
    assert load(tmp_path, "").embedder == "e5"
    assert load(tmp_path, 'embedder = "none"').embedder == "none"


@pytest.mark.parametrize(
    ("recorded", "kept"),
    [
        ({"default_embedder": "e5"}, "e5"),
        ({"default_embedder": "minilm"}, "minilm"),
        ({}, "minilm"),  # as versions published that knew no other
        ({"embedder": "text-embedding-3-small:1536", "default_embedder": "e5"}, "e5"),
        ({"default_embedder": "openai"}, USUAL),  # nothing is sent where no setting says so
    ],
)
def test_a_published_archive_keeps_its_usual_embedder_until_another_is_set(
    tmp_path: Path, recorded: dict[str, str], kept: str
) -> None:
    place = tmp_path / ".relrag" / "published"
    (place / "7").mkdir(parents=True)
    (place / "current").write_text("7")
    (place / "7" / "MANIFEST.json").write_text(sealed_json.seal({"schema_version": SCHEMA_VERSION, **recorded}))
    assert load(tmp_path, "").embedder == kept
    assert load(tmp_path, 'embedder = "minilm"').embedder == "minilm"
    assert load(tmp_path, 'embedder = "e5"').embedder == "e5"
    assert load(tmp_path, "", RELRAG_EMBEDDER="e5").embedder == "e5"
    (place / "7" / "MANIFEST.json").write_text("damaged")
    assert load(tmp_path, "").embedder == USUAL


def test_a_path_is_relative_to_the_file(tmp_path: Path) -> None:
    assert load(tmp_path, 'golden_set = "../questions.jsonl"').golden_set_path == tmp_path.parent / "questions.jsonl"


def test_a_setting_of_an_earlier_version_is_passed_over(tmp_path: Path) -> None:
    assert load(tmp_path, "golden_margin = 0.1\n").golden_significance == 0.05
    assert load(tmp_path, "answer_min_coverage = 0.5\n").search_limit == load(tmp_path, "").search_limit


@pytest.mark.requirement("S0-80")
def test_each_channel_has_its_policy_and_one_can_be_changed_alone(tmp_path: Path) -> None:
    policies = load(tmp_path, '[pii_policies.gmail]\nentities = ["IBAN_CODE"]\naction = "redact"\n').pii_policies
    assert (policies["gmail"].entities, policies["gmail"].action) == (["IBAN_CODE"], "redact")
    assert policies["whatsapp"].entities == ["PHONE_NUMBER", "EMAIL_ADDRESS", "CREDIT_CARD", "IBAN_CODE"]
    assert policies["whatsapp"].action == "pseudonymize"
    assert (policies["paperless"].entities, policies["paperless"].action) == (["CREDIT_CARD", "IBAN_CODE"], "redact")
    assert policies["call_recording"].entities == ["PHONE_NUMBER", "CREDIT_CARD"]
    assert load(tmp_path, "").pii_policies["gmail"].entities == POLICIES["gmail"]["entities"]


@pytest.mark.requirement("S4-12", "S4-14")
def test_the_display_filter_is_on_with_the_declared_limits(tmp_path: Path) -> None:
    found = load(tmp_path, "")
    assert found.source_display_filter_enabled is True
    assert (found.source_display_min_score, found.source_display_max_count) == (0.5, 8)
    assert found.source_display_answer_filter is True


def test_paths_are_relative_to_the_file_and_keys_lie_outside_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/jonah")
    found = load(tmp_path, f'archive = "family"\n{CHAT}')
    assert found.home_path == tmp_path.resolve() / ".relrag"
    assert found.source_path(found.source("chat")) == tmp_path.resolve() / "chats"
    assert found.keys_path.as_posix().endswith("/jonah/.config/relrag/family.keys")


WRONG = [
    ("chunk_token = 3", f"chunk_token is not known (did you mean chunk_tokens?); known: {KNOWN_SETTINGS}"),
    ("zzz = 3", f"zzz is not known; known: {KNOWN_SETTINGS}"),
    ('folder = "/"', f"folder is not known; known: {KNOWN_SETTINGS}"),
    ("chunk_tokens = 5", 'chunk_tokens is "5": Input should be greater than or equal to 32'),
    (
        'chunk_tokens = "many"',
        'chunk_tokens is "many": Input should be a valid integer, unable to parse string as an integer',
    ),
    ('archive = "../x"', 'archive is "../x"; use letters, digits, -, _ and ., beginning with a letter or digit'),
    ('home = "."', 'home is "."; name a folder of its own, such as .relrag'),
    ('home = ""', 'home is "."; name a folder of its own, such as .relrag'),
    (
        'timezone = "Prague"',
        'timezone is "Prague", which is not a time zone; write one as Europe/Prague or Asia/Jerusalem',
    ),
    (
        'timezone = "../etc/passwd"',
        'timezone is "../etc/passwd", which is not a time zone; write one as Europe/Prague or Asia/Jerusalem',
    ),
    ('first_month = "2020-13"', 'first_month is "2020-13"; write a month as YYYY-MM, from 1900-01 to 2099-12'),
    ('first_month = "0001-01"', 'first_month is "0001-01"; write a month as YYYY-MM, from 1900-01 to 2099-12'),
    ('nightly = "24:00"', 'nightly is "24:00"; write a time as HH:MM, or off'),
    (
        'embedder = "gpt"',
        "embedder is \"gpt\": Input should be 'none', 'e5', 'minilm', 'fastembed', 'openai' or 'cohere'",
    ),
    ("sources = 5", 'sources is "5": Input should be a valid list'),
    (
        '[sources]\nname = "chat"\n',
        "sources is one table; write [[sources]] with two brackets on either side",
    ),
    ('[[sources]]\nname = "a"\nkind = "whatsapp"\n', "sources[0] has no path; name the file or folder that it reads"),
    (
        CHAT.replace("whatsapp", "whatsap"),
        'sources[0].kind is "whatsap"; known kinds: ' + ", ".join(sorted(KINDS)),
    ),
    (
        CHAT.replace('"chat"', '"My chats"'),
        'sources[0].name is "My chats"; use lower-case letters, digits and _, beginning with a letter',
    ),
    (
        CHAT.replace('"chat"', '"catalog"'),
        'sources[0].name is "catalog"; use lower-case letters, digits and _, beginning with a letter',
    ),
    (CHAT + 'pth = "x"\n', f"sources[0].pth is not known (did you mean path?); known: {KNOWN_KEYS}"),
    (CHAT + 'date_order = "dym"\n', "sources[0].date_order is \"dym\": Input should be 'auto', 'dmy', 'mdy' or 'ymd'"),
    (
        CHAT + 'timezone = "Mars"\n',
        'sources[0].timezone is "Mars", which is not a time zone; write one as Europe/Prague or Asia/Jerusalem',
    ),
    (
        CHAT + 'channel = "watsapp"\n',
        'source "chat" has channel "watsapp"; known channels: call_recording, chat, default, gmail, paperless, '
        "whatsapp",
    ),
    (CHAT + CHAT, 'two sources are named "chat"; give each a name of its own'),
    ("[pii_policies.gmail]\nentities = []\n", "pii_policies.gmail.action is missing"),
    (
        '[pii_policies.gmail]\nentities = []\naction = "drop"\n',
        'pii_policies.gmail.action is "drop"; known: pseudonymize, hash, replace, redact, mask, encrypt, keep',
    ),
    (
        '[pii_policies.gmail]\nentities = []\naction = "hash"\nsalt = "x"\n',
        "pii_policies.gmail.salt is not known; known: action, actions, entities",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), WRONG, ids=[text.replace("\n", " ")[-40:] for text, _ in WRONG])
def test_a_wrong_value_is_told_by_place_and_what_was_found(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, text)
    assert str(caught.value) == f"relrag.toml: {said}"


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, 'nightly = "noon"\nfirst_month = "May"\n')
    assert str(caught.value).splitlines() == [
        'relrag.toml: first_month is "May"; write a month as YYYY-MM, from 1900-01 to 2099-12',
        'relrag.toml: nightly is "noon"; write a time as HH:MM, or off',
    ]


def test_a_wrong_variable_is_named_and_not_the_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, "chunk_tokens = 100", RELRAG_CHUNK_TOKENS="7", RELRAG_TIMEZONE="Mars")
    assert str(caught.value).splitlines() == [
        'RELRAG_TIMEZONE is "Mars", which is not a time zone; write one as Europe/Prague or Asia/Jerusalem',
        'RELRAG_CHUNK_TOKENS is "7": Input should be greater than or equal to 32',
    ]


def test_an_unknown_variable_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, "", RELRAG_CHUNK_TOKEN="64")
    said, known = str(caught.value).split("; known: ")
    assert said == "RELRAG_CHUNK_TOKEN is not known (did you mean RELRAG_CHUNK_TOKENS?)"
    assert {"RELRAG_HOME", "RELRAG_CONFIG", "RELRAG_NOW"} <= set(known.split(", "))
    assert "RELRAG_SOURCES" not in known
    assert load(tmp_path, "", RELRAG_NOW="x", OTHER="y", PATH="z").archive == "archive"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"relrag\.toml does not exist; `relrag init FOLDER` writes one"):
        settings.load(tmp_path / "relrag.toml", {})
    with pytest.raises(SettingsError, match=r"relrag\.toml cannot be read: .*line 1, column"):
        load(tmp_path, "archive = family")
    (tmp_path / "relrag.toml").write_bytes(b'owner = "\xff"')
    with pytest.raises(SettingsError, match=r"relrag\.toml cannot be read: 'utf-8' codec can't decode"):
        settings.load(tmp_path / "relrag.toml", {})
    with pytest.raises(SettingsError, match=r"cannot be read: .*[Dd]irectory"):
        settings.load(tmp_path, {})


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    assert load(tmp_path, '\ufeffowner = "Jonah"').owner == "Jonah"


def test_the_nearest_file_above_is_in_charge_unless_one_is_named(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    with pytest.raises(SettingsError, match=r"no relrag\.toml in .*b or above it; `relrag init FOLDER` writes one"):
        settings.find_config(below, {})
    config = write(tmp_path, "")
    assert settings.find_config(below, {}) == config.resolve()
    other = write(below, "")
    assert settings.find_config(tmp_path, {"RELRAG_CONFIG": str(other)}) == other.resolve()
    with pytest.raises(SettingsError, match=r"RELRAG_CONFIG names .*nowhere, which is not a file"):
        settings.find_config(tmp_path, {"RELRAG_CONFIG": str(tmp_path / "nowhere")})


def test_an_unknown_source_is_told_the_known_ones(tmp_path: Path) -> None:
    found = load(tmp_path, CHAT)
    with pytest.raises(SettingsError) as caught:
        found.source("mail")
    assert str(caught.value) == 'no source is named "mail"; sources in relrag.toml: chat'


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("2025-01-20T12:00:00+00:00", datetime(2025, 1, 20, 12, tzinfo=UTC)),
        ("2025-01-20T14:00:00+02:00", datetime(2025, 1, 20, 12, tzinfo=UTC)),
        ("2025-01-20", datetime(2025, 1, 20, tzinfo=UTC)),
    ],
)
def test_the_clock_can_be_fixed(said: str, expected: datetime) -> None:
    assert settings.now({"RELRAG_NOW": said}) == expected


def test_a_wrong_clock_is_told() -> None:
    with pytest.raises(SettingsError) as caught:
        settings.now({"RELRAG_NOW": "yesterday"})
    assert str(caught.value) == 'RELRAG_NOW is "yesterday"; write a time as 2025-01-20T12:00:00+00:00'


def test_the_template_gives_what_was_chosen_and_every_default(tmp_path: Path) -> None:
    source = {"name": "chats", "kind": "whatsapp", "path": "exports/chats", "exclude": ["*.pdf", "old/*"]}
    chosen = {"timezone": "Asia/Jerusalem", "pii_redaction_enabled": True, "chunk_tokens": 128}
    text = settings.template("family-3f2a", [source], chosen)
    found = load(tmp_path, text)
    expected = Settings(archive="family-3f2a", sources=[Source(**source)], folder=tmp_path.resolve(), **chosen)  # type: ignore[arg-type]
    assert found == expected
    assert tomllib.loads(text).keys() == {"archive", "sources", *chosen}


def test_what_a_source_may_have_stands_below_the_first_and_can_be_uncommented(tmp_path: Path) -> None:
    source = {"name": "chats", "kind": "whatsapp", "path": "exports/chats"}
    text = settings.template("a", [source, {**source, "name": "more"}], {})
    assert text.count("# any source may also have:") == 1
    first = load(tmp_path, re.sub(r"^# ([a-z_]+ = .*  # )", r"\1", text, flags=re.MULTILINE)).sources[0]
    said = {"timezone": "Europe/Prague", "channel": "default", "exclude": ["drafts", "*.csv"]}
    assert first == Source(**source, **said)  # type: ignore[arg-type]
    assert all(f"# {name} = " in text for name in KNOWN_KEYS.split(", ") if name not in source)


def test_every_commented_default_of_the_template_is_the_default(tmp_path: Path) -> None:
    text = settings.template("archive", [], {})
    uncommented = re.sub(r"^# ([a-z_]+ = )", r"\1", text, flags=re.MULTILINE)
    assert tomllib.loads(uncommented).keys() == Settings.model_fields.keys() - STRUCTURED
    assert load(tmp_path, uncommented) == Settings(folder=tmp_path.resolve())


@given(st.text(st.characters(exclude_categories=["Cs"])), st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_any_text_survives_the_template(path: str, exclude: list[str]) -> None:
    source: dict[str, Any] = {"name": "a", "kind": "document", "path": path, "exclude": exclude}
    assert tomllib.loads(settings.template("archive", [source], {"owner": path})) == {
        "archive": "archive",
        "owner": path,
        "sources": [source],
    }


def test_a_path_that_is_not_unicode_is_refused_by_the_template() -> None:
    with pytest.raises(ValueError, match="a path or name is not Unicode; rename it"):
        settings.template("archive", [{"name": "a", "kind": "document", "path": "caf\udce9"}], {})


@pytest.mark.parametrize("name", [name for name in Settings.model_fields if name != "folder"])
def test_every_setting_stands_in_the_docs_with_its_meaning(name: str) -> None:
    line = next(line for line in settings.markdown().splitlines() if line.startswith(f"| `{name}` |"))
    assert line.endswith(f"| {Settings.model_fields[name].description} |")
    assert line.count("|") == 4


@pytest.mark.parametrize("name", ["alert_urls", "ocr_languages", "answer_excluded_labels"])
def test_a_variable_sets_several_values_as_a_json_list(tmp_path: Path, name: str) -> None:
    assert getattr(load(tmp_path, "", **{f"RELRAG_{name.upper()}": '["heb", "ces"]'}), name) == ["heb", "ces"]


@pytest.mark.parametrize("text", ["ntfy://me:secret@example.org", '{"a": "secret"}', '["a", 1]', '["secret"'])
def test_a_variable_that_is_no_list_is_refused_without_its_text(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load(tmp_path, "", RELRAG_ALERT_URLS=text)
    assert str(refused.value) == 'RELRAG_ALERT_URLS is no JSON list of texts; write it as ["first", "second"]'
