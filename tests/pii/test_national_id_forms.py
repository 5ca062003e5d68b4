"""National ids of many countries: beside a word for them everywhere, without one where the archive is at home."""

from __future__ import annotations

import pytest

from relrag_pipelines.pii import PIIRedactor, PolicyError, national_id_checks, national_id_forms
from relrag_pipelines.pii.policies import EntityCatalog
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.settings import Policy


def matches(text: str, *regions: str) -> list[str]:
    return [text[start:end] for start, end, _ in national_id_forms.finder(regions)(text)]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("My PESEL is 44051401359.", "44051401359"),
        ("pesel to 440514 01359, adres bez zmian", "440514 01359"),
        ("44051401359 (PESEL)", "44051401359"),
        ("Codice fiscale: RSSMRA85T10A562S", "RSSMRA85T10A562S"),
        ("c.f. rss mra 85t10 a562s", "rss mra 85t10 a562s"),
        ("DNI 54362315K", "54362315K"),
        ("con NIE X-2482300-W", "X-2482300-W"),
        ("Steuer-ID 36 574 261 809", "36 574 261 809"),
        ("Sozialversicherungsnummer 65 170839 J 003", "65 170839 J 003"),
        ("NI number AB 12 34 56 C", "AB 12 34 56 C"),
        ("NHS no: 943-476-5870", "943-476-5870"),
        ("CPF 390.533.447-05", "390.533.447-05"),
        ("주민등록번호는 971013-1019902", "971013-1019902"),
        ("ИНН 5001 0073 2259", "5001 0073 2259"),
        ("СНИЛС: 112-233-445 95", "112-233-445 95"),
        ("TCKN 17291716060", "17291716060"),
        ("БСН 111222333", None),
        ("BSN: 1112.22.333", "1112.22.333"),
        ("sécurité sociale : 2 95 10 99 126 111 93", "2 95 10 99 126 111 93"),
        ("AHV-Nr. 756.9217.0769.85", "756.9217.0769.85"),
        ("rodné 44051401359", None),
        ("fødselsnummer 151086 95088", "151086 95088"),
        ("hetu 131052-308T", "131052-308T"),
        ("NRIC S1234567D", "S1234567D"),
        ("aadhaar 2341 2341 2346", "2341 2341 2346"),
        ("マイナンバーは6214 9832 0257です", "6214 9832 0257"),
        ("RUT 12.531.909-2", "12.531.909-2"),
        ("adóazonosító 8071592153", "8071592153"),
    ],
)
def test_beside_a_word(text: str, number: str | None) -> None:
    assert matches(text) == ([number] if number else [])


@pytest.mark.parametrize(
    ("region", "number"),
    [
        ("ES", "54362315K"),
        ("ES", "X2482300W"),
        ("IT", "RSSMRA85T10A562S"),
        ("BR", "390.533.447-05"),
        ("GB", "AB 12 34 56 C"),
        ("FR", "2 95 10 99 126 111 93"),
        ("FI", "131052-308T"),
        ("CH", "756.9217.0769.85"),
        ("CL", "12.531.909-2"),
    ],
)
def test_without_a_word_only_at_home(region: str, number: str) -> None:
    text = f"sent you {number} yesterday"
    assert matches(text, region) == [number]
    assert matches(text) == []
    assert matches(f"order {number}", region) == []


@pytest.mark.parametrize(
    "text",
    [
        "PESEL 44051401358",  # checksum
        "DNI 54362315L",
        "CPF 390.533.447-06",
        "pesel of the invoice 12 is 44051401359",  # another number stands between
        "the pesels 44051401359",  # no word for it
        "PESEL 4405140135944",  # a part of a longer number
        "NI number BG 12 34 56 C",  # a prefix that is never given out
        "390.533.447-05",
    ],
)
def test_no_id(text: str) -> None:
    assert matches(text) == [], text


def test_every_row_of_the_table_has_a_check() -> None:
    assert len({one.region for one in national_id_forms.load()}) >= 45
    for one in national_id_forms.load():
        assert national_id_checks.check(one.check), one


def test_a_policy_may_name_one_id_as_presidio_does(keys: Keys) -> None:
    redactor = PIIRedactor({"default": Policy(entities=["PL_PESEL"], action="replace")}, keys)
    assert redactor.redact("PESEL 44051401359, DNI 54362315K", "default") == "PESEL <PL_PESEL>, DNI 54362315K"
    with pytest.raises(PolicyError, match="XX_ID"):
        PIIRedactor({"default": Policy(entities=["XX_ID"], action="replace")}, keys)


def test_the_regions_of_the_archive_decide(keys: Keys) -> None:
    policies = {"default": Policy(entities=["NATIONAL_ID"], action="replace")}
    spanish = PIIRedactor(policies, keys, catalog=EntityCatalog(regions=("ES",)))
    assert spanish.redact("firma 54362315K", "default") == "firma <NATIONAL_ID>"
    assert PIIRedactor(policies, keys).redact("firma 54362315K", "default") == "firma 54362315K"


def test_one_id_written_two_ways_is_one_value() -> None:
    assert national_id_forms.normalise("x-2482300-w") == national_id_forms.normalise("X2482300W") == "X2482300W"


@pytest.mark.parametrize(
    ("region", "text", "number"),
    [
        ("TR", "vergi no 4820715366", "4820715366"),
        ("MX", "NSS 12-94-88-5736-7 del IMSS", "12-94-88-5736-7"),
        ("ES", "Seguridad Social 28/10486153/05", "28/10486153/05"),
        ("ES", "NIF: ES48615307T", "ES48615307T"),
        ("PL", "NIP: PL7632184506", "PL7632184506"),
        ("BR", "RG 28.417.536-5", "28.417.536-5"),
        ("DE", "KVNR A482716396", "A482716396"),
        ("DE", "Steuernummer: 181/815/08150", "181/815/08150"),
        ("NL", "BSN 63233368", "63233368"),
        ("IN", "voter id ABC4827163", "ABC4827163"),
        ("IT", "P.IVA 07615980120 (ditta individuale)", "07615980120"),
        ("PL", "PESEL 90031512340", "90031512340"),  # mistyped
    ],
)
def test_labelled_ids_of_a_region(region: str, text: str, number: str) -> None:
    spans = national_id_forms.finder((region,))(text)
    assert [text[start:end] for start, end, _ in spans] == [number]


@pytest.mark.parametrize(
    ("region", "text"),
    [
        ("IT", "P.IVA 07615980120 della Rossi S.p.A."),
        ("DE", "PESEL 90031512340"),  # mistyped, and not of the region
        ("BR", "RG, telefone 28417536"),
    ],
)
def test_labels_that_do_not_suffice(region: str, text: str) -> None:
    assert national_id_forms.finder((region,))(text) == []
