"""What is known of a language is in its folder: other modules name no language and no script, and hold no words of one.

NAMING is the list of today: a module leaves it, and none is added.
"""

import ast
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from relrag_pipelines import languages
from tests import ROOT

PACKAGES = ("relrag_pipelines", "relrag_query")
NAMES = {language.name for language in languages.languages()} | {"latin", "cyrillic", "greek"}
NAME = re.compile(rf"(?<![a-z])(?:{'|'.join(sorted(NAMES))})(?![a-z]|[ _-]?\d)", re.IGNORECASE)
"""a name of a language or script; `latin-1` is a character set"""
TAGS = {"tr", "no", "ro", "fi", "it"}
"""codes that are also words, or elements of HTML"""
CODES = {*languages.codes()} - TAGS - {languages.DEFAULT}
LATIN = ("LATIN", "FULLWIDTH LATIN", "MODIFIER", "MICRO", "MASCULINE", "FEMININE")
"""begins the names of Latin letters, and of signs in Latin texts, in Unicode"""
NAMING = {
    "relrag_pipelines/erasure/similar_names.py",
    "relrag_pipelines/graphrag/extractive_reports.py",
    "relrag_pipelines/identity/kinship.py",
    "relrag_pipelines/identity/signatures.py",
    "relrag_pipelines/pii/bank_accounts.py",
    "relrag_pipelines/pii/company_numbers.py",
    "relrag_pipelines/pii/context_words.py",
    "relrag_pipelines/pii/national_id_forms.py",
    "relrag_pipelines/pii/national_ids.py",
    "relrag_pipelines/pii/number_words/matching.py",
    "relrag_pipelines/pii/phones/chains.py",
    "relrag_pipelines/pii/phones/library.py",
    "relrag_pipelines/pii/spelled_addresses.py",
    "relrag_pipelines/sources/call_filenames.py",
    "relrag_pipelines/sources/document/garbled_text.py",
    "relrag_pipelines/sources/formats/charset_detection.py",
    "relrag_pipelines/sources/formats/transcript/speakers.py",
    "relrag_pipelines/sources/mail/charset.py",
    "relrag_pipelines/sources/mail/gmail_labels.py",
    "relrag_pipelines/sources/mail/localised_dates.py",
    "relrag_pipelines/sources/mail/segmentation_phrases.py",
    "relrag_pipelines/sources/mail/signature.py",
    "relrag_pipelines/sources/meeting/__init__.py",
    "relrag_pipelines/sources/meeting/minutes.py",
    "relrag_pipelines/sources/whatsapp/calendars.py",
    "relrag_pipelines/sources/whatsapp/chat_name.py",
    "relrag_pipelines/sources/whatsapp/phrases.py",
    "relrag_pipelines/text/analyzer.py",
    "relrag_pipelines/text/names/spelling.py",
    "relrag_pipelines/text/names/transliteration.py",
    "relrag_pipelines/text/written_dates/__init__.py",
}


def naming(source: str) -> Iterator[str]:
    """The names of languages and scripts, the codes, and the letters of scripts other than Latin in a module.

    Comments and docstrings, which may explain with examples, do not count.
    """
    tree = ast.parse(source)
    explanations = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in explanations:
            yield from NAME.findall(node.value)
            yield from CODES.intersection([node.value])
            yield from filter(is_foreign, node.value)
        elif identifier := getattr(node, "id", getattr(node, "attr", getattr(node, "arg", getattr(node, "name", "")))):
            yield from NAME.findall(str(identifier).replace("_", " "))


def is_foreign(char: str) -> bool:
    """Whether a character is a letter of a script other than Latin."""
    return char.isalpha() and not unicodedata.name(char, "").startswith(LATIN)


def modules() -> Iterator[Path]:
    """The modules of both packages, those of the languages apart."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if languages.FOLDER not in path.parents:
                yield path


def test_a_module_that_names_a_language_is_seen() -> None:
    assert list(naming("def is_czech(word): ...")) == ["czech"]
    assert list(naming("if code == 'he': pass")) == ["he"]
    assert list(naming("OF = 'של'")) == ["ש", "ל"]
    assert list(naming("SCRIPT = 'Latin'")) == ["Latin"]
    assert (
        list(naming('def at(text):\n    """`של דוד` in Hebrew."""\n    return text.decode("latin-1")  # Hebrew')) == []
    )


def test_no_further_module_names_a_language() -> None:
    named = {path.relative_to(ROOT).as_posix() for path in modules() if any(naming(path.read_text(encoding="utf-8")))}
    assert named - NAMING == set(), "what is said of a language belongs into relrag_pipelines/languages/<code>/"
    assert NAMING - named == set(), "well done: take these from NAMING"
