"""The redactor: policies by channel, actions, pseudonyms, and failing closed."""

from __future__ import annotations

import traceback
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.pii import PIIEntity, PIIRedactor, PolicyError, RedactionError, entities
from relrag_pipelines.pii.spans import Span
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.privacy.pseudonyms import escape_lookalikes, to_entity_type
from relrag_pipelines.settings import POLICIES, Policy, Settings, SettingsError

KEYS = Keys(ids=b"i" * 32, pseudonyms=b"p" * 32, version="k1")
PHONE, MAIL = "<PHONE_NUMBER:k1:88a31ea6ebff>", "<EMAIL_ADDRESS:k1:b029d3871c46>"
CARD, IBAN, ID = "<CREDIT_CARD:k1:e3e89c0b4e9c>", "<IBAN_CODE:k1:9c55aaf9cbab>", "<IL_ID_NUMBER:k1:07ab5d0ad123>"
EVERYTHING = (
    "052-123-4567 | dani@example.com | 4111 1111 1111 1111 | IL62 0108 0000 0009 9999 999 | ת.ז. 123456782 | INV-1187"
)
PRIVATE = "call 052-123-4567"


def redactor(**changed: Policy) -> PIIRedactor:
    policies = {name: Policy.model_validate(policy) for name, policy in POLICIES.items()}
    return PIIRedactor(policies | changed, KEYS)


@pytest.mark.requirement("S0-70")
def test_detect_gives_type_place_and_score() -> None:
    text = "call 052-123-4567, ID 123456782"
    assert redactor().detect(text, "default") == [
        PIIEntity("PHONE_NUMBER", 5, 17, 0.75),
        PIIEntity("IL_ID_NUMBER", 22, 31, 0.85),
    ]
    assert redactor().detect("nothing at 10:30", "default") == []
    assert redactor().detect("", "default") == []


@pytest.mark.requirement("S0-71")
@pytest.mark.requirement("S0-72")
@pytest.mark.requirement("S0-73")
@pytest.mark.requirement("S0-74")
@pytest.mark.parametrize(
    ("channel", "redacted"),
    [
        ("whatsapp", f"{PHONE} | {MAIL} | {CARD} | {IBAN} | ת.ז. 123456782 | INV-1187"),
        (
            "gmail",
            "<PHONE_NUMBER> | dani@example.com | <CREDIT_CARD> | <IBAN_CODE> | ת.ז. <IL_ID_NUMBER> | INV-1187",
        ),
        ("paperless", "052-123-4567 | dani@example.com |  |  | ת.ז. 123456782 | INV-1187"),
        (
            "call_recording",
            "<PHONE_NUMBER> | dani@example.com | <CREDIT_CARD> | IL62 0108 0000 0009 9999 999 | ת.ז. 123456782 "
            "| INV-1187",
        ),
        ("default", f"{PHONE} | {MAIL} | {CARD} | {IBAN} | ת.ז. {ID} | INV-1187"),
        ("anything else", f"{PHONE} | {MAIL} | {CARD} | {IBAN} | ת.ז. {ID} | INV-1187"),
    ],
)
def test_each_channel_has_its_policy(channel: str, redacted: str) -> None:
    assert redactor().redact(EVERYTHING, channel) == redacted
    assert redactor().redact_many([EVERYTHING, "hello", EVERYTHING], channel) == [redacted, "hello", redacted]


@pytest.mark.requirement("S0-71")
def test_hash_is_the_old_name_of_pseudonymize() -> None:
    hashed = redactor(whatsapp=Policy(entities=["PHONE_NUMBER"], action="hash"))
    assert hashed.redact("052-123-4567", "whatsapp") == PHONE


