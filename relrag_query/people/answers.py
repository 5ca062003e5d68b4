"""Answers to questions about people: a passage for each person, and what others say of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date

from relrag_pipelines.identity.inverse_types import INVERSE
from relrag_pipelines.records import Chunk, PersonFact
from relrag_pipelines.sources import record_type
from relrag_pipelines.text import kinship
from relrag_pipelines.text.fact_phrases import INTRODUCER
from relrag_query.people import identifier_owner
from relrag_query.people.ages import possible_ages
from relrag_query.people.indexed_person import IndexedPerson
from relrag_query.people.people import People
from relrag_query.people.questions import PeopleQuestion
from relrag_query.people.relations import FAMILY, Relation
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.fusion import hybrid_search
from relrag_query.retrieval.hit import ENTITY_STORE, Hit
from relrag_query.retrieval.steps.contents import load_messages

_FACT, _SCOPED = 1.0, 0.85
"""display scores of what is known of people, and of passages that have to do with them"""
_TELLING = ("occupation", "role", "works_at", "lives_in")
"""facts that tell people of one name apart"""
_MAX_PASSAGES, _CANDIDATES = 5, 200
"""passages beside what is known of people, and those of which they are the best"""


@dataclass
class PeopleAnswer:
    """What is known, and where it is said."""

    lines: list[tuple[str, Hit]]
    """each with the person's passage"""
    people: list[int]
    """whom it is about"""
    passages: list[Hit]
    """passages that have to do with them"""
    sure: bool


def answer(asked: PeopleQuestion, people: People, context: QueryContext, today: date) -> PeopleAnswer | None:
    """The answer to a question about people; None where nothing is known, so that the archive is searched."""
    ids = asked.people
    if not ids:
        return _named_in_texts(asked, people)
    if asked.asks == "family" and context.expansion.relationships:
        ids = _family(ids, people)
    namesakes = _namesakes(ids, people) if asked.asks == "fact" and not asked.ambiguous else []
    known = people.by_id([*ids, *namesakes, *(one.person_id for one in asked.relations)])
    facts = people.facts([*ids, *namesakes])
    relations = people.relationships(ids)
    through = [*asked.relations, *_ties(asked, relations)]
    hits = {one: person_hit(known[one], facts, through, people) for one in ids if one in known}

    def describe(person_id: int) -> str:
        own = [fact for fact in facts if fact.person_id == person_id]
        return _line(asked, known[person_id], own, relations, known, today)

    if asked.ambiguous and len(hits) > 1:
        told = {one: describe(one) if asked.asks == "fact" else "" for one in hits}
        lines = _choices(told, hits, known, facts, people)
        lines += _relative_lines(asked.relative_facts, people)
        return PeopleAnswer(lines, [*hits], [], sure=False)
    lines = [(text, hit) for one, hit in hits.items() if (text := describe(one))]
    if asked.relative_facts and asked.asks == "who":
        lines += _relative_lines(asked.relative_facts, people)
    by_name = not lines
    if by_name:  # who bears the same name may be the same
        hits = {one: person_hit(known[one], facts, [], people) for one in namesakes}
        lines = [(text, hit) for one, hit in hits.items() if (text := describe(one))]
    if not lines:
        return None
    named, told_of = (", ".join(map(str, some)) for some in (asked.people, hits))
    context.note("people", f"{asked.asks} of {named}, answered by {told_of}")
    scoped = _related_passages(asked, [*hits], known, people, context)
    alone = asked.asks == "family" and len(hits) < 2  # who is known from texts alone is hardly all of a family
    nameless = asked.asks == "who" and all(_is_nameless(known[one]) for one in hits)
    return PeopleAnswer(lines, [*hits], scoped, sure=not (asked.ambiguous or by_name or alone or nameless))


def _named_in_texts(asked: PeopleQuestion, people: People) -> PeopleAnswer | None:
    """Relatives whom texts name and no record knows; None where there are none."""
    lines = _relative_lines(asked.relative_facts, people)
    whose = list(dict.fromkeys(fact.person_id for fact in asked.relative_facts))
    return PeopleAnswer(lines, whose, [], sure=not asked.ambiguous) if lines else None


def _is_nameless(person: IndexedPerson) -> bool:
    """Whether somebody is only known as `Mum`: that does not say who she is."""
    names = [name.words for name in person.resolved_person.names]
    return bool(names) and all(set(words) <= kinship.types_of_names().keys() for words in names)


