"""What a question asks for, and whether a text holds it: an amount, a day, a number, a name."""

from __future__ import annotations

import pytest

from relrag_query.answering.answer_types import asked_first, holds_answer

VACCINATION = [
    ("How much was the vaccination of the dog?", "Rex is due for his vaccination on 12 May 2025 at 10:30."),
    ("Kolik stálo očkování psa?", "Očkování Rexe je 12. 5. 2025 v 10:30."),
    ("כמה עלה החיסון של הכלב?", "החיסון של רקס ב-12.5.2025 בשעה 10:30."),
]
"""a reminder, which names a day and no amount"""


@pytest.mark.parametrize(("question", "text"), VACCINATION)
def test_a_day_and_an_hour_are_no_amount(question: str, text: str) -> None:
    assert not holds_answer(question, text)


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        (
            VACCINATION[0][0],
            [
                "It was 45 pounds.",
                "We paid 1,250.",
                "Fifty in all.",
                "It came to 12.50.",
                "NIS 60",
                "It is free of charge.",
            ],
        ),
        (VACCINATION[1][0], ["Stálo 450 Kč.", "Za očkování šest set.", "Dvacet eur.", "Bylo to zdarma."]),
        (VACCINATION[2][0], ["שילמתי 180 שקל", "החיסון עלה מאתיים", "זה בחינם"]),
    ],
)
def test_an_amount_is_a_figure_or_words(question: str, texts: list[str]) -> None:
    assert [holds_answer(question, text) for text in texts] == [True] * len(texts)


@pytest.mark.parametrize(
    ("question", "no", "yes"),
    [
        ("When is the vaccination?", "Rex is due for his vaccination.", "Rex is due on Tuesday."),
        ("Kdy je očkování?", "Očkování Rexe se blíží.", "Rex jde na očkování v úterý."),
        ("מתי החיסון?", "רקס צריך חיסון.", "החיסון ביום שלישי."),
        ("Who fixed the boiler?", "The boiler was fixed.", "Dana fixed it."),
        ("Kdo opravil kotel?", "Kotel už je opravený.", "Opravil ho Pavel."),
        ("מי תיקן את הדוד?", "הדוד תוקן אתמול.", "דנה תיקנה אותו."),
        ("מי זכה במכרז?", "זכה מישהו אחר.", 'הזוכה: "שורשים פיתוח נוף".'),
        ("How many children do they have?", "They have no time for children.", "They have three."),
        ("Kolik mají dětí?", "Na děti nemají čas.", "Mají tři."),
        ("כמה ילדים יש להם?", "אין להם זמן לילדים.", "יש להם שלושה."),
        ("What is Giulia's VAT number?", "Giulia opens a new account on 3 May 2025.", "It is IT 0274 1180 302."),
        ("what's the code for the gate", "The gate has a code now.", "The gate: 4471#"),
        ("Jaký má Radek telefon?", "Radek si v úterý koupil telefon.", "Radek: 777 123 456"),
        ("מה הטלפון של מנשה?", "מצאתי את מנשה מקריית אתא.", "מנשה 052-987-6543"),
        ("מה הטלפון של מוטי?", "מוטי לקח 680 שקל, והשמאי יבוא ב-14 באפריל.", "מוטי 052-987-6543"),
        ("What is Gaz's phone number?", "Gaz charged £1,240 and comes on 14 April or May 16.", "Gaz 07700 900128"),
        ("What is the gate code?", "The gate cost 4 680 Kč.", "Gate 4471, 680 Kč a year."),
        ("Jaké je číslo pojistky?", "Pojistka stojí 12 480 Kč, platí od 3. května.", "Pojistka 4471-22"),
        ("What is Dana's e-mail address?", "Dana wrote on Tuesday.", "dana@hill.example"),
    ],
)
def test_a_day_a_name_and_a_number(question: str, no: str, yes: str) -> None:
    assert [holds_answer(question, text) for text in (no, yes)] == [False, True]


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("When does it open?", ["In two weeks.", "Next week.", "After lunch.", "Yesterday.", "At 8.", "In May."]),
        ("Kdy se otvírá?", ["Za dva týdny.", "Příští týden.", "Po obědě.", "Včera.", "V 8.", "V květnu."]),
        ("מתי פותחים?", ["בעוד שבועיים.", "בבוקר.", "אתמול.", "ב-8.", "במאי."]),
    ],
)
def test_there_are_many_ways_to_tell_when(question: str, texts: list[str]) -> None:
    assert [holds_answer(question, text) for text in texts] == [True] * len(texts)


@pytest.mark.parametrize(
    "question",
    [
        "What did she bring when she came?",
        "Co přivezla, když přijela, a kdo to snědl?",
        "איפה היא הייתה כשמישהו שאל מתי?",
        "Did they pay the rent?",
        "Zaplatili nájem?",
        "שילמו שכירות?",
    ],
)
def test_only_the_word_that_asks_counts(question: str) -> None:
    assert holds_answer(question, "Yes.")


@pytest.mark.parametrize("question", ["When and how much?", "Kdy a za kolik?", "מתי וכמה זה יעלה?"])
def test_of_several_things_one_is_enough(question: str) -> None:
    assert [holds_answer(question, text) for text in ("On 3 May.", "It is nice.")] == [True, False]


@pytest.mark.parametrize(
    "question",
    [
        "What did he say about the code review?",
        "Which number of people came?",
        "What is the number of guests?",
        "What phone did Jana buy?",
        "Jaký telefon má Jana?",
    ],
)
def test_not_every_number_identifies_something(question: str) -> None:
    assert "identifier" not in asked_first(question)
