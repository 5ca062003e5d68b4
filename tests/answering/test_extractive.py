"""Which sentences are quoted: those that answer, not what is merely beside them or begins alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from relrag_query.archive import Archive
from relrag_query.results import Answer
from relrag_query.retrieval.term_coverage import query_terms
from tests.query_hits import passages, publish, record

MAIL = {"source": "mail", "rag_source_type": "email"}


def ask(folder: Path, question: str, *records: object, **limits: object) -> Answer:
    with Archive.open(publish(folder, records)) as archive:  # type: ignore[arg-type]
        return archive.ask(question, **limits)  # type: ignore[arg-type]


def quotes(answer: Answer) -> list[str]:
    return [quote.text for quote in answer.quotes]


def test_a_signature_is_no_answer(tmp_path: Path) -> None:
    text = "Your passport is ready at the consulate, bring 310.\n\nTamar Levi"
    mail = record("gmail:1", text, from_="Tamar Levi <tamar@x.example>", subject="Passport", **MAIL)
    answer = ask(tmp_path, "What did Tamar write about the passport?", mail)
    assert quotes(answer) == ["Your passport is ready at the consulate, bring 310."]


def test_neither_is_a_firm_that_signs(tmp_path: Path) -> None:
    mail = record("gmail:1", "The order is 12,400 words.\n\nNordwind Vendor Management", subject="Order",
                  from_="Nordwind Vendor <vendor@x.example>", **MAIL)  # fmt: skip
    assert quotes(ask(tmp_path, "e-mails regarding Nordwind", mail)) == ["The order is 12,400 words."]


def test_a_card_tells_the_number_of_who_is_asked_for(tmp_path: Path) -> None:
    card = record("contacts:1", "phone: 04-8123456", subject="Omer Sagi", rag_source_type="contact")
    note = record("jsonl:1", "Sold vase number 3 to the hotel for 390.", rag_source_type="jsonl")
    answer = ask(tmp_path, "What is the phone number of Omer?", card, note)
    assert [source.hit.chunk.asset_id for source in answer.sources] == ["contacts:1"]


def test_a_card_that_tells_all_stands_before_whoever_speaks_of_a_number(tmp_path: Path) -> None:
    card = record("contacts:1", "Omer Sagi\nphone: 04-8123456", subject="Omer Sagi", rag_source_type="contact")
    note = record("jsonl:1", "Omer gave the right phone number to his accountant.", rag_source_type="jsonl")
    first, *_ = quotes(ask(tmp_path, "What is Omer's phone number?", card, note))
    assert first == "Omer Sagi\nphone: 04-8123456"


def test_the_time_that_is_asked_for_is_no_missing_word(tmp_path: Path) -> None:
    mail = record("gmail:1", "The order is 12,400 words.", "2025-05-02T08:00:00Z", **MAIL)
    answer = ask(tmp_path, "what did mum write in May 2025?", mail)
    assert (answer.found, answer.missing) == (False, ["mum"])
    assert ask(tmp_path, "who won the cup in 1998?", mail).missing == ["won", "cup", "1998"]


def test_what_two_records_say_is_told_once_without_the_rest_of_either(tmp_path: Path) -> None:
    texts = ["We paid 3,640 EUR for the kiln from Rohde.", "The seller takes the kiln back within 14 days if unused."]
    records = [record(f"document:{number}", "\n".join(texts), rag_source_type="documentation") for number in (1, 2)]
    chunks = [chunk for one in records for chunk in passages(one, texts)]
    with Archive.open(publish(tmp_path, records, chunks)) as archive:
        answer = archive.ask("What was paid for the kiln from Rohde?")
    assert [(quote.text, quote.sources) for quote in answer.quotes] == [(texts[0], [1, 2])]


def test_where_only_the_subject_fits_a_sentence_with_a_date_says_when(tmp_path: Path) -> None:
    reply = record("gmail:2", "They are saving for a kitchen.", from_="Tamar", subject="Re: Noa's wedding", **MAIL)
    news = record("gmail:1", "We are all so happy about it. Come to the Garden Hall on 14 October.", from_="Tamar",
                  subject="Noa's wedding", **MAIL)  # fmt: skip
    answer = ask(tmp_path, "When is the wedding of Noa?", reply, news)
    assert quotes(answer)[0] == "Come to the Garden Hall on 14 October."
    assert quotes(ask(tmp_path, "What about the wedding of Noa?", reply, news))[0].startswith("They are saving")


@pytest.mark.parametrize(
    ("question", "refs"),
    [
        ("מתי החתונה?", ["gmail:2"]),
        ("מתי החתונה של נועה?", ["gmail:2"]),
        ("איפה החתול?", ["gmail:1"]),
        ("איפה חתולים?", ["gmail:1"]),
        ("מה עם ההסכם?", ["gmail:3"]),
        ("הסכמים", ["gmail:3"]),
        ("מה עם אמא?", ["gmail:4"]),
    ],
)
def test_hebrew_words_are_one_by_their_stem_not_by_an_article_and_a_beginning(
    tmp_path: Path, question: str, refs: list[str]
) -> None:
    answer = ask(
        tmp_path,
        question,
        record("gmail:1", "החתול של נועה שוב ישן על המרפסת", **MAIL),
        record("gmail:2", "החתונות של נועה ויואב יהיו באולם הגן", **MAIL),
        record("gmail:3", "חתמנו על ההסכם עם הקבלן אתמול", **MAIL),
        record("gmail:4", "קניתי לאמא שמלה כחולה ויפה", **MAIL),
    )
    assert [source.hit.chunk.asset_id for source in answer.sources] == refs


@pytest.mark.parametrize(
    ("word", "token", "sure"),
    [
        ("החתונה", "~החתו", 0.25),  # the article and three letters of a longer stem
        ("החתונה", "~חתו", 0.25),
        ("החתונה", "~חתונ", 0.9),  # all but the ending
        ("הסכם", "~הסכמ", 0.9),  # all of it, whether or not its first letter is one that can be prefixed
        ("ילדים", "~ילד", 0.5),
        ("מסמכים", "~מסמכ", 0.9),
        ("אמא", "לאמא", 0.9),
        ("לאמא", "אמא", 0.9),
    ],
)
def test_how_surely_a_beginning_is_the_word(word: str, token: str, sure: float) -> None:
    (term,) = query_terms(word, {})
    assert term.tokens[token] == sure


def test_an_amount_that_is_written_in_groups_is_a_word_of_the_question() -> None:
    assert [term.word for term in query_terms("pokuta 12 500", {})] == ["pokuta", "12500"]
