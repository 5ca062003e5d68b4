"""Tiny archives of odd shapes: months, files or records that lack what most of them have."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests import chat_exports, repositories

_HEAD = """\
archive = "odd"
keys_file = "test.keys"
timezone = "Europe/Prague"
pii_redaction_enabled = true
embedder = "{embedder}"
"""
_NOTICE = "Messages and calls are end-to-end encrypted. No one outside of this chat can read or listen to them."
_CREATED = 'Petr Kolar created group "Hiking"'
_MAIL = "From: Petr Kolar <petr@kolar.example>\nTo: Dana <dana@levi.example>\n"


class Shape(NamedTuple):
    """A source whose folder is filled by `make`."""

    kind: str
    make: Callable[[Path], object]


def _chat(*lines: tuple[str, str]) -> Callable[[Path], object]:
    text = "".join(f"{when}, 10:15 - {said}\n" for when, said in lines)
    return lambda folder: (folder / "WhatsApp Chat with Hiking.txt").write_text(text)


def _files(**files: str | bytes) -> Callable[[Path], object]:
    """Files by name, in which `_dot_` stands for a dot."""

    def make(folder: Path) -> None:
        for name, content in files.items():
            path = folder / name.replace("_dot_", ".")
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    return make


def _scan(number: int, content: str) -> str:
    """The manifest of an export of Paperless with one document, whose file is missing."""
    fields = {"title": "", "content": content, "created": "2024-02-05", "tags": [7], "correspondent": 9}
    scan = {"model": "documents.document", "pk": number, "fields": fields, "__exported_file_name__": "../scan.pdf"}
    return json.dumps([scan])


def _event(*lines: str) -> str:
    """A calendar with one event."""
    body = "\r\n".join(("BEGIN:VCALENDAR", "BEGIN:VEVENT", "UID:e1", *lines, "END:VEVENT", "END:VCALENDAR"))
    return f"{body}\r\n"


def _tasks(*tasks: dict[str, object]) -> str:
    """Google's export of tasks, with one list."""
    task_list = {"kind": "tasks#tasks", "id": "l1", "title": "Cabin", "items": list(tasks)}
    return json.dumps({"kind": "tasks#taskLists", "items": [task_list]})


def _notes(*notes: dict[str, object]) -> Callable[[Path], object]:
    lines = "".join(json.dumps(note) + "\n" for note in notes)
    return lambda folder: (folder / "notes.jsonl").write_text(lines)


def _mails(*mails: str) -> Callable[[Path], object]:
    def make(folder: Path) -> None:
        for number, mail in enumerate(mails):
            (folder / f"{number}.eml").write_text(f"Message-ID: <m{number}@kolar.example>\n{mail}")

    return make


def _mail(date: str, text: str = "", subject: str = "") -> str:
    return f"{_MAIL}Date: {date}\nSubject: {subject}\n\n{text}"


def _mail_with_file(date: str, file: str) -> str:
    head = f'{_MAIL}Date: {date}\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n'
    part = f'--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename="a.txt"\n\n{file}\n--b--\n'
    return head + part


def _repository(*commits: tuple[str, dict[str, str]]) -> Callable[[Path], object]:
    def make(folder: Path) -> None:
        place = repositories.make(folder / "site")
        for number, (message, files) in enumerate(commits):
            repositories.commit(place, message or "-", files, when=f"{1_736_520_480 + number * 3_000_000} +0100")

    return make


_JANUARY, _FEBRUARY, _MARCH = "13/01/2024", "14/02/2024", "15/03/2024"
_SAID = "Dana Levi: Who has the key of the cabin?"
_IN_JANUARY, _IN_FEBRUARY = "Sat, 13 Jan 2024 10:15:00 +0000", "Wed, 14 Feb 2024 10:15:00 +0000"
_NOTE = {"text": "The plumber quoted 7,980 for the boiler.", "from": "Ota"}


_TEXTS = {"of_signs": ("👍", "..."), "of_empty_messages": ("", ""), "of_one_month": ("The key is here.",)}


def _export(kind: str, texts: tuple[str, ...]) -> Callable[[Path], None]:
    """An export of a chat program, with messages a month apart."""

    def make(folder: Path) -> None:
        said = [
            chat_exports.Said(number, 1_705_000_000 + number * 2_600_000, "Dana Levi", text)
            for number, text in enumerate(texts, 1)
        ]
        for path, content in chat_exports.WRITERS[kind](said, "Hiking").items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)

    return make


