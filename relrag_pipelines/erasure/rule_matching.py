"""Matches records against the rules of erasure, so that no later sync brings them back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.erasure import record_fingerprints, shingles, word_hashes
from relrag_pipelines.erasure.rule_file import ErasureRule, ForgettingError
from relrag_pipelines.identity.participants import ParsedIdentifier, parse_identifiers
from relrag_pipelines.pii import emails, phones
from relrag_pipelines.pii.json_values import as_integer
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Record
from relrag_pipelines.sources import mail_ids
from relrag_pipelines.text.analyzer import PREFIXED

_WORD = re.compile(r"[^\W_]+")
_CONSTANT_COLUMNS = frozenset({"source", "kind", "rag_source_type", "content_hash", "timestamp", "date_quality"})
"""columns whose values relrag makes, not the sources"""
_MAX_CACHED_WORDS = 200_000

Rows = npt.NDArray[np.bool_]
"""a mask over the rows of a table"""


def _hashed_names(identifiers: Iterable[ParsedIdentifier], keys: Keys) -> list[list[str]]:
    """The keyed forms of the names among identifiers."""
    names = (_name(identifier.normalised, keys) for identifier in identifiers if identifier.kind == "name")
    return [name for name in names if name]


def for_person(who: str, keys: Keys, at: str, also: Iterable[str] = (), regions: tuple[str, ...] = ()) -> ErasureRule:
    """The rule for a person: by each address and number in `who`, and by the name if there is one.

    `also` are further names and addresses of that person; `regions` are the countries of numbers without a code.
    Raises ForgettingError if `who` holds no name, address or number.
    """
    identifiers = parse_identifiers(who, regions=regions)
    if not any(identifier.kind != "name" or _words(identifier.normalised) for identifier in identifiers):
        raise ForgettingError(f'"{who}" is not a name, address or phone number; write it as the archive does')
    identifiers += [identifier for text in also for identifier in parse_identifiers(text, regions=regions)]
    forms = {form for identifier in identifiers for form in _address_forms(identifier, regions)}
    addresses = [_keyed_hash(keys, *form) for form in sorted(forms)]
    return ErasureRule(0, "person", at, names=_hashed_names(identifiers, keys), addresses=addresses)


def _address_forms(identifier: ParsedIdentifier, regions: tuple[str, ...]) -> set[tuple[str, str]]:
    """Kind and value of every form of an address or number; none of a name."""
    if identifier.kind == "name":
        return set()
    if identifier.kind == "phone":
        return {(identifier.kind, form) for form in phones.every_form(identifier.value, regions)}
    return {(identifier.kind, identifier.normalised)}


def for_records(asset_ids: Iterable[str], keys: Keys, at: str) -> ErasureRule:
    """The rule for records with these current ids."""
    ids = sorted(keyed_id(asset_id, keys) for asset_id in asset_ids)
    return ErasureRule(0, "records", at, ids=ids, single_mails=ids)


def keyed_id(asset_id: str, keys: Keys) -> str:
    """The keyed hash of a record's id, as rules store it."""
    return _keyed_hash(keys, "id", asset_id)


