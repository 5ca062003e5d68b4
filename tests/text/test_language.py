"""Which texts count as English: those that are embedded by a model of English, and asked by meaning."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relrag_pipelines.text.language import in_default_language
from tests.cases import case_values

FOREIGN = {
    "Italian": [
        "Chi ha preso la bicicletta di Paolo?",
        "Abbiamo prenotato un tavolo per sei persone",
        "Domani non posso venire alla festa",
        "Quanto abbiamo speso per la cucina nuova?",
    ],
    "Dutch": [
        "Waar ligt de sleutel van de schuur?",
        "Ik kan morgen niet komen",
        "Hoeveel hebben wij voor de nieuwe keuken betaald?",
        "Het dak moet voor de winter gerepareerd worden",
    ],
    "Polish": [
        "Gdzie jest klucz do piwnicy?",
        "Jutro nie moge przyjsc na zebranie",
        "Ile zaplacilismy za nowa kuchnie?",
        "Dach trzeba naprawic przed zima",
    ],
    "Swedish": [
        "Var ligger nyckeln till garaget och vem hade den sist?",
        "Jag kan inte komma till festen imorgon",
        "Hur mycket betalade vi for det nya koket?",
        "Taket ska lagas efter semestern",
    ],
    "German": ["Wo ist der Schluessel?", "Ich kann morgen nicht kommen", "Wer hat das Dach gemacht?"],
    "Spanish": ["Donde esta la llave del garaje?", "Cuanto hemos pagado por la cocina?"],
    "French": ["Combien avons nous paye pour la cuisine?", "Je ne peux pas venir demain"],
    "Czech": ["Kdy jsme to opravili?", "Kdo ma klice od sklepa a proc je nema sousedka?"],
    "others": ["מה קורה עם המשאבה", "Где ключи от подвала?", "Čerpadlo ve sklepě zase nefunguje."],
}
ENGLISH = case_values(__file__, "english")


@pytest.mark.parametrize(("language", "text"), [(name, text) for name, texts in FOREIGN.items() for text in texts])
def test_other_languages_are_told_without_their_accents(language: str, text: str) -> None:
    assert not in_default_language(text)


@pytest.mark.parametrize("text", ENGLISH)
def test_english_and_what_is_of_no_language_is_english(text: str) -> None:
    assert in_default_language(text)


@pytest.mark.parametrize("name", ["musique_100", "2wiki_101"])
def test_hardly_an_english_text_is_lost(name: str, shared_data: Path) -> None:
    """Of encyclopaedic passages full of foreign names one in two hundred, at most; of questions none."""
    folder = shared_data / "retrieval" / name
    questions = [json.loads(line)["question"] for line in (folder / "questions.jsonl").open()]
    texts = [json.loads(line)["text"] for line in (folder / "corpus.jsonl").open()]
    assert all(map(in_default_language, questions))
    assert sum(not in_default_language(text) for text in texts) < len(texts) / 200
