"""What a record's hash depends on."""

from dataclasses import replace

from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Record
from relrag_pipelines.stores.content_hash import content_hash

KEYS = Keys(b"i" * 32, b"p" * 32, "k1")
MAIL = "gmail:a@example.org~0123456789abcdef"


def test_a_record_has_the_same_hash_elsewhere_and_keeps_its_places() -> None:
    record = Record("1", "The boiler is cold.", asset_id="notes:1", locations=["notes.jsonl#1"])
    elsewhere = replace(record, locations=["old.jsonl#9", "old.jsonl#10"])
    assert content_hash(record, KEYS) == content_hash(elsewhere, KEYS)
    assert record.locations == ["notes.jsonl#1"]
    assert content_hash(record, KEYS) != content_hash(replace(record, text="The boiler is hot."), KEYS)


def test_the_hash_of_its_text_in_the_id_of_a_mail_does_not_count() -> None:
    names = ("asset_id", "source_id", "parent_ref", "parent_asset_id")
    mail = Record("", "See below.", locations=["a.mbox"])
    for name in names:
        longer, plain = replace(mail, **{name: MAIL}), replace(mail, **{name: "gmail:a@example.org"})
        assert content_hash(longer, KEYS) == content_hash(plain, KEYS) != content_hash(mail, KEYS)
        assert getattr(longer, name) == MAIL
        assert longer.locations == ["a.mbox"]


def test_the_hash_of_a_record_that_is_stored_stays_what_it_was() -> None:
    record = Record("1", "The boiler is cold.", asset_id="notes:1", locations=["notes.jsonl#1"], extra={"b": 1, "a": 2})
    assert content_hash(record, KEYS) == ("59b0103111a20df1c6e2dd4477895eb1", 528)