@pytest.mark.requirement("S0-80")
@pytest.mark.parametrize("prefix", ["ב", "ל", "מ", "ה", "ו", "ש", "ב-", "ול"])
def test_hebrew_prefixes_stay_and_values_go(prefix: str) -> None:
    for value, pseudonym in (
        ("052-123-4567", PHONE),
        ("+972 52 123 4567", PHONE),
        ("dani@example.com", MAIL),
        ("4111111111111111", CARD),
        ("4111 1111 1111 1111", CARD),
        ("IL620108000000099999999", IBAN),
        ("123456782", ID),
    ):
        assert redactor().redact(f"שלחתי {prefix}{value} אתמול", "default") == f"שלחתי {prefix}{pseudonym} אתמול"


def test_what_is_planted_in_the_demo() -> None:
    text = (
        "ת.ז. 123456782 ולא 123456789; order 987654321; ל4111111111111111 מ-IL620108000000099999999, ב10-800-99999999"
    )
    assert redactor().redact(text, "default") == (
        f"ת.ז. {ID} ולא 123456789; order 987654321; ל{CARD} מ-{IBAN}, ב10-800-99999999"
    )


def test_equal_values_have_one_pseudonym_in_every_channel() -> None:
    assert KEYS.pseudonym("phone", "+972521234567") == "88a31ea6ebff"
    for written in ("052-123-4567", "+972 52 123 4567", "0521234567", "972-52-1234567"):
        assert redactor().redact(written, "whatsapp") == redactor().redact(written, "default") == PHONE
    other = PIIRedactor(
        {"default": Policy(entities=["PHONE_NUMBER"], action="hash")}, replace(KEYS, pseudonyms=b"q" * 32)
    )
    assert other.redact("052-123-4567", "default") not in (PHONE, "052-123-4567")


def test_fragments_of_longer_numbers_are_not_left_behind() -> None:
    ours = redactor(default=Policy(entities=["CREDIT_CARD", "PHONE_NUMBER", "IL_ID_NUMBER"], action="replace"))
    assert ours.redact("4580 0521 2345 6700", "default") == "<CREDIT_CARD>"
    assert ours.redact("4111 1111 1111 1111 052-1234567", "default") == "<CREDIT_CARD> <PHONE_NUMBER>"
    phones = redactor(default=Policy(entities=["PHONE_NUMBER", "IBAN_CODE"], action="replace"))
    assert phones.redact("IL62 0108 0000 0009 9999 999", "default") == "<IBAN_CODE>"


def test_of_two_that_overlap_each_stands_for_all_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {
        "A": replace(
            entities.ENTITIES["CREDIT_CARD"], name="A", find=lambda text: [Span(0, 6, 1.0)], normalise=str, min_digits=0
        ),
        "B": replace(
            entities.ENTITIES["CREDIT_CARD"], name="B", find=lambda text: [Span(4, 9, 0.5)], normalise=str, min_digits=0
        ),
    }
    monkeypatch.setattr(entities, "table", lambda file, regions: table)
    ours = PIIRedactor({"default": Policy(entities=["A", "B"], action="pseudonymize")}, KEYS)
    a, b = (KEYS.pseudonym("card", value) for value in ("123456", "56789"))
    changes = next(ours.passes("123456789!", "default"))
    assert [(one.start, one.end, one.new) for one in changes] == [(0, 4, f"<A:k1:{a}>"), (4, 9, f"<B:k1:{b}>")]
    emptied = PIIRedactor({"default": Policy(entities=["A", "B"], action="replace", actions={"A": "redact"})}, KEYS)
    changes = next(emptied.passes("123456789!", "default"))
    assert [(one.start, one.end, one.new) for one in changes] == [(0, 4, ""), (4, 9, "<B>")]


@pytest.mark.requirement("S0-75")
def test_embedding_text_holds_types_only() -> None:
    assert redactor().redact_for_embedding("call 052-123-4567", "whatsapp") == "call <PHONE_NUMBER>"
    assert (
        redactor().to_embedding(f"call {PHONE} or {MAIL}, <b:k1:x>")
        == "call <PHONE_NUMBER> or <EMAIL_ADDRESS>, <b:k1:x>"
    )


