"""E-mail addresses.

Presidio's recogniser checks the domain against a list of public suffixes, which it downloads and which goes out of
date. Here every `local@domain` with a dotted domain that ends in a word counts, so internal addresses of a company
(`dana@mail.corp`) are found too.
"""

from __future__ import annotations

import functools
import mimetypes
import unicodedata
from typing import TYPE_CHECKING

import regex

from relrag_pipelines.pii.normalized_text import normalize, plain_digits
from relrag_pipelines.pii.spans import Span
from relrag_pipelines.text.analyzer import PREFIXED_SCRIPT

if TYPE_CHECKING:
    import tldextract

SCORE = 0.95
MAX_DOMAIN_CHARS = 1024
"""four times the legal maximum; without a limit each @ may scan the rest of the text"""

# Matched backwards from the @, so that a long run of letters without an @ costs nothing.
_LOCAL = regex.compile(r"(?r)\w[!#$%&'*+\-/=?^_`{|}~.\w]*")
_QUOTED = regex.compile(r'(?r)"[^"\n]{1,64}"')
_DOMAIN = regex.compile(r"(?:\w+(?:-+\w+)*\.)+[^\W\d_]\w*(?:-+\w+)*")
_PAYMENT_HANDLE = regex.compile(
    r"(?:ok(?:hdfcbank|icici|sbi|axis)|ybl|ibl|axl|upi|paytm|pt(?:yes|axis|hdfc|sbi)|apl|yapl|rapl|wa(?:hdfcbank|icici|sbi|axis)"
    r"|icici|sbi|hdfcbank|axisbank|kotak|fam|freecharge|jupiteraxis|slice|naviaxis)(?![\w.-]\w|\w)",
    regex.IGNORECASE,
)
"""a bank in an address of UPI, India's payments (https://www.npci.org.in/what-we-do/upi/3rd-party-apps)"""
_SCALE_OR_VERSION = regex.compile(r"\d{1,2}(?:\.\d)?x\.\w+$|\d+\.\d+\.\d+\D")
_TYPES = mimetypes.MimeTypes()
"""the types that Python knows, without those of this machine"""
_MEDIA = ("image/", "video/", "audio/")
_REPOSITORY_USERS = frozenset({"git", "hg", "svn", "ssh"})
_PREFIX = regex.compile(rf"[{PREFIXED_SCRIPT}]+[-\u05be]?(?=[A-Za-z0-9])")


@normalize
def find(text: str) -> list[Span]:
    """Addresses in the text. Letters prefixed to an address, such as a Hebrew preposition, are not part of it."""
    spans: list[Span] = []
    done, at = 0, text.find("@")
    while at >= 0:
        local = _LOCAL.match(text, done, at) or _QUOTED.match(text, done, at)
        domain = _DOMAIN.match(text, at + 1, at + MAX_DOMAIN_CHARS) or _PAYMENT_HANDLE.match(text, at + 1)
        if local and domain and not _is_file_or_repository(text, local[0], domain):
            prefix = _PREFIX.match(text, local.start(), at)
            done = domain.end()
            spans.append(Span(prefix.end() if prefix else local.start(), done, SCORE))
        at = text.find("@", at + 1)
    return spans


def _is_file_or_repository(text: str, local: str, domain: regex.Match[str]) -> bool:
    """Whether it is a media file (`logo@2x.png`), a version, or a repository (`git@host:project.git`)."""
    if _SCALE_OR_VERSION.match(domain[0]) or _is_dated_file(domain[0]):
        return True
    return local.lower() in _REPOSITORY_USERS and text[domain.end() : domain.end() + 1] in (":", "/")


def _is_dated_file(domain: str) -> bool:
    """Whether what follows the @ is a number or date with the suffix of a picture, film or recording.

    Telegram names the files that it exports so: `photo_1@05-03-2024_10-05-00.jpg`. A suffix under which there are hosts
    (.au is a country and a recording) makes an address.
    """
    if not domain[0].isdigit():
        return False
    kind, _ = _TYPES.guess_type(domain)
    return kind is not None and kind.startswith(_MEDIA) and not _public_suffixes()(domain).suffix


@functools.cache
def _public_suffixes() -> tldextract.TLDExtract:
    """The list of public suffixes that comes with the library; it downloads none."""
    import tldextract  # only here: it takes longer than all other imports, and few texts need it

    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


def normalise(address: str) -> str:
    """The address in lower case."""
    return unicodedata.normalize("NFKC", plain_digits(address)).lower()
