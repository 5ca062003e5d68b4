"""Presidio's engine: what it finds as it comes is found; what stands in front of it changes nothing; how to add to it.

RELRAG_FUZZ_SECONDS=600 makes the comparison with the plain path run for so long, on other texts each time.
"""

from __future__ import annotations

import logging
import os
import random
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import spacy
from presidio_analyzer.nlp_engine import SpacyNlpEngine
from presidio_anonymizer import AnonymizerEngine

from relrag_pipelines import settings as settings_module
from relrag_pipelines.pii import (
    PIIRedactor,
    PolicyError,
    RedactionError,
    card_issuers,
    context_words,
    entities,
    national_ids,
    ner_models,
    phones,
)
from relrag_pipelines.pii.entities import ENTITIES
from relrag_pipelines.pii.phones import library
from relrag_pipelines.pii.policies import EntityCatalog
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.settings import Policy, SettingsError
from tests import ROOT
from tests.cases import cases
from tests.pii import strange

STOCK = ["PHONE_NUMBER", "EMAIL_ADDRESS", "CREDIT_CARD", "IBAN_CODE"]
_HEBREW = re.compile("[\u05d0-\u05ea]")


def redactor(keys: Keys, names: list[str], action: str = "pseudonymize") -> PIIRedactor:
    return PIIRedactor({"default": Policy(entities=names, action=action)}, keys)


def texts() -> Iterator[str]:
    seconds = float(os.environ.get("RELRAG_FUZZ_SECONDS", "0"))
    chance = random.Random() if seconds else random.Random(20)
    begun, made = time.monotonic(), 0
    while time.monotonic() - begun < seconds if seconds else made < 250:
        made += 1
        yield strange.text(chance)


def without_others(text: str) -> str:
    """The text without what only looks like a phone; covering one can bare another."""
    while (covered := phones.drop_non_phones(text)) != text:
        text = covered
    return text


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_every_letter_and_digit_that_presidio_finds_is_found(keys: Keys) -> None:
    """But for dates, what words announce as another number, what has less than seven digits, all of which it takes for
    phones, cards that no issuer gives, and Hebrew letters glued to an address."""
    from relrag_pipelines.pii.engine import stock_recognizers

    engine, ours = stock_recognizers(STOCK), redactor(keys, STOCK)
    for text in map(without_others, texts()):
        covered = {place for one in ours.detect(text, "default") for place in range(one.start, one.end)}
        for one in engine.analyze(text, "en", entities=STOCK):
            if (
                one.entity_type == "PHONE_NUMBER"
                and sum(map(str.isdecimal, text[one.start : one.end])) < library.MIN_DIGITS
            ):
                continue
            if one.entity_type == "CREDIT_CARD" and _is_no_card(text, one.start, one.end):
                continue
            glued = _HEBREW if one.entity_type == "EMAIL_ADDRESS" else re.compile("(?!)")
            missed = [
                place
                for place in range(one.start, one.end)
                if place not in covered and text[place].isalnum() and not glued.match(text[place])
            ]
            assert not missed, (text, one, [text[place] for place in missed])


def _is_no_card(text: str, start: int, end: int) -> bool:
    """Whether no issuer gives the number, or only words could make it a card."""
    digits = national_ids.digits_of(text[start:end])
    return len(digits) < 14 or not card_issuers.is_issued(digits) or context_words.has_other_context(text, start)


def test_redacted_text_holds_nothing_and_stays_as_it_is(keys: Keys) -> None:
    for action in ("pseudonymize", "replace", "redact"):
        ours = redactor(keys, list(ENTITIES), action)
        for text in texts():
            redacted = ours.redact(text, "default")
            assert ours.detect(redacted, "default") == [], text
            assert ours.redact(redacted, "default") == redacted, text


def test_what_stands_in_front_of_the_engine_changes_no_finding(keys: Keys) -> None:
    """The redactor against the engine alone: every text, all recognisers, AnalyzerEngine, then AnonymizerEngine."""
    from relrag_pipelines.pii import operators
    from relrag_pipelines.privacy import pseudonyms

    presidio, table = EntityCatalog().engine, entities.table()
    ours = redactor(keys, list(table))
    configs = {name: operators.config("pseudonymize", entity, keys) for name, entity in table.items()}
    anonymizer = AnonymizerEngine()  # type: ignore[no-untyped-call]
    for operator in operators.OPERATORS:
        anonymizer.add_anonymizer(operator)

    def by_engine(text: str) -> str:
        while found := presidio.analyze(pseudonyms.mask_pseudonyms(text), list(table)):
            ranked = sorted(found, key=lambda one: (one.start, -one.end, -one.score, one.entity_type))
            text = anonymizer.anonymize(text, ranked, {**configs}, merge_entities_with_spaces=False).text
        return text

    for text in [*texts(), *PLANTED]:
        for _ in range(2):  # the second time it is remembered
            assert ours.redact(text, "default") == by_engine(text), text


