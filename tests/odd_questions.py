"""Odd questions, as programs send them and people paste them: the same ones for the same seed."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Sequence

from relrag_query.retrieval.question_length import LONGEST

NAMES = (
    "Alex", "Jonah Feld", "Petr Nový", "Noa Peretz", "Eva", "דנה לוי", "Иван Петров", "O'Brien", "Mia", "Ota Kučera",
)  # fmt: skip
_SCRIPTS = (
    string.ascii_letters,
    "abcdefghijklmnopqrstuvwxyz",
    "áčďéěíňóřšťúůýž",
    "אבגדהוזחטיכלמנסעפצקרשתךםןףץ",
    "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "αβγδεζηθικλμνξοπρστυφχψω",
    "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "的一是不了人我在有他这中大来上国",
    "あいうえおかきくけこアイウエオ",
    "กขคงจฉชซญฐ",
    "가나다라마바사아자차",
)
_MARKS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~…–—„“”«»¿¡·•"
_EMOJI = "😀🎉👩‍👩‍👧‍👦🏳️‍🌈🇨🇿🇮🇱👍🏽❤️🦊"
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2069"
_CONTROL = "".join(map(chr, range(1, 32))) + "\x7f\x85"
_COMBINING = "".join(map(chr, range(0x300, 0x370)))
_ASKS = (
    "Who is {}?", "What did {} say?", "When is {}'s birthday?", "Kdo je {}?", "מי זה {}?", "How old is {}?",
    "What is the phone number of {}?", "How is {} related to {}?", "emails from {} to {}", "list all messages by {}",
    "Who introduced {} to {}?", "Where does {} work?", "last 10 mails of {}", "Kdy mi psal {} o {}?",
)  # fmt: skip
_DATES = (
    "2024-03-{d:02}", "{d} March 2024", "{d}.{d}.2024", "{d}/3/24", "last Friday", "v březnu 2024", "two weeks ago",
    "between March and May", "in 2023", "בינואר 2024", "před {d} dny", "{d} days ago", "since January", "Q3 2024",
    "until {d} April", "yesterday", "next month", "on the {d}th",
)  # fmt: skip
_CODE = (
    "SELECT * FROM chunks WHERE text LIKE '%{w}%'; --", "'; DROP TABLE records; --", '{{"query": "{w}", "a": [1, 2]}}',
    "$(rm -rf {w})", "<script>alert('{w}')</script>", "(a+)+$", "(((((", "[[[[{w}]]]]", "{w} AND NOT OR NEAR/3",
    "%s%n%x",
    "../../{w}", "{{{{7*7}}}}", "\\x00\\u0000", "[Data: Sources (0, 1)]", "^{w}~2 +{w} -{w} \"{w}\"*", "&lt;{w}&gt;",
)  # fmt: skip
_WORDS = (
    "invoice", "pump", "čerpadlo", "boiler", "meeting", "faktura", "who", "when", "wrote", "schůzka", "חשבונית", "the",
    "of", "contract", "key", "photo", "list", "latest", "price", "authorization", "call", "mail", "school", "report",
)  # fmt: skip


def odd_questions(count: int, seed: int = 46) -> list[str]:
    """So many questions, none empty and none longer than a question may be."""
    chance = random.Random(seed)
    kinds = [_KINDS[place % len(_KINDS)] for place in range(count)]
    return [one if (one := kind(chance)[:LONGEST]).strip() else "?" for kind in kinds]


def _of(letters: Sequence[str], chance: random.Random, least: int, most: int) -> str:
    return "".join(chance.choices(letters, k=chance.randint(least, most)))


def _word(chance: random.Random, least: int = 2, most: int = 12) -> str:
    return _of(chance.choice(_SCRIPTS), chance, least, most)


def _long_word(chance: random.Random) -> str:
    return _word(chance, 100, 4000)


def _long_words(chance: random.Random) -> str:
    return " ".join(_word(chance, 20, 200) for _ in range(60))


def _repeated_letter(chance: random.Random) -> str:
    return chance.choice(chance.choice(_SCRIPTS)) * chance.randint(500, 4000)


def _many_words(chance: random.Random) -> str:
    return " ".join(_word(chance, 1, 8) for _ in range(chance.randint(500, 2000)))


def _many_plain_words(chance: random.Random) -> str:
    return " ".join(chance.choices(_WORDS, k=chance.randint(100, 800)))


def _one_script(chance: random.Random) -> str:
    script = chance.choice(_SCRIPTS)
    return " ".join(_of(script, chance, 4, 9) for _ in range(500))


def _numbers(chance: random.Random) -> str:
    return " ".join(_of(string.digits, chance, 1, 16) for _ in range(chance.randint(1, 400)))


def _long_number(chance: random.Random) -> str:
    return f"How much is {_of(string.digits + ',. -', chance, 1000, 3900)}?"


def _names(chance: random.Random) -> str:
    return ", ".join(chance.choices(NAMES, k=100)) + "?"


def _one_name(chance: random.Random) -> str:
    return " ".join([chance.choice(NAMES)] * chance.randint(50, 400))


def _about_people(chance: random.Random) -> str:
    asks = chance.choices(_ASKS, k=chance.randint(1, 60))
    return " ".join(one.format(*chance.choices((*NAMES, "my mother", "mé sestry", "the plumber"), k=2)) for one in asks)


def _kin(chance: random.Random) -> str:
    kin = ("mother", "brother", "wife", "boss", "neighbour", "teacher", "sister", "dentist")
    return "Who is my " + "'s ".join(chance.choices(kin, k=chance.randint(2, 300))) + "?"


def _dates(chance: random.Random) -> str:
    dates = (one.format(d=chance.randint(1, 28)) for one in chance.choices(_DATES, k=chance.randint(12, 250)))
    return "What happened " + ", ".join(dates) + "?"


def _code(chance: random.Random) -> str:
    return "\n".join(one.format(w=_word(chance)) for one in chance.choices(_CODE, k=chance.randint(1, 120)))


def _nested(chance: random.Random) -> str:
    depth = chance.randint(10, 1900)
    opened, closed = chance.choice(("()", "[]", "{}", "<>", "„“", "''"))
    return opened * depth + _word(chance) + closed * chance.choice((0, depth))


def _json(chance: random.Random) -> str:
    return json.dumps({_word(chance): [_word(chance)] * 20 for _ in range(20)}, ensure_ascii=chance.random() < 0.5)


def _storm(chance: random.Random) -> str:
    return "".join(letter + _of(_COMBINING, chance, 5, 60) for letter in _word(chance, 20, 60))


def _sprinkled(chance: random.Random) -> str:
    text = " ".join(chance.choices((*_WORDS, *NAMES), k=60))
    return "".join(letter + chance.choice((*_INVISIBLE, *_CONTROL, "", "", "")) for letter in text)


def _addresses(chance: random.Random) -> str:
    hosts = ("example.org", "firma.cz", "example.co.il")
    digits = [_of(string.digits, chance, 6, 6) for _ in range(80)]
    return " ".join(f"{_word(chance)}@{chance.choice(hosts)} +420 777 {one}" for one in digits)


def _mixed(chance: random.Random) -> str:
    return " ".join(kind(chance)[:150] for kind in chance.sample(_KINDS[:-1], 12))


_KINDS: tuple[Callable[[random.Random], str], ...] = (
    _long_word, _long_words, _repeated_letter, _many_words, _many_plain_words, _one_script, _numbers, _long_number,
    _names, _one_name, _about_people, _kin, _dates, _code, _nested, _json, _storm, _sprinkled, _addresses,
    lambda chance: _of(_MARKS, chance, 1, 4000),
    lambda chance: _of(_EMOJI, chance, 1, 2000),
    lambda chance: _of(_INVISIBLE, chance, 1, 2000),
    lambda chance: _of(_CONTROL, chance, 1, 2000),
    lambda chance: _of("".join((*_SCRIPTS, _MARKS, _EMOJI, _INVISIBLE, " " * 30)), chance, 1, 4000),
    _mixed,
)  # fmt: skip
