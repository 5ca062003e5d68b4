"""What a kind of source declares about itself and its records.

Redaction, chunking, estimates, search, display and answers ask here; none of them knows a kind or a type by its name.
"""

from __future__ import annotations

import fnmatch
import functools
import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal, cast

from relrag_pipelines import languages

if TYPE_CHECKING:
    from relrag_pipelines.sources import Lister, Reader


@functools.cache
def _words(entries: tuple[str, ...]) -> str:
    tables = [languages.table(code, "kinds") for code in languages.codes("kinds")]
    return " ".join(table[entry] for entry in entries for table in tables if entry in table)


@dataclass(frozen=True)
class RecordType:
    """A type of records, `rag_source_type` in the tables."""

    name: str
    noun: str = ""
    """what an answer calls such a record"""
    plural: str = ""
    """plural of `noun`, where that isn't the noun with an s"""
    wording: str = ""
    """entry of languages/<code>/kinds.toml: words that a question may use for it, beside those of its own name"""
    tells: str = ""
    """the same of its contents: a contact card holds a phone number but doesn't call it one"""
    channel: str = ""
    """redaction policy of these records, whatever the source's settings are; empty: the policy of the source"""
    label: str = ""
    """the type in the compact line, if not `name`; {index} and {file} are the record's place and file"""
    about: str = ""
    """explains the compact line to a language model that answers from it"""
    part_of: str = ""
    """type of the record that it belongs to; alone it is listed only on request"""
    identifier: str = "name"
    """kind of identifier that the name of a sender is"""
    chat: bool = False
    """a message of a chat"""
    mail: bool = False
    """a mail, which quotes the mail that it replies to and may have many recipients"""
    verbatim: bool = False
    """code: punctuation in it isn't formatting"""
    spoken: bool = False
    """a transcript of speech: a call, a meeting"""
    card: bool = False
    """a contact card: everything in it is about one person"""
    about_people: bool = False
    """states facts and relationships of people; nobody wrote it as a message"""
    told_by_sender: bool = False
    """an answer introduces it by its sender or chat; other types by their text"""
    from_file: bool = False
    """its time is a file's modification time, which changes when the file is copied"""
    passages_are_parts: bool = False
    """if it has several passages, each passage is one of its parts"""
    from_all: bool = False
    """all participants are its senders"""
    from_address: bool = False
    """the address of its sender is shown: `Name <address>`"""
    details: bool = False
    """displayed details (hash, class, method) are in `extra`"""

    @property
    def words(self) -> str:
        """All words by which a question may name it, in any language; empty if none are declared."""
        return _words((self.wording, self.name))

    @property
    def content_words(self) -> str:
        """Words for what it contains, in any language."""
        return _words((self.tells,))

    def count_text(self, count: int) -> str:
        """A number of them, in words: `1 mail`, `3 pieces of code`."""
        noun = self.noun or self.name.replace("_", " ")
        return f"{count:,} {noun if count == 1 else self.plural or f'{noun}s'}"


