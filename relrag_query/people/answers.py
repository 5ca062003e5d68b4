"""Answers to questions about people: a passage for each person, and passages about them."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date

from relrag_pipelines.identity.inverse_types import INVERSE
from relrag_pipelines.identity.mentions import MentionFinder
from relrag_pipelines.records import Chunk, PersonFact
from relrag_pipelines.sources import record_type
from relrag_pipelines.text import kinship
from relrag_pipelines.text.fact_phrases import INTRODUCER
from relrag_query.people.ages import possible_ages
from relrag_query.people.indexed_person import IndexedPerson
from relrag_query.people.knowledge import PeopleAnswer
from relrag_query.people.people import People
from relrag_query.people.relations import FAMILY
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.fusion import FusedHit, hybrid_search
from relrag_query.retrieval.hit import ENTITY_STORE, Hit
from relrag_query.retrieval.steps.contents import load_messages
from relrag_query.understanding.people_question import UNKNOWN_OWNER, PeopleQuestion, Relation

_FACT, _SCOPED = 1.0, 0.85
"""display scores of the passages of people, and of other passages about them"""
_DISTINGUISHING = ("occupation", "role", "works_at", "lives_in")
"""predicates of facts that distinguish people of the same name"""
_MAX_PASSAGES, _CANDIDATES = 5, 200
"""passages about people in an answer, and candidates that the search returns for them"""


def answer(question: PeopleQuestion, people: People, context: QueryContext, today: date) -> PeopleAnswer | None:
    """The answer to a question about people; None if nothing is known, so that the archive is searched."""
    ids = question.people
    if not ids:
        return _stranger_answer(question, people)
    if question.asks == "family":
        ids = _family(ids, people) if context.expansion.relationships else ids
    persons = people.by_id([*ids, *(relation.person_id for relation in question.relations)])
    facts = people.facts(ids)
    relations = people.relationships(ids)
    shown_relations = [*question.relations, *_family_relations(question, relations)]
    hits = {key: person_hit(persons[key], facts, shown_relations, people) for key in ids if key in persons}
    describe = _Describer(question, persons, facts, relations, today)
    if question.ambiguous and len(hits) > 1:
        return _ambiguous_answer(hits, describe, people)
    lines = _described(hits, describe)
    if question.asks == "who":
        lines += _stranger_lines(question.relative_facts, people)
    if not lines:
        return None
    named, answering = ", ".join(map(str, question.people)), ", ".join(map(str, hits))
    context.note("people", f"{question.asks} of {named}, answered by {answering}")
    passages = _related_passages(question, [*hits], persons, people, context)
    sure = not (question.ambiguous or _is_incomplete(question, hits, persons))
    return PeopleAnswer(lines, [*hits], passages, sure)


@dataclass(frozen=True)
class _Describer:
    """Writes the line about a person."""

    question: PeopleQuestion
    persons: dict[int, IndexedPerson]
    facts: list[PersonFact]
    relations: list[Relation]
    today: date

    def __call__(self, person_id: int) -> str:
        own = [fact for fact in self.facts if fact.person_id == person_id]
        return _line(self.question, self.persons[person_id], own, self.relations, self.persons, self.today)


def _ambiguous_answer(hits: Mapping[int, Hit], describe: _Describer, people: People) -> PeopleAnswer:
    """The people who may be meant."""
    question = describe.question
    descriptions = {person_id: describe(person_id) if question.asks == "fact" else "" for person_id in hits}
    lines = _choices(descriptions, hits, describe.persons, describe.facts, people)
    lines += _stranger_lines(question.relative_facts, people)
    return PeopleAnswer(lines, [*hits], [], sure=False)


def _described(hits: Mapping[int, Hit], describe: _Describer) -> list[tuple[str, Hit]]:
    """The description of each person with the person's passage; people without a description are left out."""
    lines = ((describe(person_id), hit) for person_id, hit in hits.items())
    return [(text, hit) for text, hit in lines if text]


def _is_incomplete(question: PeopleQuestion, hits: Mapping[int, Hit], persons: Mapping[int, IndexedPerson]) -> bool:
    """Whether a family has only one known member, or nobody in the answer has a name."""
    if question.asks == "family":
        return len(hits) < 2
    return question.asks == "who" and all(_is_nameless(persons[person_id]) for person_id in hits)


