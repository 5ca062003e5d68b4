"""Sentences in Hebrew, Czech and English with personal data in them, and as many that only look so.

Made from templates by a fixed seed. Every second template is for tuning, the others for the test, so that the figures
of the test are of sentences that nobody looked at while recognisers were written. Decoys hold what fails a checksum or
is of another kind: orders, prices, dates, versions, coordinates, part numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from stdnum.cz import bankaccount, rc
from stdnum.iso7064 import mod_97_10

Half = Literal["tune", "test"]


@dataclass(frozen=True)
class Sentence:
    """A sentence, and where personal data stands in it."""

    text: str
    entity: str
    """empty for a decoy"""
    start: int
    end: int


_SENTENCES_OF_TEMPLATE = 14
_LINK = "wa.me/"

TEMPLATES: dict[str, tuple[str, ...]] = {
    "PHONE_NUMBER": (
        "Call me at {} after six.", "תתקשר אליי ל{} בערב", "Zavolej mi na {}, prosím.", "My new number is {}.",
        "הטלפון של דנה הוא {}", "Můj telefon je {}.", "You can reach Petr on {} until Friday.", "נייד: {}",
        "Mobil: {}", "Text {} when you are there.", "אפשר להשיג אותי ב-{}", "Volala mi paní z čísla {}.",
        "Tel. {} (office)", "המספר החדש שלי {}", "Kdyby něco, tak {}.", "phone: {}, fax by request",
        "דבר עם יוסי, {}, הוא יודע", "Kontakt na instalatéra: {}", "They are not answering at {}.",
        "שלח הודעה ל {} ונחזור אליך", "Napiš mu na whatsapp {}.", "WhatsApp {} is the quickest.",
        "מספר הפלאפון של אמא: {}", "Spojte se s námi na lince {}.",
    ),
    "IL_ID_NUMBER": (
        "My ID number is {}.", "ת.ז. {}", "מספר תעודת הזהות שלי {}", "teudat zehut {}", "Passenger Dana Levi, ID {}",
        "ת\"ז: {} על שם דנה לוי", "identity number {} is on the form", "נא למלא ת.ז {} בטופס",
        "Občanka z Izraele, ID {}",
        "הזהות של הילד: {}", "National ID {} was checked.", "לקוח: משה כהן, ת.ז. {}", "I need your i.d., mine is {}",
        "ת.ז של אבא {}", "ID no. {} (Israel)", "תעודת זהות {} הונפקה אתמול",
    ),
    "IBAN_CODE": (
        "My IBAN is {}.", "העברה לחשבון {}", "Pošlete to na {}.", "IBAN: {}", "Transfer the rent to {} by Monday.",
        "מספר IBAN שלי {}", "Číslo účtu IBAN {}", "Refund goes to {}, thanks", "בנק: {}", "účet {} u Fio",
        "The account {} belongs to the studio.", "נא להעביר ל-{} עד סוף החודש", "Platba na {} odešla.",
        "please use {} for the deposit",
    ),
    "BANK_ACCOUNT": (
        "Pay to account {}.", "חשבון בנק {}", "Číslo účtu: {}", "my bank account is {}", "מספר חשבון: {}",
        "Nájem posílej na účet {}", "the account no. {} is mine", "נא להעביר לחשבון {}", "platba z účtu {} přišla",
        "bank account {} at Leumi", "פרטי חשבון בנק: {}", "č. účtu {}", "wire it to account {} today",
        "החשבון שלי בבנק הוא {}",
    ),
    "CZ_BIRTH_NUMBER": (
        "Rodné číslo: {}", "Moje rodné číslo je {}.", "r.č. {}", "RČ {}", "Pacient Jan Novák, r. č. {}",
        "birth number {}", "Her Czech birth number is {}.", "rodné číslo dcery {}", "rod. č. {}", "nar. 1978, rč {}",
        "Pojištěnec {}", "The form asks for rodné číslo: {}.", "Marie Nováková, RČ: {}",
        "doplňte rodné číslo {} do smlouvy",
    ),
}  # fmt: skip

DECOYS: tuple[tuple[str, str], ...] = (
    ("Order {} has shipped.", "nine"), ("הזמנה מספר {} נשלחה", "nine"), ("Objednávka {} byla odeslána.", "nine"),
    ("Invoice {} is due.", "nine"), ("חשבונית {} לתשלום", "nine"), ("Faktura č. {} je po splatnosti.", "nine"),
    ("My ID number is {}.", "bad_id"), ("ת.ז. {}", "bad_id"), ("teudat zehut {}", "bad_id"),
    ("The card {} was refused.", "bad_card"), ("כרטיס {} לא תקין", "bad_card"), ("Karta {} neplatí.", "bad_card"),
    ("IBAN {} is wrong.", "bad_iban"), ("מספר {} אינו תקין", "bad_iban"), ("Chybný IBAN {}.", "bad_iban"),
    ("It was {} in the end.", "price"), ("זה עלה {} בסוף", "price"), ("Stálo to {}.", "price"),
    ("We met on {}.", "date"), ("נפגשנו ב-{}", "date"), ("Sešli jsme se {}.", "date"),
    ("since {}", "iso"), ("od {}", "iso"),
    ("Update to version {}.", "version"), ("גרסה {} יצאה", "version"), ("Verze {} je venku.", "version"),
    ("The place is {}.", "coordinates"), ("המקום נמצא ב {}", "coordinates"), ("Souřadnice {}", "coordinates"),
    ("Part number {} is out of stock.", "part"), ("מק\"ט {}", "part"), ("Kat. č. {}", "part"),
    ("Tracking {} arrives tomorrow.", "tracking"), ("מספר מעקב {}", "tracking"), ("Zásilka {} dorazí.", "tracking"),
    ("ISBN {}", "isbn"), ("The commit is {}.", "commit"), ("between {} people", "years"), ("v letech {}", "years"),
    ("timestamp {}", "epoch"), ("SKU {}", "part"), ("Ticket {} is closed.", "nine"), ("spis. zn. {}", "case"),
    ("File {} is empty.", "file"), ("at {} sharp", "time"), ("ב-{} בדיוק", "time"), ("v {} přesně", "time"),
    ("room {}, floor {}", "small"), ("Bylo nás {}.", "people"), ("Meeting ID: {}", "meeting"), ("Rev. {}", "version"),
)  # fmt: skip


def sentences(half: Half, seed: int = 18) -> list[Sentence]:
    """The sentences of one half: about 1,000 with personal data and 350 without, 2,000 and 700 in both halves."""
    chance = random.Random(f"{seed} {half}")
    return [*_with_data(half, chance), *_without(half, chance)]


def _with_data(half: Half, chance: random.Random) -> Iterator[Sentence]:
    for entity, templates in TEMPLATES.items():
        for template in templates[half == "test" :: 2]:
            for _ in range(_SENTENCES_OF_TEMPLATE * 2):
                value = VALUES[entity](chance)
                at = template.index("{}")
                start = at + len(_LINK) * value.startswith(_LINK)
                yield Sentence(template.format(value), entity, start, at + len(value))


def _without(half: Half, chance: random.Random) -> Iterator[Sentence]:
    for template, kind in DECOYS[half == "test" :: 2]:
        for _ in range(_SENTENCES_OF_TEMPLATE):
            values = [_decoy(kind, chance) for _ in range(template.count("{}"))]
            yield Sentence(template.format(*values), "", 0, 0)


def _digits(chance: random.Random, count: int) -> str:
    return "".join(chance.choices("0123456789", k=count))


def _phone(chance: random.Random) -> str:
    d = lambda count: _digits(chance, count)  # noqa: E731
    area = chance.choice(["212", "415", "617", "310", "773"])
    office = f"{chance.randint(2, 9)}{chance.randint(2, 9)}{d(1)}"
    mobile, place = f"5{chance.choice('02348')}", chance.choice("23489")
    czech = f"{chance.choice(['602', '608', '720', '731', '777', '774'])}"
    return chance.choice([
        f"0{mobile}-{d(7)}", f"0{mobile}-{d(3)}-{d(4)}", f"0{mobile}{d(7)}", f"+972-{mobile}-{d(3)}-{d(4)}",
        f"+972 {mobile} {d(3)} {d(4)}", f"+972{mobile}{d(7)}", f"0{place}-{chance.randint(2, 9)}{d(6)}",
        f"00972-{mobile}-{d(7)}", f"1-800-{d(3)}-{chance.randint(100, 999)}", f"+420 {czech} {d(3)} {d(3)}",
        f"{czech} {d(3)} {chance.randint(100, 999)}", f"{czech}{d(3)}{chance.randint(100, 999)}",
        f"00420 {czech} {d(3)} {d(3)}", f"({area}) {office}-{d(4)}", f"{area}-{office}-{d(4)} ext. {d(3)}",
        f"+1 {area} {office} {d(4)}", f"001-{area}-{office}-{d(4)}x{d(3)}", f"{area}.{office}.{d(4)}",
        f"{_LINK}972{mobile}{d(7)}",
    ])  # fmt: skip


def _luhn_last(body: str) -> str:
    doubled = sum(sum(divmod(int(digit) * (2 - place % 2), 10)) for place, digit in enumerate(reversed(body)))
    return str(-doubled % 10)


def _israeli_id(chance: random.Random) -> str:
    body = f"{chance.randint(0, 3)}{_digits(chance, 7)}"
    return chance.choice(["{}{}", "{}-{}"]).format(body, _luhn_last(body))


def _iban(chance: random.Random) -> str:
    bban, country = chance.choice(
        [
            (f"{_digits(chance, 19)}", "IL"),
            (f"{_digits(chance, 20)}", "CZ"),
            (f"{_digits(chance, 18)}", "DE"),
            (f"NWBK{_digits(chance, 14)}", "GB"),
        ]
    )
    number = f"{country}{mod_97_10.calc_check_digits(f'{bban}{country}')}{bban}"
    return " ".join(number[at : at + 4] for at in range(0, len(number), 4)) if chance.random() < 0.5 else number


def _account(chance: random.Random) -> str:
    if chance.random() < 0.5:
        return f"{chance.choice([10, 11, 12, 20, 31])}-{chance.randint(100, 999)}-{chance.randint(10**5, 10**9 - 1)}"
    while True:
        number = f"{_digits(chance, 10)}/{chance.choice(['0800', '0100', '2010', '0300'])}"
        if number[0] != "0" and bankaccount.is_valid(number):
            return number


def _birth_number(chance: random.Random) -> str:
    while True:
        month = chance.randint(1, 12) + chance.choice([0, 50])
        number = f"{chance.randint(54, 99)}{month:02}{chance.randint(1, 28):02}{_digits(chance, 4)}"
        if rc.is_valid(number):
            return f"{number[:6]}/{number[6:]}"


VALUES: dict[str, Callable[[random.Random], str]] = {
    "PHONE_NUMBER": _phone,
    "IL_ID_NUMBER": _israeli_id,
    "IBAN_CODE": _iban,
    "BANK_ACCOUNT": _account,
    "CZ_BIRTH_NUMBER": _birth_number,
}


def _decoy(kind: str, chance: random.Random) -> str:
    d = lambda count: _digits(chance, count)  # noqa: E731
    n = chance.randint
    if kind == "bad_id":
        right = _israeli_id(chance)
        return f"{right[:-1]}{(int(right[-1]) + n(1, 9)) % 10}"
    if kind == "bad_card":
        body = f"4{d(14)}"
        number = f"{body}{(int(_luhn_last(body)) + n(1, 9)) % 10}"
        return " ".join(number[at : at + 4] for at in range(0, 16, 4))
    if kind == "bad_iban":
        right = _iban(chance)
        return f"{right[:2]}{(int(right[2:4]) + n(1, 90)) % 100:02}{right[4:]}"
    return {
        "nine": lambda: f"{n(1, 9)}{d(8)}",
        "price": lambda: f"{n(1, 99)},{d(3)}.{d(2)} {chance.choice(['₪', '€', 'Kč', 'USD'])}",
        "date": lambda: f"{n(1, 28)}.{n(1, 12)}.{n(1990, 2026)}",
        "iso": lambda: f"{n(1990, 2026)}-0{n(1, 9)}-{n(10, 28)}",
        "version": lambda: f"{n(0, 20)}.{n(0, 20)}.{n(0, 200)}" + (f".{n(0, 99)}" if chance.random() < 0.5 else ""),
        "coordinates": lambda: f"{n(29, 51)}.{d(6)}, {n(12, 36)}.{d(6)}",
        "part": lambda: f"{d(3)}-{d(4)}-{d(2)}",
        "tracking": lambda: f"RR{d(9)}IL",
        "isbn": lambda: f"978-{d(3)}-{d(2)}-{d(4)}-{d(1)}",
        "commit": lambda: "".join(chance.choices("0123456789abcdef", k=40)),
        "years": lambda: f"{n(1900, 1999)}-{n(2000, 2026)}",
        "epoch": lambda: f"17{d(8)}",
        "case": lambda: f"{n(1, 99)} C {n(1, 999)}/{n(2001, 2025)}",
        "file": lambda: f"IMG_{n(2015, 2026)}0{n(1, 9)}{n(10, 28)}_{n(10, 23)}{n(10, 59)}{n(10, 59)}.jpg",
        "time": lambda: f"{n(6, 22)}:{n(10, 59)}",
        "small": lambda: f"{n(1, 40)}",
        "people": lambda: f"{n(2, 900)}",
        "meeting": lambda: f"{n(800, 999)} {n(1000, 9999)} {n(1000, 9999)}",
    }[kind]()  # fmt: skip
