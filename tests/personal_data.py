"""An archive of personal data of all sorts, in every kind of source and every field, and what must hold none of it.

Each value stands in a sentence or a field in which it is recognised. `run` syncs them with people and GraphRAG, asks
and states by every command with values among the words, gives the index another key, and searches each byte outside
private/ for every value, as written and as its digits alone.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

from bench.pii_sentences import VALUES
from relrag_pipelines.erasure import byte_search
from relrag_pipelines.publishing import leak_scan
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import generations, lake
from relrag_pipelines.workspace import Workspace
from relrag_query import cli
from tests import archive, chat_exports, repositories

CONFIG = """
archive = "test"
keys_file = "test.keys"
embedder = "none"
timezone = "Europe/Prague"
owner = "Noa Planter"
golden_set = "golden.jsonl"
pii_redaction_enabled = true
pii_preset = "strict"

[graphrag]
method = "fast"
"""
SOURCES = {
    "chat": ("whatsapp", "chats"),
    "papers": ("document", "papers"),
    "notes": ("jsonl", "notes"),
    "letters": ("gmail", "letters"),
    "scans": ("paperless", "scans"),
    "cards": ("contacts", "cards"),
    "meetings": ("meeting", "meetings"),
    "history": ("git", "repository"),
    "programs": ("code", "programs"),
    **{kind: (kind, kind) for kind in chat_exports.WRITERS},
    "diary": ("calendar", "diary"),
    "errands": ("tasks", "errands"),
    "vault": ("notes", "vault"),
    "account": ("bank", "account"),
    "album": ("photos", "album"),
}
FURTHER: dict[str, Callable[[random.Random], str]] = {
    "EMAIL_ADDRESS": lambda chance: f"planted.{chance.randrange(10**9):09}@example.org",
    "CREDIT_CARD": lambda chance: _card("".join(chance.choices("0123456789", k=14))),
    "US_SSN": lambda chance: f"{chance.randint(101, 665)}-{chance.randint(11, 98)}-{chance.randint(1001, 9998)}",
    "API_KEY": lambda chance: f"ghp_{''.join(chance.choices('abcdefghijkmnpqrstuvwxyzABCDEFGHJK23456789', k=36))}",
    "MAC_ADDRESS": lambda chance: ":".join(f"{chance.randint(16, 255):02x}" for _ in range(6)),
}
MAKERS = VALUES | FURTHER
"""what makes a value of each entity"""
SAID = {
    "PHONE_NUMBER": "call me on {} please",
    "IL_ID_NUMBER": "תעודת זהות {} שלי",
    "IBAN_CODE": "send it to the account {} today",
    "BANK_ACCOUNT": "my bank account is {}",
    "CZ_BIRTH_NUMBER": "rodné číslo: {}",
    "EMAIL_ADDRESS": "write to {} instead",
    "CREDIT_CARD": "the card {} was charged",
    "US_SSN": "my social security number is {}",
    "API_KEY": "the token {} expires",
    "MAC_ADDRESS": "the router {} is down",
}
_GIVEN = ("Adam", "Bara", "Cyril", "Dita", "Emil", "Fany", "Gita", "Hugo", "Ivo", "Jitka", "Karel", "Lada")
_FAMILY = ("Beran", "Cervenka", "Dolezal", "Fiala", "Hajek", "Jelinek", "Kucera", "Malik", "Novotny", "Urban", "Zeman")
FIELDS = (
    "text", "subject", "title", "from", "to", "participants", "thread_id", "parent_ref", "content_type", "file_name",
    "source_uri", "client_id", "project_id", "numbers", "people", "extra", "extra_key", "id",
)  # fmt: skip


@dataclass
class Found:
    """What is left when all is done."""

    planted: int
    codes: dict[str, int] = field(default_factory=dict)
    """exit code by command, the best of several"""
    files: int = 0
    held: dict[str, int] = field(default_factory=dict)
    """file outside private/ -> how many of the values it holds"""
    said: list[str] = field(default_factory=list)
    """commands that printed a value which nobody gave them"""
    leaks: list[leak_scan.Leak] = field(default_factory=list)
    private: int = 0
    """values that stand in the private records: they did go through"""
    withheld: int = 0
    """records that were left out"""


def _card(digits: str) -> str:
    body = f"4{digits}"
    doubled = sum(sum(divmod(int(digit) * (2 - place % 2), 10)) for place, digit in enumerate(reversed(body)))
    return f"{body}{-doubled % 10}"


def values(count: int, settings: Settings) -> list[tuple[str, str]]:
    """Entity and sentence of each value, `{}` replaced by it; those that are not recognised are left out."""
    chance, workspace, found = random.Random(18), Workspace(settings), dict[str, str]()
    names = list(SAID)
    while len(found) < count:
        entity = names[len(found) % len(names)]
        value = MAKERS[entity](chance).removeprefix("wa.me/")
        if value not in found and value not in workspace.redactor.redact(SAID[entity].format(value), "default"):
            found[value] = SAID[entity].format(value)
    return list(found.items())


def plant(folder: Path, count: int) -> list[str]:
    """Writes the archive and returns the values in it."""
    tables = [
        f'[[sources]]\nname = "{name}"\nkind = "{kind}"\npath = "{path}"' for name, (kind, path) in SOURCES.items()
    ]
    (folder / "relrag.toml").write_text("\n".join([CONFIG, *tables, ""]))
    for _, path in SOURCES.values():
        (folder / path).mkdir(exist_ok=True)
    repositories.git(folder / "repository", "init", "--quiet", "--initial-branch=main")
    planted = values(count, archive.workspace(folder / "relrag.toml").settings)
    for number, (name, write) in enumerate(WRITERS.items()):
        write(folder / SOURCES[name][1], planted[number :: len(WRITERS)])
        _not_read(folder / SOURCES[name][1], BROKEN.get(name, ()), planted[number + 1 :: len(WRITERS)])
    questions = [{"question": f"Who said {said}?", "gold": ["jsonl:notes:note 0"]} for _, said in planted[:5]]
    (folder / "golden.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions))
    return [value for value, _ in planted]


def _person(number: int) -> str:
    return f"{_GIVEN[number % len(_GIVEN)]} {_FAMILY[number // len(_GIVEN) % len(_FAMILY)]}"


def _notes(place: Path, share: Sequence[tuple[str, str]]) -> None:
    lines = []
    for number, (value, said) in enumerate(share):
        name = FIELDS[number % len(FIELDS)]
        placed = {
            "to": [value], "participants": ["Ota", value], "numbers": [value], "extra": {"seen": {"in": [said]}},
            "people": [{"role": "mentioned", "name": said}], "extra_key": {said: 1},
        }  # fmt: skip
        line = {"id": f"note {number}", "text": f"note {number}", "timestamp": f"2024-0{number % 3 + 1}-10T08:00:00Z"}
        lines.append(line | {"extra" if name == "extra_key" else name: placed.get(name, said)})
    (place / "notes.jsonl").write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines))


def _chats(place: Path, share: Sequence[tuple[str, str]]) -> None:
    for first in range(0, len(share), 10):
        lines = []
        for number, (value, said) in enumerate(share[first : first + 10]):
            sender = value if value.startswith("+") else f"{_person(number % 3)}"
            lines.append(f"13/01/2024, 10:{number:02} - {sender}: {said}\n")
        (place / f"WhatsApp Chat with Group {first}.txt").write_text("".join(lines), encoding="utf-8")


def _sender(value: str, number: int) -> str:
    return value if value.startswith("+") else _person(number % 3)


def _export(kind: str) -> Callable[[Path, Sequence[tuple[str, str]]], None]:
    """An export of a chat program with values in texts, in names of senders and in the title."""

    def write(place: Path, share: Sequence[tuple[str, str]]) -> None:
        said = [
            chat_exports.Said(
                number + 1,
                1_705_000_000 + number * 7_000,
                value if value.startswith("+") else _person(number % 3),
                text,
            )
            for number, (value, text) in enumerate(share)
        ]
        title = next((value for value, _ in share if "@" in value), "Hiking")
        for path, content in chat_exports.WRITERS[kind](said, title).items():
            (place / path.replace(title, "all")).parent.mkdir(parents=True, exist_ok=True)
            (place / path.replace(title, "all")).write_bytes(content)

    return write


def _papers(place: Path, share: Sequence[tuple[str, str]]) -> None:
    for number, (value, said) in enumerate(share):
        name = value if number % 4 == 0 and "/" not in value else f"paper {number}"
        folder = place / (said.replace("/", "-") if number % 5 == 0 and "/" not in value else "all")
        folder.mkdir(exist_ok=True)
        suffix = (".md", ".txt", ".html", ".csv")[number % 4]
        text = f"<p>{said}</p>" if suffix == ".html" else f"Paper {number}\n\n{said}\n"
        broken = number % 25 == 24
        (folder / f"{name}{'.pdf' if broken else suffix}").write_text(
            "no document" if broken else text, encoding="utf-8"
        )


def _scans(place: Path, share: Sequence[tuple[str, str]]) -> None:
    """An export of Paperless with the values in texts, titles, names, fields and notes, by turns."""
    rows: list[dict[str, Any]] = [
        {"model": "documents.customfield", "pk": 1, "fields": {"name": "Remark", "data_type": "string"}}
    ]
    for number, (value, said) in enumerate(share, start=1):
        where = number % 6
        rows.append(
            {"model": "documents.correspondent", "pk": number, "fields": {"name": said if where == 1 else "Ota"}}
        )
        rows.append({"model": "documents.tag", "pk": number, "fields": {"name": said if where == 2 else "home"}})
        fields = {
            "title": said if where == 3 else f"scan {number}", "content": said if where == 0 else f"scan {number}",
            "created": f"2024-0{number % 3 + 1}-10", "original_filename": f"{value}.txt", "checksum": f"{number:032x}",
            "correspondent": number, "tags": [number], "mime_type": "text/plain",
        }  # fmt: skip
        rows.append({"model": "documents.document", "pk": number, "fields": fields})
        if where == 4:
            rows.append({"model": "documents.note", "pk": number, "fields": {"note": said, "document": number}})
        if where == 5:
            held = {"field": 1, "document": number, "value_text": said}
            rows.append({"model": "documents.customfieldinstance", "pk": number, "fields": held})
    (place / "manifest.json").write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")


def _letters(place: Path, share: Sequence[tuple[str, str]]) -> None:
    for number, (value, said) in enumerate(share):
        where = number % 5
        heading = {"Subject": said if where == 0 else f"letter {number}", "From": "Petr <petr@letters.example>"}
        heading |= {"To": f"Dana <{value}>"} if where == 1 and "@" in value else {"To": "dana@letters.example"}
        heading |= {"X-Said": said} if where == 2 else {}
        head = "".join(f"{name}: {line}\n" for name, line in heading.items())
        head = f"Message-ID: <letter{number}@letters.example>\nDate: 1 Mar 2024 08:00:00 GMT\n{head}"
        attached = (
            "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nhello\n"
            f"--b\nContent-Type: text/plain; charset=utf-8\nContent-Disposition: attachment; filename=a{number}.txt\n\n"
            f"{said}\n--b--\n"
        )
        body = attached if where == 3 else f"Content-Type: text/plain; charset=utf-8\n\n{said}\n"
        (place / f"letter {number}.eml").write_bytes(f"{head}{body}".encode())


def _cards(place: Path, share: Sequence[tuple[str, str]]) -> None:
    lines = []
    for number, (value, said) in enumerate(share):
        named = f"TEL:{value}" if value[0] in "+0" else f"EMAIL:{value}" if "@" in value else f"NOTE:{said}"
        lines += [
            "BEGIN:VCARD",
            "VERSION:3.0",
            f"UID:card-{number}",
            f"X-RELRAG-PERSON-ID:{number + 1}",
            f"FN:{_person(number)}",
            named,
            "END:VCARD",
        ]
    (place / "people.vcf").write_text("\n".join([*lines, ""]), encoding="utf-8")


def _meetings(place: Path, share: Sequence[tuple[str, str]]) -> None:
    for number, (_, said) in enumerate(share):
        title = said if number % 3 == 0 else f"Meeting {number}"
        text = f"{title}\nParticipants: Jan, Petr, {_person(number)}\n\nJan: {said}\nPetr: agreed.\n"
        (place / f"meeting-2024-0{number % 3 + 1}-{number % 28 + 1:02}-{number}.txt").write_text(text, encoding="utf-8")


def _commits(place: Path, share: Sequence[tuple[str, str]]) -> None:
    for number, (value, said) in enumerate(share):
        who = (_person(number), value if "@" in value else f"person{number}@commits.example")
        message = said if number % 2 else f"Change {number}\n\n{said}"
        repositories.git(place, "commit", "--quiet", "--allow-empty", "-m", message, who=who)


def _code(place: Path, share: Sequence[tuple[str, str]]) -> None:
    functions = [
        f'def step_{number}():\n    """{said}"""\n    return {value!r}\n\n\n'
        for number, (value, said) in enumerate(share)
    ]
    (place / "steps.py").write_text("".join(functions), encoding="utf-8")


def _events(place: Path, share: Sequence[tuple[str, str]]) -> None:
    lines = ["BEGIN:VCALENDAR"]
    for number, (value, said) in enumerate(share):
        uid = value if number % 3 == 0 else f"event-{number}"
        guest = f"ATTENDEE;CN={_person(number)}:mailto:{value}" if "@" in value else f"LOCATION:{said}"
        begin = f"DTSTART:2024010{number % 9 + 1}T080000Z"
        lines += ["BEGIN:VEVENT", f"UID:{uid}", begin, f"SUMMARY:{said}", guest, f"DESCRIPTION:{said}", "END:VEVENT"]
    (place / "diary.ics").write_text("\n".join([*lines, "END:VCALENDAR", ""]), encoding="utf-8")


def _tasks(place: Path, share: Sequence[tuple[str, str]]) -> None:
    items = [
        {"id": value, "title": said if number % 2 else f"task {number}", "notes": said, "due": "2024-02-01T00:00:00Z"}
        for number, (value, said) in enumerate(share)
    ]
    lists = [{"id": "list", "title": "Errands", "items": items}]
    (place / "Tasks.json").write_text(json.dumps({"kind": "tasks#taskLists", "items": lists}), encoding="utf-8")


def _vault(place: Path, share: Sequence[tuple[str, str]]) -> None:
    (place / ".obsidian").mkdir(exist_ok=True)
    for number, (value, said) in enumerate(share):
        name = value if number % 4 == 0 and "/" not in value else f"note {number}"
        text = f"---\ntags: [{value}]\naliases: [{said}]\n---\n# Note {number}\n\n{said} [[note {number + 1}|{said}]]\n"
        (place / f"{name}.md").write_text(text, encoding="utf-8")


def _payments(place: Path, share: Sequence[tuple[str, str]]) -> None:
    lines = ["Date;Payee;Description;IBAN;Amount"]
    for number, (value, said) in enumerate(share):
        account = value if value[:2].isalpha() and value[2:4].isdigit() else ""
        payee = said if number % 5 == 0 else _person(number)
        lines.append(f"2024-03-{number % 28 + 1:02};{payee};{said};{account};-1{number},50")
    (place / "account.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")


def _photos(place: Path, share: Sequence[tuple[str, str]]) -> None:
    for number, (value, said) in enumerate(share):
        folder = place / (value if number % 5 == 0 and "/" not in value else "Camera")
        folder.mkdir(exist_ok=True)
        xmp = f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><City>{said}</City></x:xmpmeta>'
        (folder / f"IMG_{number}.jpg").write_bytes(b"\xff\xd8\xff\xe1http://ns.adobe.com/xap/1.0/\0" + xmp.encode())
        sidecar = {"description": said, "people": [{"name": value}], "photoTakenTime": {"timestamp": "1706860800"}}
        (folder / f"IMG_{number}.jpg.json").write_text(json.dumps(sidecar), encoding="utf-8")


def _not_read(place: Path, broken: Sequence[str], share: Sequence[tuple[str, str]]) -> None:
    """Files that fail or that nothing reads, with values in their names and in those of their folders."""
    named = [value for value, _ in share if "/" not in value]
    for ending, value in zip(broken, named, strict=False):
        below = place / f"of {value}"
        below.mkdir()
        for path in (place / f"{value}{ending}", below / f"broken{ending}"):
            path.write_bytes(b"\xff\xfe\0 no such file")


WRITERS: dict[str, Callable[[Path, Sequence[tuple[str, str]]], None]] = {
    "chat": _chats,
    "papers": _papers,
    "notes": _notes,
    "letters": _letters,
    "scans": _scans,
    "cards": _cards,
    "meetings": _meetings,
    "history": _commits,
    "programs": _code,
    **{kind: _export(kind) for kind in chat_exports.WRITERS},
    "diary": _events,
    "errands": _tasks,
    "vault": _vault,
    "account": _payments,
    "album": _photos,
}


BROKEN = {
    "chat": (".zip", ".txt", ".xyz"),
    "papers": (".pdf", ".docx", ".xyz"),
    "notes": (".jsonl", ".xyz"),
    "letters": (".eml", ".mbox", ".msg", ".xyz"),
    "cards": (".vcf", ".xyz"),
    "meetings": (".vtt", ".srt", ".ics", ".xyz"),
    **dict.fromkeys(chat_exports.WRITERS, (".json", ".zip")),
    "diary": (".ics", ".xyz"),
    "errands": (".json", ".xyz"),
    "account": (".xml", ".ofx", ".xyz"),
    "album": (".jpg", ".xyz"),
}
"""endings of files that cannot be read, and of one that nobody tries to"""
NAMING = ("plan", "status")
"""commands that tell the owner, who looks for it, which file could not be read"""


def commands(planted: Sequence[str], *, thorough: bool) -> Iterator[list[str]]:
    """Every command that reads or states something, with values among its words.

    Two that make again what is there are left out unless `thorough`: a new key makes again all that they do.
    """
    given = iter(planted * 3)
    yield from ([one] for one in ("sync", "plan", "status", "doctor", "verify"))
    yield from (["ask", f"Whose is {next(given)}?"], ["ask", f"{next(given)}", "--json"], ["search", next(given)])
    yield from (["explore", f"who is {next(given)}"], ["show", next(given)], ["thread", next(given)])
    yield from (["people", "list"], ["people", "show", "1"], ["people", "show", next(given)])
    yield ["people", "fact", "1", "occupation", f"reached at {next(given)}"]
    relation = ["1", "2", "friend"]
    yield ["people", "relate", *relation, "--description", f"knows {next(given)}"]
    yield ["people", "note", *relation, f"she said {next(given)}"]
    yield from (["people", "suggestions"], ["people", "undo"], ["people", "merge", "3", "4"])
    yield ["sync"]
    yield from (["status", "--failures"], ["pii", "report"], ["pii", "test", next(given)], ["calls", "list"])
    yield from (
        ["graphrag", "query", "archive", f"what of {next(given)}"],
        ["graphrag", "list"],
        ["graphrag", "status"],
    )
    yield ["eval"]
    if thorough:
        yield from (["backfill", "--source", "notes", "--from", "2024-01", "--to", "2024-02"], ["sync", "--full"])
    yield from (["pii", "rotate-key"], ["forget", "--person", "Emil Beran", "--yes"])
    yield from (["verify", "--pii"], ["nothing", next(given)], ["search", "--from", next(given), "x"])


def run(folder: Path, count: int, *, thorough: bool = True) -> Found:
    """Plants so many values, runs every command, and searches."""
    planted = plant(folder, count)
    paths = "\n".join(str(one.relative_to(folder)) for one in folder.rglob("*"))
    named = {value for value in planted if value in paths}
    config, found = folder / "relrag.toml", Found(count)
    for given in commands(planted, thorough=thorough):
        code, said = _command([*given, "--config", str(config)])
        name = " ".join(given[:2] if given[0] in ("people", "pii", "graphrag", "calls") else given[:1])
        found.codes[name] = min(code, found.codes.get(name, code))
        told = {
            value for value in byte_search.SearchPatterns(planted).values_in(said.encode()) if not _given(value, given)
        }
        if given[0] in NAMING:
            told -= named
        if told:
            found.said.append(f"{given[0]}: {len(told)}")
    workspace = archive.workspace(config)
    home = workspace.home
    searched = byte_search.search(home, sorted({*planted, *map(_digits, planted)} - {""}))
    found.files = searched.files
    found.held = {name: many for name, many in searched.holding.items() if not name.startswith("private/")}
    found.leaks = leak_scan.scan_home(workspace).leaks
    sources = [one.name for one in workspace.settings.sources]
    private = repr([_months(home, "private_records", source) for source in sources])
    found.private = sum(value in private for value in planted)
    failures = [row for source in sources for row in _months(home, "failures", source)]
    found.withheld = sum(row["fault"] == "known_value" for row in failures)
    assert generations.current_number(home)
    return found


def _months(home: Path, table: str, source: str) -> list[dict[str, object]]:
    months = lake.manifest(home, table, source)
    return [row for month in months for row in lake.read(home, table, source, month).to_pylist()]


def _command(given: list[str]) -> tuple[int, str]:
    """A command's exit code, and all that it printed."""
    said = StringIO()
    with mock.patch.object(sys, "argv", ["relrag", *given]), redirect_stdout(said), redirect_stderr(said):
        try:
            code = cli.command()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 2
    return code, said.getvalue()


def _given(value: str, words: Sequence[str]) -> bool:
    return any(value in word for word in words)


def _digits(value: str) -> str:
    digits = "".join(filter(str.isdecimal, value))
    return digits if len(digits) >= 9 else ""