def _stranger_answer(question: PeopleQuestion, people: People) -> PeopleAnswer | None:
    """Relatives whom texts name and who have no record of their own; None if there are none."""
    lines = _stranger_lines(question.relative_facts, people)
    ids = list(dict.fromkeys(fact.person_id for fact in question.relative_facts))
    return PeopleAnswer(lines, ids, [], sure=not question.ambiguous) if lines else None


def _is_nameless(person: IndexedPerson) -> bool:
    """Whether a person is only known by a kin term such as `Mum`, which does not say who she is."""
    names = [name.words for name in person.resolved_person.names]
    return bool(names) and all(set(words) <= kinship.types_of_names().keys() for words in names)


def _choices(
    descriptions: Mapping[int, str],
    hits: Mapping[int, Hit],
    persons: Mapping[int, IndexedPerson],
    facts: list[PersonFact],
    people: People,
) -> list[tuple[str, Hit]]:
    """A line for each name that may be meant: its description, else what distinguishes its people from others."""
    ids_by_name: dict[str, list[int]] = {}
    for person_id in hits:
        ids_by_name.setdefault(persons[person_id].name or str(person_id), []).append(person_id)
    lines = []
    for name, ids in ids_by_name.items():  # a reader could not choose between people of the same name
        text = next((descriptions[person_id] for person_id in ids if descriptions[person_id]), "")
        text = text or ", ".join([name, *_distinctions(ids, persons, facts, people)])
        lines.append((f"{text}: may be meant.", hits[ids[0]]))
    return lines


def _distinctions(
    ids: list[int], persons: Mapping[int, IndexedPerson], facts: list[PersonFact], people: People
) -> list[str]:
    """What distinguishes people from others of the same name: relationship to the owner, facts, else an address."""
    to_owner = [relation for relation in people.relationships(ids) if relation.other_id == people.owner]
    texts = [f"your {INVERSE.get(relation.type, relation.type).replace('_', ' ')}" for relation in to_owner]
    own = [fact for fact in facts if fact.person_id in ids and fact.predicate in _DISTINGUISHING]
    texts += [f"{fact.predicate.replace('_', ' ')}: {fact.value}" for fact in own]
    return list(dict.fromkeys(texts)) or _first_address(persons[person_id] for person_id in ids)


def _first_address(persons: Iterable[IndexedPerson]) -> list[str]:
    """The first number or address of these people, if there is one."""
    aliases = (row for person in persons for row in person.aliases)
    return [row["alias"] for row in aliases if row["kind"] in ("email", "phone")][:1]


def _family(ids: list[int], people: People) -> list[int]:
    """The people and their relatives, without the owner, unless the owner is one of the people."""
    relatives = people.expand_person_ids_with_relationships(ids)
    return [person_id for person_id in relatives if person_id in ids or person_id != people.owner]


def _stranger_lines(facts: list[PersonFact], people: People) -> list[tuple[str, Hit]]:
    """Relatives by names that no person bears, with the quote that names them and people whose name is alike."""
    if not facts:
        return []
    persons = people.by_id(fact.person_id for fact in facts)
    lines = []
    for fact in facts:
        person = persons[fact.person_id]
        similar = (other.name for other in people.find(fact.value) if other.name != fact.value)
        alike = " or ".join(dict.fromkeys(similar))
        remark = f" (may be {alike})" if alike else ""
        text = f'{fact.value}{remark}, {fact.predicate.replace("_", " ")} of {person.name}: "{fact.source_quote}"'
        lines.append((text, person_hit(person, [fact], [], people)))
    return lines


def fact_hits(person_ids: Iterable[int], people: People) -> tuple[Hit, ...]:
    """The names and facts of these people, as context of a question that asks for something else."""
    persons = people.by_id(person_ids)
    facts = people.facts([*persons]) if persons else []
    return tuple(replace(person_hit(person, facts, [], people), promoted=False) for person in persons.values())


