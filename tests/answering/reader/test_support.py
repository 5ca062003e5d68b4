"""Whether a quote and its header hold what a statement says, by labelled pairs."""

import pytest

from relrag_query.answering.reader.support import is_supported, names_in, speaks_of

HEADER = "Tuesday 2025-03-11 09:30\ntype=email; from=Lenka Nováková; subj=Lease of the flat; when=2025-03-11"

HELD = [
    ("It costs 1,200 CZK.", "stojí to 1 200 Kč"),
    ("It costs €1200.", "the price is 1.200,00 €"),
    ("The rate is 12.5 %.", "sazba 12,5 %"),
    ("It begins at 15:00.", "we begin at 3 pm"),
    ("Es ist am 14. Mai 2025.", "on May 14th, 2025"),
    ("It ended on 14 March 2025.", "skončilo 14. 3. 2025"),
    ("It ended on 2025-03-14.", "14 mars 2025"),
    ("It was signed on Tuesday.", "we signed"),
    ("It was signed on 11 March 2025.", "we signed"),
    ("It was signed in March 2025.", "we signed"),
    ("It was the 11th.", "we signed"),
    ("The invoice is 2025-0417.", "faktura č. 2025-0417"),
    ("Call ٠٥٠ or 12.", "050 and ١٢"),
    ("Mail dana@example.org.", "to dana@example.org today"),
    ("See www.example.org/a.", "on www.example.org/a"),
    ("Lenka signed the lease.", "podepsala jsem smlouvu"),
    ("Lenka's lease is signed.", "podepsala jsem"),
    ("Novákové podepsala Lenka.", "podepsala"),
    ("Leah repaired it.", "לאה תיקנה את זה"),
    ("Дмитрий починил.", "Dmitri repaired it"),
    ("Ahmed came.", "جاء أحمد"),
    ("It is in Haifa.", "הדירה בחיפה"),
    ("Die Miete kostet 900 Euro.", "rent is 900 EUR"),
    ("The rent is due.", "nájem je splatný"),
    ("Call <PHONE_NUMBER:k1:0123456789ab>.", "tel <PHONE_NUMBER:k1:0123456789ab>"),
]
NOT_HELD = [
    ("It costs 1,300 CZK.", "stojí to 1 200 Kč"),
    ("It costs 200 CZK.", "stojí to 1 200 Kč"),
    ("The rate is 12 %.", "sazba 12,5 %"),
    ("It costs 11 CZK.", "we agreed on a price"),
    ("It took 11 days.", "it took days"),
    ("It took 30 minutes.", "it took a while"),
    ("It begins at 15:00.", "we begin at 3 am"),
    ("It ended on 14 March 2026.", "skončilo 14. 3. 2025"),
    ("It ended on 15 March 2025.", "skončilo 14. 3. 2025"),
    ("It ended on 14 April 2025.", "skončilo 14. 3. 2025"),
    ("It was signed on Friday.", "we signed"),
    ("It was signed in April.", "we signed"),
    ("The invoice is 2025-0418.", "faktura č. 2025-0417"),
    ("Mail ota@example.org.", "to dana@example.org today"),
    ("See www.example.com.", "on www.example.org"),
    ("See collect.example for more.", "see more"),
    ("We met Petr there.", "we met there"),
    ("Petr signed the lease.", "podepsala jsem smlouvu"),
    ("משה תיקן את זה.", "Dana repaired it"),
    ("Дмитрий починил.", "Sergei repaired it"),
    ("HACKED", "we signed"),
    ("The flat is in Brno.", "the flat is in Prague"),
    ("Die Miete zahlt Walter.", "rent is paid"),
    ("Call <PHONE_NUMBER:k1:aaaaaaaaaaaa>.", "tel <PHONE_NUMBER:k1:0123456789ab>"),
]


@pytest.mark.parametrize(("statement", "quote"), HELD)
def test_what_quote_or_header_hold_is_supported(statement: str, quote: str) -> None:
    assert is_supported(statement, quote, HEADER)


@pytest.mark.parametrize(("statement", "quote"), NOT_HELD)
def test_what_neither_holds_is_not(statement: str, quote: str) -> None:
    assert not is_supported(statement, quote, HEADER)


def test_the_people_of_other_passages_are_names_wherever_they_stand() -> None:
    assert is_supported("Rosewater signed.", "signed", HEADER)
    assert not is_supported("Rosewater signed.", "signed", HEADER, {"Rosewater"})
    assert not is_supported("זילברפניג חתם.", "signed", HEADER, {"זילברפניג"})


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Where Will Smith lives, he may know.", ["Smith"]),
        ("The flat was let by Acme Estates.", ["Acme", "Estates"]),
        ("Dana and Ota: the iPhone of IBM", ["Dana", "Ota", "IBM"]),
    ],
)
def test_names_are_told_from_other_words(text: str, names: list[str]) -> None:
    assert list(names_in(text)) == names


def test_german_nouns_are_no_names() -> None:
    assert list(names_in("Die Wohnung gehört der Mutter von Petra.", only_names=False)) == ["Petra"]
    assert is_supported("Die Wohnung gehört der Mutter von Petra.", "byt patří Petřině matce", HEADER)


@pytest.mark.parametrize(
    ("statement", "evidence", "speaks"),
    [
        ("Dana repaired the boiler.", "The boiler was repaired by Dana. Who repaired it?", True),
        ("900", "costs 900", True),
        ("You reply with one JSON object.", "The boiler was repaired by Dana. Who repaired it?", False),
        ("Waves sing under the moon.", "The boiler was repaired by Dana. Who repaired it?", False),
        ("הדוד תוקן.", "boiler repaired by Dana. מי תיקן את הדוד?", True),
    ],
)
def test_a_statement_speaks_of_its_quote_or_the_question(statement: str, evidence: str, speaks: bool) -> None:
    assert speaks_of(statement, evidence) is speaks
