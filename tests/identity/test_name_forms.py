"""The forms by which questions and texts find people."""

from relrag_pipelines.identity.name_forms import beginnings, forms_of, given_forms


def test_a_name_is_found_as_a_whole_and_by_its_parts() -> None:
    assert forms_of("Novák, Jan (work)") == {("jan novak", "whole"), ("jan", "given"), ("novak", "family")}
    assert forms_of("Mom") == forms_of("Rubin Studio Ltd") == forms_of("052-123-4567") == frozenset()


def test_a_given_name_has_cases_short_forms_and_a_sound() -> None:
    found = {(row.form, row.rank) for row in given_forms(["Petr Kolar"])}
    assert {("petrova", "case"), ("petrovi", "case"), ("~PTR", "sound")} <= found
    assert ("kolara", "case") in found and not any(form.startswith("~KL") for form, _ in found)
    assert ("william", "short") in {(row.form, row.rank) for row in given_forms(["Bill Reed"])}
    assert {row.form for row in given_forms(["שירן"])} & {row.form for row in given_forms(["Shiran"])}


def test_words_that_may_begin_a_name_are_those_with_capitals_and_hebrew_ones_without_prefixes() -> None:
    assert beginnings(["Tell petr", "Žofie"]) == {"tell", "zofie"}
    assert beginnings(["x-דנה iOS-Dana mcDonald's well-known"]) == {"דנה", "dana"}
    assert {"ולשירן", "לשירן", "שירן"} <= beginnings(["ולשירן"])
    assert "ירן" in beginnings(["שירן"]) and "ן" not in beginnings(["שירן"])