def _names_of(person: IndexedPerson) -> str:
    """The name of a person, with the person's other names in parentheses."""
    names = list(dict.fromkeys([person.name, *(row["alias"] for row in person.aliases if row["kind"] == "name")]))
    return f"{names[0]} ({', '.join(names[1:])})" if names[1:] else names[0]


def person_hit(person: IndexedPerson, facts: list[PersonFact], relations: list[Relation], people: People) -> Hit:
    """The names and facts of a person as a passage of the source `entity_store`."""
    own = [fact for fact in facts if fact.person_id == person.person_id]
    lines = [_names_of(person), *(f"{fact.predicate.replace('_', ' ')}: {fact.value}" for fact in own)]
    relation_refs = [relation.row.source_ref for relation in relations if relation.other_id == person.person_id]
    fact_refs = [fact.source_ref for fact in own if fact.source_ref]
    refs = list(dict.fromkeys([*people.cards(person.person_id), *relation_refs, *fact_refs]))
    asset_id = f"person:{person.person_id}"
    chunk = Chunk(
        asset_id, asset_id, asset_id, 0, 1, "\n".join(lines), "", ENTITY_STORE, "person", "person",
        subject=person.name, source_id=str(person.person_id),
    )  # fmt: skip
    return Hit(chunk, _FACT, _FACT, promoted=True, extra={"source_refs": refs})


def _line(
    question: PeopleQuestion,
    person: IndexedPerson,
    facts: list[PersonFact],
    relations: list[Relation],
    persons: dict[int, IndexedPerson],
    today: date,
) -> str:
    """The line of an answer about one person; empty if the fact in question is not known."""
    if question.asks == "fact":
        return _fact(question.predicate, person, facts, today)
    shown = _family_relations(question, relations) if question.asks == "family" else question.relations
    shown = [relation for relation in shown if relation.other_id == person.person_id]
    descriptions = [text for relation in shown for text in (relation.row.description, _degrees(relation)) if text]
    fact_texts = [f"{fact.predicate.replace('_', ' ')}: {fact.value}" for fact in facts]
    head = ", ".join([person.name or f"person {person.person_id}", *_relation_texts(shown, persons)])
    return "; ".join([head, *dict.fromkeys([*descriptions, *fact_texts])])


def _degrees(relation: Relation) -> str:
    """`attitude 5, proximity 4`, as far as they are stated."""
    degrees = (("attitude", relation.row.attitude), ("proximity", relation.row.proximity))
    return ", ".join(f"{name} {degree}" for name, degree in degrees if degree is not None)


def _relation_texts(relations: list[Relation], persons: Mapping[int, IndexedPerson]) -> list[str]:
    """`sister of Dana` for each relation to a known person; if there are none, `sister` for each."""
    texts = [
        f"{relation.type.replace('_', ' ')} of {persons[relation.person_id].name}"
        for relation in relations
        if relation.person_id in persons
    ]
    return texts or [relation.type.replace("_", " ") for relation in relations]


def _family_relations(question: PeopleQuestion, relations: list[Relation]) -> list[Relation]:
    """The relations of a question about a family between its people and their relatives."""
    if question.asks != "family":
        return []
    return [relation for relation in relations if relation.person_id in question.people and relation.type in FAMILY]


def _fact(predicate: str, person: IndexedPerson, facts: list[PersonFact], today: date) -> str:
    values = {fact.predicate: fact.value for fact in reversed(facts)}
    if predicate == "age":
        years, born = possible_ages(values, today)
        return f"{person.name}: {years} years old (born {born})" if years else ""
    if predicate in ("phone", "email"):
        return _addresses(predicate, person, facts)
    value = values.get(predicate)
    return f"{person.name}, {predicate.replace('_', ' ')}: {value}" if value else ""


def _addresses(kind: str, person: IndexedPerson, facts: list[PersonFact]) -> str:
    """The numbers or addresses of a person, the latest stated first, since a number changes; empty if none is known."""
    stated = [fact.value for fact in facts if fact.predicate == kind]
    addresses = dict.fromkeys([*stated, *(row["alias"] for row in person.aliases if row["kind"] == kind)])
    return f"{person.name}: {', '.join(addresses)}" if addresses else ""


