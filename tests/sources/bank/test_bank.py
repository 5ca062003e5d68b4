"""Bank statements: the samples in all formats, dialects of CSV, and damaged files. Values were read by a person."""

import re
import time
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from relrag_pipelines.pii import PIIRedactor
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Record
from relrag_pipelines.settings import POLICIES, Policy
from relrag_pipelines.sources import KINDS
from relrag_pipelines.sources.bank import values
from tests.cases import cases
from tests.conftest import ROOT
from tests.sources.connector import read, survives

SAMPLES = ROOT / "examples" / "samples" / "bank"
NAMES = sorted(file.name for file in SAMPLES.iterdir())


def row(record: Record) -> tuple[str, str, str, str]:
    """Day, amount, payee and purpose."""
    day = f"{datetime.fromtimestamp(record.ts or 0, UTC):%Y-%m-%d}"
    fields = record.extra
    amount = f"{fields['amount']} {fields.get('currency', '')}".strip()
    return day, amount, fields.get("payee", ""), fields.get("purpose", "")


@pytest.mark.parametrize(
    ("name", "rows", "faults"),
    [
        (
            "camt053.xml",
            [
                ("2024-02-12", "-318.40 EUR", "Pépinières Delbard", "Facture FA-2024-17, quarante pommiers"),
                ("2024-02-20", "30.00 EUR", "Mairie de Lhôpital", ""),
                ("2024-02-20", "40.00 EUR", "Amis du verger", ""),
            ],
            [],
        ),
        (
            "checking.ofx",
            [
                ("2024-03-08", "-64.20 USD", "LAKESIDE HARDWARE", "Paint & brushes"),
                ("2024-03-15", "-300.00 USD", "CHECK", ""),
            ],
            [],
        ),
        (
            "money.qif",
            [
                ("2024-01-25", "-1200.00", "Riverside Apartments", "February rent"),
                ("2024-02-03", "45.10", "Dana Levi", ""),
            ],
            [],
        ),
        (
            "statement.csv",
            [
                ("2024-04-03", "-120.00 GBP", "", "WHITCOMBE HEATING, BOILER SERVICE"),
                ("2024-04-12", "2310.55 GBP", "", "SALARY HARBOUR TRUST"),
            ],
            [("line 4", "bad_row")],
        ),
        (
            "umsaetze.csv",
            [
                ("2023-11-02", "-60.00 EUR", "Hausverwaltung Brückner", "LASTSCHRIFT; Miete Stellplatz 14 November"),
                (
                    *("2023-11-15", "1180.50 EUR", "Vogt, Annegret"),
                    "GUTSCHR. UEBERWEISUNG; Kaution zurück, Rechnung 2023-118",
                ),
            ],
            [],
        ),
        (
            "umsatz.sta",
            [
                ("2024-01-02", "-89.95 EUR", "LINDNER GMBH", "Baumarkt Lindner Farbe und Pinsel"),
                ("2024-01-03", "250 EUR", "", "Rueckzahlung Darlehen Karl"),
            ],
            [],
        ),
        (
            "vypis.csv",
            [
                ("2024-03-04", "-48250.50 CZK", "Tesařství Blaha", "Krov a latě"),
                ("2024-03-19", "3600.00 CZK", "Eliška Havlíková", "vrácení půjčky"),
            ],
            [],
        ),
    ],
)
def test_the_samples(name: str, rows: list[tuple[str, str, str, str]], faults: list[tuple[str, str]]) -> None:
    records, failures = read("bank", SAMPLES / name)
    assert [row(record) for record in records] == rows
    assert [(failure.location, failure.fault) for failure in failures] == faults


def test_a_payment_has_its_fields_and_direction() -> None:
    (carpenter, loan), _ = read("bank", SAMPLES / "vypis.csv")
    assert (carpenter.to, carpenter.from_, loan.from_) == (["Tesařství Blaha"], None, "Eliška Havlíková")
    assert carpenter.text.split("\n") == [
        "Date: 2024-03-04",
        "Amount: -48250.50 CZK",
        "Paid to: Tesařství Blaha",
        "Bank account: ending in 1457",
        "Purpose: Krov a latě",
        "Reference: 240071",
    ]
    assert "240071" in carpenter.numbers
    assert carpenter.thread_id == loan.thread_id is not None
    assert carpenter.subject == "Tesařství Blaha -48250.50 CZK"


@pytest.mark.parametrize(*cases(__file__, "dialects_of_csv"))
def test_dialects_of_csv(tmp_path: Path, text: str, rows: list[tuple[str, str, str, str]]) -> None:
    file = tmp_path / "a.csv"
    file.write_text(text)
    records, failures = read("bank", file)
    assert ([row(record) for record in records], failures) == (rows, [])
    assert KINDS["bank"].recognise(file)


