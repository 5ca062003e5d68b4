"""Who is one person, and who is not."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relrag_pipelines.identity.entries import naming_entries
from relrag_pipelines.identity.journal_statements import (
    FIRST_ID,
    Allocation,
    Entry,
    Merge,
    Split,
    Statement,
    Undo,
    number_statements,
    valid_entries,
)
from relrag_pipelines.identity.participants import extract_identifiers
from relrag_pipelines.identity.resolve import Resolution, resolve
from relrag_pipelines.identity.suggestions import suggest
from relrag_pipelines.journal import entry_kinds
from relrag_pipelines.pii import PIIRedactor
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import NamedPerson, Record
from relrag_pipelines.settings import POLICIES, Policy
from relrag_pipelines.stores.table_schema import to_table

KEYS = Keys(ids=b"i" * 32, pseudonyms=b"p" * 32, version="k1")
REDACTOR = PIIRedactor({name: Policy.model_validate(policy) for name, policy in POLICIES.items()}, KEYS)


def keyed(name: str) -> str:
    return KEYS.pseudonym("person", name)


def card(number: int, *names: str, pin: int | None = None) -> Record:
    people = [NamedPerson("owner", name, pin) for name in names]
    return Record("1", asset_id=f"contacts:{number}", rag_source_type="contact", people=people)


def sent(kind: str, *senders: str, pin: int | None = None) -> list[Record]:
    """Records of one type, each from one sender; with an id as somebody that the source knows."""
    if pin is not None:
        return [Record("1", asset_id=f"jsonl:{name}", people=[NamedPerson("sender", name, pin)]) for name in senders]
    return [Record("1", asset_id=f"{kind}:{i}", rag_source_type=kind, from_=one) for i, one in enumerate(senders)]


def people(
    sources: dict[str, list[Record]], journal: list[Entry] | None = None, unnamed_after: int = 10
) -> tuple[Resolution, set[frozenset[str]]]:
    """The resolution, and each person as the set of the names and types of address that he has."""
    tables = {
        name: extract_identifiers(to_table(records, Record), REDACTOR, KEYS, "default")
        for name, records in sources.items()
    }
    found = resolve(naming_entries(tables), journal or [], keyed, unnamed_after)
    return found, {
        frozenset(
            f"{entry.source} {claim.value if claim.kind == 'name' else claim.kind}"
            for entry in one.entries
            for claim in entry.claims
        )
        for one in found.people.values()
    }


@pytest.mark.requirement("S0-3")
def test_an_account_a_phone_or_an_address_joins_across_channels() -> None:
    _, found = people(
        {
            "book": [card(1, "Dana Levi", "052-555-0201", "dana@levi.example")],
            "chat": sent("whatsapp", "+972 52-555-0201", "972525550201@c.us"),
            "mail": sent("email", "Danka <DANA@levi.example>", "dana@levi.example", "Dana <dana@levi.example>"),
            "calls": sent("call_recording", "0525550201"),
        }
    )
    assert found == {
        frozenset(
            {"book Dana Levi", "book phone", "book email", "chat phone", "chat whatsapp", "mail Dana", "mail Danka"}
            | {"mail email", "calls phone"}
        )
    }


@pytest.mark.requirement("S0-3")
@pytest.mark.parametrize(
    ("sender", "joins"),
    [
        ("(052-555-0201)", {"book Dana Levi"}),
        ("<avi@katz.example>", {"book Avi Katz"}),
        ("Avi Katz", {"book Avi Katz"}),
        ("Avi Katz (052-555-0201)", set()),
        ("Dana Levi <avi@katz.example>", set()),
        ("Neta (052-555-0201) <avi@katz.example>", set()),
    ],
)
def test_what_contradicts_itself_joins_nobody(sender: str, joins: set[str]) -> None:
    """A number counts for nothing where the name beside it is of somebody else; there is no order of precedence."""
    book = [card(1, "Dana Levi", "052-555-0201"), card(2, "Avi Katz", "avi@katz.example")]
    _, found = people({"book": book, "mail": sent("email", sender)})
    cards = {one: "".join(known & {"book Dana Levi", "book Avi Katz"}) for known in found for one in known}
    assert {cards[one] for one in cards if one.startswith("mail")} - {""} == joins


def test_names_alone_only_suggest() -> None:
    found, sets = people(
        {"chat": sent("whatsapp", "Alex Rubin"), "mail": sent("email", "Alex Rubin <alex@studio.example>")}
    )
    assert sets == {frozenset({"chat Alex Rubin"}), frozenset({"mail Alex Rubin", "mail email"})}
    (offer,) = suggest(found.people)
    assert (offer.score, offer.evidence) == (0.92, ("the same given name, the same family name",))


def test_a_name_that_a_card_states_resolves_unless_two_bear_it() -> None:
    book = [card(1, "Doron Levi", "Doron", "052-555-0001"), card(2, "Doron Katz", "Doron", "052-555-0002")]
    _, sets = people({"book": book, "chat": sent("whatsapp", "Doron", "Doron Katz")})
    assert sets == {
        frozenset({"book Doron Levi", "book Doron", "book phone"}),
        frozenset({"book Doron Katz", "book Doron", "book phone", "chat Doron Katz"}),
        frozenset({"chat Doron"}),
    }


def test_a_card_that_states_a_name_in_two_scripts_joins_both() -> None:
    _, sets = people({"book": [card(1, "Shiran", "שירן")], "chat": sent("whatsapp", "שירן", "~ Shiran")})
    assert sets == {frozenset({"book Shiran", "book שירן", "chat שירן", "chat Shiran"})}
    found, sets = people({"book": [card(1, "Shiran", "052-555-0001")], "chat": sent("whatsapp", "שירן")})
    assert len(sets) == 2
    assert [one.evidence for one in suggest(found.people)] == [("the given name in two scripts",)]


def test_a_phone_of_a_family_joins_nobody() -> None:
    found, sets = people(
        {
            "book": [card(1, "Dana Levi", "03-555-0001", "052-555-0001"), card(2, "Avi Levi", "03-555-0001")],
            "calls": sent("call_recording", "03-555-0001", "052-555-0001"),
        }
    )
    assert sets == {
        frozenset({"book Dana Levi", "book phone", "calls phone"}),
        frozenset({"book Avi Levi", "book phone"}),
    }
    unresolved = [key for key in found.person_of if key[0] == "calls"]
    assert len(unresolved) == 1, "the family's phone is nobody's"


def test_a_number_that_went_to_somebody_else_joins_nobody() -> None:
    _, sets = people({"book": [card(1, "Rami Nachmias", "052-555-0001")], "mail": sent("email", "Neta (052-555-0001)")})
    assert sets == {frozenset({"book Rami Nachmias", "book phone"}), frozenset({"mail Neta", "mail phone"})}


def test_who_married_keeps_the_address() -> None:
    _, sets = people({"mail": sent("email", "Michal Edri <m@x.example>", "Michal Sason <m@x.example>")})
    assert sets == {frozenset({"mail Michal Edri", "mail Michal Sason", "mail email"})}


@pytest.mark.parametrize("sender", ["81234567890123@lid", "052-555-0777", "who@knows.example"])
def test_what_nobody_named_is_nobody_until_it_writes_often(sender: str) -> None:
    few, many = sent("whatsapp", *[sender] * 9), sent("whatsapp", *[sender] * 10)
    assert people({"chat": few})[1] == set()
    assert len(people({"chat": many})[1]) == 1
    assert len(people({"chat": few}, unnamed_after=9)[1]) == 1


def test_an_account_that_hides_its_number_is_no_phone() -> None:
    _, sets = people({"book": [card(1, "Roi", "+972525550266")], "chat": sent("whatsapp", *["972525550266@lid"] * 10)})
    assert sets == {frozenset({"book Roi", "book phone"}), frozenset({"chat whatsapp"})}


def test_offices_and_lists_join_nobody() -> None:
    through_list = [f"{name} via Club <club@lists.example>" for name in ("Shai Hason", "Orna Lavi")]
    _, sets = people(
        {"mail": sent("email", "Eran Bar <info@bar.example>", "Liron Bar <info@bar.example>", *through_list)}
    )
    assert sets == {
        frozenset({"mail Eran Bar", "mail email"}),
        frozenset({"mail Liron Bar", "mail email"}),
        frozenset({"mail Shai Hason via Club", "mail email"}),
        frozenset({"mail Orna Lavi via Club", "mail email"}),
    }
    assert people({"mail": sent("email", *["Big Bank <noreply@bank.example>"] * 20)})[1] == set()


def test_a_pinned_id_is_the_persons_and_two_of_them_never_join() -> None:
    found, _ = people({"book": [card(1, "Dana", "052-555-0001", pin=42), card(2, "Dana", "052-555-0001", pin=17)]})
    assert sorted(found.people) == [17, 42]


def test_an_id_is_never_one_that_somebody_has_pinned() -> None:
    pinned = [card(1, "Dana", pin=2**63 - 1), card(2, "Noa", pin=FIRST_ID)]
    found, _ = people({"book": pinned, "mail": sent("email", "Avi <avi@x.example>", "Gil <gil@x.example>")})
    assert sorted(found.people) == [FIRST_ID, FIRST_ID + 1, FIRST_ID + 2, 2**63 - 1]
    later, _ = people({"book": [], "mail": sent("email", "Avi <avi@x.example>")})
    journal = number_statements([], later.allocations)
    assert {
        one.name: one.person_id
        for one in people({"book": pinned[1:], "mail": ARCHIVE["mail"][2:]}, journal)[0].people.values()
    }["Noa"] == FIRST_ID


def resolution(journal: list[Entry]) -> Resolution:
    return people(ARCHIVE, journal)[0]


ARCHIVE = {
    "book": [card(1, "Dana Levi", "052-555-0001"), card(2, "Avi Levi", "03-555-0001"), card(3, "Noa Gal", pin=7)],
    "chat": sent("whatsapp", "Dana Levi", "Danush", "Avi", "Noa Gal"),
    "mail": sent("email", "Dana Levi <dana@x.example>", "D. Levi <dana@x.example>", "Avi Levi <avi@x.example>"),
}


def entries_of(found: Resolution) -> dict[int, list[tuple[str, str, int | None]]]:
    return {
        person_id: sorted((one.source, one.entry, one.person_id or 0) for one in person.entries)
        for person_id, person in found.people.items()
    }


def test_ids_are_given_once() -> None:
    first = resolution([])
    journal = number_statements([], first.allocations)
    again = resolution(journal)
    assert entries_of(again) == entries_of(first)
    assert again.allocations == []
    assert min(set(first.people) - {7}) == FIRST_ID
    assert 7 in first.people


def test_a_merged_id_leads_to_who_it_is_now_and_undo_brings_it_back() -> None:
    journal = number_statements([], resolution([]).allocations)
    before = resolution(journal)
    one, other = sorted(set(before.people) - {7})[:2]
    merged = resolution(number_statements(journal, [Merge(other, (one,))]))
    assert merged.redirects == {one: other}
    assert len(merged.people[other].entries) == sum(len(before.people[each].entries) for each in (one, other))
    undone = resolution(number_statements(journal, [Merge(other, (one,)), Undo(len(journal) + 1)]))
    assert (entries_of(undone), undone.redirects) == (entries_of(before), {})


def test_whoever_survives_a_merge_keeps_the_name_unless_there_is_none() -> None:
    sources = {
        "book": [card(1, "Doron"), card(2, "Doron Katz the Plumber")],
        "chat": sent("whatsapp", *["+420 777 123 456"] * 3),
    }
    first, _ = people(sources, unnamed_after=3)
    journal = number_statements([], first.allocations)
    doron, plumber, number = (
        next(one.person_id for one in first.people.values() if one.name == name)
        for name in ("Doron", "Doron Katz the Plumber", "")
    )

    def names(*merges: Merge) -> set[str]:
        found, _ = people(sources, number_statements(journal, merges), unnamed_after=3)
        return {one.name for one in found.people.values()}

    assert names(Merge(doron, (plumber,))) == {"Doron", ""}
    assert names(Merge(plumber, (doron,))) == {"Doron Katz the Plumber", ""}
    assert names(Merge(number, (doron,))) == {"Doron Katz the Plumber", "Doron"}
    assert names(Merge(number, (doron,)), Merge(plumber, (number,))) == {"Doron Katz the Plumber"}


def test_what_is_split_stays_apart_until_it_is_merged_again() -> None:
    journal = number_statements([], resolution([]).allocations)
    before = resolution(journal)
    (dana,) = (
        one for one in before.people.values() if any(e.source == "mail" for e in one.entries) and len(one.entries) == 2
    )
    out = [anchor for anchor in dana.anchors if anchor.endswith(keyed("d levi"))]
    split = Split(tuple(out), tuple(set(dana.anchors) - set(out)))
    apart = resolution(number_statements(journal, [split]))
    assert len(apart.people) == len(before.people) + 1
    assert len(apart.people[dana.person_id].entries) == 1
    new = next(iter(set(apart.people) - set(before.people)))
    journal = number_statements(number_statements(journal, [split]), apart.allocations)
    assert resolution(journal).allocations == []
    again = resolution(number_statements(journal, [Merge(dana.person_id, (new,))]))
    assert entries_of(again) == entries_of(before)
    assert again.redirects == {new: dana.person_id}


def test_a_split_parts_what_was_merged_before() -> None:
    journal = number_statements([], resolution([]).allocations)
    before = resolution(journal)
    one, other = sorted(set(before.people) - {7})[:2]
    split = Split(tuple(before.people[other].anchors), tuple(before.people[one].anchors))
    parted = resolution(number_statements(journal, [Merge(one, (other,)), split]))
    assert (entries_of(parted), parted.redirects) == (entries_of(before), {})


@given(
    st.lists(
        st.tuples(st.sampled_from(["merge", "split", "undo", "sync"]), st.integers(0, 20), st.integers(0, 20)),
        max_size=7,
    )
)
@settings(max_examples=30, deadline=None)
def test_merge_undo_sync_and_rebuild_in_any_order_give_the_same_people(
    steps: list[tuple[str, int, int]],
) -> None:
    """However often it was synced in between, the people are those of the statements; undoing all brings them back."""
    journal = number_statements([], resolution([]).allocations)
    first, statements = resolution(journal), 0
    stated: list[Entry] = []
    for step, a, b in steps:
        found = resolution(journal)
        ids = sorted(found.people)
        said: list[Statement] = []
        if step == "merge":
            said = [Merge(ids[a % len(ids)], (ids[b % len(ids)],))]
        elif step == "split":
            anchors = found.people[ids[a % len(ids)]].anchors
            cut = b % len(anchors)
            said = [Split(tuple(anchors[:cut]), tuple(anchors[cut:]))] if cut else []
        elif step == "undo" and stated:
            said = [Undo(stated[b % len(stated)].number)]
        else:
            journal = number_statements(journal, found.allocations)
        journal = number_statements(journal, said)
        stated += [entry for entry in journal[-len(said) :] if said]
        statements += len(said)
    last = resolution(journal)
    settled = number_statements(journal, last.allocations)
    assert entries_of(resolution(settled)) == entries_of(last)
    assert resolution(settled).allocations == []
    assert entries_of(resolution([from_lines(entry) for entry in reversed(settled)])) == entries_of(last)
    active = [entry for entry in valid_entries(settled) if not isinstance(entry.statement, Allocation)]
    undone = number_statements(settled, [Undo(entry.number) for entry in active])
    assert entries_of(resolution(undone)) == entries_of(first)


def from_lines(entry: Entry) -> Entry:
    """The entry as it is read from the journal."""
    fields = orjson.loads(orjson.dumps(entry_kinds.to_fields(entry.statement)))
    return Entry(entry.number, entry_kinds.parse(entry_kinds.kind_of(entry.statement), fields))


def test_a_full_name_resolves_to_the_address_beside_it_in_the_same_source() -> None:
    sources = {
        "mail": sent("email", "Orly Navon <orly@x.example>", "Orly Navon", "Orly"),
        "calls": sent("call_recording", "Orly Navon"),
    }
    assert people(sources)[1] == {
        frozenset({"mail Orly Navon", "mail email"}),
        frozenset({"mail Orly"}),
        frozenset({"calls Orly Navon"}),
    }


def test_two_who_share_but_a_first_name_are_not_suggested() -> None:
    book = [card(1, "Doron Levi", "Doron", "052-555-0001"), card(2, "Doron Katz", "Doron", "052-555-0002")]
    assert suggest(people({"book": book})[0].people) == []
    found, _ = people({"book": book, "chat": sent("whatsapp", "Doron")})
    assert [one.score for one in suggest(found.people)] == [0.5, 0.5]


def test_a_name_that_hundreds_share_suggests_none_of_them() -> None:
    def offered(bearers: int) -> int:
        book = [card(one, f"Doron {chr(0x5D0 + one % 22) * 2}{chr(0x5D0 + one // 22) * 2}") for one in range(bearers)]
        found, _ = people({"book": book, "chat": sent("whatsapp", "Doron")})
        (alone,) = (one for one, person in found.people.items() if person.name == "Doron")
        return len([one for one in suggest(found.people) if alone in (one.person_id, one.other_id)])

    assert offered(20) == 20
    assert offered(120) == 0


def test_a_merged_id_without_records_leads_to_who_is_left_of_the_merged() -> None:
    sources = {name: {"book": [card(1, "Doron")], "chat": sent("whatsapp", "Ota")}[name] for name in ("book", "chat")}
    first, _ = people(sources)
    journal = number_statements([], first.allocations)
    doron, ota = (next(one.person_id for one in first.people.values() if one.name == name) for name in ("Doron", "Ota"))
    merged = number_statements(journal, [Merge(doron, (ota,))])

    def left(source: str, said: list[Entry]) -> tuple[set[int], dict[int, int]]:
        found, _ = people({source: sources[source]}, said)
        return set(found.people), found.redirects

    assert left("book", merged) == ({doron}, {ota: doron})
    assert left("chat", merged) == ({ota}, {doron: ota})  # the survivor's id too: statements were made about it
    assert left("chat", number_statements(merged, [Undo(merged[-1].number)])) == ({ota}, {})
    split = Split(tuple(first.people[ota].anchors), tuple(first.people[doron].anchors))
    assert left("chat", number_statements(merged, [split])) == ({ota}, {})
