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
    "relrag_pipelines/graphrag/extractive_reports.py": "words for money in reports, fewer than those that answers know",
    "relrag_pipelines/identity/kinship.py": "phrases around a relative, in the order in which they are tried",
    "relrag_pipelines/pii/bank_accounts.py": "forms of account numbers, a country each, and words before them",
    "relrag_pipelines/pii/company_numbers.py": "words before company numbers, a country each",
    "relrag_pipelines/pii/context_words.py": "words around numbers of all recognisers",
    "relrag_pipelines/pii/national_id_forms.py": "letters of words before an id",
    "relrag_pipelines/pii/national_ids.py": "words before ids, a country each",
    "relrag_pipelines/pii/number_words/matching.py": "ranges of scripts that leave no space between words",
    "relrag_pipelines/pii/phones/chains.py": "words before an extension, as the phone library has them",
    "relrag_pipelines/pii/phones/library.py": "a function of the phone library is called so",
    "relrag_pipelines/pii/spelled_addresses.py": "domains and how they are spelled out",
    "relrag_pipelines/sources/document/garbled_text.py": "only letters of this script have vowels to count",
    "relrag_pipelines/sources/formats/charset_detection.py": "the first letter behind those of a script",
    "relrag_pipelines/sources/mail/charset.py": "names of character sets",
    "relrag_pipelines/text/analyzer.py": "ranges of scripts, beside those that languages declare",
    "relrag_pipelines/text/names/spelling.py": "letters of scripts that sound alike",
    "relrag_pipelines/text/names/transliteration.py": "letters of one script for those of another",
    "relrag_pipelines/text/written_dates/__init__.py": "digits of a script, and signs behind the parts of a date",
}
"""module -> why it does"""


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
    assert named - NAMING.keys() == set(), "what is said of a language belongs into relrag_pipelines/languages/<code>/"
    assert NAMING.keys() - named == set(), "well done: take these from NAMING"