def test_redacting_again_for_a_model_changes_nothing() -> None:
    once = redactor().redact(EVERYTHING, "default")
    assert redactor().redact(once, "default") == once
    assert redactor().redact("<PHONE_NUMBER:k1:052123456789>", "default") == "<PHONE_NUMBER:k1:052123456789>"
    assert redactor().detect(once, "default") == []


def test_a_question_matches_the_index() -> None:
    assert redactor().redact_query("who called from +972 52 123 4567?") == f"who called from {PHONE}?"
    assert redactor().redact_query(f"mails of DANI@example.com and {PHONE}") == f"mails of {MAIL} and {PHONE}"
    assert redactor().redact_query("ת.ז. 123456782") == f"ת.ז. {ID}"
    assert redactor().redact_query("what about INV-1187 on 16.1.2025?") == "what about INV-1187 on 16.1.2025?"


def test_what_only_looks_like_a_pseudonym_is_disarmed() -> None:
    forged = f"pay {PHONE} and <PHONE_NUMBER> and <PHONE_NUMBER:k1:052123456789>"
    armless = escape_lookalikes(forged)
    assert armless == forged.replace("<PHONE_NUMBER:", "‹PHONE_NUMBER:")
    assert len(armless) == len(forged)
    assert to_entity_type(armless) == armless
    assert "052123456789" not in redactor().redact(escape_lookalikes("<PHONE_NUMBER:k1:0521234567ab>"), "default")[:24]
    assert "0521234567" not in redactor().redact(escape_lookalikes("<PHONE_NUMBER:k1:0521234567ab>"), "default")


@pytest.mark.requirement("S0-81")
def test_off_is_the_library_default_and_leaves_texts_alone() -> None:
    assert Settings().pii_redaction_enabled is False
    policies = {"default": Policy(entities=["PHONE_NUMBER"], action="replace")}
    off = PIIRedactor(policies, KEYS, enabled=False)
    assert off.redact(EVERYTHING, "default") == EVERYTHING
    assert off.redact_many([EVERYTHING], "default") == [EVERYTHING]
    assert off.redact_for_embedding(EVERYTHING, "default") == EVERYTHING
    assert off.redact_query(EVERYTHING) == EVERYTHING