@dataclass(frozen=True)
class Kind:
    """A kind of source, such as chats exported from WhatsApp."""

    name: str
    meaning: str
    version: int
    """raised when the reader's output changes, so that every unit is read again"""
    suffixes: tuple[str, ...]
    """lower-case suffixes of its units"""
    record_types: tuple[RecordType, ...]
    """types of the records that it reads; the first is the default for records that name none"""
    channel: str = "default"
    """redaction policy of its records, where their type has none"""
    options: tuple[str, ...] = field(default=("timezone",))
    """settings of a source that change the records"""
    companions: tuple[str, ...] = ()
    """lower-case suffixes of files that are read with the unit of the same name"""
    pairs_companions: bool = False
    """its module's `companions(names)` tells which belongs to which unit, where names differ by more than suffixes"""
    references_siblings: tuple[str, ...] = ()
    """suffixes of units whose records mention other files of their folder; a change there has them read again"""
    references_below: bool = False
    """its records mention files in the folder of their unit or below it; a change there has them read again"""
    context_names: tuple[str, ...] = ()
    """names of files in a unit's folder or the two above that decide how it is read; a change has it read again"""
    references_units: bool = False
    """its records mention other units by their paths; all are read again when one is added or removed"""
    asks_others: str = ""
    """fault word of a unit whose reading depends on other units: a change of one has it read again"""
    repeats: bool = False
    """its events repeat until some time after their file's, so that a file whose time changes is read again"""
    one_record_per_unit: bool = False
    """a unit is one record, so units of equal bytes are one record with several locations"""
    discovers_units: bool = False
    """its units are listed by its module's `units`; otherwise they are the files with its suffixes"""
    may_be_truncated: bool = False
    """a unit may lack the older part of a thread, so it covers only the time from its first record to its making"""
    module: str = ""
    """its module, if not `name`"""
    patterns: tuple[str, ...] = ()
    """further paths of its units, as glob patterns: files that have no suffix"""
    index_suffix: str = ""
    """a file without suffix is a unit if a file of its name with this suffix lies beside it"""
    subfolder_suffix: str = ""
    """how folders are called whose files without suffix are units"""
    threads: bool = False
    """thread_id is computed from the references between all records of the source"""
    allows_duplicates: bool = False
    """a unit may hold the same item twice: one record with two locations, not a mistake"""
    mutable: bool = False
    """its items are edited: the version changed last counts, by `extra` (formats/versions.py) or its file's time"""
    appends: bool = False
    """units grow at their end; the module's `starts_item_at(file, offset)` tells whether an item begins there"""
    ids_depend_on_names: bool = False
    """its ids contain a name that the owner may change: a chat's title, or that of the source"""
    single_process_option: str = ""
    """an option with which the reader loads a large model: then a single process reads all units"""
    source_name: str = ""
    """name that a new source of the kind gets, if not `name`"""
    shared_suffixes: bool = False
    """unrelated files (music, films, program data) share its suffixes, so an unrecognised file isn't reported"""
    repositories: Literal["", "history", "files"] = ""
    """what it reads of a git repository, so that `relrag init` proposes it for one"""
    any_text: bool = False
    """it recognises any text, so that being recognised by it says little of a file"""
    sent_in_chats: bool = False
    """its files are sent in chats too, so that one in the zip of a chat is part of the chat"""
    media_names: str = ""
    """regular expression for the names of media files that its exports contain"""
    record_mark: bytes = b""
    """bytes that begin each record of a file with many records"""
    record_bytes: int = 0
    """typical bytes of text in a record without `record_mark`; 0 where a file is one record"""
    own_ids: bool = False
    """its records' ids are their own, prefixed with the name of the source"""
    any_type: bool = False
    """its records may be of any type"""
    facts: bool = False
    """its records (of the first type) state facts under titles; a fact's value may be another record's title"""
    fetcher: str = ""
    """its module with `fetch`, which mirrors a server (`remote.fetcher_of`). Empty: nothing is fetched"""
    webhook: str = ""
    """its module with `store_event`, which stores what a server sends to `relrag serve`. Empty: nothing is received"""
    consents: bool = False
    """its secret is made by a consent in a browser, which `relrag login` asks for"""
    url_schemes: tuple[str, ...] = ()
    """schemes of addresses that its fetcher reads; an address makes a source one on a server"""
    mirror_suffix: str = ""
    """suffix of the items that its fetcher stores"""
    always_remote: bool = False
    """it reads servers only, no folder"""
    id_prefix: str = ""
    """how the ids of its records begin, if not with `name`: mail is named alike wherever it is read from"""
    backfills: bool = False
    """relrag can write its fields back into the source"""

    @property
    def ids_begin(self) -> str:
        """How the ids of its records begin."""
        return self.id_prefix or self.name

    @property
    def rag_source_type(self) -> str:
        """The type of records that do not name one."""
        return self.record_types[0].name

    @property
    def chat(self) -> bool:
        """Whether it reads chats, whose messages are indexed in windows."""
        return any(record_type.chat for record_type in self.record_types)

    @property
    def mail(self) -> bool:
        """Whether it reads mails."""
        return any(record_type.mail for record_type in self.record_types)

    def matches(self, path: str, is_beside: Callable[[str], bool] = lambda name: False) -> bool:
        """Whether the file at that path, relative to its source, is a unit of the kind.

        `is_beside` tells whether the file's folder holds a file of a name.
        """
        if path.lower().endswith(self.suffixes) or any(fnmatch.fnmatch(path, pattern) for pattern in self.patterns):
            return True
        folder, _, name = path.rpartition("/")
        if self.index_suffix and is_beside(f"{name}{self.index_suffix}"):
            return True
        return bool(self.subfolder_suffix) and folder.endswith(self.subfolder_suffix) and "." not in name

    @property
    def read(self) -> Reader:
        """The connector, imported when first used."""
        return cast("Reader", self._module().read)

    @property
    def starts_item_at(self) -> Callable[[Path, int], bool]:
        """Whether an item begins at that offset of a file, so that what lies before it is whole."""
        return cast("Callable[[Path, int], bool]", self._module().starts_item_at)

    def companions_of(self, names: Iterable[str]) -> Mapping[str, list[str]]:
        """Unit -> its companions, where the kind's module pairs the names of a folder."""
        return cast("Mapping[str, list[str]]", self._module().companions(names))

    @property
    def units(self) -> Lister | None:
        """The kind's own lister, if it has one."""
        return cast("Lister", self._module().units) if self.discovers_units else None

    @property
    def recognise(self) -> Callable[[Path], bool]:
        """Whether a file is one of this kind, by its name and its beginning; raises OSError where it cannot be read."""
        return cast("Callable[[Path], bool]", self._module().recognise)

    def _module(self) -> ModuleType:
        return importlib.import_module(f"{__package__}.{self.module or self.name}")
