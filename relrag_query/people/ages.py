"""How old somebody is or may be, from what is known of the birthday."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date


def age(birthday: str, today: date, died: str = "") -> int | None:
    """Whole years since a birthday, until today or the day of death; None where it names no year."""
    try:
        born = date.fromisoformat(birthday)
        end = date.fromisoformat(died) if died else today
    except ValueError:
        return None
    return end.year - born.year - ((end.month, end.day) < (born.month, born.day))


def possible_ages(facts: Mapping[str, str], today: date) -> tuple[str, str]:
    """How old somebody is, `24 or 25`, and what that follows from: `birthday`, or the days between which he was `born`.

    Both are empty where no year is known.
    """
    birthday, born = facts.get("birthday", ""), facts.get("born", "")
    of_year = [f"{birthday}-12-31", f"{birthday}-01-01"] if birthday.isdecimal() else []
    for said, ends in ((birthday, [birthday]), (birthday, of_year), (born, born.split("/"))):
        years = {one for end in ends if (one := age(end, today, facts.get("died", ""))) is not None}
        if years:
            return " or ".join(map(str, sorted(years))), said
    return "", ""
