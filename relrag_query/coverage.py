"""How much of a question a passage covers: the share of the weight of its words, 0 to 1.

Sparse scores have no bounds and tell nothing across questions; a share does. Rare words weigh more (inverse document
frequency), words that only ask (`discuss`, `říkal`) weigh little, and what a passage is, a mail or a call, counts as if
it said so.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from relrag_pipelines.records import Chunk
from relrag_pipelines.tokens import document_tokens, index_text, query_tokens

Frequencies = Mapping[str, int]
"""passages that hold a token, of those counted; under the empty token all that were counted"""

_BEGINNING = {4: 0.5, 5: 0.9}
_HEBREW_BEGINNING = {3: 0.5, 4: 0.9}
"""how surely two words are one when they share a beginning of so many letters"""

_LIGHT = 0.3
"""weight of a word that only asks; others weigh 1 and more"""
_NAME = 1.2
"""a question that names somebody is about them, however often the name stands in the archive"""
_ASKING = """
    discuss discussed talk talked say said speak spoke mention mentioned write wrote written ask asked happen happened
    context around about regarding concerning anything details detail information info story people person
    אמר אמרה אמרו סיפר סיפרה כתב כתבה דיבר דיברנו דיברה שלח שלחה קרה הקשר סביב בקשר לגבי
    řekl řekla řekli říkal říkala psal psala napsal napsala mluvil mluvili řešil řešila řešili stalo ohledně týkající
    kontext rozhodl rozhodli
"""
_KIND = {
    "email": "email mail message מייל הודעה e-mail mail zpráva",
    "email_attachment": "email mail attachment attached file document מייל קובץ מצורף נספח příloha soubor",
    "whatsapp": "whatsapp chat message ווטסאפ צ'אט הודעה zpráva",
    "call_recording": "call phone recording conversation שיחה טלפון הקלטה hovor telefonát",
    "meeting_transcript": "meeting minutes פגישה ישיבה schůzka porada",
    "git_history": "commit change repository commit změna",
    "documentation": "document file מסמך קובץ dokument soubor",
}
"""what a record is, in the words that a question may use for it"""
_PSEUDONYM = re.compile(r"<[A-Z_]+:k\d+:[0-9a-f]+>")


@dataclass(frozen=True)
class Term:
    """One word of a question."""

    said: str
    tokens: Mapping[str, float]
    """what a passage may hold of it -> how sure that is, 0 to 1"""
    weight: float
    joined: bool = False
    """stands right behind the word before it in the question"""
    light: bool = False
    """only asks, or names what a record is"""

    def found(self, held: frozenset[str]) -> float:
        """How surely these tokens hold the word, 0 to 1."""
        return max((sure for token, sure in self.tokens.items() if token in held), default=0.0)


def terms(question: str, frequencies: Frequencies, redacted: str | None = None) -> list[Term]:
    """The words of a question that can be looked for, each once.

    `redacted` is the question with pseudonyms in place of personal data: what it replaced is found under either.
    """
    words = _words(question)
    if redacted and redacted != question:
        gone = set(question.split()) - set(redacted.split())
        replaced = frozenset(query_tokens(" ".join(sorted(gone))).split()) | frozenset(_PSEUDONYM.findall(redacted))
        words = {word: how for word, how in words.items() if not word <= replaced}
        words[replaced] = (" ".join(sorted(gone)), False, False)
    return [
        Term(
            said,
            {token: _sure(token) for token in word},
            _weight(said, light, _rarity(word, frequencies)),
            joined,
            light,
        )
        for word, (said, light, joined) in words.items()
    ]


def _words(question: str) -> dict[frozenset[str], tuple[str, bool, bool]]:
    """Tokens of each word that can be looked for -> the word, whether it weighs little, whether it joins the last."""
    said = set(query_tokens(question).split())
    words: dict[frozenset[str], tuple[str, bool, bool]] = {}
    open_end = False
    for piece in question.split():
        found = frozenset(query_tokens(piece).split()) & said
        light = bool(found & _light())
        if found:
            words.setdefault(found, (piece.strip(",;:.?!()\"'"), light, open_end and not light))
        open_end = bool(found) and not light and piece[-1] not in ",;:.?!"
    return words


def coverage(words: Sequence[Term], held: frozenset[str]) -> float:
    """Share of the words' weight that these tokens hold, 0 to 1; 0 for no words."""
    total = sum(word.weight for word in words)
    return sum(word.weight * word.found(held) for word in words) / total if total else 0.0


@functools.lru_cache(maxsize=4096)
def tokens(text: str) -> frozenset[str]:
    """The tokens of a text."""
    return frozenset(document_tokens(text).split())


def passage_tokens(chunk: Chunk) -> frozenset[str]:
    """The tokens of a passage and of what is known of it."""
    return tokens(chunk.text) | metadata_tokens(chunk)


def metadata_tokens(chunk: Chunk) -> frozenset[str]:
    """The tokens of what is known of a passage: sender, subject, file, day, and what it is."""
    known = index_text("", chunk.subject, chunk.from_, chunk.file_name, chunk.timestamp)
    return tokens(known) | kind_tokens(chunk.rag_source_type)


@functools.cache
def kind_tokens(rag_source_type: str) -> frozenset[str]:
    """The words that a question may use for what a record is."""
    return tokens(_KIND.get(rag_source_type, rag_source_type.replace("_", " ")))


@functools.cache
def _light() -> frozenset[str]:
    """Words that ask, and words for what a record is. Whole words only: their beginnings would catch others."""
    words = " ".join((_ASKING, *_KIND.values()))
    return frozenset(token for token in document_tokens(words).split() if not token.startswith("~"))


def _sure(token: str) -> float:
    if not token.startswith("~"):
        return 1.0
    hebrew = "א" <= token[1] <= "ת"
    return (_HEBREW_BEGINNING if hebrew else _BEGINNING).get(len(token) - 1, 0.5)


def _weight(said: str, light: bool, rarity: float) -> float:
    """Half as much by rarity as by being asked at all: in a small archive every word is rare."""
    return _LIGHT if light else (1.0 + rarity / 2) * (_NAME if said.istitle() else 1.0)


def _rarity(word: frozenset[str], held: Frequencies) -> float:
    """Inverse document frequency of the word's rarest token that the archive holds."""
    documents = min((held[token] for token in word if held.get(token)), default=0)
    return math.log1p((held.get("", 0) - documents + 0.5) / (documents + 0.5))