SHAPES: dict[str, Shape] = {
    "chat_first_month_of_notices": Shape("whatsapp", _chat((_JANUARY, _NOTICE), (_MARCH, _SAID))),
    "chat_month_of_notices_between": Shape(
        "whatsapp", _chat((_JANUARY, _SAID), (_FEBRUARY, _CREATED), (_MARCH, _SAID))
    ),
    "chat_last_month_of_notices": Shape("whatsapp", _chat((_JANUARY, _SAID), (_MARCH, "Dana Levi left"))),
    "chat_of_notices_alone": Shape("whatsapp", _chat((_JANUARY, _NOTICE), (_FEBRUARY, _CREATED))),
    "chat_of_media_left_out": Shape("whatsapp", _chat((_JANUARY, "Dana Levi: <Media omitted>"))),
    "chat_of_empty_messages": Shape("whatsapp", _chat((_JANUARY, "Dana Levi: "), (_FEBRUARY, "Dana Levi: \u200e"))),
    "chat_of_signs": Shape("whatsapp", _chat((_JANUARY, "Dana Levi: 👍"), (_FEBRUARY, "Dana Levi: ..."))),
    "chat_without_a_line": Shape("whatsapp", _chat()),
    "mail_empty_alone": Shape("gmail", _mails(_mail(_IN_JANUARY))),
    "mail_empty_first": Shape("gmail", _mails(_mail(_IN_JANUARY), _mail(_IN_FEBRUARY, "The key is at the cabin."))),
    "mail_empty_last": Shape("gmail", _mails(_mail(_IN_JANUARY, "The key is at the cabin."), _mail(_IN_FEBRUARY))),
    "mail_of_a_file_alone": Shape("gmail", _mails(_mail_with_file(_IN_JANUARY, "The orangery may not be heated."))),
    "mail_of_an_empty_file": Shape("gmail", _mails(_mail_with_file(_IN_JANUARY, ""))),
    "mail_of_nobody": Shape("gmail", _mails("Subject: key\n\nThe key is at the cabin.\n")),
    "mail_of_quotes_alone": Shape("gmail", _mails(_mail(_IN_JANUARY, "> The key\n> is at the cabin.\n"))),
    "mail_of_a_signature_alone": Shape("gmail", _mails(_mail(_IN_JANUARY, "-- \nPetr Kolar\n+420 601 234 567\n"))),
    "mailbox_without_a_mail": Shape("gmail", _files(all_dot_mbox="")),
    "document_empty": Shape("document", _files(lease_dot_md="")),
    "document_of_blanks": Shape("document", _files(lease_dot_md="\n \n\t\n")),
    "document_of_a_heading": Shape("document", _files(lease_dot_md="# Lease\n")),
    "document_of_a_csv_head": Shape("document", _files(list_dot_csv="name,price\n")),
    "document_that_is_no_pdf": Shape("document", _files(scan_dot_pdf=b"%PDF-1.4\nnothing")),
    "document_empty_beside_another": Shape("document", _files(a_dot_md="", b_dot_md="# Lease\n\nNo heating.\n")),
    "paperless_without_a_document": Shape("paperless", _files(manifest_dot_json="[]")),
    "paperless_without_text": Shape("paperless", _files(manifest_dot_json=_scan(1, ""))),
    "paperless_without_its_file": Shape("paperless", _files(manifest_dot_json=_scan(2, "The key is at the cabin."))),
    "folder_without_a_file": Shape("document", _files()),
    "contact_of_a_name": Shape("contacts", _files(a_dot_vcf="BEGIN:VCARD\nVERSION:3.0\nFN:Dana Levi\nEND:VCARD\n")),
    "contact_of_a_number": Shape(
        "contacts", _files(a_dot_vcf="BEGIN:VCARD\nVERSION:3.0\nTEL:+420601234567\nEND:VCARD")
    ),
    "contact_of_nothing": Shape("contacts", _files(a_dot_vcf="BEGIN:VCARD\nVERSION:3.0\nEND:VCARD\n")),
    "contacts_without_a_card": Shape("contacts", _files(a_dot_vcf="")),
    "notes_without_a_line": Shape("jsonl", _notes()),
    "notes_without_text": Shape("jsonl", _notes({"id": "a", "text": "", "timestamp": "2024-01-05T08:00:00Z"})),
    "notes_without_a_time": Shape("jsonl", _notes({"id": "a", **_NOTE})),
    "notes_of_the_future": Shape("jsonl", _notes({"id": "a", **_NOTE, "timestamp": "2099-01-05T08:00:00Z"})),
    "notes_before_the_first_month": Shape("jsonl", _notes({"id": "a", **_NOTE, "timestamp": "1975-01-05T08:00:00Z"})),
    "notes_of_nobody": Shape("jsonl", _notes({"id": "a", "text": "No heating.", "timestamp": "2024-01-05T08:00:00Z"})),
    "notes_of_signs": Shape("jsonl", _notes({"id": "a", "text": "?!", "timestamp": "2024-01-05T08:00:00Z"})),
    "notes_empty_between": Shape(
        "jsonl",
        _notes(
            *(
                {"id": f"n{month}", "text": text, "timestamp": f"2024-0{month}-05T08:00:00Z", "from": "Ota"}
                for month, text in ((1, "The boiler is broken."), (2, ""), (3, "The plumber comes on Friday."))
            )
        ),
    ),
    "meeting_without_a_caption": Shape("meeting", _files(standup_dot_vtt="WEBVTT\n")),
    "meeting_of_empty_minutes": Shape("meeting", _files(standup_dot_md="")),
    "call_without_a_word": Shape("call_recording", _files(call_dot_m4a=b"\0" * 64, call_dot_vtt="WEBVTT\n\n")),
    "call_without_a_transcript": Shape("call_recording", _files(call_dot_m4a=b"\0" * 64)),
    "git_without_a_commit": Shape("git", _repository()),
    "git_of_an_empty_commit": Shape("git", _repository(("-", {}))),
    "calendar_of_nothing": Shape("calendar", _files(home_dot_ics="BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n")),
    "calendar_of_an_event_without_a_time": Shape("calendar", _files(home_dot_ics=_event("SUMMARY:Key"))),
    "calendar_of_an_event_without_a_title": Shape("calendar", _files(home_dot_ics=_event("DTSTART:20240105T080000Z"))),
    "tasks_without_a_task": Shape("tasks", _files(Tasks_dot_json='{"kind": "tasks#taskLists", "items": []}')),
    "tasks_of_an_empty_task": Shape("tasks", _files(Tasks_dot_json=_tasks({"id": "t1"}))),
    "tasks_of_a_title": Shape("tasks", _files(Tasks_dot_json=_tasks({"id": "t1", "title": "Fetch the key"}))),
    "note_empty": Shape("notes", _files(key_dot_md="")),
    "note_of_its_head_alone": Shape("notes", _files(key_dot_md="---\ntags: [cabin]\n---\n")),
    "note_that_links_to_nothing": Shape("notes", _files(key_dot_md="See [[Cabin]].\n")),
    "bank_without_a_payment": Shape("bank", _files(account_dot_qif="!Type:Bank\n")),
    "bank_of_an_amount_alone": Shape("bank", _files(account_dot_qif="!Type:Bank\nD05/01/2024\nT-5.00\n^\n")),
    "bank_without_a_day": Shape("bank", _files(account_dot_qif="!Type:Bank\nT-5.00\nPOta\n^\n")),
    "photo_that_is_cut": Shape("photos", _files(cabin_dot_jpg=b"\xff\xd8\xff\xe1\0\x10Exif\0\0")),
    "photo_of_nothing": Shape("photos", _files(cabin_dot_jpg=b"\xff\xd8\xff\xd9")),
    "code_of_an_empty_file": Shape("code", _repository(("Begin", {"a.py": ""}))),
    "code_without_code": Shape("code", _repository(("Begin", {"LICENSE": "No heating.\n"}))),
    **{
        f"{kind}_{name}": Shape(kind, _export(kind, texts))
        for kind in chat_exports.WRITERS
        for name, texts in (
            ("of_signs", ("👍", "...")),
            ("of_empty_messages", ("", "")),
            ("of_one_month", ("The key is here.",)),
        )
    },
}
"""by name; every kind but `legacy`, whose collections come from another program"""


def make(folder: Path, *names: str, embedder: str = "e5") -> Path:
    """An archive with a source for each of these shapes; its relrag.toml."""
    text = _HEAD.format(embedder=embedder)
    for name in names:
        (folder / name).mkdir()
        SHAPES[name].make(folder / name)
        text += f'[[sources]]\nname = "{name}"\nkind = "{SHAPES[name].kind}"\npath = "{name}"\n'
    config = folder / "relrag.toml"
    config.write_text(text)
    return config
