"""What a kind of source declares about itself and its records.

Redaction, chunking, estimates, search, display and answers ask here; none of them knows a kind or a type by its name.
"""

from __future__ import annotations

import fnmatch
import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal, cast

if TYPE_CHECKING:
    from relrag_pipelines.sources import Lister, Reader


@dataclass(frozen=True)
class RecordType:
    """A type of records, `rag_source_type` in the tables."""

    name: str
    noun: str = ""
    """what one is called in an answer"""
    plural: str = ""
    """what several are called, where not with an s behind"""
    en: str = ""
    """words that a question in English may use for it"""
    he: str = ""
    """such words in Hebrew"""
    cs: str = ""
    """such words in Czech"""
    tells: str = ""
    """words for what it tells without saying so, in any language: a card does not call a phone number one"""
    channel: str = ""
    """redaction policy, whatever the source's settings say; empty for the policy of the source"""
    label: str = ""
    """what stands as its type in the compact line, where not its name; {index} and {file} are its place and file"""
    about: str = ""
    """what its compact line says, for a language model that answers from it"""
    part_of: str = ""
    """type of the records that it comes with; by itself it is listed only where it is asked for"""
    identifier: str = "name"
    """kind of identifier that the name of a sender is"""
    chat: bool = False
    """a message of a chat"""
    mail: bool = False
    """a mail, which quotes what it answers and may be sent to many"""
    verbatim: bool = False
    """code: its marks are no formatting"""
    spoken: bool = False
    """what was said aloud: a call, a meeting"""
    card: bool = False
    """all about one person"""
    about_people: bool = False
    """states facts and relationships of people, and is nothing that somebody wrote"""
    told_by_sender: bool = False
    """an answer tells it by who wrote it or in which chat; others by what they say"""
    from_file: bool = False
    """its time is that of a file, which may just have been copied"""
    passages_are_parts: bool = False
    """where it has several passages, their places are those of its parts"""
    from_all: bool = False
    """it is from all who took part"""
    from_address: bool = False
    """of who wrote it, `Name <address>`, the address is shown"""
    details: bool = False
    """its `extra` has what is shown of it: hash, class, method"""

    @property
    def words(self) -> str:
        """All words by which a question may name it; empty if none are declared."""
        return " ".join(filter(None, (self.en, self.he, self.cs)))

    def count_text(self, count: int) -> str:
        """A number of them, in words: `1 mail`, `3 pieces of code`."""
        noun = self.noun or self.name.replace("_", " ")
        return f"{count:,} {noun if count == 1 else self.plural or f'{noun}s'}"


@dataclass(frozen=True)
class Kind:
    """A kind of source."""

    name: str
    meaning: str
    version: int
    """raised when the reader reads differently, so that every unit is read again"""
    suffixes: tuple[str, ...]
    """lower-case suffixes of its units"""
    record_types: tuple[RecordType, ...]
    """types of the records that it reads; the first is that of records that name none"""
    channel: str = "default"
    """redaction policy of what it reads, where the record's own type has none"""
    options: tuple[str, ...] = field(default=("timezone",))
    """settings of a source that change what is read"""
    companions: tuple[str, ...] = ()
    """lower-case suffixes of files that belong to the unit that their name begins with"""
    references_siblings: tuple[str, ...] = ()
    """suffixes of units whose records tell of other files of their folder, so that these are read again with them"""
    asks_others: str = ""
    """fault word of a unit that was read by what other units of the source say, or waits for what they say: it is read
    again when one of them comes, goes or changes"""
    one_record_per_unit: bool = False
    """a unit is one record, so units of equal bytes are one record with several locations"""
    discovers_units: bool = False
    """its units are listed by its module's `units`; else they are the files with its suffixes"""
    may_be_truncated: bool = False
    """a unit may lack the older part of a thread, so it speaks of it only from its first record to when it was made"""
    module: str = ""
    """its module, where that has another name"""
    patterns: tuple[str, ...] = ()
    """further paths of its units, as glob patterns: files that have no suffix"""
    threads: bool = False
    """thread_id is not in the items: it follows from what they refer to, all of the source together"""
    allows_duplicates: bool = False
    """a unit may hold the same item twice: one record with two locations, not a mistake"""
    appends: bool = False
    """units grow at their end; the module's `starts_item_at(file, offset)` tells whether an item begins there"""
    ids_depend_on_names: bool = False
    """its ids change with a name that the owner may change: a chat's title, or that of the source"""
    single_process_option: str = ""
    """an option that, where set, has the reader load something large: then one process reads all units"""

    source_name: str = ""
    """what a source of the kind is called at first, where not as the kind"""
    shared_suffixes: bool = False
    """music, films and data of programs have its suffixes too: a file that it does not recognise tells nothing"""
    repositories: Literal["", "history", "files"] = ""
    """what it reads of git repositories, so that it is proposed where there is one"""
    media_names: str = ""
    """regular expression of how files are named that its items come with"""
    record_mark: bytes = b""
    """what stands before each record of a file that holds many"""
    record_bytes: int = 0
    """text of a usual record, where no beginning tells; 0 where a file is a record"""
    own_ids: bool = False
    """its records have an id of their own behind the name of the source"""
    any_type: bool = False
    """its records may be of any type"""
    facts: bool = False
    """its records state facts under titles, so that what one names may be the title of another: records of its first
    type, where it has several"""
    backfills: bool = False
    """relrag can write its fields into what is read"""

    @property
    def rag_source_type(self) -> str:
        """The type of records that do not name one."""
        return self.record_types[0].name

    @property
    def chat(self) -> bool:
        """Whether it reads chats, whose messages are indexed in windows."""
        return any(one.chat for one in self.record_types)

    @property
    def mail(self) -> bool:
        """Whether it reads mails."""
        return any(one.mail for one in self.record_types)

    def matches(self, path: str) -> bool:
        """Whether the file at that path, relative to its source, is a unit of the kind."""
        return path.lower().endswith(self.suffixes) or any(fnmatch.fnmatch(path, one) for one in self.patterns)

    @property
    def read(self) -> Reader:
        """The connector, imported when first used."""
        return cast("Reader", self._module().read)

    @property
    def starts_item_at(self) -> Callable[[Path, int], bool]:
        """Whether an item begins at that offset of a file, so that what lies before it is whole."""
        return cast("Callable[[Path, int], bool]", self._module().starts_item_at)

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
