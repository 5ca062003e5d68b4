"""The words of the pages in a reader's language: the tables under `web` of `page.toml`.

A template asks for a text by table and key: `say("archive.sync")`. What a language lacks is shown in English.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from babel import Locale, dates, numbers
from markupsafe import Markup, escape

from relrag_pipelines import languages
from relrag_pipelines.errors import RelragError
from relrag_query.display.inert_text import ISOLATED, isolated, safe
from relrag_query.display.page_texts import page_texts

TABLE = "web"
"""the table of `page.toml`; the other entries are the words around answers"""
_MAX_HEADER_CHARACTERS = 1000
_KEYS = frozenset({"job", "settings"})
"""values in messages that are keys: each is shown by the text that the table of that name has for it"""
Text = str | Mapping[str, str]
"""a text, or its forms by the plural categories of the Unicode CLDR"""


class Wording:
    """The texts of one language, and how it writes numbers and days."""

    def __init__(self, code: str, locale: Locale, texts: Mapping[str, Text]) -> None:
        self.code, self._locale = code, locale
        self.direction: str = locale.text_direction
        """`ltr` or `rtl`"""
        self._texts = {key: _as_markup(text) for key, text in texts.items()}
        self._plain = texts

    def say(self, key: str, count: int | None = None, **values: Any) -> Markup:
        """The text of a key, filled in; a `count` chooses its form. Raises KeyError for an unknown key."""
        text = self._texts[key]
        if not isinstance(text, Markup):
            text = text.get(self._locale.plural_form(count or 0)) or text["other"]
        if count is not None:
            values["count"] = count
        return text.format(**{name: self._shown(value) for name, value in values.items()})

    def name_of(self, table: str, value: str) -> str:
        """What a value of a fixed set is called; a value without a text by itself."""
        text = self._texts.get(f"{table}.{value}")
        return text if isinstance(text, Markup) else value.replace("_", " ")

    def error(self, error: Exception) -> str:
        """What went wrong; empty if the pages have no text for it."""
        if not isinstance(error, RelragError) or not error.code:
            return ""
        return self.fill(f"error.{error.code}", **error.values)

    def fill(self, key: str, **values: str | int) -> str:
        """The text of a key as it is written, filled in: no markup, `commands` stay in backticks."""
        return str(self._plain[key]).format(**{name: self._named(name, value) for name, value in values.items()})

    def table(self, name: str) -> dict[str, Text]:
        """The texts of a table as they are, for scripts of the pages."""
        return {key.partition(".")[2]: text for key, text in self._plain.items() if key.startswith(f"{name}.")}

    def number(self, value: float) -> str:
        """A number with the separators of the language: 12,500."""
        return numbers.format_decimal(value, locale=self._locale)

    def day(self, time: str | None, *, clock: bool = True) -> str:
        """An ISO time: 15 January 2025, 10:12. A day or a year has no clock time."""
        if not time:
            return str(self.say("base.undated"))
        if time.isdecimal():
            return time
        moment = datetime.fromisoformat(time)
        day = dates.format_date(moment.date(), "long", self._locale)
        return f"{day}, {moment:%H:%M}" if clock and "T" in time else day

    def months(self) -> list[str]:
        """Short names of the twelve months."""
        return list(dates.get_month_names("abbreviated", "stand-alone", self._locale).values())

    def noun(self, rag_source_type: str) -> str:
        """The noun for a type of records."""
        if not rag_source_type:
            return str(self.say("base.a_record"))
        return page_texts(self.code).noun(rag_source_type)

    def count_records(self, rag_source_type: str, count: int) -> str:
        """A count of records with its noun: 3 mails."""
        return page_texts(self.code).count(rag_source_type, count)

    def _named(self, name: str, value: str | int) -> str:
        if name in _KEYS and f"{name}.{value}" in self._plain:
            return str(self._plain[f"{name}.{value}"])
        return isolated(value) if isinstance(value, str) else str(self._shown(value))

    def _shown(self, value: Any) -> Any:
        if isinstance(value, (int, float)):
            return self.number(value)
        return value if isinstance(value, Markup) else safe(str(value))


def wording(code: str) -> Wording:
    """The words of a language; those of English if it has none. Raises LanguageError where its file cannot be used."""
    return _wording(languages.path(languages.DEFAULT, "page"), languages.path(code, "page"), code)


def preferred(accept_language: str) -> str:
    """The language of the pages that a browser likes best, by its header Accept-Language; English for others."""
    known = written()
    ranked = sorted(map(_liking, accept_language[:_MAX_HEADER_CHARACTERS].split(",")), key=lambda entry: -entry[1])
    return next((code for code, liking in ranked if liking > 0 and code in known), languages.DEFAULT)


def preferred_wording(accept_language: str) -> Wording:
    """The words of the language that a browser likes best."""
    return wording(preferred(accept_language))


def written() -> frozenset[str]:
    """The languages that have texts of the pages."""
    return frozenset(code for code in languages.codes("page") if TABLE in languages.table(code, "page"))


def _liking(entry: str) -> tuple[str, float]:
    """(language, weight) of an entry such as `pt-BR;q=0.8` (RFC 9110, 12.5.4); weight 0 where it cannot be read."""
    tag, _, quality = entry.partition(";")
    code = tag.strip().partition("-")[0].lower()
    if not quality.strip():
        return code, 1.0
    try:
        return code, float(quality.strip().removeprefix("q="))
    except ValueError:
        return code, 0.0


@functools.cache
def _wording(default: Path, own: Path, code: str) -> Wording:
    fallback = flat(languages.table(languages.DEFAULT, "page")[TABLE])
    given = flat(languages.table(code, "page").get(TABLE, {})) if own.is_file() else {}
    if not given:
        code = languages.DEFAULT
    texts = {**fallback, **given}
    locale = texts["locale"]
    assert isinstance(locale, str)
    return Wording(code, Locale.parse(locale), texts)


def flat(table: Mapping[str, Any]) -> dict[str, Text]:
    """The texts of all tables by `table.key`; forms of a plural stay together."""
    texts: dict[str, Text] = {}
    for name, entry in table.items():
        if isinstance(entry, str) or "other" in entry:
            texts[name] = entry
        else:
            texts |= {f"{name}.{key}": text for key, text in flat(entry).items()}
    return texts


def _as_markup(text: Text) -> Markup | dict[str, Markup]:
    if isinstance(text, str):
        return commands(text)
    return {category: commands(form) for category, form in text.items()}


def commands(text: str) -> Markup:
    """A message of this program with `commands` in backticks as code; the rest is escaped."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # an unpaired backtick
        return _with_isolates(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(safe(part)) if odd % 2 else _with_isolates(part)
        for odd, part in enumerate(parts)
    )


def _with_isolates(text: str) -> Markup:
    """An escaped text; what `isolated` made is an element of its own."""
    return Markup("").join(
        Markup("<bdi>{}</bdi>").format(safe(part)) if odd % 2 else escape(safe(part))
        for odd, part in enumerate(ISOLATED.split(text))
    )