class RuleMatcher:
    """Decides what the rules name; caches the hashes of words."""

    def __init__(self, rules: Iterable[ErasureRule], keys: Keys, regions: tuple[str, ...] = ()) -> None:
        rules = list(rules)
        self._keys, self._regions = keys, regions
        self.before = max((rule.before for rule in rules if rule.before is not None), default=None)
        """records of an earlier time are left out; seconds, UTC"""
        self._ids = set[str]().union(*(rule.ids for rule in rules))
        self._single_mails = set[str]().union(*(rule.single_mails for rule in rules))
        self._message_ids = self._ids - self._single_mails
        self._hints = self._ids.union(*(rule.hints for rule in rules))  # older rules have certain messages as ids
        self._addresses = set[str]().union(*(rule.addresses for rule in rules))
        names = [tuple(name) for rule in rules for name in rule.names]
        self._names = {*names, *(name[::-1] for name in names)}
        self._lengths = sorted({len(name) for name in names})
        self._words = {word for name in names for word in name}
        self._seen: dict[str, str] = {}
        self._text_hashes = word_hashes.decode(rule.said for rule in rules)
        self._spoken_words = word_hashes.WordHasher(keys.id_hash)

    def __bool__(self) -> bool:
        return self.before is not None or bool(self._ids or self._addresses or self._names or len(self._text_hashes))

    @property
    def names_persons(self) -> bool:
        """Whether a rule names a person."""
        return bool(self._addresses or self._names)

    @property
    def reads_texts(self) -> bool:
        """Whether a text alone can match: a rule names a person or stores hashes of mail texts."""
        return self.names_persons or len(self._text_hashes) > 0

    @property
    def reserves_ids(self) -> bool:
        """Whether the rules reserve any id."""
        return bool(self._single_mails)

    def reserves(self, asset_id: str) -> bool:
        """Whether a forgotten mail had that id: a new mail with it would match the rule by mistake."""
        return keyed_id(asset_id, self._keys) in self._single_mails

    def rows(self, records: pa.Table, removed_ids: set[str]) -> Rows:
        """The private records that the rules name.

        Adds their ids to `removed_ids`. Parts (attachments) of a record in `removed_ids` match too.
        """
        matches = np.zeros(records.num_rows, dtype=bool)
        if not self or not records.num_rows:
            return matches
        if self.before is not None:
            matches |= pc.fill_null(pc.less(records["ts"], self.before), False).to_numpy()
        if self._ids:
            matches |= self._by_id(records)
        if self._names or self._addresses:
            matches |= self._by_person(records)
        asset_ids = records["asset_id"].to_pylist()
        removed_ids.update(asset_id for asset_id, matched in zip(asset_ids, matches, strict=True) if matched)
        _add_parts(records, matches, removed_ids)
        return matches

    def names(self, text: str) -> bool:
        """Whether a text names a person to be forgotten."""
        return self._has_address(text) or self._has_name(text)

    def likely_rows(self, records: pa.Table) -> list[int]:
        """The private records that may be forgotten ones under another id; only the owner can decide."""
        if not self._hints:
            return []
        rows = {
            mark.row
            for mark in record_fingerprints.fingerprints(records, self._keys)
            if not mark.sure and mark.hash in self._hints
        }
        return sorted(rows)

    def quotes(self, text: str) -> bool:
        """Whether a text quotes a mail to be forgotten."""
        return len(self._text_hashes) > 0 and word_hashes.matches_run(text, self._text_hashes, self._spoken_words)

    def cut_quotations(self, record: Record) -> bool:
        """Cuts the words of forgotten mails out of a mail's quotations; whether there were any."""
        if not len(self._text_hashes) or "apart" not in record.extra:
            return False
        ancestors = [
            asset_id
            for asset_id in (record.parent_asset_id, *record.extra.get("references", ()))
            if isinstance(asset_id, str)
        ]
        forgotten = [keyed_id(asset_id, self._keys) in self._ids for asset_id in ancestors]
        answers = record.parent_asset_id is not None and forgotten[0]
        return shingles.cut_from_mail(
            record, self._text_hashes, self._spoken_words, answers=answers, follows=any(forgotten)
        )

    def _by_id(self, records: pa.Table) -> Rows:
        keys, ids = self._keys, self._ids
        matches = np.array([self._has_id(asset_id) for asset_id in records["asset_id"].to_pylist()], dtype=bool)
        similar_rows = []
        for row, hashed, sure, _ in record_fingerprints.fingerprints(records, keys):
            if sure:
                matches[row] |= hashed in ids
            elif hashed in self._hints:
                similar_rows.append(row)
        matches[record_fingerprints.renamed_chat_rows(records, similar_rows)] = True
        return matches

    def _has_id(self, asset_id: str) -> bool:
        """Whether a rule names the id, or its Message-ID and so all mails with that Message-ID."""
        if keyed_id(asset_id, self._keys) in self._ids:
            return True
        plain = mail_ids.plain_id(asset_id)
        hashed = keyed_id(plain, self._keys) if plain != asset_id else ""
        return hashed in self._message_ids

    def _by_person(self, records: pa.Table) -> Rows:
        matches = np.zeros(records.num_rows, dtype=bool)
        for name, texts, rows in external_strings(records):
            words = texts.dictionary_encode()
            naming = [
                index
                for index, text in enumerate(words.dictionary.to_pylist())
                if any(map(self.names, _texts_in_value(name, text)))
            ]
            if naming:
                matches[rows[np.isin(words.indices.to_numpy(), naming)]] = True
        return matches

    def _has_address(self, text: str) -> bool:
        if not self._addresses:
            return False
        identifiers = (
            [identifier for start, end, *_ in emails.find(text) for identifier in parse_identifiers(text[start:end])]
            if "@" in text
            else []
        )
        keyed = {_keyed_hash(self._keys, identifier.kind, identifier.normalised) for identifier in identifiers}
        return not (keyed | self._phone_hashes(text)).isdisjoint(self._addresses)

    def _phone_hashes(self, text: str) -> set[str]:
        """The keyed hashes of the phone numbers in a text."""
        if sum(map(str.isdecimal, text)) <= 4:
            return set()
        numbers = [text[start:end] for start, end, *_ in phones.find(text, self._regions)]
        # in every form: a rule still matches after the regions have changed
        forms = {form for number in numbers for form in phones.every_form(number, self._regions)}
        return {_keyed_hash(self._keys, "phone", form) for form in forms}

    def _has_name(self, text: str) -> bool:
        if not self._names:
            return False
        keyed = [self._keyed_word(word) for word in _words(text)]
        if not any(keyed):
            return False
        return any(
            tuple(keyed[start : start + length]) in self._names
            for length in self._lengths
            for start in range(len(keyed) - length + 1)
        )

    def _keyed_word(self, word: str) -> str:
        """The word's keyed hash if a name contains it, with or without prefixed letters; else empty."""
        if (cached := self._seen.get(word)) is not None:
            return cached
        if len(self._seen) >= _MAX_CACHED_WORDS:
            self._seen.clear()
        forms = [word, *(word[cut:] for cut in (1, 2) if has_prefix(word, cut))]
        keyed = (_keyed_hash(self._keys, "word", form) for form in forms)
        self._seen[word] = next((hashed for hashed in keyed if hashed in self._words), "")
        return self._seen[word]