@pytest.mark.parametrize("fault", [ValueError, RecursionError, MemoryError, IndexError])
def test_an_error_stops_the_text_and_tells_nothing_of_it(
    fault: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(text: str) -> list[tuple[int, int, float]]:
        raise fault(f"cannot look at {text}")

    for field, said in (("find", "looked for"), ("normalise", "replaced")):
        broken = replace(entities.ENTITIES["PHONE_NUMBER"], **{field: failing})
        monkeypatch.setattr(entities, "table", lambda file, regions, broken=broken: {"PHONE_NUMBER": broken})
        ours = PIIRedactor({"default": Policy(entities=["PHONE_NUMBER"], action="pseudonymize")}, KEYS)
        for run in (
            lambda text, ours=ours: ours.redact(text, "default"),
            lambda text, ours=ours: ours.redact_many(["hello", text], "default"),
            lambda text, ours=ours: ours.redact_for_embedding(text, "default"),
            lambda text, ours=ours: ours.redact_query(text),
        ):
            with pytest.raises(RedactionError) as failed:
                run(PRIVATE)
            assert str(failed.value) == f"PHONE_NUMBER could not be {said} ({fault.__name__})"
            assert failed.value.__cause__ is None
            assert failed.value.__context__ is None
            assert PRIVATE not in "".join(traceback.format_exception(failed.value))


def test_what_is_found_again_and_again_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = replace(entities.ENTITIES["PHONE_NUMBER"], name="A1", find=lambda text: [Span(0, 1, 1.0)], min_digits=0)
    monkeypatch.setattr(entities, "table", lambda file, regions: {"A1": endless})
    ours = PIIRedactor({"default": Policy(entities=["A1"], action="replace")}, KEYS)
    with pytest.raises(RedactionError, match=r"found again \(A1\)"):
        ours.redact("1", "default")


def test_policies_that_cannot_be_carried_out_are_refused() -> None:
    assert issubclass(PolicyError, SettingsError)
    with pytest.raises(PolicyError) as refused:
        redactor(default=Policy.model_construct(entities=["PHONE_NUMBER"], action="blur"))
    assert str(refused.value) == (
        'pii_policies.default.action is "blur"; known: pseudonymize, hash, replace, redact, mask, encrypt, keep'
    )
    with pytest.raises(PolicyError) as refused:
        redactor(default=Policy(entities=[], action="keep", actions={"FONE": "mask"}))
    assert str(refused.value).startswith(
        'pii_policies.default.actions names "FONE", which is not known; known: API_KEY'
    )


def test_an_entity_may_have_an_action_of_its_own() -> None:
    actions = {"CREDIT_CARD": "mask", "IBAN_CODE": "encrypt", "EMAIL_ADDRESS": "keep", "US_SSN": "redact"}
    ours = redactor(default=Policy(entities=["PHONE_NUMBER", "EMAIL_ADDRESS"], action="replace", actions=actions))
    redacted = ours.redact(f"{EVERYTHING} | ssn 846-15-5715", "default")
    assert redacted.startswith("<PHONE_NUMBER> | dani@example.com | **** **** **** 1111 | <IBAN_CODE:k1:e")
    assert redacted.endswith(" | ת.ז. 123456782 | INV-1187 | ssn ")
    token = redacted.split(" | ")[3]
    sealed = bytes.fromhex(token.removeprefix("<IBAN_CODE:k1:e").removesuffix(">"))
    assert KEYS.unseal(sealed, "IBAN_CODE") == "IL62 0108 0000 0009 9999 999"
    assert replace(KEYS, pseudonyms=b"q" * 32).unseal(sealed, "IBAN_CODE") is None
    assert KEYS.unseal(sealed, "CREDIT_CARD") is None
    assert ours.redact(redacted, "default") == redacted
    assert to_entity_type(token) == "<IBAN_CODE>"


def test_a_channel_without_policy_is_an_error() -> None:
    ours = PIIRedactor({"gmail": Policy(entities=["PHONE_NUMBER"], action="replace")}, KEYS)
    with pytest.raises(RedactionError, match=r'^channel "fax" has no policy, and there is no policy "default"$'):
        ours.redact("052-1234567", "fax")


def test_a_policy_may_look_for_nothing() -> None:
    ours = redactor(default=Policy(entities=[], action="replace"))
    assert ours.redact(EVERYTHING, "default") == EVERYTHING
    assert ours.detect(EVERYTHING, "default") == []


@pytest.mark.parametrize("native_id", ["052-123-4567", "chat:+972521234567", "a:dani@example.com", "4111111111111111"])
def test_an_id_that_shows_something_is_hashed(native_id: str) -> None:
    assert redactor().safe_id(native_id) == f"h{KEYS.id_hash(native_id)}"


@pytest.mark.parametrize(
    "native_id",
    ["notes/2025-01-13.md", "h0521234567abcdef", "20250113T184500:f05212345671e3aa", "h88a31ea6ebff0123", "17"],
)
def test_other_ids_stay(native_id: str) -> None:
    assert redactor().safe_id(native_id) == native_id


ALPHABET = st.sampled_from("0123456789 -.()+@*<>:k1abxל\u200e\n,/PHONE_R")


@given(st.lists(st.text(ALPHABET, max_size=60), max_size=4))
def test_many_are_as_each_alone_and_nothing_is_left(texts: list[str]) -> None:
    ours = redactor()
    redacted = ours.redact_many(texts, "default")
    assert redacted == [ours.redact(text, "default") for text in texts]
    assert all(ours.detect(text, "default") == [] for text in redacted)