def _choices(
    told: Mapping[int, str],
    hits: Mapping[int, Hit],
    known: Mapping[int, IndexedPerson],
    facts: list[PersonFact],
    people: People,
) -> list[tuple[str, Hit]]:
    """Who may be meant, each with what is asked of him, else with what tells him from the others."""
    named: dict[str, list[int]] = {}
    for one in hits:
        named.setdefault(known[one].name or str(one), []).append(one)
    lines = []
    for name, ids in named.items():  # nobody could choose among those of one name
        said = next((told[one] for one in ids if told[one]), "") or ", ".join(
            [name, *_marks(ids, known, facts, people)]
        )
        lines.append((f"{said}: may be meant.", hits[ids[0]]))
    return lines


def _marks(ids: list[int], known: Mapping[int, IndexedPerson], facts: list[PersonFact], people: People) -> list[str]:
    """What tells somebody from others of his name: what he is to the owner, some facts, else a number or address."""
    ties = [one for one in people.relationships(ids) if one.other_id == people.owner]
    told = [f"your {INVERSE.get(one.type, one.type).replace('_', ' ')}" for one in ties]
    own = [fact for fact in facts if fact.person_id in ids and fact.predicate in _TELLING]
    told += [f"{fact.predicate.replace('_', ' ')}: {fact.value}" for fact in own]
    reached = [row["alias"] for one in ids for row in known[one].aliases if row["kind"] in ("email", "phone")]
    return list(dict.fromkeys(told)) or reached[:1]


def _namesakes(ids: list[int], people: People) -> list[int]:
    """Who bears the name of one of them."""
    return [other for person_id in ids for other in people.namesakes(person_id) if other not in ids]


def _family(ids: list[int], people: People) -> list[int]:
    """The people and their relatives; without the owner, who knows that he belongs to them, unless he is named."""
    return [one for one in people.expand_person_ids_with_relationships(ids) if one in ids or one != people.owner]


def _relative_lines(facts: list[PersonFact], people: People) -> list[tuple[str, Hit]]:
    """Who is a relative by a name that no person bears, as the text says it, and who that may be in another script."""
    known = people.by_id(fact.person_id for fact in facts)
    lines = []
    for fact in facts:
        whose = known[fact.person_id]
        alike = " or ".join(dict.fromkeys(one.name for one in people.find(fact.value) if one.name != fact.value))
        maybe = f" (may be {alike})" if alike else ""
        text = f'{fact.value}{maybe}, {fact.predicate.replace("_", " ")} of {whose.name}: "{fact.source_quote}"'
        lines.append((text, person_hit(whose, [fact], [], people)))
    return lines


def person_hit(person: IndexedPerson, facts: list[PersonFact], relations: list[Relation], people: People) -> Hit:
    """What is known of a person as a passage of the source `entity_store`."""
    own = [fact for fact in facts if fact.person_id == person.person_id]
    names = list(dict.fromkeys([person.name, *(one["alias"] for one in person.aliases if one["kind"] == "name")]))
    lines = [f"{names[0]} ({', '.join(names[1:])})" if names[1:] else names[0]]
    lines += [f"{fact.predicate.replace('_', ' ')}: {fact.value}" for fact in own]
    through = [one.row.source_ref for one in relations if one.other_id == person.person_id]
    told = [fact.source_ref for fact in own if fact.source_ref]
    refs = list(dict.fromkeys([*people.cards(person.person_id), *through, *told]))
    asset_id = f"person:{person.person_id}"
    chunk = Chunk(
        asset_id, asset_id, asset_id, 0, 1, "\n".join(lines), "", ENTITY_STORE, "person", "person",
        subject=person.name, source_id=str(person.person_id),
    )  # fmt: skip
    return Hit(chunk, _FACT, _FACT, promoted=True, extra={"source_refs": refs})


def _line(
    asked: PeopleQuestion,
    person: IndexedPerson,
    facts: list[PersonFact],
    relations: list[Relation],
    known: dict[int, IndexedPerson],
    today: date,
) -> str:
    """What is said of one person."""
    if asked.asks == "fact":
        return _fact(asked.predicate, person, facts, today)
    name = person.name or f"person {person.person_id}"
    through = [one for one in asked.relations if one.other_id == person.person_id]
    if asked.asks == "family":
        through = [one for one in _ties(asked, relations) if one.other_id == person.person_id]
    told = [f"{one.type.replace('_', ' ')} of {known[one.person_id].name}" for one in through if one.person_id in known]
    told = told or [one.type.replace("_", " ") for one in through]
    described = [one.row.description for one in through if one.row.description]
    about = [f"{fact.predicate.replace('_', ' ')}: {fact.value}" for fact in facts]
    head = f"{name}, {', '.join(told)}" if told else name
    return "; ".join([head, *dict.fromkeys([*described, *about])])


