"""Who else may be the person that is to be forgotten."""

import json
from pathlib import Path

import pytest

from relrag_pipelines.erasure import record_selection, rule_matching, similar_names
from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.erasure.similar_names import SimilarName
from tests import archive
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "alike"))
def test_alike(one: str, two: str, same: bool) -> None:
    assert similar_names.names_match(one, two) is same
    assert similar_names.names_match(two, one) is same


def judge_names(folder: Path, who: str, *notes: dict[str, object]) -> tuple[list[str], list[SimilarName]]:
    config = archive.make(folder)
    lines = [{"id": f"m{number}", "text": "x", **note} for number, note in enumerate(notes)]
    (folder / "notes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    workspace = archive.sync(config)
    also = similar_names.same_person_values(workspace, who)
    rule = rule_matching.for_person(who, workspace.keys, "now", also)
    chosen = record_selection.select(workspace, [rule])
    return also, similar_names.find_candidates(workspace, [who, *also], chosen, RuleMatcher([rule], workspace.keys))


def test_other_spellings_are_counted_by_record(tmp_path: Path) -> None:
    also, others = judge_names(
        tmp_path,
        "Jana Nováková",
        {"from": "Jana Nováková", "text": "hello"},
        {"text": "Řekni to Janě Novákové. Janě Novákové, prosím!"},
        {"text": "tell Jana  Novakova", "to": ["Jana Novakova <jn@host.example>"]},
        {"from": "NOVAKOVA, JANA"},
        {"text": "Jana met Petr Novák and Nová Jana"},
    )
    assert also == []
    assert others == [
        SimilarName("Jana Novakova", 1, False),
        SimilarName("Janě Novákové", 1, False),
        SimilarName("NOVAKOVA, JANA", 1, False),
    ]


def test_what_stands_beside_the_name_is_told_and_not_taken(tmp_path: Path) -> None:
    also, others = judge_names(
        tmp_path,
        "Jan Hora",
        {"from": "Jan Hora <honza@host.example>"},
        {"from": "honza@host.example"},
        {"from": "Honza <honza@host.example>", "to": ["eva@host.example"]},
    )
    assert also == []
    assert others == [SimilarName("honza@host.example", 2, True)]


def test_what_the_sources_pin_to_one_person_is_taken(tmp_path: Path) -> None:
    def person(name: str, number: int) -> dict[str, object]:
        return {"people": [{"role": "mentioned", "name": name, "person_id": number}]}

    notes = [person(name, 7) for name in ("Jan Hora", "honza@host.example", "Honza Hora", "Honza")]
    also, others = judge_names(tmp_path, "jan hora", *notes, person("Eva Malá", 8), {"from": "honza@host.example"})
    assert also == ["Honza Hora", "honza@host.example"]
    assert others == []


def test_the_number_of_a_person_is_that_of_its_source(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    for name, names in (("notes", ("Jan Hora", "Honza Hora")), ("more", ("Olga Velká",))):
        lines = [
            {"id": one, "text": "x", "people": [{"role": "mentioned", "name": one, "person_id": 7}]} for one in names
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    config.write_text(config.read_text() + '\n[[sources]]\nname = "more"\nkind = "jsonl"\npath = "more.jsonl"\n')
    assert similar_names.same_person_values(archive.first_sync(config), "Jan Hora") == ["Honza Hora"]


def test_nothing_is_taken_where_two_people_have_the_name(tmp_path: Path) -> None:
    people = [{"role": "mentioned", "name": "Jan Hora", "person_id": number} for number in (7, 8)]
    also, _ = judge_names(
        tmp_path, "Jan Hora", {"people": people}, {"people": [{**people[0], "name": "j@host.example"}]}
    )
    assert also == []


def test_what_is_pinned_to_others_too_is_not_taken(tmp_path: Path) -> None:
    """The phone of a household stands on the card of each who lives there."""

    def card(name: str, number: int) -> dict[str, object]:
        people = [{"role": "owner", "name": one, "person_id": number} for one in (name, "+420 543 210 123")]
        return {"text": name, "people": people}

    also, others = judge_names(tmp_path, "Jan Hora", card("Jan Hora", 7), card("Eva Malá", 8))
    assert also == []
    assert others == [SimilarName("+420 543 210 123", 1, True)]


def test_a_single_word_is_alike_only_without_its_marks(tmp_path: Path) -> None:
    _, others = judge_names(
        tmp_path, "Jiri", {"text": "Ask Jiří or Jirka, Юрий too"}, {"from": "JIŘÍ"}, {"text": "jiří"}
    )
    assert others == [SimilarName("JIŘÍ", 2, False)] or others == [SimilarName("Jiří", 2, False)]
