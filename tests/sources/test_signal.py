"""A message that two programs export from Signal is one record."""

import json
from pathlib import Path

import pytest

from relrag_pipelines.records import Record
from tests.sources.connector import read

OWNER, EVA = "+972521234567", "+420602345678"


def export_line(when: str, sender: str, body: str) -> str:
    fields = {"date": when, "sender": sender, "body": f"{body}  ", "quote": "", "sticker": "", "reactions": []}
    return json.dumps(fields | {"attachments": []}) + "\n"


def envelope(stamp: int, content: dict[str, object], source: str = EVA) -> str:
    own = {"source": source, "sourceNumber": source, "sourceName": "Eva Malá", "timestamp": stamp}
    return json.dumps({"envelope": own | content, "account": OWNER}) + "\n"


def received(stamp: int, text: str, **fields: object) -> str:
    return envelope(stamp, {"dataMessage": {"timestamp": stamp, "message": text} | fields})


def sent(stamp: int, text: str, **fields: object) -> str:
    message = {"destination": EVA, "timestamp": stamp, "message": text} | fields
    return envelope(stamp, {"syncMessage": {"sentMessage": message}}, OWNER)


def backup(*rows: tuple[int, int, str]) -> str:
    lines = [
        f'<sms address="{EVA}" contact_name="Eva Malá" date="{stamp}" type="{kind}" body="{body}" />'
        for stamp, kind, body in rows
    ]
    head = "<?xml version='1.0'?>\n<!-- File Created By Signal -->\n"
    return "\n".join([f'{head}<smses count="{len(rows)}">', *lines, "</smses>"])


def records(tmp_path: Path, name: str, text: str) -> list[Record]:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    found, failures = read("signal", file)
    assert failures == []
    return found


# 4 March 2024, 13:00:00 and 13:01:00 in Prague
FIRST, SECOND = 1_709_553_600_000, 1_709_553_660_000


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "Eva/data.json",
            export_line("2024-03-04T13:00:00", "Eva", "Káva v pět?")
            + export_line("2024-03-04T13:01:00", "Me", "Jo, v 5"),
        ),
        ("a.json", received(FIRST + 217, "Káva v pět?") + sent(SECOND + 3, "Jo,  v 5")),
        ("a.xml", backup((FIRST + 217, 1, "Káva v pět?"), (SECOND + 3, 2, "Jo, v 5"))),
    ],
)  # fmt: skip
def test_a_message_has_the_same_id_from_every_program(tmp_path: Path, name: str, text: str) -> None:
    reference = records(tmp_path, "reference.json", received(FIRST, "Káva v pět?") + sent(SECOND, "Jo, v 5"))
    assert [record.source_id for record in records(tmp_path, name, text)] == [record.source_id for record in reference]


def test_messages_differ_by_second_direction_and_text(tmp_path: Path) -> None:
    lines = [received(FIRST, "ok"), sent(FIRST, "ok"), received(SECOND, "ok"), received(FIRST + 1, "no")]
    assert len({record.source_id for record in records(tmp_path, "a.json", "".join(lines))}) == 4


def test_an_edited_message_keeps_its_id_and_answers_find_it(tmp_path: Path) -> None:
    edit = {"editMessage": {"targetSentTimestamp": FIRST, "dataMessage": {"timestamp": SECOND, "message": "Čaj?"}}}
    quote = {"id": FIRST, "author": EVA, "text": "Čaj?"}
    text = received(FIRST, "Káva?") + envelope(SECOND, edit) + sent(SECOND + 5_000, "Jo", quote=quote)
    first, edited, answer = records(tmp_path, "a.json", text)
    assert first.source_id == edited.source_id
    assert (edited.text, edited.extra["edited"], edited.extra["changed"]) == ("Čaj?", True, "2024-03-04T12:01:00Z")
    assert answer.parent_asset_id == f"signal:{first.source_id}"


def test_an_answer_to_what_another_export_holds(tmp_path: Path) -> None:
    (question,) = records(tmp_path, "Eva/data.json", export_line("2024-03-04T13:00:00", "Eva", "Káva?"))
    quote = {"id": FIRST + 7, "author": EVA, "text": "Káva?"}
    (answer,) = records(tmp_path, "a.json", sent(SECOND, "Jo", quote=quote))
    assert answer.parent_asset_id == f"signal:{question.source_id}"