@pytest.mark.parametrize(
    ("account", "line"),
    [
        ("DE89370400440532013000", "IBAN: DE89370400440532013000"),
        ("000112233445", "Bank account: ending in 3445"),
        ("10-800-99999999", "Bank account: ending in 9999"),
    ],
)
def test_an_account_stands_in_a_form_that_redaction_finds(tmp_path: Path, account: str, line: str) -> None:
    (tmp_path / "a.csv").write_text(f"Date,Payee,IBAN,Amount\n2024-01-02,Dana,{account},-1.00\n")
    ((record,), _) = read("bank", tmp_path / "a.csv")
    assert line in record.text.split("\n")
    assert account not in str(record.extra)


def test_equal_payments_of_a_day_stay_apart_and_a_longer_statement_has_the_same_ids(tmp_path: Path) -> None:
    head, coffee = "Date,Description,Amount\n", "2024-01-02,Coffee,-3.20\n"
    (tmp_path / "a.csv").write_text(head + coffee * 2)
    (tmp_path / "b.csv").write_text(f"{head}2024-01-01,Tea,-2.00\n{coffee * 2}")
    first, second = (read("bank", tmp_path / name)[0] for name in ("a.csv", "b.csv"))
    assert len({record.source_id for record in first}) == 2
    assert [record.source_id for record in first] == [record.source_id for record in second[1:]]


@pytest.mark.parametrize(*cases(__file__, "the_decimal_mark_of_a_column"))
def test_the_decimal_mark_of_a_column(texts: list[str], mark: str) -> None:
    assert values.decimal_mark(texts) == mark


@pytest.mark.parametrize(
    ("text", "mark", "amount"),
    [("1'234.50", ".", "1234.50"), ("12,50-", ",", "-12.50"), ("−3.20", ".", "-3.20"), ("Kč 1 000,00", ",", "1000.00")],
)
def test_amounts(text: str, mark: str, amount: str) -> None:
    assert values.amount(text, mark) == Decimal(amount)
    assert values.amount("none", mark) is None


@pytest.mark.parametrize(
    ("texts", "day"),
    [
        (["03/04/2024", "25/04/2024"], date(2024, 4, 3)),
        (["03/04/2024", "03/25/2024"], date(2024, 3, 4)),
        (["04/01/2024", "05/01/2024", "06/01/2024"], date(2024, 1, 4)),
        (["12 Feb 2024"], date(2024, 2, 12)),
        (["3. 12. 23"], date(2023, 12, 3)),
        (["März 5, 2024"], date(2024, 3, 5)),
    ],
)
def test_the_order_of_day_and_month(texts: list[str], day: date) -> None:
    assert values.day_reader(texts)(texts[0]) == day


