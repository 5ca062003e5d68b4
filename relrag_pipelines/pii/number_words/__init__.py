"""Words that announce the kind of a number: a phone, an order, an invoice; `numbers.toml` of each language.

Its keys, all lists and all optional:

- `region`: the country whose numbers a text in this language most likely holds, ISO 3166-1
- `phone`: words that announce a phone number: `mobile`, `my number`
- `call`: verbs of reaching somebody; between one and its number up to two other words and a word of `at` may stand
- `at`: what stands between such a verb and the number: `call Petr on 777 123 456`
- `between`: what may stand between a word of `phone` or `call` and the number: `number`, `is`, `home`
- `after`: words that say behind a number that it is a phone: `020 7946 0958 (office)`
- `other`: words that announce another number: `order`, `invoice`, `passport`
- `number`: what may stand between a word of `other` and the number
- `postcode`: words for a postcode, which make no phone of the eight digits behind them
- `local`: words for a number that make a phone of `482-7163`
- `amount`: currencies, and nouns that are counted: `612 408 350 euros`, `945 182 739 inhabitants`
- `card`: words for a payment card
- `account`: words for an account or a payment, behind which a card may stand
- `passport`, `id_card`, `licence`: words for a passport, an identity card, a driving licence
- `series`, `word_number`: words between such a word and the number, or within it: `series 46 11 number 382705`
- `glued`: letters that are written together with the word behind them, as in Hebrew and Arabic
- `digits`: the words for 0 to 9, in order, with `/` between several for one digit
- `teens`, `tens`, `hundreds`: the words for 10 to 19, for 20, 30 and so on, for 100, 200 and so on, in the same form
- `joiner`: what may stand between tens and units: `treinta y nueve`; `unit_first` where the unit comes first:
  `neununddreißig`; `vigesimal`: tens that teens are added to: `7:soixante`
- `repeat`: the words for two and three times the digit behind them: `double`, `triple`

Capital letters and accents do not count. `telefon*` stands for every word that begins so; `_` for any one word. Words
of languages that leave no blanks are found at the end of what stands in front.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

from relrag_pipelines import languages
from relrag_pipelines.errors import SafeError


class NumberWordsError(SafeError):
    """A file of number words is not as it has to be; the message names the file, the key and what is wrong."""


@dataclass(frozen=True)
class NumberWords:
    """The words of one language."""

    language: str
    region: tuple[str, ...] = ()
    phone: tuple[str, ...] = ()
    call: tuple[str, ...] = ()
    at: tuple[str, ...] = ()
    between: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    postcode: tuple[str, ...] = ()
    local: tuple[str, ...] = ()
    amount: tuple[str, ...] = ()
    card: tuple[str, ...] = ()
    account: tuple[str, ...] = ()
    passport: tuple[str, ...] = ()
    id_card: tuple[str, ...] = ()
    licence: tuple[str, ...] = ()
    series: tuple[str, ...] = ()
    word_number: tuple[str, ...] = ()
    glued: tuple[str, ...] = ()
    digits: tuple[str, ...] = ()
    teens: tuple[str, ...] = ()
    tens: tuple[str, ...] = ()
    hundreds: tuple[str, ...] = ()
    joiner: tuple[str, ...] = ()
    unit_first: tuple[str, ...] = ()
    vigesimal: tuple[str, ...] = ()
    repeat: tuple[str, ...] = ()


_KEYS = frozenset(field.name for field in fields(NumberWords)) - {"language"}


@functools.cache
def load() -> tuple[NumberWords, ...]:
    """The words of every language, by its code. Raises NumberWordsError."""
    return tuple(read(languages.path(code, "numbers")) for code in languages.codes("numbers"))


def read(path: Path) -> NumberWords:
    """The words in a file. Raises NumberWordsError."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    if unknown := sorted(content.keys() - _KEYS):
        raise NumberWordsError(
            f"{path.parent.name}/{path.name}: {unknown[0]} is not known; known: {', '.join(sorted(_KEYS))}"
        )
    if len(content.get("digits", range(10))) != 10:
        raise NumberWordsError(
            f"{path.parent.name}/{path.name}: digits has {len(content['digits'])} entries; write one for each of 0 to 9"
        )
    for key, words in content.items():
        if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
            raise NumberWordsError(f"{path.parent.name}/{path.name}: {key} is not a list of words")
    return NumberWords(path.parent.name, **{key: tuple(words) for key, words in content.items()})