PLANTED = [
    "my passport is 12345678 and hers AB1234567", "הדרכון שלי 12345678", "číslo pasu 39841234", "12345678",
    "ssn 846155715, 846-15-5715, 846 15 5715; part 846-15-5715",
    "license F162823540116, driver's license F162823540116",
    "41.173.96.26 or 6e40:4041:c617:e898:c11:40d2:c669:2eb4, aa:bb:cc:11:22:33, x[1::2]",
    "https://joe:secret1@example.org/?token=abc123def", "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----",
    "ח.פ. 514713221, IČO 25123891, DIČ CZ25123891", "no digits here", "ghp_" + "a1" * 18,
]  # fmt: skip


def test_our_recognisers_are_registered() -> None:
    recognizers = EntityCatalog().engine.analyzer.registry.recognizers
    names = {one.name for one in recognizers}
    assert {f"relrag {name}" for name in ENTITIES} <= names
    assert not names & {
        "PhoneRecognizer",
        "EmailRecognizer",
        "CreditCardRecognizer",
        "IbanRecognizer",
        "UsSsnRecognizer",
    }


OWN_NUMBERS = f"Employee 48214, badge E-55512, {'and so on and on, ' * 3}room 48213"
RECOGNIZERS = """
recognizers:
  - name: employee numbers of Acme
    supported_entity: EMPLOYEE_NUMBER
    patterns:
      - {name: E and five digits, regex: '\\bE-\\d{5}\\b', score: 0.8}
      - {name: five digits, regex: '\\b\\d{5}\\b', score: 0.1}
    score_thresholds: {default: 0.4}
    context: {en: [employee], he: [עובד], cs: [zaměstnanec]}
  - supported_entity: PHONE_NUMBER
    patterns: [{name: extension, regex: 'ext\\.\\d{3}', score: 0.6}]
"""


def test_one_entry_of_yaml_adds_a_recogniser(keys: Keys, tmp_path: Path) -> None:
    file = tmp_path / "recognizers.yaml"
    file.write_text(RECOGNIZERS)
    ours = PIIRedactor(
        {"default": Policy(entities=["EMPLOYEE_NUMBER", "PHONE_NUMBER"], action="replace")},
        keys,
        allowed=["*2700"],
        catalog=EntityCatalog(file),
    )
    assert ours.redact("הזמנה 54321, E-12345, employee 54321, לעובד 54321", "default") == (
        "הזמנה 54321, <EMPLOYEE_NUMBER>, employee <EMPLOYEE_NUMBER>, לעובד <EMPLOYEE_NUMBER>"
    )
    assert ours.redact("ext.123 or 052-1234567, shop: *2700", "default") == (
        "<PHONE_NUMBER> or <PHONE_NUMBER>, shop: *2700"
    )
    (found,) = ours.explain("employee 54321", "default")
    assert found.analysis_explanation.supportive_context_word == "employee"
    assert (found.analysis_explanation.original_score, round(found.score, 2)) == (0.1, 0.45)


