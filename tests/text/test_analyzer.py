"""Words for sparse search: what is the same word, what may be dropped, and that a language costs another nothing."""

import itertools
import random
import uuid
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bench.retrieval import batches, measure
from relrag_pipelines.stores import vector_store
from relrag_pipelines.text import analyzer
from relrag_pipelines.text.analyzer import document_tokens, fold, index_text, is_whole, query_tokens
from relrag_pipelines.text.sparse_encoder import SparseEncoder
from tests import ROOT
from tests.cases import cases

INFLECTION = ROOT / "tests" / "data" / "inflection"

FILLERS = {
    "cs": (
        "Bratr,Kolegyně,Soused,Ředitelka,Dědeček,Studentka,Řidič,Prodavačka,Kapitán,Zpěvačka,Učitel,Starosta,Kuchař",
        "koupil nové boty,zapomněl deštník,uvařila polévku,napsal dlouhý dopis,ztratila peněženku,natřel okna,"
        "zaplatila nájem,vyhrál v šachu,opravil bicykl,přečetla román,vyfotil jezero,odevzdala úkol,zalila kytky",
        "v Plzni,na nádraží,před školou,o prázdninách,minulý týden,u babičky na vsi,po večeři,v únoru,na zahradě,"
        "ve vlaku,u moře,na poště,v kině",
    ),
    "he": (
        "אחי,העובדת,השכן,המנהלת,סבא,הסטודנטית,הנהג,המוכרת,הקפטן,הזמרת,המחנך,ראש העיר,הטבח",
        "קנה נעליים חדשות,שכח כובע,בישלה מרק,כתב מכתב ארוך,איבדה ארנק,צבע גדר,שילמה שכירות,ניצח בשחמט,תיקן שעון,"
        "קראה רומן,צילם אגם,הגישה עבודה,הזמין צהריים",
        "באשדוד,בתחנה,ליד בית הספר,בחופשה,בשבוע שעבר,בקיבוץ,אחרי הארוחה,בפברואר,בגינה,באוטובוס,בים,בדואר,בקולנוע",
    ),
}


@pytest.mark.parametrize(*cases(__file__, "tokens"))
def test_tokens(text: str, tokens: str) -> None:
    """The tokens of a text, written out by hand."""
    assert " ".join(document_tokens(text).split()) == tokens


@pytest.mark.parametrize(*cases(__file__, "words_that_ask_or_join_are_left_out"))
def test_words_that_ask_or_join_are_left_out(question: str, tokens: str) -> None:
    """Only if others are left, and in their own language only; beginnings are left out here."""
    assert " ".join(token for token in query_tokens(question).split() if token[0] != "~") == tokens


@pytest.mark.parametrize(*cases(__file__, "numbers_codes_names_are_found_however_they_are_written"))
def test_numbers_codes_names_are_found_however_they_are_written(text: str, question: str) -> None:
    """The tokens of the question that are found hold its rarest part."""
    found = set(query_tokens(question).split()) & set(document_tokens(text).split())
    assert {token for token in found if token[0] != "~" and len(token) > 1}


@pytest.mark.parametrize(*cases(__file__, "the_form_of_a_word_weighs_little_in_a_question"))
def test_the_form_of_a_word_weighs_little_in_a_question(question: str, weak: str) -> None:
    """A tenth of its beginnings, where the language has many forms."""
    encoder = SparseEncoder()
    vector = encoder.query(question)
    weighed = dict(zip(vector.indices, vector.values, strict=True))
    less = {encoder.document(token).indices[0] for token in weak.split()}
    assert {index for index, weight in weighed.items() if weight == pytest.approx(0.1)} == less
    assert {weight for index, weight in weighed.items() if index not in less} == {1.0}


def test_pseudonyms_of_different_values_are_different_words() -> None:
    """The type alone joins nobody."""
    one, other = "<PHONE_NUMBER:k1:ab12cd34ef56>", "<PHONE_NUMBER:k1:ab12cd34ef57>"
    assert not set(document_tokens(one).split()) & set(document_tokens(other).split())