def _ties(asked: PeopleQuestion, relations: list[Relation]) -> list[Relation]:
    """What the family of whom is asked about is to them."""
    if asked.asks != "family":
        return []
    return [one for one in relations if one.person_id in asked.people and one.type in FAMILY]


def _fact(predicate: str, person: IndexedPerson, facts: list[PersonFact], today: date) -> str:
    said = {fact.predicate: fact.value for fact in reversed(facts)}
    if predicate == "age":
        years, born = possible_ages(said, today)
        return f"{person.name}: {years} years old (born {born})" if years else ""
    if predicate in ("phone", "email"):
        stated = [fact.value for fact in facts if fact.predicate == predicate]  # the latest first: a number changes
        reached = [*stated, *(one["alias"] for one in person.aliases if one["kind"] == predicate)]
        return f"{person.name}: {', '.join(dict.fromkeys(reached))}" if reached else ""
    value = said.get(predicate)
    return f"{person.name}, {predicate.replace('_', ' ')}: {value}" if value else ""


def _related_passages(
    asked: PeopleQuestion, ids: list[int], known: dict[int, IndexedPerson], people: People, context: QueryContext
) -> list[Hit]:
    """Passages that have to do with these people: of each type the one with most of them first, then by topic."""
    if asked.asks == "fact" or (asked.asks == "who" and asked.relations):
        return []
    names = " ".join(row["alias"] for one in ids for row in known[one].aliases if row["kind"] == "name")
    where = replace(context.limits, person_ids=tuple(people.ids_in_index(ids)))
    found = hybrid_search(
        context.vectors, f"{context.search_text}\n{names}", context.meaning, _CANDIDATES, where, context.translated
    )
    chunks = catalog_reader.chunks(context.connection, [one.chunk_id for one in found])
    together = people.person_counts(list(chunks), people.ids_in_index(ids))
    about = [
        one
        for one in found
        if one.chunk_id in chunks and not record_type(chunks[one.chunk_id].rag_source_type).about_people
    ]
    most = max((together[one.chunk_id] for one in about), default=0)
    least = 2 if len(ids) > 1 and most > 1 else 1
    about = [one for one in about if together[one.chunk_id] >= least]
    about.sort(key=lambda one: (-together[one.chunk_id], -one.score))
    seen: dict[str, Hit] = {}
    for one in about:
        chunk = chunks[one.chunk_id]
        key = chunk.thread_id or chunk.chunk_group_id
        hit = Hit(chunk, one.score, _SCOPED, promoted=True, similarity=one.similarity, members=tuple(chunk.members))
        seen.setdefault(key, hit)
    context.note("person search", f"{len(about)} passages have to do with {', '.join(map(str, ids))}")
    return load_messages(_by_turns(list(seen.values()))[:_MAX_PASSAGES], context)


def _by_turns(hits: list[Hit]) -> list[Hit]:
    """The first of each type of record, then the second of each: a chat would fill all the room."""
    counted: Counter[str] = Counter()
    turns = []
    for hit in hits:
        turns.append(counted[hit.chunk.rag_source_type])
        counted[hit.chunk.rag_source_type] += 1
    return [hit for _, hit in sorted(zip(turns, hits, strict=True), key=lambda pair: pair[0])]


def stated_by_nobody(type_: str, shown: Iterable[str] = ()) -> str:
    """What is said where nobody is known to be it, above the texts that are `shown`; one of these may name somebody."""
    if type_ == identifier_owner.UNKNOWN_OWNER:
        return f"No record says whose {type_} that is."
    if type_ == INTRODUCER:
        return "Nobody is stated to have introduced them; `relrag people relate` says who did."
    said = type_.replace("_", " ")
    if any(type_ in kinship.types_of_word(word) for text in shown for word in re.findall(r"[\w-]+", text)):
        return f"It is not certain who the {said} is, but passages speak of one; `relrag people relate` says who it is."
    return f"Nobody is stated to be the {said}; `relrag people relate` says who it is."
