"""How fast texts are redacted, against Presidio as it comes: AnalyzerEngine and AnonymizerEngine, one by one.

Both look for the same entities in the same texts in one run, by turns, three times; the median counts. What the
redactor remembers of earlier texts is cleared before each turn. `python -m bench.redaction` prints the figures, and
precision and recall of both on the annotated texts where those are at hand.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from relrag_pipelines.pii import PIIRedactor, engine, phones
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.settings import Policy

ENTITIES = ["PHONE_NUMBER", "EMAIL_ADDRESS", "CREDIT_CARD", "IBAN_CODE"]
SHARED = Path(os.environ.get("RELRAG_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
ANNOTATED = SHARED / "pii" / "synth_dataset_v2_even.json"

_WORDS = (  # noqa: SIM905
    "ok see you there did talk to about the trip haha no way sounds good thanks can somebody pick up milk on way "
    "home i think is right balcony we should really book tickets before they are gone not today tomorrow plumber "
    "came and it was only valve call me when free תגידי לאמא שאני מאחר מישהו לקח את המפתחות של האוטו יאללה מדברים בערב "
    "מה שלום סבתא הילדים כבר ישנים přijdu později začněte beze mě to je paráda zítra ráno nemůžu 😀 🙏"
).split()
_CHAT_WITH_NUMBERS = (
    "meet at {hour}:{minute}", "it was {amount}₪ in the end", "my number is {mobile}", "תתקשר ל{mobile} דחוף",
    "flight lands {day}.{month}.2025 {hour}:{minute}", "send it to {mail}", "{name}: {foreign}",
    "bus {small} or {small}",
)  # fmt: skip
_MAIL = (
    "Dear {name}, thank you for your message of {day} {monthname} 2025. ",
    "The invoice INV-{four} over {amount} EUR is due. ",
    "Please transfer it to {iban} until {day}.{month}.2025. ",
    "The order {nine} was shipped and should arrive on Monday. ",
    "We have looked into the matter and found that the delivery was complete when it left our house. ",
    "If anything is unclear, you reach me at {foreign} or {mobile}. ", "Write to {mail} for a copy. ",
    "The meeting on {day}/{month}/2025 at {hour}:{minute} is moved to room {small}. ",
    "Our colleagues in the other office agree with the plan and will send their comments next week. ",
    "The card {card} was charged twice, please check. ", "Kind regards, {name}, tel. {mobile}, {mail}. ",
)  # fmt: skip


def chat_texts(count: int, seed: int = 1) -> list[str]:
    """Chat messages, one in eight with a number or an address in it."""
    chance = random.Random(seed)
    texts = []
    for _ in range(count):
        words = " ".join(chance.choices(_WORDS, k=chance.randint(3, 14)))
        texts.append(
            words if chance.random() < 0.88 else f"{words} {_filled(chance.choice(_CHAT_WITH_NUMBERS), chance)}"
        )
    return texts


def quiet_texts(count: int, seed: int = 3) -> list[str]:
    """Chat messages in which no recogniser can find anything: they have neither a digit nor a sign of an address."""
    chance = random.Random(seed)
    return [" ".join(chance.choices(_WORDS, k=chance.randint(3, 14))) for _ in range(count)]


def mail_texts(count: int, seed: int = 2) -> list[str]:
    """Texts of about 500 characters as mails have them: prose, dates, amounts, and who to call."""
    chance = random.Random(seed)
    texts = []
    for _ in range(count):
        text = ""
        while len(text) < 460:
            text += _filled(chance.choice(_MAIL), chance)
        texts.append(text)
    return texts


def _filled(template: str, chance: random.Random) -> str:
    def digits(count: int) -> str:
        return "".join(chance.choices("0123456789", k=count))

    values = {
        "name": chance.choice(["Noa", "Alex Rubin", "שירן", "Petr", "Marie Nováková"]),
        "hour": f"{chance.randint(6, 22)}", "minute": f"{chance.randint(0, 59):02}",
        "day": f"{chance.randint(1, 28):02}", "month": f"{chance.randint(1, 12):02}",
        "monthname": chance.choice(["January", "May", "October"]), "small": f"{chance.randint(1, 99)}",
        "amount": f"{chance.randint(10, 9999):,}", "four": digits(4), "nine": digits(9),
        "mobile": chance.choice([f"05{digits(1)}-{digits(7)}", f"+972 5{digits(1)}-{digits(3)}-{digits(4)}"]),
        "foreign": chance.choice([f"+420 7{digits(2)} {digits(3)} {digits(3)}", f"(212) 5{digits(2)}-{digits(4)}"]),
        "mail": f"{chance.choice(['dana', 'jan.novak', 'office'])}{digits(2)}@example.com",
        "card": f"4{digits(3)} {digits(4)} {digits(4)} {digits(4)}", "iban": f"IL62{digits(19)}",
    }  # fmt: skip
    return template.format(**values)


def annotated() -> list[dict[str, Any]]:
    """The annotated texts of presidio-research; empty where they are absent."""
    return json.loads(ANNOTATED.read_text(encoding="utf-8")) if ANNOTATED.exists() else []


def redactor() -> PIIRedactor:
    """A redactor for the entities that are compared."""
    policy = Policy(entities=ENTITIES, action="replace")
    return PIIRedactor({"default": policy}, Keys(b"i" * 32, b"p" * 32, "k1"))


def measure(turns: int = 3) -> dict[str, Any]:
    """Texts a second of both, and their ratio, for each set of texts."""
    from presidio_anonymizer import AnonymizerEngine

    stock_engine, anonymizer = engine.stock_recognizers(ENTITIES), AnonymizerEngine()

    def stock(texts: list[str]) -> None:
        for text in texts:
            anonymizer.anonymize(text, stock_engine.analyze(text, "en", entities=ENTITIES))

    def fast(texts: list[str]) -> None:
        phones.clear_cache()
        redactor().redact_many(texts, "default")  # a new one remembers no text

    sets = {"chat": chat_texts(4000), "mail": mail_texts(500), "nothing": quiet_texts(4000)}
    if texts := [row["full_text"] for row in annotated()]:
        sets["presidio_research"] = texts
    for run in (stock, fast):
        run(sets["mail"][:50])
    return {name: _compared(texts, stock, fast, turns) for name, texts in sets.items()}


def _compared(
    texts: list[str], stock: Callable[[list[str]], None], fast: Callable[[list[str]], None], turns: int
) -> Any:
    seconds: dict[str, list[float]] = {"stock": [], "relrag": []}
    for _ in range(turns):
        for name, run in (("stock", stock), ("relrag", fast)):
            begun = time.perf_counter()
            run(texts)
            seconds[name].append(time.perf_counter() - begun)
    stock_s, ours_s = (statistics.median(values) for values in seconds.values())
    rates = {"stock_texts_per_s": round(len(texts) / stock_s), "relrag_texts_per_s": round(len(texts) / ours_s)}
    return {"texts": len(texts), **rates, "ratio": round(stock_s / ours_s, 2)}


def found_and_missed() -> dict[str, dict[str, dict[str, float]]]:
    """Precision and recall by entity on the annotated texts, for Presidio as it comes and for ours; overlap counts."""
    ours, stock = redactor(), engine.stock_recognizers(ENTITIES)
    finders: dict[str, Callable[[str], list[tuple[str, int, int]]]] = {
        "stock": lambda text: [
            (one.entity_type, one.start, one.end) for one in stock.analyze(text, "en", entities=ENTITIES)
        ],
        "relrag": lambda text: [(one.type, one.start, one.end) for one in ours.detect(text, "default")],
    }
    return {name: _scores(find) for name, find in finders.items()}


def _scores(find: Callable[[str], list[tuple[str, int, int]]]) -> dict[str, dict[str, float]]:
    hits = {entity: [0, 0, 0, 0] for entity in ENTITIES}  # found, of those right, annotated, of those found
    for row in annotated():
        found = find(row["full_text"])
        wanted = [(one["entity_type"], one["start_position"], one["end_position"]) for one in row["spans"]]
        for entity, counts in hits.items():
            f, w = ([one[1:] for one in many if one[0] == entity] for many in (found, wanted))
            right = [a for a in f if any(a[0] < b[1] and b[0] < a[1] for b in w)]
            met = [b for b in w if any(a[0] < b[1] and b[0] < a[1] for a in f)]
            for place, many in enumerate((f, right, w, met)):
                counts[place] += len(many)
    return {
        entity: {"precision": round(right / max(1, f), 3), "recall": round(met / max(1, w), 3), "annotated": w}
        for entity, (f, right, w, met) in hits.items()
    }


def main() -> None:
    """Prints both."""
    for name, row in measure().items():
        print(
            f"{name:18} {row['texts']:5} texts  stock {row['stock_texts_per_s']:6}/s  "
            f"relrag {row['relrag_texts_per_s']:6}/s  x{row['ratio']}"
        )
    if annotated():
        for name, scores in found_and_missed().items():
            for entity, score in scores.items():
                print(f"{name:8} {entity:15} precision {score['precision']:.3f}  recall {score['recall']:.3f}")


if __name__ == "__main__":
    main()
