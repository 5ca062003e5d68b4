"""JSON Lines: fields, times, parents, every fault, and lines of any shape."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relrag_pipelines.records import Failure, NamedPerson, Page, Record
from relrag_pipelines.sources import KINDS, ReadContext, Unit, jsonl
from relrag_pipelines.sources.formats import json_fields
from relrag_pipelines.stores.table_schema import to_table
from tests.cases import cases

READING = ReadContext("notes", "Europe/Prague", lambda text: text)
Read = Callable[[bytes], list[Record | Failure]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """What the connector yields for a file of these bytes."""

    def items(data: bytes) -> list[Record | Failure]:
        file = tmp_path / "notes.jsonl"
        file.write_bytes(data)
        return list(KINDS["jsonl"].read(Unit("in/notes.jsonl", file, len(data), 0), READING))

    return items


def one(read: Read, **fields: Any) -> Record:
    (record,) = read(json.dumps({"id": "n1", **fields}).encode())
    assert isinstance(record, Record)
    return record


def test_all_fields(read: Read) -> None:
    line = {
        "id": "n1",
        "text": "The plumber quoted 7,980.",
        "timestamp": "2024-02-15T09:00:00.75+01:00",
        "from": "Ota",
        "to": "Dana",
        "participants": ["Ota", "Dana"],
        "subject": "Boiler",
        "thread_id": "t1",
        "parent_asset_id": "n0",
        "parent_ref": "m0",
        "index_in_parent": 0,
        "total_siblings": 2,
        "content_type": "text/plain",
        "file_name": "boiler.txt",
        "source_uri": "https://example.org/n1",
        "language": "en",
        "client_id": "c",
        "project_id": "p",
        "rag_source_type": "EMAIL_ATTACHMENT",
        "pages": [{"number": 3, "start": 0, "end": 25}],
        "numbers": ["2025/0042"],
        "people": [{"role": "sender", "name": "Ota", "person_id": 7}, {"role": "mentioned", "name": "Dana"}],
        "extra": {"seconds": 97},
        "mood": "calm",
    }
    assert one(read, **line) == Record(
        "n1",
        text="The plumber quoted 7,980.",
        asset_id="jsonl:notes:n1",
        rag_source_type="email_attachment",
        client_id="c",
        project_id="p",
        from_="Ota",
        to=["Dana"],
        participants=["Ota", "Dana"],
        subject="Boiler",
        ts=1707984000,
        date_quality="exact",
        thread_id="t1",
        parent_asset_id="jsonl:notes:n0",
        parent_ref="m0",
        index_in_parent=0,
        total_siblings=2,
        content_type="text/plain",
        file_name="boiler.txt",
        source_uri="https://example.org/n1",
        locations=["in/notes.jsonl#n1"],
        language="en",
        pages=[Page(3, 0, 25)],
        numbers=["2025/0042"],
        people=[NamedPerson("sender", "Ota", 7), NamedPerson("mentioned", "Dana")],
        extra={"mood": "calm", "seconds": 97},
    )


def test_the_least_a_line_may_hold(read: Read) -> None:
    expected = Record("5", asset_id="jsonl:notes:5", locations=["in/notes.jsonl#5"], date_quality="none")
    assert read(b'{"id": 5}\n{"id": "6", "text": null, "title": null}\n')[0] == expected


def test_numbers_are_those_given_else_those_of_the_text(read: Read) -> None:
    text = "invoice INV-1187, order 204881736"
    assert one(read, text=text).numbers == ["INV-1187", "204881736"]
    assert one(read, text=text, numbers=["7"]).numbers == ["7"]
    assert one(read, text=text, numbers=[]).numbers == []


@pytest.mark.parametrize("name", ["musique_100", "2wiki_101"])
def test_retrieval_sets_load_unchanged(shared_data: Path, name: str) -> None:
    file = shared_data / "retrieval" / name / "corpus.jsonl"
    with file.open(encoding="utf-8") as lines:
        expected = [(line["id"], line["title"], line["text"]) for line in map(json.loads, lines)]
    found = list(jsonl.read(Unit("corpus.jsonl", file, 0, 0), READING))
    assert [(item.source_id, item.subject, item.text) for item in found if isinstance(item, Record)] == expected
    assert len(found) == len(expected) in (1890, 6119)


@pytest.mark.parametrize(*cases(__file__, "times"))
def test_times(read: Read, fields: dict[str, Any], ts: int | None, quality: str) -> None:
    record = one(read, **fields)
    assert (record.ts, record.date_quality) == (ts, quality)


@pytest.mark.parametrize(*cases(__file__, "parents"))
def test_parents(read: Read, given_parent: str, parent: str) -> None:
    assert one(read, parent_asset_id=given_parent).parent_asset_id == parent


@pytest.mark.requirement("S0-42")
def test_the_older_name_of_the_parent_is_read(read: Read) -> None:
    assert one(read, parent_source_id="m1").parent_asset_id == "jsonl:notes:m1"
    assert one(read, parent_source_id="m1", parent_asset_id="gmail:m2").parent_asset_id == "gmail:m2"


def test_title_and_subject(read: Read) -> None:
    assert one(read, title="T").subject == "T"
    assert (one(read, title="T", subject="S").subject, one(read, title="T", subject="S").extra) == ("S", {"title": "T"})
    assert one(read, title="T", subject="T").extra == {}


def test_keys_that_are_not_known_are_kept(read: Read) -> None:
    record = one(read, asset_id="mine", kind="x", mood=None, extra={"kind": "y"})
    assert record.extra == {"asset_id": "mine", "kind": "y", "mood": None}
    assert record.asset_id == "jsonl:notes:n1"


@pytest.mark.parametrize(
    ("line", "fault", "told"),
    [
        (b'{"id": "a", "text": ', "not_json", "not JSON"),
        (b'{"id": "a", "n": NaN}', "not_json", "not JSON"),
        (b'{"id": "a", "n": 1e999}', "not_json", "not JSON"),
        (b'["a", "b"]', "not_object", "found a list"),
        (b'"a"', "not_object", "found a string"),
        (b"null", "not_object", "found null"),
        (b'{"text": "no id"}', "missing_id", "no id"),
        (b'{"id": null}', "missing_id", "no id"),
        (b'{"id": ""}', "missing_id", "no id"),
        (b'{"id": 1.5}', "wrong_type", "id: found a number, wanted a string"),
        (b'{"id": true}', "wrong_type", "id: found true or false, wanted a string"),
        (b'{"id": "first"}', "duplicate_id", "an earlier line has the same id"),
        (b'{"id": "a", "text": "\xff"}', "charset", "byte 22 of the line is not UTF-8"),
        (b'{"id": "a", "x": ' + b"[" * 300 + b"]" * 300 + b"}", "too_deep", "250 levels"),
        (b"[" * 100_000, "not_json", "not JSON"),
        (b"[" * 100_000 + b'"\\u0041"', "not_json", "not JSON"),
    ],
)
def test_lines_that_are_no_record(read: Read, line: bytes, fault: str, told: str) -> None:
    first, failure, last = read(b'{"id": "first"}\n\n' + line + b'\n{"id": "last"}')
    assert isinstance(first, Record)
    assert isinstance(last, Record)
    assert isinstance(failure, Failure)
    assert (failure.location, failure.fault, failure.whole_unit) == ("line 3", fault, False)
    assert told in failure.message


@pytest.mark.parametrize(
    ("field", "value", "fault", "told"),
    [
        ("text", 5, "wrong_type", "text: found a whole number, wanted a string"),
        ("to", {"a": 1}, "wrong_type", "to: found an object, wanted a list of strings"),
        ("to", ["a", 1], "wrong_type", "to: found a whole number in the list, wanted strings"),
        ("index_in_parent", "1", "wrong_type", "index_in_parent: found a string, wanted a whole number"),
        ("index_in_parent", True, "wrong_type", "found true or false"),
        ("index_in_parent", 2**63, "wrong_type", "found a number beyond the range"),
        ("total_siblings", -1, "wrong_type", "found a number beyond the range"),
        ("ts", 2**64 - 1, "wrong_type", "found a number beyond the range"),
        ("ts", 10**30, "wrong_type", "ts: found a number, wanted whole seconds"),
        ("title", ["x"], "wrong_type", "title: found a list, wanted a string"),
        ("timestamp", 1707984000, "wrong_type", "timestamp: found a whole number, wanted a string"),
        ("timestamp", "15/02/2024", "bad_timestamp", "timestamp: not an ISO 8601 date"),
        ("timestamp", "2024-02-30", "bad_timestamp", "timestamp: not an ISO 8601 date"),
        ("timestamp", "", "bad_timestamp", "timestamp: not an ISO 8601 date"),
        ("pages", {"number": 1}, "wrong_type", "pages: found an object, wanted a list of pages"),
        ("pages", [1], "wrong_type", "pages: found a whole number in the list"),
        ("pages", [{"number": 1, "start": 0}], "wrong_type", "pages: found null, wanted a whole number"),
        ("pages", [{"number": 1, "start": 0, "end": 5}], "wrong_type", "pages: found offsets outside the text"),
        ("people", [{"role": "sender"}], "wrong_type", "people: found null, wanted a string"),
        ("people", [{"role": "king", "name": "x"}], "wrong_type", "wanted one of sender, recipient"),
        ("people", [{"role": ["x"], "name": "x"}], "wrong_type", "wanted one of sender, recipient"),
        ("people", [{"role": "owner", "name": "x", "person_id": "7"}], "wrong_type", "people: found a string"),
        ("extra", [1], "wrong_type", "extra: found a list, wanted an object"),
    ],
)
def test_a_field_that_does_not_fit_goes_to_extra(read: Read, field: str, value: Any, fault: str, told: str) -> None:
    failure, record = read(orjson_or_json({"id": "n1", field: value}))
    assert isinstance(failure, Failure)
    assert isinstance(record, Record)
    assert (failure.location, failure.fault) == ("line 1", fault)
    assert told in failure.message
    assert record.extra == {field: float(value) if value == 10**30 else value}
    assert record.date_quality == "none"
    to_table([record], Record)


def orjson_or_json(item: Any) -> bytes:
    return json.dumps(item).encode()


def test_values_never_stand_in_messages(read: Read) -> None:
    secret = "4111111111111111"
    lines = [{"id": secret, field: [{"role": secret, "name": secret}, secret]} for field in json_fields.READERS]
    data = "\n".join(json.dumps(line) for line in lines) + f'\n"{secret}"\n{secret}x'
    failures = [item for item in read(data.encode()) if isinstance(item, Failure)]
    assert len(failures) == 27
    assert all(secret not in failure.message for failure in failures)


def test_marks_line_ends_and_blank_lines(read: Read) -> None:
    found = read(b'\xef\xbb\xbf{"id": "a", "text": "x\\r\\ny"}\r\n\r\n   \n{"id": "b"}')
    assert [(item.source_id, item.text) for item in found if isinstance(item, Record)] == [("a", "x\r\ny"), ("b", "")]
    assert len(found) == 2
    assert read(b"") == read(b"\n\n") == []


def test_another_charset_is_one_failure(read: Read) -> None:
    (failure,) = read('{"id": "a"}\n{"id": "b"}\n'.encode("utf-16"))
    assert isinstance(failure, Failure)
    assert (failure.fault, failure.whole_unit) == ("charset", True)


def test_halves_of_surrogate_pairs_are_replaced(read: Read) -> None:
    data = rb'{"id": "a\udc00", "text": "cut \ud83d off, \ud83d\ude00 whole, \\ud800 no escape", "k\ud800": ["\ud800"]}'
    (record,) = read(data)
    assert isinstance(record, Record)
    assert record.source_id == "a\ufffd"
    assert record.text == "cut \ufffd off, 😀 whole, \\ud800 no escape"
    assert record.extra == {"k\ufffd": ["\ufffd"]}


def test_a_line_that_is_too_long_is_skipped_unread(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE", 100)
    longest = b'{"id":"b","text":"' + b"x" * 80 + b'"}'
    assert len(longest) == 100
    for size in (82, 1000, 202, 203):  # also where the line ends with a piece that is read
        long = b'{"id":"c","text":"' + b"x" * size + b'"}'
        found = read(b'{"id":"a"}\n' + longest + b"\n" + long + b'\n{"id":"d"}\n' + long)
        assert [item.source_id if isinstance(item, Record) else (item.location, item.fault) for item in found] == [
            "a",
            "b",
            ("line 3", "too_long"),
            "d",
            ("line 5", "too_long"),
        ]


@pytest.mark.parametrize(*cases(__file__, "recognise"))
def test_recognise(tmp_path: Path, name: str, data: bytes, is_one: bool) -> None:
    (tmp_path / name).write_bytes(data)
    assert jsonl.recognise(tmp_path / name) is is_one


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.datetimes().map(str),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from([*json_fields.READERS, "other", "id"])
TIMES = st.datetimes(timezones=st.none() | st.timezones()).map(lambda moment: moment.isoformat())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(FIELDS, ANY), st.none() | TIMES)
def test_any_object_is_a_record_or_a_failure(read: Read, item: dict[str, Any], time: str | None) -> None:
    found = read(json.dumps({**item, "timestamp": time} if time else item, ensure_ascii=True).encode())
    assert found
    records = [part for part in found if isinstance(part, Record)]
    to_table(records, Record)
    orjson.dumps(records)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60))
def test_any_bytes_are_read_to_their_end(read: Read, data: bytes) -> None:
    last = read(data + b'\n{"id": "the last line"}')[-1]
    assert isinstance(last, Record) or last.whole_unit


TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(TEXT.filter(bool), TEXT), unique_by=lambda pair: pair[0]), st.booleans())
def test_texts_come_back_as_they_were(read: Read, pairs: list[tuple[str, str]], escaped: bool) -> None:
    lines = [json.dumps({"id": name, "text": text}, ensure_ascii=escaped) for name, text in pairs]
    found = read("\n".join(lines).encode())
    assert [(item.source_id, item.text) for item in found if isinstance(item, Record)] == pairs
