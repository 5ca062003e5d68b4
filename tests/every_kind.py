"""Archives of every kind that reads files, each source with more records than may vanish unasked."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests import chat_exports, repositories

KINDS = {
    "chat": "whatsapp",
    "mail": "gmail",
    "papers": "document",
    "notes": "jsonl",
    "cards": "contacts",
    "calls": "call_recording",
    "meetings": "meeting",
    "history": "git",
    "code": "code",
    **{kind: kind for kind in chat_exports.WRITERS},
}
_HEAD = """\
archive = "kinds"
keys_file = "test.keys"
timezone = "Europe/Prague"
pii_redaction_enabled = true
embedder = "e5"
"""
_PEOPLE = ("Dana Levi", "Petr Kolar", "Ota Novak", "Eva Mala")
_THINGS = ("boiler", "cabin", "invoice", "orangery", "sledge", "contract")
RECORDS = 24
"""of each source"""
_REPOSITORIES = ("history", "code")

Numbers = Sequence[int]
Writer = Callable[[Path, Numbers, str], None]
"""writes the records of these numbers into a folder, all that it holds; the last is added to what they say"""


def make(folder: Path, *names: str) -> Path:
    """Writes exports and settings of these sources into an empty folder; the relrag.toml."""
    text = _HEAD
    for name in names:
        (folder / name).mkdir()
        text += f'[[sources]]\nname = "{name}"\nkind = "{KINDS[name]}"\npath = "{name}"\n'
        if name in _REPOSITORIES:
            repositories.make(folder / name / "site")
        _WRITERS[name](folder / name, range(RECORDS), "")
    config = folder / "relrag.toml"
    config.write_text(text)
    return config


def change(folder: Path, seed: int) -> None:
    """Takes records of the sources away, most of them or all, changes what others say, and adds some."""
    pick = random.Random(seed)
    for name in KINDS:
        if (folder / name).exists():
            kept = pick.sample(range(RECORDS), pick.choice((0, 2, 9, RECORDS)))
            added = range(RECORDS, RECORDS + pick.choice((0, 1, 4)))
            _WRITERS[name](folder / name, sorted([*kept, *added]), pick.choice(("", " again")))


def _text(number: int, salt: str = "") -> str:
    thing, other = _THINGS[number % len(_THINGS)], _THINGS[number * 5 % len(_THINGS)]
    return f"{_PEOPLE[number % 4]} says{salt} that the {thing} number {number} costs less than the {other}."


def _day(number: int) -> tuple[int, int]:
    """Month and day of 2024 of that record."""
    return number % 6 + 1, number % 27 + 1


def _one_file(name: str, lines: Callable[[Numbers, str], Iterator[str]]) -> Writer:
    def write(folder: Path, numbers: Numbers, salt: str) -> None:
        (folder / name).unlink(missing_ok=True)
        if numbers:
            (folder / name).write_text("".join(lines(numbers, salt)))

    return write


def _a_file_each(name: str, content: Callable[[int, str], str], beside: str = "") -> Writer:
    """Files whose names are made of `{number}`, `{month}` and `{day}`; `beside` is the suffix of a recording."""

    def write(folder: Path, numbers: Numbers, salt: str) -> None:
        for path in folder.iterdir():
            path.unlink()
        for number in numbers:
            month, day = _day(number)
            path = folder / name.format(number=number, month=f"{month:02}", day=f"{day:02}")
            path.write_text(content(number, salt))
            if beside:
                path.with_suffix(beside).write_bytes(b"\0\0\0\x18ftypM4A \0\0\0\0M4A isom" + bytes([number]) * 64)

    return write


def _chat(numbers: Numbers, salt: str) -> Iterator[str]:
    # the first and the last message stay: what is older or newer than an export holds is not deleted
    yield "01/01/2024, 08:00 - Dana Levi: Welcome to the hiking group\n"
    for number in sorted(numbers, key=_day):
        month, day = _day(number)
        yield f"{day:02}/{month:02}/2024, 10:{number % 60:02} - {_PEOPLE[number % 4]}: {_text(number, salt)}\n"
    yield "30/07/2024, 08:00 - Dana Levi: See you\n"


def _notes(numbers: Numbers, salt: str) -> Iterator[str]:
    for number in numbers:
        month, day = _day(number)
        at = f"2024-{month:02}-{day:02}T08:00:00Z"
        yield json.dumps({"id": f"n{number}", "text": _text(number, salt), "timestamp": at, "from": "Ota"}) + "\n"


def _cards(numbers: Numbers, salt: str) -> Iterator[str]:
    for number in numbers:
        name = f"{_PEOPLE[number % 4].split()[0]} Person{chr(97 + number % 26)}{chr(97 + number // 26)}"
        yield f"BEGIN:VCARD\nVERSION:3.0\nFN:{name}\nTEL:+4206012345{number:02}\nNOTE:{salt}\nEND:VCARD\n"


def _mail(number: int, salt: str) -> str:
    month, day = _day(number)
    name = _PEOPLE[number % 4]
    address = name.lower().replace(" ", ".")
    head = f"Message-ID: <m{number}@x.example>\nFrom: {name} <{address}@x.example>\nTo: Dana <dana@x.example>\n"
    answers = f"In-Reply-To: <m{number - 6}@x.example>\n" if number > 12 else ""
    month_name = ("Jan", "Feb", "Mar", "Apr", "May", "Jun")[month - 1]
    date = f"Date: {day:02} {month_name} 2024 08:00:00 +0000\n"
    return f"{head}{answers}{date}Subject: {_THINGS[number % 6]}\n\n{_text(number, salt)}\n"


def _captions(number: int, salt: str) -> str:
    return f"WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n<v Dana Levi>{_text(number, salt)}\n"


def _paper(number: int, salt: str) -> str:
    return f"# Paper\n\n{_text(number, salt)}\n"


def _chat_of(kind: str) -> Writer:
    """An export of another chat program; each holds all of its chat, so what is gone from it is deleted."""

    def write(folder: Path, numbers: Numbers, salt: str) -> None:
        shutil.rmtree(folder)
        folder.mkdir()
        days = {number: datetime(2024, *_day(number), 10, number % 60, tzinfo=UTC) for number in numbers}
        messages = [
            chat_exports.Said(number + 1, int(days[number].timestamp()), _PEOPLE[number % 4], _text(number, salt))
            for number in sorted(numbers, key=days.__getitem__)
        ]
        for path, content in chat_exports.WRITERS[kind](messages, "Hiking").items() if messages else ():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)

    return write


def _commit(folder: Path, numbers: Numbers, salt: str) -> None:
    """A history of these commits: it begins anew where the first differ."""
    shutil.rmtree(folder / "site")
    site = repositories.make(folder / "site")
    for number in numbers:
        repositories.commit(site, _text(number, salt), when=f"{1_704_067_200 + number * 600_000} +0100")


def _write_code(folder: Path, numbers: Numbers, salt: str) -> None:
    for path in (folder / "site").glob("*.py"):
        path.unlink()
    for number in numbers:
        code = f'def f{number}():\n    """{_text(number, salt)}"""\n'
        (folder / "site" / f"f{number}.py").write_text(code)
    repositories.commit(folder / "site", "Change")


_WRITERS: dict[str, Writer] = {
    "chat": _one_file("WhatsApp Chat with Hiking.txt", _chat),
    "mail": _a_file_each("{number}.eml", _mail),
    "papers": _a_file_each("paper {number} 2024-{month}-{day}.md", _paper),
    "notes": _one_file("notes.jsonl", _notes),
    "cards": _one_file("people.vcf", _cards),
    "calls": _a_file_each("Call_recording_Dana_Levi_24{month}{day}_10{number:02}00.vtt", _captions, ".m4a"),
    "meetings": _a_file_each("standup {number} 2024-{month}-{day}.vtt", _captions),
    "history": _commit,
    "code": _write_code,
    **{kind: _chat_of(kind) for kind in chat_exports.WRITERS},
}