def test_what_the_docs_say_of_a_recogniser_of_ones_own_is_enough(keys: Keys, tmp_path: Path) -> None:
    """docs/privacy.md: its file, and its lines of relrag.toml."""
    docs = (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8").partition("### A recogniser of your own")[2]
    entry, lines = (
        re.findall(rf"^```{kind}\n(.*?)^```", docs, re.MULTILINE | re.DOTALL)[0] for kind in ("yaml", "toml")
    )
    (tmp_path / "recognizers.yaml").write_text(entry, encoding="utf-8")
    (tmp_path / "relrag.toml").write_text(f'archive = "own"\nkeys_file = "own.keys"\n{lines}')
    settings = settings_module.load(tmp_path / "relrag.toml", {})
    ours = PIIRedactor.from_settings(settings.model_copy(update={"pii_redaction_enabled": True}), keys)
    pattern = r"<EMPLOYEE_NUMBER:k1:[0-9a-f]{12}>"
    assert re.fullmatch(f"Employee {pattern}, badge {pattern}, .*room 48213", ours.redact(OWN_NUMBERS, "default"))


@pytest.mark.parametrize(*cases(__file__, "a_wrong_entry_is_named"))
def test_a_wrong_entry_is_named(keys: Keys, tmp_path: Path, written: str, said: str) -> None:
    file = tmp_path / "recognizers.yaml"
    file.write_text(written)
    with pytest.raises(SettingsError, match=re.escape(said)):
        PIIRedactor({"default": Policy(entities=["PHONE_NUMBER"], action="replace")}, keys, catalog=EntityCatalog(file))


def test_names_are_found_by_a_language_model_of_this_machine(keys: Keys, tmp_path: Path) -> None:
    model = spacy.blank("en")
    model.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Dana Levi"}])  # type: ignore[attr-defined]
    model.to_disk(tmp_path / "tiny")
    conf = tmp_path / "model.yaml"
    conf.write_text("nlp_engine_name: spacy\nmodels:\n  - {lang_code: en, model_name: tiny}\n")
    ours = PIIRedactor(
        {"default": Policy(entities=["PERSON", "PHONE_NUMBER", "PASSPORT"], action="replace")},
        keys,
        catalog=EntityCatalog(language_model=conf),
    )
    assert ours.redact("Dana Levi called 052-1234567, passport 12345678", "default") == (
        "<PERSON> called <PHONE_NUMBER>, passport <PASSPORT>"
    )
    conf = tmp_path / "absent.yaml"
    conf.write_text("nlp_engine_name: spacy\nmodels:\n  - {lang_code: en, model_name: absent}\n")
    with pytest.raises(SettingsError, match='model_name is "absent", neither an installed package nor a folder'):
        PIIRedactor(
            {"default": Policy(entities=["ORGANIZATION"], action="replace")}, keys, catalog=EntityCatalog(None, conf)
        )


class _Gliner:
    """What GLiNER's library gives for a folder: it finds the words after "by"."""

    @classmethod
    def from_pretrained(cls, folder: str, **options: object) -> _Gliner:
        assert Path(folder).is_dir()
        return cls()

    def predict_entities(self, text: str, labels: list[str], **options: object) -> list[dict[str, object]]:
        found = re.finditer(r"(?<=by )\w+ \w+", text) if "person" in labels else ()
        return [{"start": one.start(), "end": one.end(), "label": "person", "score": 0.9} for one in found]


def test_names_are_found_by_gliner_as_presidio_has_it(
    keys: Keys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "small").mkdir()
    conf = tmp_path / "model.yaml"
    conf.write_text(
        "nlp_engine_name: gliner\nmodels:\n  - {lang_code: en, model_name: small, threshold: 0.5}\n"
        "ner_model_configuration: {model_to_presidio_entity_mapping: {person: PERSON}}\n"
    )
    policy = {"default": Policy(entities=["PERSON", "PHONE_NUMBER"], action="replace")}
    with pytest.raises(SettingsError, match=r'"gliner" is not installed; pip install "presidio-analyzer\[gliner\]"'):
        PIIRedactor(policy, keys, catalog=EntityCatalog(language_model=conf))
    monkeypatch.setattr("presidio_analyzer.predefined_recognizers.ner.gliner_recognizer.GLiNER", _Gliner)
    ours = PIIRedactor(policy, keys, catalog=EntityCatalog(language_model=conf))
    text = "written by Dana Levi, tel. 052-1234567"
    assert ours.redact(text, "default") == "written by <PERSON>, tel. <PHONE_NUMBER>"


@pytest.mark.parametrize("name", ["stanza", "transformers"])
def test_other_engines_of_presidio_are_named_and_load_no_model_from_elsewhere(
    name: str, keys: Keys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf = tmp_path / "model.yaml"
    model = "{spacy: tiny, transformers: ner}" if name == "transformers" else "tiny"
    conf.write_text(f"nlp_engine_name: {name}\nmodels:\n  - {{lang_code: en, model_name: {model}}}\n")
    with pytest.raises(SettingsError, match=f'"{name}" is not installed'):
        ner_models.load(conf)
    monkeypatch.setitem(ner_models._AVAILABLE, name, lambda: True)
    given: list[object] = []
    monkeypatch.setitem(ner_models.ENGINES, name, lambda models, _: given.append(models) or _tiny(tmp_path))
    spacy.blank("en").to_disk(tmp_path / "tiny")
    if name == "transformers":
        with pytest.raises(SettingsError, match='model_name is "ner", neither an installed package nor a folder'):
            ner_models.load(conf)
        (tmp_path / "ner").mkdir()
    policy = {"default": Policy(entities=["PERSON"], action="replace")}
    ours = PIIRedactor(policy, keys, catalog=EntityCatalog(language_model=conf))
    assert ours.redact("Dana Levi called", "default") == "<PERSON> called"
    folders = {"spacy": str(tmp_path / "tiny"), "transformers": str(tmp_path / "ner")}
    assert given == [[{"lang_code": "en", "model_name": folders if name == "transformers" else folders["spacy"]}]]


def _tiny(folder: Path) -> ner_models.LanguageModel:
    """A pipeline of spaCy that knows one name, as an engine of Presidio."""
    model = spacy.blank("en")
    model.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Dana Levi"}])  # type: ignore[attr-defined]
    model.to_disk(folder / "ruler")
    given = [{"lang_code": "en", "model_name": str(folder / "ruler")}]
    return ner_models._engine(SpacyNlpEngine)(given, {})


def test_an_unknown_engine_is_named(tmp_path: Path) -> None:
    conf = tmp_path / "model.yaml"
    conf.write_text("nlp_engine_name: flair\nmodels: []\n")
    with pytest.raises(SettingsError, match='nlp_engine_name is "flair"; known: spacy, stanza, transformers, gliner'):
        ner_models.load(conf)


def test_presidios_own_entities_can_be_named(keys: Keys) -> None:
    ours = redactor(keys, ["IP_ADDRESS", "URL", "PHONE_NUMBER"], "replace")
    text = "see https://intranet.example.com/x from 93.184.10.7 or call 052-1234567"
    assert ours.redact(text, "default") == "see <URL> from <IP_ADDRESS> or call <PHONE_NUMBER>"
    assert [one.type for one in ours.detect(text, "default")] == ["URL", "IP_ADDRESS", "PHONE_NUMBER"]


@pytest.mark.requirement("S0-70")
def test_an_unknown_entity_is_refused_and_the_known_ones_named(keys: Keys) -> None:
    with pytest.raises(PolicyError) as refused:
        redactor(keys, ["PHONE_NUMBER", "FONE_NUMBER"])
    said = str(refused.value)
    assert said.startswith('pii_policies.default.entities names "FONE_NUMBER", which is not known; known: ')
    assert "IL_ID_NUMBER" in said
    assert "IP_ADDRESS" in said


def test_a_pattern_that_runs_out_of_time_stops_the_text(keys: Keys) -> None:
    """Presidio only logs it, and would go on without the finding."""
    presidio = EntityCatalog().engine
    (recogniser,) = (one for one in presidio.analyzer.registry.recognizers if one.supported_entities == ["IP_ADDRESS"])
    ours = redactor(keys, ["IP_ADDRESS"], "replace")

    class Slow:
        def finditer(self, *_: object, **__: object) -> None:
            raise TimeoutError

    ours.redact("93.184.10.7", "default")
    kept = [(pattern.compiled_regex, pattern.compiled_with_flags) for pattern in recogniser.patterns]
    try:
        for pattern in recogniser.patterns:
            pattern.compiled_regex, pattern.compiled_with_flags = Slow(), recogniser.global_regex_flags
        with pytest.raises(RedactionError, match=r"^IP_ADDRESS could not be looked for \(TimeoutError\)$"):
            ours.redact("93.184.10.8", "default")
    finally:
        for pattern, (regex, flags) in zip(recogniser.patterns, kept, strict=True):
            pattern.compiled_regex, pattern.compiled_with_flags = regex, flags


def test_presidio_logs_nothing(keys: Keys, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        redactor(keys, ["IP_ADDRESS", "US_SSN", "PHONE_NUMBER"]).redact("93.184.10.7, 052-1234567", "default")
    assert "93.184" not in caplog.text
    assert "1234567" not in caplog.text


@pytest.mark.requirement("S0-82")
def test_presidio_is_installed_in_the_asked_version() -> None:
    from importlib.metadata import version

    for package in ("presidio-analyzer", "presidio-anonymizer"):
        assert tuple(map(int, version(package).split(".")[:2])) >= (2, 2)


def test_presidio_is_imported_where_something_is_found() -> None:
    """That takes a second, which no question and no sync without personal data should wait for."""
    script = """
import sys
from relrag_pipelines import settings as settings_module
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.pii import PIIRedactor
from relrag_pipelines.settings import POLICIES, Policy
policies = {name: Policy.model_validate(policy) for name, policy in POLICIES.items()}
redactor = PIIRedactor(policies, Keys(b"i" * 32, b"p" * 32, "k1"))
question = "what did we pay in May 2024 for order 1234567?"
assert redactor.redact_query(question) == question
assert not {"presidio_analyzer", "presidio_anonymizer", "spacy", "dagster"} & sys.modules.keys(), sys.modules.keys()
assert redactor.redact_query("call dana@example.com or 052-1234567").count("<") == 2
assert {"presidio_analyzer", "presidio_anonymizer"} <= sys.modules.keys()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_recall_and_precision_are_not_below_presidio(shared_data: object) -> None:
    """On the annotated texts of presidio-research; the numbers are printed by `python -m bench.redaction`."""
    from bench import redaction

    scores = redaction.found_and_missed()
    for entity, ours in scores["relrag"].items():
        assert ours["recall"] >= scores["stock"][entity]["recall"], entity
        assert ours["precision"] >= scores["stock"][entity]["precision"] - 0.02, entity
