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
from relrag_pipelines.identity.participants import parse_identifiers
from relrag_pipelines.pii import emails, phones
from relrag_pipelines.pii.json_values import as_integer
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Record
from relrag_pipelines.sources import mail_ids
from relrag_pipelines.text.analyzer import PREFIXED

_WORD = re.compile(r"[^\W_]+")
_OURS = frozenset({"source", "kind", "rag_source_type", "content_hash", "timestamp", "date_quality"})
"""columns of a record whose words are this project's own"""
_MEMORY = 200_000

Rows = npt.NDArray[np.bool_]
"""which rows of a table are meant"""


def for_person(who: str, keys: Keys, at: str, also: Iterable[str] = (), regions: tuple[str, ...] = ()) -> ErasureRule:
    """The rule for whoever is named: by each address and number in `who`, and by the name if there is one.

    `also` are further names and addresses of that person, `regions` the countries that a number without a code may be
    of. Raises ForgettingError where `who` names nobody.
    """
    named = parse_identifiers(who, regions=regions)
    if not any(one.kind != "name" or _words(one.normalised) for one in named):
        raise ForgettingError(f'"{who}" is not a name, address or phone number; write it as the archive does')
    named += [one for more in also for one in parse_identifiers(more, regions=regions)]
    names = [_name(one.normalised, keys) for one in named if one.kind == "name"]
    forms = {
        (one.kind, form)
        for one in named
        if one.kind != "name"
        for form in (phones.every_form(one.value, regions) if one.kind == "phone" else {one.normalised})
    }
    addresses = [_keyed_hash(keys, *form) for form in sorted(forms)]
    return ErasureRule(0, "person", at, names=[name for name in names if name], addresses=addresses)


def for_records(asset_ids: Iterable[str], keys: Keys, at: str) -> ErasureRule:
    """The rule for records by their ids, as they are called now."""
    ids = sorted(keyed_id(one, keys) for one in asset_ids)
    return ErasureRule(0, "records", at, ids=ids, single_mails=ids)


def keyed_id(asset_id: str, keys: Keys) -> str:
    """What a rule keeps of a record's id."""
    return _keyed_hash(keys, "id", asset_id)


