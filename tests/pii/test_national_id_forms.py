"""National ids of many countries: beside a word for them everywhere, without one where the archive is at home."""

from __future__ import annotations

import pytest

from relrag_pipelines.pii import PIIRedactor, PolicyError, national_id_checks, national_id_forms
from relrag_pipelines.pii.policies import EntityCatalog
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.settings import Policy
from tests.cases import cases


def matches(text: str, *regions: str) -> list[str]:
    return [text[start:end] for start, end, _ in national_id_forms.finder(regions)(text)]


@pytest.mark.parametrize(*cases(__file__, "beside_a_word"))
def test_beside_a_word(text: str, number: str | None) -> None:
    assert matches(text) == ([number] if number else [])


@pytest.mark.parametrize(*cases(__file__, "without_a_word_only_at_home"))
def test_without_a_word_only_at_home(region: str, number: str) -> None:
    text = f"sent you {number} yesterday"
    assert matches(text, region) == [number]
    assert matches(text) == []
    assert matches(f"order {number}", region) == []


@pytest.mark.parametrize(*cases(__file__, "no_id"))
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
