"""Writes what Outlook writes, small: compound files (MS-CFB), mails in them (MS-OXMSG), packed rich text (MS-OXRTFCP).

What it writes was read back with olefile at its strictest and with python-oxmsg, which share no code with the readers
here; the two examples of MS-OXRTFCP stand in the tests byte by byte.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

Node = bytes | Mapping[str, "Node"]
"""a stream, or a storage by name"""
Value = str | bytes | int
"""Unicode text, bytes, or an integer; a time is a pair of its own, see `message`"""

FREE, END, FAT, DIFAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFC
SECTOR, MINI, CUTOFF = 512, 64, 4096
IN_HEADER, IN_DIFAT = 109, 127
"""sectors of the allocation table that the header names, and that each further sector of such names does"""


def compound(root: Mapping[str, Node]) -> bytes:
    """A compound file of version 3: streams below 4096 bytes in the mini stream, siblings as balanced trees."""
    entries: list[dict[str, int | str]] = []
    small, mini_table, body, table = bytearray(), list[int](), bytearray(), list[int]()

    def chain(numbers: list[int], count: int) -> int:
        first = len(numbers)
        numbers.extend([*range(first + 1, first + count), END] if count else [])
        return first if count else END

    def stored(data: bytes) -> int:
        count = -(-len(data) // SECTOR)
        body.extend(data.ljust(count * SECTOR, b"\0"))
        return chain(table, count)

    def stream(data: bytes) -> int:
        if len(data) >= CUTOFF:
            return stored(data)
        count = -(-len(data) // MINI)
        small.extend(data.ljust(count * MINI, b"\0"))
        return chain(mini_table, count)

    def add(name: str, node: Node, kind: int) -> int:
        number = len(entries)
        entry: dict[str, int | str] = {"name": name, "kind": kind, "left": FREE, "right": FREE, "child": FREE}
        entries.append(entry | {"start": 0, "size": 0})
        if isinstance(node, bytes):
            entries[number] |= {"start": stream(node), "size": len(node)}
        else:
            ordered = sorted(node, key=lambda one: (len(one), one.upper()))
            numbers = [add(one, node[one], 2 if isinstance(node[one], bytes) else 1) for one in ordered]
            entries[number]["child"] = balanced(numbers)
        return number

    def balanced(numbers: Sequence[int]) -> int:
        if not numbers:
            return FREE
        middle = len(numbers) // 2
        entries[numbers[middle]]["left"] = balanced(numbers[:middle])
        entries[numbers[middle]]["right"] = balanced(numbers[middle + 1 :])
        return numbers[middle]

    add("Root Entry", root, 5)
    entries[0] |= {"start": stored(bytes(small)), "size": len(small)}
    minis = b"".join(struct.pack("<L", one) for one in mini_table)
    minis += b"\xff" * (-len(minis) % SECTOR)
    mini_start = stored(minis)
    packed = b"".join(map(_entry, entries))
    directory = stored(packed + _unused() * (-len(entries) % 4))
    fats = difats = 0
    while fats * SECTOR // 4 < len(table) + fats + difats:
        fats += 1
        difats = -(-max(0, fats - IN_HEADER) // IN_DIFAT)
    first = len(table)
    numbers = [*table, *[FAT] * fats, *[DIFAT] * difats]
    numbers += [FREE] * (fats * SECTOR // 4 - len(numbers))
    places = [*range(first, first + fats)]
    places += [FREE] * (IN_HEADER + difats * IN_DIFAT - fats)
    head = struct.pack("<8s16xHHHHH6x", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6)
    head += struct.pack("<7L", 0, fats, directory, 0, CUTOFF, mini_start, len(minis) // SECTOR)
    head += struct.pack("<2L", first + fats if difats else END, difats)
    head += struct.pack(f"<{IN_HEADER}L", *places[:IN_HEADER])
    rest = b""
    for one in range(difats):
        begin = IN_HEADER + one * IN_DIFAT
        following = END if one + 1 == difats else first + fats + one + 1
        rest += struct.pack(f"<{IN_DIFAT + 1}L", *places[begin : begin + IN_DIFAT], following)
    return head + bytes(body) + struct.pack(f"<{len(numbers)}L", *numbers) + rest


def _entry(entry: Mapping[str, int | str]) -> bytes:
    name = str(entry["name"]).encode("utf-16-le") + b"\0\0"
    links = struct.pack("<LLL", *(int(entry[one]) for one in ("left", "right", "child")))
    tail = struct.pack("<16xLQQLQ", 0, 0, 0, int(entry["start"]), int(entry["size"]))
    return name.ljust(64, b"\0") + struct.pack("<HBB", len(name), int(entry["kind"]), 1) + links + tail


def _unused() -> bytes:
    return b"\0" * 68 + b"\xff" * 12 + b"\0" * 48


def message(
    properties: Mapping[int, Value],
    *,
    recipients: Sequence[Mapping[int, Value]] = (),
    attachments: Sequence[Mapping[int, Value | dict[str, Node]]] = (),
    top: bool = True,
    unicode: str = "",
) -> dict[str, Node]:
    """The storage of a message. Text is Unicode, or in the charset `unicode` names; 0x3701 may hold a message."""
    counts = struct.pack("<8xLLLL", len(recipients), len(attachments), len(recipients), len(attachments))
    found = _storage(properties, counts + b"\0" * 8 if top else counts, unicode)
    for number, one in enumerate(recipients):
        found[f"__recip_version1.0_#{number:08X}"] = _storage(one, b"\0" * 8, unicode)
    for number, attached in enumerate(attachments):
        found[f"__attach_version1.0_#{number:08X}"] = _storage(attached, b"\0" * 8, unicode)
    if top:
        found["__nameid_version1.0"] = {f"__substg1.0_000{one}0102": b"" for one in (2, 3, 4)}
    return found


def _storage(properties: Mapping[int, Value | dict[str, Node]], head: bytes, charset: str) -> dict[str, Node]:
    found: dict[str, Node] = {}
    fixed = head
    for number, value in sorted(properties.items()):
        kind, size, stored = 0x0102, 0, b""
        if isinstance(value, int):
            kind = 0x0040 if value > 0xFFFFFFFF else 0x0003
            fixed += struct.pack("<HHLQ", kind, number, 6, value)
            continue
        if isinstance(value, str):
            kind = 0x001E if charset else 0x001F
            stored = value.encode(charset or "utf-16-le", "surrogatepass")
            size = len(stored) + (1 if charset else 2)
        elif isinstance(value, dict):
            kind, size = 0x000D, 0xFFFFFFFF
        else:
            stored, size = value, len(value)
        found[f"__substg1.0_{number:04X}{kind:04X}"] = value if isinstance(value, dict) else stored
        fixed += struct.pack("<HHLLL", kind, number, 6, size, 1 if kind == 0x000D else 0)
    return found | {"__properties_version1.0": fixed}


def windows_time(seconds: int) -> int:
    """Seconds since 1970 as Windows counts time."""
    return (seconds + 11_644_473_600) * 10_000_000


def packed_rtf(text: bytes) -> bytes:
    """Rich text in packed form without anything repeated, but for the reference that ends it."""
    flags_and_tokens, place = bytearray(), 207
    for start in range(0, len(text) + 1, 8):
        run = text[start : start + 8]
        place += len(run)
        if len(run) == 8:
            flags_and_tokens += b"\0" + run
        else:
            flags_and_tokens += bytes([1 << len(run)]) + run + ((place % 4096) << 4).to_bytes(2)
    return struct.pack("<LL4sL", len(flags_and_tokens) + 12, len(text), b"LZFu", 0) + bytes(flags_and_tokens)