class RuleMatcher:
    """Tells what the rules name; it remembers the words that it has seen, which come again and again."""

    def __init__(self, rules: Iterable[ErasureRule], keys: Keys, regions: tuple[str, ...] = ()) -> None:
        rules = list(rules)
        self._keys, self._regions = keys, regions
        self.before = max((rule.before for rule in rules if rule.before is not None), default=None)
        """records of an earlier time are left out; seconds, UTC"""
        self._ids = {one for rule in rules for one in rule.ids}
        self._single_mails = {one for rule in rules for one in rule.single_mails}
        self._message_ids = self._ids - self._single_mails
        self._hints = self._ids | {one for rule in rules for one in rule.hints}  # older rules took messages for sure
        self._addresses = {one for rule in rules for one in rule.addresses}
        names = [tuple(name) for rule in rules for name in rule.names]
        self._names = {*names, *(name[::-1] for name in names)}
        self._lengths = sorted({len(name) for name in names})
        self._words = {word for name in names for word in name}
        self._seen: dict[str, str] = {}
        self._said = word_hashes.decode(rule.said for rule in rules)
        self._spoken_words = word_hashes.WordHasher(keys.id_hash)

    def __bool__(self) -> bool:
        return self.before is not None or bool(self._ids or self._addresses or self._names or len(self._said))

    @property
    def of_persons(self) -> bool:
        """Whether they name any person."""
        return bool(self._addresses or self._names)

    @property
    def of_texts(self) -> bool:
        """Whether a text alone may tell: they name a person, or know what a mail says."""
        return self.of_persons or len(self._said) > 0

    @property
    def reserves_ids(self) -> bool:
        """Whether there is any id that no mail may have."""
        return bool(self._single_mails)

    def reserves(self, asset_id: str) -> bool:
        """Whether no mail may have that id: one that was forgotten had it, and the rule would take the other, too."""
        return keyed_id(asset_id, self._keys) in self._single_mails

    def rows(self, records: pa.Table, gone: set[str]) -> Rows:
        """Which private records are to be forgotten.

        `gone` are the ids of records found so; parts of one of them (attachments) are found with it, and added.
        """
        found = np.zeros(records.num_rows, dtype=bool)
        if not self or not records.num_rows:
            return found
        if self.before is not None:
            found |= pc.fill_null(pc.less(records["ts"], self.before), False).to_numpy()
        if self._ids:
            found |= self._by_id(records)
        if self._names or self._addresses:
            found |= self._by_person(records)
        asset_ids = records["asset_id"].to_pylist()
        gone.update(asset_id for asset_id, is_found in zip(asset_ids, found, strict=True) if is_found)
        contained = pc.and_(pc.is_valid(records["parent_asset_id"]), pc.is_valid(records["index_in_parent"]))
        for row in pc.indices_nonzero(contained).to_pylist():  # a container stands before its parts
            if records["parent_asset_id"][row].as_py() in gone:
                found[row] = True
                gone.add(asset_ids[row])
        return found

    def names(self, text: str) -> bool:
        """Whether a text names a person that is to be forgotten."""
        return self._has_address(text) or self._has_name(text)

    def likely_rows(self, records: pa.Table) -> list[int]:
        """Which private records may be forgotten ones under another id; it takes the owner to tell."""
        if not self._hints:
            return []
        found = {
            one.row
            for one in record_fingerprints.fingerprints(records, self._keys)
            if not one.sure and one.hash in self._hints
        }
        return sorted(found)

    def quotes(self, text: str) -> bool:
        """Whether a text quotes a mail that is to be forgotten."""
        return len(self._said) > 0 and word_hashes.matches_run(text, self._said, self._spoken_words)

    def leave_out(self, record: Record) -> bool:
        """Cuts out of what a mail quotes the words of mails that are to be forgotten; whether there were any."""
        if not len(self._said) or "apart" not in record.extra:
            return False
        above = [one for one in (record.parent_asset_id, *record.extra.get("references", ())) if isinstance(one, str)]
        gone = [keyed_id(one, self._keys) in self._ids for one in above]
        answers = record.parent_asset_id is not None and gone[0]
        return shingles.cut_from_mail(record, self._said, self._spoken_words, answers=answers, follows=any(gone))

    def _by_id(self, records: pa.Table) -> Rows:
        keys, ids = self._keys, self._ids
        found = np.array([self._has_id(one) for one in records["asset_id"].to_pylist()], dtype=bool)
        alike = []
        for row, hashed, sure, _ in record_fingerprints.fingerprints(records, keys):
            if sure:
                found[row] |= hashed in ids
            elif hashed in self._hints:
                alike.append(row)
        found[record_fingerprints.renamed_chat_rows(records, alike)] = True
        return found

    def _has_id(self, asset_id: str) -> bool:
        """Whether a rule names the id, or the Message-ID in it and with that all mails that bear it."""
        if keyed_id(asset_id, self._keys) in self._ids:
            return True
        plain = mail_ids.plain_id(asset_id)
        hashed = keyed_id(plain, self._keys) if plain != asset_id else ""
        return hashed in self._message_ids

    def _by_person(self, records: pa.Table) -> Rows:
        found = np.zeros(records.num_rows, dtype=bool)
        for name, texts, rows in external_strings(records):
            words = texts.dictionary_encode()
            naming = [
                place
                for place, text in enumerate(words.dictionary.to_pylist())
                if any(map(self.names, _texts_in_value(name, text)))
            ]
            if naming:
                found[rows[np.isin(words.indices.to_numpy(), naming)]] = True
        return found

    def _has_address(self, text: str) -> bool:
        if not self._addresses:
            return False
        named = (
            [one for start, end, *_ in emails.find(text) for one in parse_identifiers(text[start:end])]
            if "@" in text
            else []
        )
        keyed = {_keyed_hash(self._keys, one.kind, one.normalised) for one in named}
        if sum(map(str.isdecimal, text)) > 4:
            numbers = [text[start:end] for start, end, *_ in phones.find(text, self._regions)]
            # in every form: a rule that was made when the regions were others holds still
            forms = {form for number in numbers for form in phones.every_form(number, self._regions)}
            keyed |= {_keyed_hash(self._keys, "phone", form) for form in forms}
        return not keyed.isdisjoint(self._addresses)

    def _has_name(self, text: str) -> bool:
        if not self._names:
            return False
        said = [self._keyed_word(word) for word in _words(text)]
        if not any(said):
            return False
        return any(
            tuple(said[start : start + length]) in self._names
            for length in self._lengths
            for start in range(len(said) - length + 1)
        )

    def _keyed_word(self, word: str) -> str:
        """Its keyed hash where a name holds the word, else nothing; prefixed letters are seen through."""
        if (known := self._seen.get(word)) is not None:
            return known
        if len(self._seen) >= _MEMORY:
            self._seen.clear()
        forms = [word, *(word[cut:] for cut in (1, 2) if has_prefix(word, cut))]
        keyed = (_keyed_hash(self._keys, "word", form) for form in forms)
        self._seen[word] = next((one for one in keyed if one in self._words), "")
        return self._seen[word]


def has_prefix(word: str, letters: int) -> bool:
    """Whether so many letters in front of a word may be no part of it."""
    return len(word) > letters + 1 and set(word[:letters]) <= set(PREFIXED)


def external_strings(records: pa.Table) -> Iterator[tuple[str, pa.Array, npt.NDArray[np.int64]]]:
    """The strings of records that came from outside: column, the strings themselves, and the row of each."""
    every = np.arange(records.num_rows, dtype=np.int64)
    for column in records.schema.names:
        if column not in _OURS:
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
    """The texts in a string: those within JSON where the column holds that."""
    return list(json_texts(orjson.loads(text))) if column == "extra" else [text]


def json_texts(value: Any) -> Iterator[str]:
    """All texts within a value of JSON, keys and whole numbers too."""
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


def _keyed_hash(keys: Keys, what: str, value: str) -> str:
    # not the hash that stands in ids, so that a rule cannot be matched with what is left
    return keys.id_hash(f"forget\0{what}\0{value}")