def has_prefix(word: str, letters: int) -> bool:
    """Whether the first `letters` characters of a word may be a prefix, such as a Hebrew article."""
    return len(word) > letters + 1 and set(word[:letters]) <= set(PREFIXED)


def external_strings(records: pa.Table) -> Iterator[tuple[str, pa.Array, npt.NDArray[np.int64]]]:
    """Yields the strings that come from the sources: column, strings, and the row of each."""
    every = np.arange(records.num_rows, dtype=np.int64)
    for column in records.schema.names:
        if column not in _CONSTANT_COLUMNS:
            yield from _strings(column, records[column].combine_chunks(), every)


def _strings(name: str, array: Any, rows: npt.NDArray[np.int64]) -> Iterator[tuple[str, Any, npt.NDArray[np.int64]]]:
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_list(array.type):
        yield from _strings(name, pc.list_flatten(array), rows[pc.list_parent_indices(array).to_numpy()])
    elif pa.types.is_struct(array.type):
        for part in array.flatten():
            yield from _strings(name, part, rows)
    elif pa.types.is_string(array.type):
        valid = array.is_valid()
        yield name, array.drop_null(), rows[valid.to_numpy(zero_copy_only=False)]


def _texts_in_value(column: str, text: str) -> list[str]:
    """The texts in a string; in the column `extra`, the texts within its JSON."""
    return list(json_texts(orjson.loads(text))) if column == "extra" else [text]


def json_texts(value: Any) -> Iterator[str]:
    """All texts within a JSON value, with its keys and whole numbers."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from json_texts(part)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from json_texts(part)
    elif (number := as_integer(value)) is not None:
        yield str(number)


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _name(normalised: str, keys: Keys) -> list[str]:
    return [_keyed_hash(keys, "word", word) for word in _words(normalised)]


def _keyed_hash(keys: Keys, kind: str, value: str) -> str:
    # differs from the hash in ids, so that a rule cannot be matched with the remaining records
    return keys.id_hash(f"forget\0{kind}\0{value}")


def _add_parts(records: pa.Table, matches: Rows, removed_ids: set[str]) -> None:
    """Adds the parts of removed records, and the parts of these, to the matches and to `removed_ids`."""
    asset_ids = records["asset_id"].to_pylist()
    contained = pc.and_(pc.is_valid(records["parent_asset_id"]), pc.is_valid(records["index_in_parent"]))
    for row in pc.indices_nonzero(contained).to_pylist():  # a container precedes its parts
        if records["parent_asset_id"][row].as_py() in removed_ids:
            matches[row] = True
            removed_ids.add(asset_ids[row])
