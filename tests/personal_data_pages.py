"""Personal values planted in texts, titles and names of an archive, and every page and reply that could show them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from relrag_query.mcp.server import build
from relrag_query.service import Service
from tests import archive
from tests.personal_data import MAKERS
from tests.web_app import BEARER, COOKIE, client

_EACH = 4
"""values of a note"""


def values(count: int) -> list[str]:
    """Addresses, phone numbers, cards and accounts that stand nowhere else."""
    chance = random.Random(19)
    makers = (MAKERS["EMAIL_ADDRESS"], _phone, MAKERS["CREDIT_CARD"], MAKERS["IBAN_CODE"])
    found: dict[str, None] = {}
    while len(found) < count:
        found[makers[len(found) % _EACH](chance)] = None
    return list(found)


def plant(folder: Path, planted: list[str], *, redacted: bool = True) -> Path:
    """An archive whose notes say these values, in text, title and sender, beside files named so that fail; synced."""
    config = archive.make(folder)
    if not redacted:
        plain = config.read_text().replace("pii_redaction_enabled = true", "pii_redaction_enabled = false")
        config.write_text(plain)
    notes = []
    for number in range(0, len(planted), _EACH):
        mail, phone, card, account = planted[number : number + _EACH]
        notes.append(
            {
                "id": f"p{number}", "thread_id": f"t{number % 5}", "ts": str(1709280000 + number * 600),
                "from": f"Person {number} <{mail}>", "subject": f"Call {phone} about topic{number}",
                "text": f"Topic{number}: my card is {card}, account IBAN {account}. Mail {mail}, ring {phone}.",
            }
        )  # fmt: skip
    for value in planted[: 4 * _EACH]:
        (folder / "papers" / f"{value}.pdf").write_text("no document")
        (folder / "papers" / f"{value}.xyz").write_text("nobody reads this")
    archive.write_notes(folder, *notes)
    archive.sync(config)
    return config


def leaks(config: Path, planted: list[str]) -> dict[str, str]:
    """Each value that a page, the API or a tool shows, with where: as it stands, or its digits or letters alone."""
    bare = {_bare(value): value for value in planted}
    pattern = re.compile("|".join(map(re.escape, bare)))
    found: dict[str, str] = {}
    for where, said in _replies(config, len(planted)):
        for match in pattern.findall(_bare(said)):
            found.setdefault(bare[match], where)
    return found


def _replies(config: Path, count: int) -> Iterator[tuple[str, str]]:
    numbers = range(0, count, _EACH)
    asked = [f"topic{number} card account mail" for number in numbers]
    with client(config) as opened:
        opened.headers |= COOKIE
        for number, question in zip(numbers, asked, strict=True):
            ref = f"jsonl:notes:p{number}"
            for path in (
                f"/ask?q={question}", f"/search?q={question}", f"/record?ref={ref}", f"/ask/stream?q={question}",
                f"/api/v1/show?ref={ref}", f"/api/v1/graph/around?ref={ref}", f"/api/v1/neighbors?ref={ref}",
            ):  # fmt: skip
                answer = opened.get(path)
                yield path, answer.text
                if path.startswith("/search"):
                    for place in re.findall(r'href="(/source[^"]+)"', answer.text)[:1]:
                        yield place, opened.get(place.replace("&amp;", "&")).text
        people = opened.get("/api/v1/people?limit=100").json()["people"]
        listed = [f"/person?name={one['person_id']}" for one in people[:40]]
        listed += [f"/api/v1/person?name={one['person_id']}" for one in people[:40]]
        listed += [*(f"/thread?id=t{number}" for number in range(5)), "/people", "/graph", "/archive"]
        listed += ["/api/v1/graph", "/entities/graph/full", "/api/v1/status", "/api/v1/people?limit=100"]
        for path in listed:
            yield path, opened.get(path).text
        for question in asked[:20]:
            body = {"query": question}
            yield f"explore {question}", opened.post("/api/v1/explore", json=body, headers=BEARER).text
    with Service.open(config) as service:
        yield from anyio.run(_told, service, list(numbers), asked)


async def _told(service: Service, numbers: list[int], asked: list[str]) -> list[tuple[str, str]]:
    found = []
    async with Client(build(service)) as tools:

        async def call(tool: str, /, **arguments: Any) -> None:
            result = await tools.call_tool(tool, arguments)
            found.append((f"{tool} {arguments}", str(result.content)))

        for number, question in zip(numbers, asked, strict=True):
            ref = f"jsonl:notes:p{number}"
            await call("show", ref=ref)
            await call("search", query=question)
            await call("ask", question=question)
            await call("neighbors", ref=ref)
        for number in range(5):
            await call("thread", thread_id=f"t{number}")
        for question in asked[:10]:
            await call("explore", query=question)
            await call("person", name=f"Person {question.split()[0].removeprefix('topic')}")
    return found


def _bare(text: str) -> str:
    """Letters, digits and @ in small letters: separators and escapes hide nothing."""
    return re.sub(r"[^a-z0-9@]", "", text.lower())


def _phone(chance: random.Random) -> str:
    """In a form that is a number of this country wherever it stands."""
    return f"05{chance.choice('02348')}-{chance.randrange(200, 999)}-{chance.randrange(1000, 9999)}"
