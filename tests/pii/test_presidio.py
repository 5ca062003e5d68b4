"""Presidio: what it finds as it comes is found by ours; ours run in its engine; its own entities run in ours.

RELRAG_FUZZ_SECONDS=600 makes the comparison with the plain path run for so long, on other texts each time.
"""

import logging
import os
import random
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from relrag_pipelines.pii import PIIRedactor, PolicyError, RedactionError, phone_library, phones
from relrag_pipelines.pii.entities import ENTITIES
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.settings import Policy
from tests.pii import strange

STOCK = ["PHONE_NUMBER", "EMAIL_ADDRESS", "CREDIT_CARD", "IBAN_CODE"]
_HEBREW = re.compile("[\u05d0-\u05ea]")


def redactor(keys: Keys, entities: list[str], action: str = "pseudonymize") -> PIIRedactor:
    return PIIRedactor({"default": Policy(entities=entities, action=action)}, keys)  # type: ignore[arg-type]


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
    phones, and Hebrew letters glued to an address."""
    from relrag_pipelines.pii import presidio

    engine, ours = presidio.stock_recognizers(STOCK), redactor(keys, STOCK)
    for text in map(without_others, texts()):
        covered = {place for one in ours.detect(text, "default") for place in range(one.start, one.end)}
        for one in engine.analyze(text, "en", entities=STOCK):
            if (
                one.entity_type == "PHONE_NUMBER"
                and sum(map(str.isdecimal, text[one.start : one.end])) < phone_library.FEWEST
            ):
                continue
            glued = _HEBREW if one.entity_type == "EMAIL_ADDRESS" else re.compile("(?!)")
            missed = [
                place
                for place in range(one.start, one.end)
                if place not in covered and text[place].isalnum() and not glued.match(text[place])
            ]
            assert not missed, (text, one, [text[place] for place in missed])


def test_redacted_text_holds_nothing_and_stays_as_it_is(keys: Keys) -> None:
    for action in ("pseudonymize", "replace", "redact"):
        ours = redactor(keys, list(ENTITIES), action)
        for text in texts():
            redacted = ours.redact(text, "default")
            assert ours.detect(redacted, "default") == [], text
            assert ours.redact(redacted, "default") == redacted, text


def test_the_engine_finds_and_replaces_the_same(keys: Keys) -> None:
    """AnalyzerEngine with our recognisers, then AnonymizerEngine, against the redactor, until nothing is found."""
    from presidio_anonymizer import AnonymizerEngine
    from presidio_anonymizer.entities import OperatorConfig

    from relrag_pipelines.pii import presidio, pseudonyms

    engine, anonymizer, ours = presidio.engine(), AnonymizerEngine(), redactor(keys, list(ENTITIES))
    operators = {
        entity.name: OperatorConfig(
            "custom",
            {
                "lambda": lambda value, entity=entity: pseudonyms.pseudonym(
                    entity.name, entity.keyed_as, entity.normalise(value), keys
                )
            },
        )
        for entity in ENTITIES.values()
    }

    def by_presidio(text: str) -> str:
        while found := engine.analyze(pseudonyms.mask_pseudonyms(text), "en", entities=list(ENTITIES)):
            text = anonymizer.anonymize(text, found, operators, merge_entities_with_spaces=False).text
        return text

    for text in texts():
        assert ours.redact(text, "default") == by_presidio(text), text


def test_our_recognisers_are_registered() -> None:
    from relrag_pipelines.pii import presidio

    names = {one.name for one in presidio.engine().registry.recognizers}
    assert {f"relrag {name}" for name in ENTITIES} <= names
    assert not names & {"PhoneRecognizer", "EmailRecognizer", "CreditCardRecognizer", "IbanRecognizer"}


def test_presidios_own_entities_can_be_named(keys: Keys) -> None:
    ours = redactor(keys, ["IP_ADDRESS", "URL", "PHONE_NUMBER"], "replace")
    text = "see https://intranet.example.com/x from 192.168.10.7 or call 052-1234567"
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
    from relrag_pipelines.pii import presidio

    (recogniser,) = (one for one in presidio.engine().registry.recognizers if one.supported_entities == ["IP_ADDRESS"])
    ours = redactor(keys, ["IP_ADDRESS"], "replace")

    class Slow:
        def finditer(self, *_: object, **__: object) -> None:
            raise TimeoutError

    ours.redact("192.168.10.7", "default")
    kept = [pattern.compiled_regex for pattern in recogniser.patterns]
    try:
        for pattern in recogniser.patterns:
            pattern.compiled_regex = Slow()
        with pytest.raises(RedactionError, match=r"^IP_ADDRESS could not be looked for \(TimeoutError\)$"):
            ours.redact("192.168.10.7", "default")
    finally:
        for pattern, regex in zip(recogniser.patterns, kept, strict=True):
            pattern.compiled_regex = regex


def test_presidio_logs_nothing(keys: Keys, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        redactor(keys, ["IP_ADDRESS", "US_SSN", "PHONE_NUMBER"]).redact("192.168.10.7, 052-1234567", "default")
    assert "192.168" not in caplog.text
    assert "1234567" not in caplog.text


@pytest.mark.requirement("S0-82")
def test_presidio_is_installed_in_the_asked_version() -> None:
    from importlib.metadata import version

    for package in ("presidio-analyzer", "presidio-anonymizer"):
        assert tuple(map(int, version(package).split(".")[:2])) >= (2, 2)


def test_our_entities_need_no_presidio() -> None:
    """Importing it takes seconds, which no question should wait for."""
    script = """
import sys
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.pii import PIIRedactor
from relrag_pipelines.settings import POLICIES, Policy
policies = {name: Policy.model_validate(policy) for name, policy in POLICIES.items()}
redactor = PIIRedactor(policies, Keys(b"i" * 32, b"p" * 32, "k1"))
assert redactor.redact_query("call dana@example.com or 052-1234567").count("<") == 2
assert not {"presidio_analyzer", "spacy", "tldextract", "dagster"} & sys.modules.keys(), sys.modules.keys()
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
