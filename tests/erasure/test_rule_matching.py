"""Rules: who and what they name, and that they keep no text."""

from pathlib import Path

import pyarrow as pa
import pytest

from relrag_pipelines.erasure import record_fingerprints, rule_file, rule_matching
from relrag_pipelines.erasure.rule_file import ErasureRule, ErasureRules, ForgettingError
from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.privacy.keys import Keys, KeysError
from relrag_pipelines.records import NamedPerson, PrivateRecord
from relrag_pipelines.stores.table_schema import to_table
from tests.cases import cases


def table(*records: PrivateRecord) -> pa.Table:
    return to_table(list(records), PrivateRecord)


def matcher(keys: Keys, *made: ErasureRule) -> RuleMatcher:
    return RuleMatcher(made, keys)


@pytest.mark.parametrize(*cases(__file__, "a_person_is_found_however_it_is_written"))
def test_a_person_is_found_however_it_is_written(keys: Keys, who: str, text: str, named: bool) -> None:
    assert matcher(keys, rule_matching.for_person(who, keys, "now")).names(text) is named


@pytest.mark.parametrize(
    "field",
    [
        {"text": "said Dana Levi"},
        {"from_": "Dana Levi"},
        {"to": ["Ota", "Dana Levi"]},
        {"participants": ["Dana Levi"]},
        {"subject": "Re: Dana Levi"},
        {"file_name": "Dana Levi.pdf"},
        {"locations": ["chats/Dana Levi.txt#L1"]},
        {"unit": "chats/Dana Levi.txt"},
        {"people": [NamedPerson("mentioned", "Dana Levi")]},
        {"extra": {"by": {"Dana Levi": 1}}},
        {"extra": {"lines": ["a\nDana Levi"]}},  # in JSON an n stands before the name
        {"extra": {"of": ["Dana Levi"]}},
    ],
)
def test_a_person_is_found_in_every_field(keys: Keys, field: dict[str, object]) -> None:
    found = matcher(keys, rule_matching.for_person("Dana Levi", keys, "now")).rows(
        table(PrivateRecord("1", asset_id="a"), PrivateRecord("2", asset_id="b", **field)),  # type: ignore[arg-type]
        set(),
    )
    assert found.tolist() == [False, True]


def test_a_number_is_found_however_json_writes_it(keys: Keys) -> None:
    """Tables with gaps write whole numbers with `.0`."""
    extras = ({"phone": 777123456.0}, {"phone": 777123456}, {"phone": 777123457.0}, {"phone": 1e300})
    rows = table(*(PrivateRecord(str(at), asset_id=str(at), extra=extra) for at, extra in enumerate(extras)))
    found = matcher(keys, rule_matching.for_person("+420 777 123 456", keys, "now")).rows(rows, set())
    assert found.tolist() == [True, True, False, False]


def test_parts_go_with_what_contains_them_and_answers_do_not(keys: Keys) -> None:
    mail = PrivateRecord("m", asset_id="m")
    attachment = PrivateRecord("n", asset_id="n", parent_asset_id="m", index_in_parent=0)
    inner = PrivateRecord("o", asset_id="o", parent_asset_id="n", index_in_parent=0)
    answer = PrivateRecord("p", asset_id="p", parent_asset_id="m")
    gone: set[str] = set()
    found = matcher(keys, rule_matching.for_records(["m"], keys, "now")).rows(
        table(mail, attachment, inner, answer), gone
    )
    assert found.tolist() == [True, True, True, False]
    assert gone == {"m", "n", "o"}


def test_before_leaves_the_undated_and_the_second_itself(keys: Keys) -> None:
    records = [PrivateRecord(str(ts), asset_id=str(ts), ts=ts) for ts in (99, 100, None)]
    assert matcher(keys, ErasureRule(0, "before", "now", before=100)).rows(table(*records), set()).tolist() == [
        True,
        False,
        False,
    ]


def test_a_document_is_known_by_its_bytes_too(keys: Keys) -> None:
    extra = {"bytes_hash": "00ff"}
    hashed = record_fingerprints.file_fingerprint('{"bytes_hash":"00ff"}', keys)
    assert hashed
    copy = table(PrivateRecord("1", asset_id="elsewhere", extra=extra))
    assert matcher(keys, ErasureRule(0, "records", "now", ids=[hashed])).rows(copy, set()).tolist() == [True]


def test_no_rule_names_nothing(keys: Keys) -> None:
    empty = matcher(keys)
    assert not empty
    assert not empty.names("Dana")
    assert empty.rows(table(PrivateRecord("1", asset_id="a", ts=0)), set()).tolist() == [False]


@pytest.mark.parametrize("who", ["", " ", "...", "12"])
def test_nobody_is_refused(keys: Keys, who: str) -> None:
    with pytest.raises(ForgettingError, match="is not a name, address or phone number"):
        rule_matching.for_person(who, keys, "now")


def test_what_is_stored_holds_no_text_and_comes_back_as_it_was(keys: Keys, tmp_path: Path) -> None:
    made = rule_file.add_rule(ErasureRules(), rule_matching.for_person("Dana Levi <dana@example.org>", keys, "now"))
    made = rule_file.add_rule(made, rule_matching.for_records(["gmail:x@example.org"], keys, "now"))
    rule_file.save(tmp_path, made, keys)
    stored = (tmp_path / rule_file.PATH).read_text().lower()
    assert not [word for word in ("dana", "levi", "example", "gmail") if word in stored]
    assert rule_file.load(tmp_path, keys) == made
    assert [rule.number for rule in made.rules] == [1, 2]
    assert made.unfinished
    assert (tmp_path / rule_file.PATH).parent.stat().st_mode & 0o777 == 0o700


def test_a_number_is_never_given_twice(keys: Keys) -> None:
    one = rule_file.add_rule(ErasureRules(), ErasureRule(0, "source", "now", source="a"))
    assert (
        rule_file.add_rule(ErasureRules([], one.last), ErasureRule(0, "source", "now", source="b")).rules[0].number == 2
    )


def test_other_keys_are_refused(keys: Keys, tmp_path: Path) -> None:
    rule_file.save(tmp_path, rule_file.add_rule(ErasureRules(), rule_matching.for_records(["a"], keys, "now")), keys)
    with pytest.raises(KeysError, match="written with other keys"):
        rule_file.load(tmp_path, Keys(b"j" * 32, b"p" * 32, "k1"))