def _related_passages(
    question: PeopleQuestion, ids: list[int], persons: dict[int, IndexedPerson], people: People, context: QueryContext
) -> list[Hit]:
    """Passages about these people: by turns of each record type, those about most of the people first."""
    if question.asks == "fact" or (question.asks == "who" and question.relations):
        return []
    aliases = {key: _names(persons[key]) for key in ids}
    names = " ".join(itertools.chain(*aliases.values()))
    where = replace(context.limits, person_ids=tuple(people.ids_in_index(ids)))
    candidates = hybrid_search(
        context.vectors, f"{context.search_text}\n{names}", context.meaning, _CANDIDATES, where, context.translated
    )
    chunks = catalog_reader.chunks(context.connection, [candidate.chunk_id for candidate in candidates])
    people_counts = people.person_counts(list(chunks), people.ids_in_index(ids))
    titled = _titled(chunks, MentionFinder(aliases))
    ranked = _with_most_people(_passages(candidates, chunks), people_counts, titled, several=len(ids) > 1)
    context.note("person search", f"{len(ranked)} passages have to do with {', '.join(map(str, ids))}")
    return load_messages(_by_turns(_first_of_threads(ranked, chunks))[:_MAX_PASSAGES], context)


def _names(person: IndexedPerson) -> list[str]:
    return [row["alias"] for row in person.aliases if row["kind"] == "name"]


def _titled(chunks: Mapping[str, Chunk], finder: MentionFinder) -> set[str]:
    """The passages whose title names somebody."""
    return {chunk_id for chunk_id, chunk in chunks.items() if finder.find(chunk.subject or "")}


def _first_of_threads(ranked: list[FusedHit], chunks: Mapping[str, Chunk]) -> list[Hit]:
    """The first passage of each thread."""
    threads: dict[str, Hit] = {}
    for match in ranked:
        chunk = chunks[match.chunk_id]
        members = tuple(chunk.members)
        hit = Hit(chunk, match.score, _SCOPED, promoted=True, similarity=match.similarity, members=members)
        threads.setdefault(chunk.thread_id or chunk.chunk_group_id, hit)
    return list(threads.values())


def _passages(candidates: list[FusedHit], chunks: Mapping[str, Chunk]) -> list[FusedHit]:
    """The candidates that are in the catalogue, without cards."""
    stored = [candidate for candidate in candidates if candidate.chunk_id in chunks]
    return [hit for hit in stored if not record_type(chunks[hit.chunk_id].rag_source_type).about_people]


def _with_most_people(
    passages: list[FusedHit], people_counts: Mapping[str, int], titled: Collection[str], *, several: bool
) -> list[FusedHit]:
    """The passages, those about most people first, of these the `titled` ones, whose title names one of them.

    Of `several` people only passages about two, if there are any.
    """
    most = max((people_counts[passage.chunk_id] for passage in passages), default=0)
    minimum = 2 if several and most > 1 else 1
    passages = [passage for passage in passages if people_counts[passage.chunk_id] >= minimum]
    return sorted(passages, key=lambda hit: (-people_counts[hit.chunk_id], hit.chunk_id not in titled, -hit.score))


def _by_turns(hits: list[Hit]) -> list[Hit]:
    """The first hit of each record type, then the second of each: else hits of one chat would fill the answer."""
    type_counts: Counter[str] = Counter()
    turns = []
    for hit in hits:
        turns.append(type_counts[hit.chunk.rag_source_type])
        type_counts[hit.chunk.rag_source_type] += 1
    return [hit for _, hit in sorted(zip(turns, hits, strict=True), key=lambda pair: pair[0])]


def stated_by_nobody(type_: str, shown: Iterable[str] = ()) -> str:
    """The notice that nobody is stated to be a `type_`, above the texts `shown`, which may mention one."""
    if type_ == UNKNOWN_OWNER:
        return f"No record says whose {type_} that is."
    if type_ == INTRODUCER:
        return "Nobody is stated to have introduced them; `relrag people relate` says who did."
    name = type_.replace("_", " ")
    if any(type_ in kinship.types_of_word(word) for text in shown for word in re.findall(r"[\w-]+", text)):
        return f"It is not certain who the {name} is, but passages speak of one; `relrag people relate` says who it is."
    return f"Nobody is stated to be the {name}; `relrag people relate` says who it is."