def test_recognise(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("Name,Date,Age\nDana,2024-01-01,7\n")
    (tmp_path / "a.xml").write_text("<calls/>")
    assert not any(KINDS["bank"].recognise(file) for file in tmp_path.iterdir())
    assert all(KINDS["bank"].recognise(SAMPLES / name) for name in NAMES)


def test_a_table_that_is_no_statement_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Name,Age\nDana,7\n")
    records, (failure,) = read("bank", tmp_path / "a.csv")
    assert (records, failure.fault, failure.whole_unit) == ([], "wrong_format", True)
    assert "Dana" not in failure.message


@pytest.mark.parametrize("name", NAMES)
def test_damaged_statements(tmp_path: Path, name: str) -> None:
    survives("bank", SAMPLES / name, tmp_path, 30)


@pytest.mark.parametrize("name", ["camt053.xml", "checking.ofx", "umsatz.sta"])
def test_a_statement_that_is_cut_deletes_nothing(name: str, tmp_path: Path) -> None:
    data = (SAMPLES / name).read_bytes()
    (tmp_path / name).write_bytes(data[: len(data) * 2 // 3])
    _, failures = read("bank", tmp_path / name)
    assert [failure.fault for failure in failures if failure.whole_unit] == ["truncated"]


def test_the_format_of_a_hostile_head_is_told_in_linear_time(tmp_path: Path) -> None:
    file = tmp_path / "a.sta"
    file.write_bytes(b":20:\n:25:\n" * 3_200)
    started = time.process_time()
    assert not KINDS["bank"].recognise(file)
    assert time.process_time() - started < 1


@pytest.mark.parametrize(*cases(__file__, "payments_of_one_number_stay_apart"))
def test_payments_of_one_number_stay_apart(tmp_path: Path, name: str, text: str, count: int) -> None:
    """Each payment alone, as another statement may list it, has an id that no other has."""
    head, *lines = text.splitlines(keepends=True)
    ids = set()
    for line in lines:
        (tmp_path / name).write_text(head + line)
        ids |= {record.source_id for record in read("bank", tmp_path / name)[0]}
    assert len(ids) == count == len(lines)
    (tmp_path / name).write_text(text)
    assert {record.source_id for record in read("bank", tmp_path / name)[0]} == ids


@pytest.mark.parametrize("number", ["0", "000000", "NONREF", "NOTPROVIDED"])
def test_a_transaction_number_that_is_none_joins_no_payments(tmp_path: Path, number: str) -> None:
    template = (SAMPLES / "checking.ofx").read_text()
    for name, amount in (("a.ofx", "-64.20"), ("b.ofx", "-65.20")):
        text = re.sub(r"<FITID>[^<\r\n]*", f"<FITID>{number}", template).replace("-64.20", amount)
        (tmp_path / name).write_text(text)
    first, second = (read("bank", tmp_path / name)[0] for name in ("a.ofx", "b.ofx"))
    assert first[0].source_id != second[0].source_id
    assert first[1].source_id == second[1].source_id


@pytest.mark.parametrize("share", [10, 35, 50, 65, 90])
@pytest.mark.parametrize("name", NAMES)
def test_a_statement_that_is_cut_is_not_read_whole(tmp_path: Path, name: str, share: int) -> None:
    """Cut within a line: between two lines a table shows no cut."""
    data = (SAMPLES / name).read_bytes()
    end = len(data) * share // 100
    while data[end - 2 : end + 1].strip() != data[end - 2 : end + 1]:
        end += 1
    if name == "umsaetze.csv" and share == 65:
        end += 5
    (tmp_path / name).write_bytes(data[:end])
    _, failures = read("bank", tmp_path / name)
    assert any(failure.whole_unit for failure in failures)


@pytest.mark.parametrize(*cases(__file__, "a_stray_quotation_mark_costs_no_payment"))
def test_a_stray_quotation_mark_costs_no_payment(tmp_path: Path, text: str, rows: list[str], line: str) -> None:
    (tmp_path / "a.csv").write_text(f"Date,Payee,Amount\n{text}")
    records, (failure,) = read("bank", tmp_path / "a.csv")
    assert [record.extra["amount"] for record in records] == rows
    assert (failure.location, failure.fault, failure.whole_unit) == (line, "open_quote", True)


def test_a_cell_of_several_lines_is_no_stray_mark(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('Date,Description,Amount\n2024-01-02,"Rent\nof ""May"", 12",-1.00\n')
    ((record,), failures) = read("bank", tmp_path / "a.csv")
    assert (row(record), failures) == (("2024-01-02", "-1.00", "", 'Rent of "May", 12'), [])


def test_an_entry_without_day_or_amount_is_a_failure(tmp_path: Path) -> None:
    text = (SAMPLES / "camt053.xml").read_text()
    for number, (old, new) in enumerate([("318.40</Amt>", "n/a</Amt>"), ("Dt>2024-02-1", "Dt>x-"), ("70.00", "")]):
        (tmp_path / f"{number}.xml").write_text(text.replace(old, new))
        records, (failure,) = read("bank", tmp_path / f"{number}.xml")
        assert (failure.location, failure.fault) == ("entry 2" if number == 2 else "entry 1", "bad_row")
        assert len(records) == (1 if number == 2 else 2)


@pytest.mark.parametrize(*cases(__file__, "a_reversal"))
def test_a_reversal(tmp_path: Path, indicator: str, reversal: str, amount: str, payee: str) -> None:
    text = (SAMPLES / "camt053.xml").read_text()
    text = text.replace(
        "<CdtDbtInd>DBIT</CdtDbtInd>", f"<CdtDbtInd>{indicator}</CdtDbtInd><RvslInd>{reversal}</RvslInd>"
    )
    (tmp_path / "a.xml").write_text(text)
    (record, *_), failures = read("bank", tmp_path / "a.xml")
    assert (record.extra["amount"], record.extra.get("payee", ""), failures) == (amount, payee, [])


def test_xml_that_is_broken_in_its_middle_deletes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text((SAMPLES / "camt053.xml").read_text().replace("</AcctSvcrRef>", "</AcctSvc"))
    _, failures = read("bank", tmp_path / "a.xml")
    assert [failure.fault for failure in failures if failure.whole_unit] == ["damaged"]


ADDRESS, IBAN = "karl.lindner@example.com", "DE89370400440532013000"


def cut(text: str, width: int, separator: str = "\n") -> str:
    """The text in two lines or subfields, the first of this width."""
    return f"{text[:width]}{separator}{text[width:]}"


@pytest.mark.parametrize(
    ("purpose", "value"),
    [
        # subfields of 27 characters, and lines of 65, 35 and 27
        (f"106?20{cut(f'Antwort bitte {ADDRESS}', 27, '?21')}?22danke", ADDRESS),
        (f"106?20{cut(f'Zurück auf {IBAN}', 27, '?21')}", IBAN),
        (f"106?32{cut(f'Verein {ADDRESS}', 27, '?33')}?20Beitrag", ADDRESS),
        (cut(f"{'Rechnung 12 vom ' * 3}{ADDRESS}", 65), ADDRESS),
        (cut(f"Rechnung 12 vom Mai {IBAN}", 35), IBAN),
        (cut(f"Beitrag {ADDRESS}", 27), ADDRESS),
    ],
)
def test_a_value_that_two_lines_of_mt940_share_is_redacted(tmp_path: Path, purpose: str, value: str) -> None:
    text = (SAMPLES / "umsatz.sta").read_text().replace("Rueckzahlung Darlehen Karl", purpose)
    (tmp_path / "a.sta").write_text(text)
    (_, record), failures = read("bank", tmp_path / "a.sta")
    assert failures == []
    assert value in record.text
    policies = {name: Policy.model_validate(policy) for name, policy in POLICIES.items()}
    shown = PIIRedactor(policies, Keys(b"i" * 32, b"p" * 32, "k1")).redact(record.text, "bank")
    assert value[:8] not in shown
    assert value[-8:] not in shown


def test_lines_of_mt940_that_end_before_their_width_are_words_apart(tmp_path: Path) -> None:
    text = (SAMPLES / "umsatz.sta").read_text().replace("Rueckzahlung Darlehen Karl", "Rueckzahlung\nDarlehen\nKarl")
    (tmp_path / "a.sta").write_text(text.replace("?21Farbe", "?21 Farbe"))
    first, second = read("bank", tmp_path / "a.sta")[0]
    assert (first.extra["purpose"], second.extra["purpose"]) == (
        "Baumarkt Lindner Farbe und Pinsel",
        "Rueckzahlung Darlehen Karl",
    )


N26_OLD = (
    '"Date","Payee","Account number","Transaction type","Payment reference","Amount (EUR)","Amount (Foreign Currency)",'
    '"Type Foreign Currency","Exchange Rate"\n'
    '"2024-02-01","Hausverwaltung Vogt","DE89370400440532013000","Outgoing Transfer","Miete","-800.0","","",""\n'
    '"2024-02-03","BAKERY","","MasterCard Payment","","-4.5","-4.5","EUR","1.0"\n'
    '"2024-02-05","Karl Lindner","FR1420041010050500013M02606","Income","Danke","20.0","","",""\n'
)
N26_NEW = (
    '"Booking Date","Value Date","Partner Name","Partner Iban",Type,"Payment Reference","Account Name","Amount (EUR)",'
    '"Original Amount","Original Currency","Exchange Rate"\n'
    '2024-02-01,2024-02-01,"Hausverwaltung Vogt",DE89370400440532013000,"Debit",Miete,"Main Account",-800.00,,,\n'
    '2024-02-03,2024-02-05,BAKERY,,Presentment,,"Main Account",-4.50,4.90,USD,1.0888\n'
    '2024-02-05,2024-02-05,"Karl Lindner",FR1420041010050500013M02606,Income,Danke,"Main Account",20.00,,,\n'
)


@pytest.mark.parametrize("text", [N26_OLD, N26_NEW, N26_OLD.replace("Account number", "Kontonummer")])
def test_the_columns_of_n26(tmp_path: Path, text: str) -> None:
    (tmp_path / "n26.csv").write_text(text)
    assert KINDS["bank"].recognise(tmp_path / "n26.csv")
    records, failures = read("bank", tmp_path / "n26.csv")
    assert failures == []
    assert [(day, Decimal(amount.split()[0]), payee, purpose) for day, amount, payee, purpose in map(row, records)] == [
        ("2024-02-01", Decimal(-800), "Hausverwaltung Vogt", "Miete"),
        ("2024-02-03", Decimal("-4.5"), "BAKERY", ""),
        ("2024-02-05", Decimal(20), "Karl Lindner", "Danke"),
    ]
    assert {record.extra["currency"] for record in records} == {"EUR"}
    assert "IBAN: DE89370400440532013000" in records[0].text.split("\n")
    assert {record.thread_id for record in records} == {None}


def test_an_own_account_in_every_row_stays_the_own_one(tmp_path: Path) -> None:
    text = "Account,Date,Payee,Amount\nDE1,2024-01-02,Dana,-1\nDE1,2024-01-03,Eva,-2\n"
    (tmp_path / "a.csv").write_text(text)
    first, second = read("bank", tmp_path / "a.csv")[0]
    assert first.thread_id == second.thread_id is not None
