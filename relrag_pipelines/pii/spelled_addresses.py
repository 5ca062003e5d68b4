"""E-mail addresses whose signs are spelt out or stand apart: `petra @ walla.co.il`, `jan at firma dot cz`.

What stands around a sign decides, as people meet at six and look at pages: there must be a domain behind it that ends
as domains do, and in front of a mere "at" or "@" something that is no everyday word.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

WORDS = (" at ", "avin", "שטרודל")
"""one of these stands in every such address that has neither an @ nor a &"""
APART = ("@ ", " @", "@&", ";@", "@\t", "\t@", "@\xa0", "\xa0@")
"""or one of these, where there is an @"""

_BLANK = r"(?:[ \t\xa0]|&nbsp;)"
_LONGEST = 160
"""characters of a domain; without a limit each sign costs a look through the rest of the text"""
_SIGN = regex.compile(
    rf"{_BLANK}{{1,3}}(?:(?P<certain>[zZ]avin[aá][cč]|שטרודל)|(?P<at>at)|@){_BLANK}{{1,3}}(?=\w)"
    rf"|(?<=\w)@{_BLANK}{{1,3}}(?=\w)|(?<=\w){_BLANK}{{1,3}}@(?=\w)"
)
_DOT = rf"{_BLANK}{{1,3}}(?:dot|DOT|te[cč]k[auy]|TE[CČ]KA|punkt|נקודה){_BLANK}{{1,3}}"
_ENDINGS = (
    "com|net|org|edu|gov|info|biz|name|io|me|eu|il|cz|sk|de|at|ch|pl|hu|fr|it|es|pt|nl|be|se|no|dk|fi|ie|uk|us|ca|au|in|ru|ua"
    "|online|email|app|dev|קום|נט|אורג|איל|קו"
)
_DOMAIN = regex.compile(
    rf"[\w][\w׳'-]{{0,62}}(?:(?P<dot>{_DOT}|\.)[\w][\w׳'-]{{0,62}}){{0,4}}(?P<last>{_DOT}|\.)(?i:{_ENDINGS})(?![\w-]|\.\w)"
)
_GERESH = regex.compile("['׳]")
_SPELT_DOT = regex.compile(_DOT)
# Matched backwards from the sign, as in emails.py.
_LOCAL = regex.compile(rf"(?r)(?<![\w.+-])\w[\w.+-]{{0,62}}(?:{_DOT}[\w.+-]{{1,63}}){{0,3}}")
_TELLING = regex.compile(r"[._+\d]")
"""what words have not, and the local parts of addresses have"""
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
_EVERYDAY = frozenset(_WORDS_IN_FRONT)
"""what people write in front of a mere at, or behind it"""


def has_spelled_address(text: str, words: tuple[str, ...]) -> bool:
    """Whether one of the words stands in the text."""
    for word in words:  # noqa: SIM110  a third of the time that any() takes, and every text is asked
        if word in text:
            return True
    return False


def signs(text: str) -> Iterator[tuple[int, int, str]]:
    """Where a sign is spelt or stands apart, with the blanks around it, and the sign."""
    done = 0
    for sign in _SIGN.finditer(text):
        domain = _DOMAIN.match(text, sign.end(), sign.end() + _LONGEST)
        local = _LOCAL.match(text, done, sign.start()) if domain else None
        if not domain or not local or not _is_address(local[0], sign, domain):
            continue
        yield from ((*dot.span(), ".") for dot in _SPELT_DOT.finditer(text, local.start(), sign.start()))
        yield (*sign.span(), "@")
        yield from ((*dot.span(), ".") for dot in _SPELT_DOT.finditer(text, *domain.span()))
        yield from ((*mark.span(), "") for mark in _GERESH.finditer(text, *domain.span()))
        done = domain.end()


def _is_address(local: str, sign: regex.Match[str], domain: regex.Match[str]) -> bool:
    """Whether the parts are an address; the surer the sign, the less is asked of them."""
    if sign["certain"]:
        return True
    first = regex.match(r"\w+", domain[0])
    if local.lower() in _EVERYDAY or (first and first[0].lower() in _EVERYDAY - {"email", "post", "web"}):
        return False
    if sign["at"]:
        spelt = _SPELT_DOT.search(domain[0]) is not None
        return spelt or bool(_TELLING.search(local) or _PROVIDERS.match(domain[0]))
    return len(local) > 1 and not local.isdecimal()
