"""How well personal data is found, held to the gates that `make bench` prints, and what single recognisers find."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import pii_scores, pii_sentences
from relrag_pipelines.pii.entities import ENTITIES, FURTHER


@pytest.mark.parametrize("half", ["tune", "test"])
def test_the_sentences_are_as_many_as_promised(half: pii_sentences.Half) -> None:
    made = pii_sentences.sentences(half)
    assert len([one for one in made if one.entity]) >= 1000
    assert len([one for one in made if not one.entity]) >= 350
    assert all(one.text[one.start : one.end].strip() for one in made if one.entity)


def test_no_template_is_in_both_halves() -> None:
    for templates in pii_sentences.TEMPLATES.values():
        assert len(set(templates)) == len(templates)
        assert not set(templates[::2]) & set(templates[1::2])


@pytest.mark.requirement("S0-80")
def test_personal_data_in_three_languages_is_found_and_decoys_are_not() -> None:
    least_recall, least_precision = pii_scores.SENTENCE_GATE
    for name, score in pii_scores.on_sentences("test").items():
        assert score.recall >= least_recall, (name, score)
        assert score.precision >= least_precision, (name, score)


def test_what_others_annotated_is_found(shared_data: Path) -> None:
    for name, score in pii_scores.on_annotated().items():
        least_recall, least_precision = pii_scores.GATES[name]
        assert score.annotated
        assert score.recall >= least_recall, (name, score)
        assert score.precision >= least_precision, (name, score)


FOUND = [
    ("US_SSN", "ssn 846-15-5715", ["846-15-5715"]),
    ("US_SSN", "part 846-15-5715", []),
    ("US_SSN", "846155715", []),
    ("US_SSN", "Social security: 846155715", ["846155715"]),
    ("US_SSN", "000-15-5715, 846-00-5715, 846-15-0000", []),
    ("IP_ADDRESS", "from 41.173.96.26:8080", ["41.173.96.26"]),
    ("IP_ADDRESS", "ב192.168.10.7 ו-10.0.0.0/8", ["192.168.10.7", "10.0.0.0/8"]),
    ("IP_ADDRESS", "127.0.0.1, 0.0.0.0, version 1.2.3.4, v1.2.3.4, 1.2.3.4.5, 300.1.1.1", []),
    ("IP_ADDRESS", "2001:db8::1 and 6e40:4041:c617:e898:c11:40d2:c669:2eb4", ["2001:db8::1",
        "6e40:4041:c617:e898:c11:40d2:c669:2eb4"]),
    ("IP_ADDRESS", "x[1::2], std::vector, 12:30:45, dead::beef", []),
    ("MAC_ADDRESS", "AA:bb:cc:11:22:33 aa-bb-cc-11-22-33 0012.3456.789a", ["AA:bb:cc:11:22:33", "aa-bb-cc-11-22-33",
        "0012.3456.789a"]),
    ("MAC_ADDRESS", "00:00:00:00:00:00 12-34-56-78-90-12 aa:bb:cc:dd:11:22:33:44", []),
    ("CREDENTIALS", "postgres://joe:pw1@db.example.org/x", ["joe:pw1@db.example.org"]),
    ("CREDENTIALS", "https://example.org/?id=5&token=abc123def#x", ["abc123def"]),
    ("CREDENTIALS", "https://example.org:8080/a@b and https://example.org/?token=abcdefgh", []),
    ("API_KEY", "key AKIA1234567890ABCDEF!", ["AKIA1234567890ABCDEF"]),
    ("API_KEY", "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2Q",
        ["eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2Q"]),
    ("API_KEY", "sk-learn and task-sk-12", []),
    ("PASSPORT", "passport no. AB1234567", ["AB1234567"]),
    ("PASSPORT", "מספר הדרכון 12345678", ["12345678"]),
    ("PASSPORT", "cestovní pas č. 39841234", ["39841234"]),
    ("PASSPORT", "order 39841234, order AB1234567", []),
    ("DRIVER_LICENSE", "my driver's license number is 2270-66-1551", ["2270-66-1551"]),
    ("DRIVER_LICENSE", "רישיון נהיגה 6940579", ["6940579"]),
    ("DRIVER_LICENSE", "řidičský průkaz EB 123456", ["EB 123456"]),
    ("IL_COMPANY_NUMBER", 'ח"פ 514713221, עוסק מורשה 514713221, order 514713221', ["514713221", "514713221"]),
    ("CZ_COMPANY_NUMBER", "IČO: 25123891, IČ 251 23 891, IČO 25123890", ["25123891", "251 23 891"]),
    ("CZ_TAX_NUMBER", "DIČ CZ25123891, CZ7103192745, CZ25123890", ["CZ25123891", "CZ7103192745"]),
    ("PHONE_NUMBER", "wa.me/972521234567", ["972521234567"]),
    ("PHONE_NUMBER", "call (212) 555-0123 ext. 45", ["(212) 555-0123 ext. 45"]),
    ("PHONE_NUMBER", "my registered 668 5702", ["668 5702"]),
]  # fmt: skip


@pytest.mark.parametrize(("entity", "text", "values"), FOUND, ids=[f"{one[0]} {one[1][:30]}" for one in FOUND])
def test_what_is_found(entity: str, text: str, values: list[str]) -> None:
    found = pii_scores.redactor([entity]).detect(text, "default")
    assert [text[one.start : one.end] for one in found] == values


def test_every_entity_is_tried_here_or_in_a_file_of_its_own() -> None:
    assert {one[0] for one in FOUND} | ENTITIES.keys() | {"BANK_ACCOUNT"} == ENTITIES.keys() | FURTHER.keys()
