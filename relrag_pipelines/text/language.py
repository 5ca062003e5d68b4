"""The language of a text.

`identify` asks py3langid (BSD), whose model of many languages comes with it. `is_english` decides which texts a model
of English is given, and which questions have words of many forms. It asks only for function words and letters: what
holds none, such as a code or a name, is taken for English. Beside the words by which `tokens` chooses the forms that
are indexed, it knows those of more languages as they are typed without accents; what is indexed does not depend on
them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from relrag_pipelines.text.analyzer import foreign_signs
from relrag_pipelines.text.stopwords import SIGNS_OF_ENGLISH

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_ENOUGH = 400
"""characters by which a language is told; more take longer and change nothing"""

_BEGINNING = """
    cosa quando quanto quanti quanta quante quale quali perche
    wat waar wie wanneer hoeveel waarom welke
    kiedy gdzie kto dlaczego ile jaki jaka jakie czyj
    hur vad vem vilken vilket varfor hvad hvor hvem hvorfor hvordan
    wer wann warum welche welcher welches
    donde cuando quien cuanto cuantos cual quem onde quanto quantos qual
    quand combien pourquoi quel quelle quels quelles
    abbiamo sono questo questa ik mijn jestem moj moja jeg estoy este esta eu je nous vous
"""
_JOINING = """
    di del della dei delle degli nel nella nelle nei alla agli dalla dalle sul sulla gli siamo siete hanno
    anche questi queste quello quella mio mia tuo suo nostro nostra essere stato fatto
    het een zijn niet jij hij wij zij jullie mij jou ons onze jouw voor naar bij uit aan maar ook nog geen
    deze worden wordt werd hebben heeft heb kunnen moet zullen gaat gaan
    ona oni moje twoj jego jej tego tej tych jestes byl bylo bedzie beda masz maja moze mozna trzeba
    juz jeszcze tylko albo lub oraz przez przed przy nad bez bardzo
    och att det ett inte ditt mitt sitt vara har eller skulle blir blev hade finns ocksa bara efter mellan
    alla nagon nagot mycket kommer og ikke hun skal kan bliver ogsa
    habe haben hatte sind wird werden wurde kann muss auch noch nur schon aber oder wenn dass weil nach bei aus zum
    zur mein meine dein uns unser einen einem einer kein keine
    esto eso muy pero soy eres somos estan fue tiene tengo tambien nao uma das isso ele ela meu
    minha seu sua muito ainda
    tu elle ils elles ce cette ces mes ses notre votre leur avec mais donc pas suis avons avez ont
    etait
"""
_MORE = frozenset([*_BEGINNING.split(), *_BEGINNING.title().split(), *_JOINING.split()]) - SIGNS_OF_ENGLISH
"""Function words of Italian, Dutch, Polish, Swedish, Danish, German, Spanish, Portuguese and French that mean nothing
in English; those that often begin a sentence also with a capital. None is a name or an abbreviation as written."""

_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")


def identify(text: str) -> str:
    """The ISO 639-1 code of the language that a text is most likely in; "" for no letters."""
    said = " ".join(_WORD.findall(text[:_ENOUGH]))
    found: str = _identifier().classify(said)[0] if said else ""
    return found


def likeliest(text: str, languages: Collection[str]) -> str:
    """Which of some languages, ISO 639-1, a text is most likely in; "" for no letters.

    Rare languages that are close to a common one win short texts too often where all are asked for.
    """
    said = " ".join(_WORD.findall(text[:_ENOUGH]))
    ranked = _identifier().rank(said) if said else []
    return next((code for one, _ in ranked if (code := _ALIASES.get(one, one)) in languages), "")


_ALIASES = {"nb": "no", "nn": "no"}
"""the two ways to write Norwegian"""


@functools.cache
def _identifier() -> LanguageIdentifier:
    # imported only here: loading its model takes most of a second
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)


def is_english(text: str) -> bool:
    """Whether a text is English, or nothing in it speaks against it."""
    words = _WORD.findall(text)
    if not text.isascii():
        letters = "".join(words)
        if 2 * len(_LATIN.findall(letters)) < len(letters):
            return False
    return foreign_signs(text) + len(_MORE.intersection(words)) <= 0
