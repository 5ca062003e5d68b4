"""The table of gates: each share over the questions it applies to."""

from tuning.measure import MEASURES, Measure, line, table


def test_a_share_that_reaches_its_gate_is_met() -> None:
    assert line(Measure("right", "right", 0.5), [1, 1, 0]).endswith("at least 50%: met")


def test_a_share_over_its_limit_is_not_met() -> None:
    assert line(Measure("old", "old", 0.03, is_limit=True), [0, 1]).endswith("at most 3%: NOT MET")


def test_a_measure_without_a_gate_says_nothing_of_one() -> None:
    text = line(Measure("listed", "listed"), [1, 0])
    assert "1 of    2   50.0% (9.5% to 90.5%)" in text and "gate" not in text and text.endswith(")")


def test_only_questions_with_the_column_count() -> None:
    rows = [{"sure": 1, "excerpts_same": 1}, {"sure": 0, "excerpts_same": 0}, {"sure": 0, "refused": 1}]
    lines = list(table(rows))
    assert len(lines) == 2
    assert lines[0].startswith(MEASURES[0].label) and "1 of    2" in lines[0]
    assert "1 of    1" in lines[1]
