"""E-mail addresses whose signs are spelt out, doubled or stand apart: `petra @ walla.co.il`, `jan AT firma DOT cz`.

Every such sign becomes the sign itself, and emails.py reads the result. What stands around a sign decides, as people
meet at six and look at pages: there must be a domain behind it that ends as domains do, and in front of a mere "at" or
"@" something that is no everyday word. address_words.toml has the words of each language.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import ahocorasick_rs
import numpy as np
import regex

from relrag_pipelines.pii import context_words, word_counts

_LANGUAGES = tomllib.loads(Path(__file__).with_name("address_words.toml").read_text(encoding="utf-8")).values()


def _words(kind: str) -> list[str]:
    """The words of all languages, the longest first."""
    return sorted({word for words in _LANGUAGES for word in words.get(kind, ())}, key=lambda word: (-len(word), word))


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(map(regex.escape, words))


_SPELT_AT = _alternatives(_words("spelt_at"))
_IN_BRACKETS = _alternatives(_words("bracketed_at"))
_SIGNS = _alternatives(_words("signs"))
WORDS = (
    *(" at ", "-at-", "_at_", "<at", "*at*", "|at|", '"at"', "'at'"),
    *_words("at"),
    *_words("signs"),
    # everyday words stand for @ only before a spelt dot, which is rarer
    *(f" {word} " for words in _LANGUAGES if words.get("spelt_at") for word in words.get("dot", ())),
)
"""every such address without one of `@([{&` contains one of these, in lower case"""
_DOT_WORDS = tuple(_words("dot"))
_FULL_STOP = "[.\u2024\u3002\uff0e\uff61]"
_HIDING = "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\u20e3\ufe00-\ufe0f\ufeff\uff01-\uff5e]"
"""invisible marks, and wide letters, which may write the word for a dot"""
_DOT_SIGN = re.compile(rf"{_FULL_STOP}\S|\W{_FULL_STOP}|{_HIDING}")
"""a dot that ends no sentence, also in its wide forms, or a character that may hide one"""
APART = ("@ ", " @", "@&", ";@", "@\t", "\t@", "@\xa0", "\xa0@", "@@", "<@")
"""or one of these"""
_BLANK = r"(?:[ \t\xa0]|&nbsp;)"
_MAX_DOMAIN_CHARS = 160
"""characters of a domain; without a limit each sign costs a look through the rest of the text"""
_AT, _WEAK_AT, _DOT_WORD = _alternatives(_words("at")), _alternatives(_words("weak_at")), _alternatives(_words("dot"))
_BRACKETED = regex.compile(
    rf"[\[({{<]{_BLANK}?(?:@|\.|{_AT}|{_WEAK_AT}|{_IN_BRACKETS}|{_DOT_WORD}){_BLANK}?[\])}}>]", regex.IGNORECASE
)
_SIGN = regex.compile(
    rf"(?P<bracketed>{_BLANK}?[\[({{<]{_BLANK}?(?:{_AT}|{_WEAK_AT}|@){_BLANK}?[\])}}>]{_BLANK}?)(?=\w)"
    rf"|(?P<letter>{_BLANK}?[\[({{<]{_BLANK}?(?:{_IN_BRACKETS}){_BLANK}?[\])}}>]{_BLANK}?)(?=\w)"
    rf"|(?<=\w)(?P<ornament>{_SIGNS})(?=\w)|{_BLANK}{{1,3}}(?P<spelt>{_SPELT_AT}){_BLANK}{{1,3}}(?=\w)"
    rf"|(?<=\w){_BLANK}?(?P<joint>[-_*|\"']|//)(?:{_AT}|{_WEAK_AT})(?P=joint){_BLANK}?(?=\w)"
    rf"|{_BLANK}{{1,3}}(?:(?P<word>{_AT})|(?P<at>{_WEAK_AT})|@{{1,3}}){_BLANK}{{1,3}}(?=\w)"
    rf"|(?<=\w)(?P<doubled>@{{2,3}})(?=\w)|(?<=\w)@{{1,3}}{_BLANK}{{1,3}}(?=\w)"
    rf"|(?<=\w){_BLANK}{{1,3}}@{{1,3}}(?=\w)|(?<=\w)(?P<plain>@)(?=\w)",
    regex.IGNORECASE,
)
_DOT = (
    rf"(?:{_BLANK}?[\[({{<]{_BLANK}?(?:(?i:{_DOT_WORD})|\.){_BLANK}?[\])}}>]{_BLANK}?"
    rf"|{_BLANK}?(?P<dash>[-_/]{{1,2}})(?i:{_DOT_WORD})(?P=dash){_BLANK}?|{_BLANK}{{1,3}}(?i:{_DOT_WORD}){_BLANK}{{1,3}}"
    rf"|{_BLANK}{{1,2}}\.(?:{_BLANK}{{1,2}}|(?=(?:com|net|org)(?!\w))))"
)
_LABEL = rf"\w(?>[^\W_]{{0,62}}(?:(?:['׳]|[-_](?!(?i:{_DOT_WORD})[-_]))[^\W_]{{0,62}}){{0,8}})"
_ENDINGS = (
    "com|net|org|edu|gov|info|biz|name|io|me|eu|il|cz|sk|de|at|ch|pl|hu|fr|it|es|pt|nl|be|se|no|dk|fi|ie|uk|us|ca|au|in|ru|ua"
    "|br|mx|ar|cl|tr|gr|ro|bg|hr|si|rs|lt|lv|ee|is|lu|cn|jp|kr|tw|hk|sg|nz|za|by|kz"
    "|online|email|app|dev|קום|נט|אורג|איל|קו"
)
_SURE_ENDINGS = (
    "com|net|org|edu|gov|cz|sk|pl|hu|fr|nl|dk|uk|ru|ua|br|mx|ar|cl|tr|gr|bg|hr|rs|lt|lv|cn|jp|kr|tw|hk|nz|za|kz|il"
)
"""endings that are no words, so that no sentence begins with them"""
_DOMAIN_START = rf"{_LABEL}(?:(?:{_DOT}|\.){_LABEL}){{0,4}}(?:{_DOT}|\.)"
_DOMAIN = regex.compile(rf"{_DOMAIN_START}(?i:{_ENDINGS})(?![\w-]|\.\w)")
_ANY_DOMAIN = regex.compile(rf"{_DOMAIN_START}[^\W\d_]{{2,24}}(?![\w-]|\.\w)")
_GERESH = regex.compile("['׳]")
_SPELT_DOT = regex.compile(_DOT)
_SPELT_WORD = regex.compile(rf"(?i){_BLANK}(?:{_DOT_WORD}){_BLANK}")
"""a dot in words"""
_APART_ENDING = regex.compile(
    rf"(?<=\w)@[\w-]{{1,63}}(?:\.[\w-]{{1,63}}){{0,3}}"
    rf"(?:(?P<after>{_BLANK}{{1,2}}\.)(?=(?i:{_ENDINGS})(?![\w-]|\.\w))"
    rf"|(?P<before>\.{_BLANK}{{1,2}})(?=(?:(?:co|com|net|org)\.)?(?:{_SURE_ENDINGS})(?![\w-]|\.\w))"
    r"|(?P<comma>,)(?=(?:com|net|org)(?!\w)))"
)
"""a blank before or after the last dot of a domain, or a comma in its place"""
# Matched backwards from the sign, as in emails.py.
_LOCAL = regex.compile(rf"(?r)(?<![\w.+-])\w[\w.+-]{{0,62}}(?:{_DOT}[\w.+-]{{1,63}}){{0,3}}")
_ADDRESS_SIGN = regex.compile(r"[._+\d]")
"""what words have not, and the local parts of addresses have"""
_TIME = regex.compile(r"\d+(?:[.:]\d\d)?(?:am|pm|h|hod|uhr)?", regex.IGNORECASE)
"""of a day, or an amount"""
_PROVIDERS = regex.compile(
    r"(?i)(?:gmail|googlemail|walla|seznam|yahoo|hotmail|outlook|live|icloud|proton(?:mail)?|centrum|post|gmx|web|aol|bezeqint"
    r"|netvision|zahav|email|volny|atlas|tiscali)\b"
)
_WORDS_IN_FRONT = (  # noqa: SIM905
    "a an the this that these those my our your his her its their i you he she it we they me him us them who what "
    "which is are was were be been am do does did go goes went gone get got have has had see seen saw look looks "
    "looked looking work works worked working meet meets met meeting live lives lived living stay stayed staying "
    "eat ate lunch dinner drinks coffee party arrive arrives arrived arriving buy bought order ordered sell sells "
    "sold sale offer offers shop shopping price prices available online here there now today tomorrow tonight find "
    "found check visit read more page site website web link links info article news video photo post posted up out "
    "in on off and or not only just all one some any start starts started begin begins end ends ended time hours "
    "day days week call called write wrote reply contact mail email address apply register book booked booking "
    "hosted host job jobs career office team people back home free best good great point points stop stopped join "
    "joined speak spoke talk talked speaking present event events conference download downloads published publish "
    "listed based new follow following laugh laughed aim aimed run running stand standing"
).split()
_EVERYDAY_WORDS = frozenset(_WORDS_IN_FRONT)
"""what people write in front of a mere at, or behind it"""
_HOSTS = frozenset({"email", "post", "web"})
_MAILBOXES = frozenset(
    {"info", "contact", "mail", "email", "office", "job", "jobs", "team", "order", "booking", "events"}
)
"""everyday words that are names of mailboxes as well"""


def has_spelled_address(text: str, words: tuple[str, ...]) -> bool:
    """Whether the text contains one of the words, which are in lower case."""
    lower = text.lower()
    for word in words:  # noqa: SIM110  a third of the time that any() takes, and every text is asked
        if word in lower:
            return True
    return False


def may_be_spelt(text: str) -> bool:
    """Whether words may spell an address in the text, which needs a sign and a domain with a dot."""
    return _may_have_domain(text) and has_spelled_address(text, WORDS)


def which_may_be_spelt(texts: Sequence[str]) -> list[int]:
    """Searches all texts at once; returns the indices of those that `may_be_spelt` accepts."""
    counts = word_counts.count(_automaton(), texts)
    return [number for number in np.flatnonzero(counts).tolist() if may_be_spelt(texts[number])]


@functools.cache
def _automaton() -> ahocorasick_rs.BytesAhoCorasick:
    return ahocorasick_rs.BytesAhoCorasick([word.encode() for word in WORDS])


def _may_have_domain(text: str) -> bool:
    return _DOT_SIGN.search(text) is not None or has_spelled_address(text, _DOT_WORDS)


def may_hold(text: str) -> bool:
    """Whether an address may be spelt in the text, with signs or in words; no, only where none is."""
    if not _may_have_domain(text):
        return False
    if has_spelled_address(text, WORDS) or ("@" in text and has_spelled_address(text, APART)):
        return True
    return _BRACKETED.search(text) is not None or ("@" in text and _SPELT_DOT.search(text) is not None)


def signs(text: str) -> Iterator[tuple[int, int, str]]:
    """Spans of signs that are spelt out or set apart, with the blanks around them, each with its sign."""
    done = 0
    for sign in _SIGN.finditer(text):
        domain = (_ANY_DOMAIN if _is_certain(sign) else _DOMAIN).match(text, sign.end(), sign.end() + _MAX_DOMAIN_CHARS)
        local = _LOCAL.match(text, done, sign.start()) if domain else None
        if not domain or not local or not _is_address(text, local, sign, domain):
            continue
        yield from ((*dot.span(), ".") for dot in _SPELT_DOT.finditer(text, local.start(), sign.start()))
        if not sign["plain"]:
            yield (*sign.span(), "@")
        yield from ((*dot.span(), ".") for dot in _SPELT_DOT.finditer(text, *domain.span()))
        yield from ((*mark.span(), "") for mark in _GERESH.finditer(text, *domain.span()))
        done = domain.end()


def apart_endings(text: str) -> Iterator[tuple[int, int, str]]:
    """Spans of last dots of domains with blanks beside them: `lola@gmail .com`."""
    return ((*dot.span(dot.lastgroup or 0), ".") for dot in _APART_ENDING.finditer(text))


def _is_certain(sign: regex.Match[str]) -> bool:
    """Whether the sign means an @ in any context."""
    return bool(sign["bracketed"] or sign["word"] or sign["doubled"] or sign["plain"])


def _is_around_at(local: regex.Match[str], sign: regex.Match[str], domain: regex.Match[str]) -> bool:
    """Whether the parts around the word `at` are those of an address."""
    is_stressed = sign["at"].isupper() and not local[0].isupper()
    signs = (_SPELT_DOT.search(domain[0]), _ADDRESS_SIGN.search(local[0]), _PROVIDERS.match(domain[0]))
    return is_stressed or any(signs)


def _is_address(text: str, local: regex.Match[str], sign: regex.Match[str], domain: regex.Match[str]) -> bool:
    """Whether the parts are an address; the surer the sign, the less is asked of them."""
    if _is_certain(sign):
        return True
    if sign["spelt"]:
        return _SPELT_WORD.search(domain[0]) is not None and not _is_sentence(local[0], domain[0])
    if sign["letter"] or sign["ornament"]:
        return _is_like_address(local[0], domain[0], sign[0])
    if sign["joint"]:
        in_path = context_words.in_address(text, sign.start()) or text.startswith("/", domain.end())
        has_address_sign = _ADDRESS_SIGN.search(local[0]) is not None
        return not in_path and (has_address_sign or not _is_sentence(local[0], domain[0], _MAILBOXES))
    if _is_sentence(local[0], domain[0]):
        return False
    if sign["at"]:
        return _is_around_at(local, sign, domain)
    return len(local[0]) > 1 and not _TIME.fullmatch(local[0])


def _is_like_address(local: str, domain: str, sign: str) -> bool:
    """Whether the parts around a letter in brackets or an ornament look like those of an address."""
    is_glued = not any(char.isspace() for char in sign)
    if _ADDRESS_SIGN.search(local) or _PROVIDERS.match(domain):
        return True
    return is_glued and len(local) > 1 and not _is_sentence(local, domain, _MAILBOXES)


def _is_sentence(local: str, domain: str, mailboxes: frozenset[str] = frozenset()) -> bool:
    """Whether the words around the sign form a sentence."""
    first = regex.match(r"\w+", domain)
    if first and first[0].lower() in _EVERYDAY_WORDS - _HOSTS:
        return True
    return local.lower() in _EVERYDAY_WORDS - mailboxes
