"""A person's age, or the ages that are possible, from the known facts about the birth."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date


def age(birthday: str, today: date, died: str = "") -> int | None:
    """Whole years from a birthday to today or to the day of death; None if the birthday has no year."""
    try:
        born = date.fromisoformat(birthday)
        end = date.fromisoformat(died) if died else today
    except ValueError:
        return None
    return end.year - born.year - ((end.month, end.day) < (born.month, born.day))


def possible_ages(facts: Mapping[str, str], today: date) -> tuple[str, str]:
    """The possible ages, such as `24 or 25`, and the value of the fact `birthday` or `born` that they follow from.

    Both are empty if no year is known.
    """
    birthday, born, died = facts.get("birthday", ""), facts.get("born", ""), facts.get("died", "")
    year_ends = [f"{birthday}-12-31", f"{birthday}-01-01"] if birthday.isdecimal() else []
    for value, days in ((birthday, [birthday]), (birthday, year_ends), (born, born.split("/"))):
        ages = {years for day in days if (years := age(day, today, died)) is not None}
        if ages:
            return " or ".join(map(str, sorted(ages))), value
    return "", ""
