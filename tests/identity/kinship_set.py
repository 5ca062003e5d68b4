"""Texts that say who is what to whom, and what the patterns find in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from relrag_pipelines.identity.kin_phrases import End
from relrag_pipelines.identity.kinship import stated_relations
from relrag_pipelines.identity.mentions import Mention, MentionFinder

FOLDER = Path(__file__).with_name("kinship")
KNOWN = """
Petr|Dana|Ruth|David|Shiran|Mia|Noa Ben-Ami|Gideon Raz|Tom Reed|Peggy|Susan Park|John|Tom|Jana|Shmuel Aharoni|Hana|Eva
Marie|Lenka|Tomáš|Karel Beneš|Jan Novák|Karen|Stephen|Omer|Zipora|Daniel|Yaniv|Yael|Priya Raman|Robert Chen|Mike|Ben
Tal Rimon|Inbar|Simcha|Dan|Rivka|Eva Jelínková|Tamar|Neta|Jan|Pavel Zeman|Anna|Josef Král|Eliška|Oldřich|Lucie|Pavel
Klára|Věra|Ondra|Jakub Štěpánek|Anežka|Verča Kolářová|Karel|דני|מיכל|דנה|יוסי|רותי|רחל|דוד|שירן|גדעון רז|מיה|יובל
שרה קליין|משה|חנה|עומר|קרן|אורנה לביא|גלעד ארז|יניב|טל|רוברט|אלון
"""
"""everybody whom the two archives know"""
NAMES = KNOWN.strip().replace("\n", "|").split("|")
FINDER = MentionFinder({number: [name] for number, name in enumerate(NAMES)})

SPEAKERS = {"me": "writer", "you": "reader"}
Relation = tuple[tuple[int, ...] | str, str, tuple[int, ...] | str]


class Judged(NamedTuple):
    """What patterns find in a file, against what it says."""

    precision: float
    recall: float
    wrong: list[tuple[str, Any]]
    missed: list[tuple[str, Any]]


def judge(name: str) -> Judged:
    """Precision and recall of the relations in a file."""
    return judged(FOLDER / f"{name}.txt", _stated, _relation)


def judged(path: Path, stated: Callable[[str], set[Any]], read: Callable[[str], Any]) -> Judged:
    """Precision and recall of what is `stated` in the texts of a file, whose labels `read` takes apart."""
    wrong, missed, right = [], [], 0
    for line in path.read_text(encoding="utf-8").splitlines():
        text, _, said = line.partition(" =>")
        wanted, made = {read(one) for one in said.split(";") if one.strip()}, stated(text)
        right += len(wanted & made)
        wrong += [(text, one) for one in made - wanted]
        missed += [(text, one) for one in wanted - made]
    return Judged(right / max(1, right + len(wrong)), right / (right + len(missed)), wrong, missed)


def _stated(text: str) -> set[Relation]:
    return {
        (end_of(one.owner), one.relationship_type, end_of(one.other))
        for one in stated_relations(text, FINDER.find(text))
    }


def _relation(said: str) -> Relation:
    owner, kind, other = (part.strip() for part in said.split(">"))
    return _who(owner), kind, _who(other)


def end_of(end: End) -> tuple[int, ...] | str:
    """Who that is, as `_who` has it."""
    return end.person_ids if isinstance(end, Mention) else end


def _who(name: str) -> tuple[int, ...] | str:
    if name in SPEAKERS:
        return SPEAKERS[name]
    (mention,) = FINDER.find(name)
    return mention.person_ids