def test_each_line_has_its_own_language() -> None:
    """A chat in two languages: the English line gets no beginnings, the Czech one typed without accents does."""
    english, czech = (line.split() for line in map(document_tokens, ("is the contract ready", "smlouva je hotova")))
    both = document_tokens("is the contract ready\nsmlouva je hotova").split()
    assert both == english + czech
    assert "~cont" not in both
    assert "~smlo" in both


def test_a_line_without_signs_follows_its_text() -> None:
    """`Payment received` is English within English, and anything alone."""
    assert "~paym" not in document_tokens("Payment received\nthank you for that").split()
    assert "~paym" in document_tokens("Payment received").split()


def test_names_with_accents_do_not_make_a_text_foreign() -> None:
    """Else every English mail to Jan Novák would be indexed twice."""
    assert "~mone" not in document_tokens("Jan Novák and Jiří Dvořák sent money").split()


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40))
@example("İstanbul ǅ ﬁ ½ ①")
@example("א׳ב\"ג''''")
@example("<PHONE_NUMBER:k1:")
@example("1.2.3.4,5 000")
@example("how much")
@example("jak moc, how many cerpadlo")
def test_a_question_finds_the_line_that_it_repeats(text: str) -> None:
    """One analysis for both: no token of a question is missing from a text of the same words."""
    line = " ".join(text.split())
    assert set(query_tokens(line).split()) <= set(document_tokens(line).split())


@given(st.text(alphabet="áčďéěíňóřšťúůýžabcXYZ ", max_size=30))
def test_accents_do_not_matter(text: str) -> None:
    """Whole words are the same with and without."""
    plain = [token for token in document_tokens(fold(text)).split() if is_whole(token)]
    assert [token for token in document_tokens(text).split() if is_whole(token)] == plain


def test_index_text() -> None:
    """What is known of a passage stands before it; what isn't known leaves no line."""
    assert (
        index_text("hi", "Re: rent", "Dana", "a.pdf", "2025-01-13T08:00:00Z") == "Re: rent\nDana\na.pdf\n2025-01-13\nhi"
    )
    assert index_text("hi", None, "", None, None) == "hi"


@pytest.mark.parametrize("language", ["cs", "he"])
def test_inflected_words_are_found(language: str, tmp_path: Path) -> None:
    """Of 25 questions with other endings and prefixes than the text, at least 20 find it first.

    The 50 decoys hold words of the questions in the very form; the other 1,500 are filling.
    """
    pairs = [line.split("\t") for line in (INFLECTION / f"{language}.tsv").read_text(encoding="utf-8").splitlines()]
    decoys = (INFLECTION / f"{language}_decoys.txt").read_text(encoding="utf-8").splitlines()
    filling = [" ".join(parts) for parts in itertools.product(*(part.split(",") for part in FILLERS[language]))]
    texts = [text for text, _ in pairs] + decoys + random.Random(7).sample(filling, 1500)
    rows = [{"chunk_id": str(uuid.UUID(int=place)), "text": text} for place, text in enumerate(texts)]
    vector_store.build(tmp_path / "vectors", batches(rows))
    with closing(vector_store.open(tmp_path / "vectors")) as store:
        first = [uuid.UUID(store.search(question, 1)[0].chunk_id).int for _, question in pairs]
    assert len(pairs) == 25
    assert sum(place == found for place, found in enumerate(first)) >= 20


@pytest.mark.parametrize(("name", "plain"), [("musique_100", 47.3), ("2wiki_101", 66.6)])
def test_english_loses_nothing(name: str, plain: float, shared_data: Path) -> None:
    """Recall at 5 on English text is at most a point below that of Edge's own BM25 with its defaults (`plain`)."""
    assert measure(shared_data / "retrieval" / name)["R@5"] >= plain - 1


def test_a_word_is_analysed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    analysed: list[str] = []

    def counted(word: str) -> str:
        analysed.append(word)
        return word

    words = [f"quince{letters}" for letters in map("".join, itertools.product("bcdfg", repeat=4))]
    chance = random.Random(1)
    monkeypatch.setattr(analyzer, "_stem", counted)
    for _ in range(2):
        for _ in range(500):
            document_tokens(" ".join(chance.choices(words, k=62)))
    assert set(analysed) == set(words)
    assert max(Counter(analysed).values()) <= 4, "a word that is kept is not analysed again"
