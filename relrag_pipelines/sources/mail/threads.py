"""Threads of mails, by Gmail's thread id, else by References and In-Reply-To, never by subject.

After Jamie Zawinski's message threading (jwz.org/doc/threading.html): a mail that is mentioned but absent holds its
place, so that answers to it meet. Other than there, threads are joined by union-find, so the order of the mails does
not matter and, where Gmail has no say, a mail that is added never takes a thread apart.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

MAX_REFERENCES = 1000
"""Of more references the first and the last half are read."""
OWN_WORD = 2 * MAX_REFERENCES
"""What a mail says of itself outweighs any chain of others."""

_MESSAGE_ID = re.compile(r"<([^<>\s]{1,998})>")


class ThreadedMail(NamedTuple):
    """What threading needs of a mail; ids are compared as they are."""

    message_id: str
    references: Sequence[str] = ()
    """the mails above it, oldest first"""
    in_reply_to: str | None = None
    gmail_thread: str | None = None
    """X-GM-THRID, decimal"""


class ThreadPlace(NamedTuple):
    """The place of a mail in its thread."""

    thread_id: str
    """`gmail-thread:<X-GM-THRID>` or the id of the first mail, present or not"""
    parent: str | None
    """the id of the nearest mail above it that is present"""


def message_ids(header: str) -> list[str]:
    """The ids in a References, In-Reply-To or Message-ID header, without brackets, each once; comments are left out."""
    return list(dict.fromkeys(_MESSAGE_ID.findall(header)))


def thread(mails: Iterable[ThreadedMail]) -> list[ThreadPlace]:
    """The thread and the parent of each mail, in the order of the mails, whatever that order is.

    Mails belong together when one names the other or both name a third. Mails that Gmail put into different threads
    stay apart, though both name the same mail; a mail without Gmail's thread id joins the thread of those that it names
    or that name it, of several the oldest (lowest) id. Copies of one mail are one, and join the threads that Gmail gave
    them in two accounts.

    A thread is named by its first mail: of those that no other mail is known to precede the lowest id. So its name does
    not change when answers are added, and does when an older mail turns up that it goes back to.
    """
    numbers: dict[str, int] = {}
    own: array[int] = array("q")
    chains, gmail = _ReplyChains(), _GmailThreadIds()
    for mail in mails:
        number = numbers.setdefault(mail.message_id, len(numbers))
        own.append(number)
        chains.add(number, [numbers.setdefault(name, len(numbers)) for name in _ancestors(mail)])
        if mail.gmail_thread:
            gmail.add(number, mail.gmail_thread)
    names = list(numbers)
    above = _above_each(chains, names)
    _cut_circles(above, names)
    thread_of = _threads(chains, above, gmail.by_number, names)
    parents = _nearest_present(above, own)
    return [
        ThreadPlace(thread_of[number], names[parent] if (parent := parents[number]) >= 0 else None) for number in own
    ]


def _ancestors(mail: ThreadedMail) -> list[str]:
    """The mails that a mail names, oldest first, the one it answers last; each where it is named last."""
    references = mail.references
    if len(references) > MAX_REFERENCES:
        references = [*references[: MAX_REFERENCES // 2], *references[-MAX_REFERENCES // 2 :]]
    named = dict.fromkeys(filter(None, [mail.in_reply_to, *reversed(references)]))
    named.pop(mail.message_id, None)
    return list(reversed(named))


class _ReplyChains:
    """Every mail with the mails above it, as numbers in one array."""

    def __init__(self) -> None:
        self.numbers: array[int] = array("q")
        self.ends: array[int] = array("q")

    def add(self, number: int, above: list[int]) -> None:
        self.numbers.extend(above)
        self.numbers.append(number)
        self.ends.append(len(self.numbers))

    def __iter__(self) -> Iterator[array[int]]:
        """Each chain: the mails above, oldest first, then the mail."""
        begin = 0
        for end in self.ends:
            yield self.numbers[begin:end]
            begin = end


class _GmailThreadIds:
    """The threads that Gmail gave; two that share a mail (in two accounts) are one, named by the lower id."""

    def __init__(self) -> None:
        self._of: dict[int, str] = {}
        self._same: dict[str, str] = {}

    def add(self, number: int, thread_id: str) -> None:
        before = self._root(self._of.setdefault(number, thread_id))
        now = self._root(thread_id)
        low, high = sorted((before, now), key=_age)
        if low != high:
            self._same[high] = low

    def _root(self, thread_id: str) -> str:
        while (other := self._same.get(thread_id)) is not None:
            if (further := self._same.get(other)) is not None:
                self._same[thread_id] = further
            thread_id = other
        return thread_id

    @property
    def by_number(self) -> dict[int, str]:
        """The thread of each mail that Gmail gave one."""
        return {number: self._root(thread_id) for number, thread_id in self._of.items()} if self._same else self._of


def _age(gmail_thread: str) -> tuple[int, str]:
    """The order of Gmail's decimal ids, which grow with time."""
    return len(gmail_thread), gmail_thread


def _threads(chains: _ReplyChains, above: array[int], gmail: dict[int, str], names: Sequence[str]) -> list[str]:
    """The name of the thread of each mail, present or not."""
    joined = array("q", range(len(names)))
    mixed_pairs: list[tuple[int, int]] = []
    for chain in chains:
        for mail, other in pairwise(chain):
            in_gmail = (mail in gmail) + (other in gmail) if gmail else 0
            if in_gmail == 0:
                _join(joined, mail, other)
            elif in_gmail == 1:
                mixed_pairs.append((mail, other) if mail in gmail else (other, mail))
    adopted: dict[int, str] = {}
    for inside, outside in mixed_pairs:
        root = _root(joined, outside)
        adopted[root] = min(adopted.get(root, gmail[inside]), gmail[inside], key=_age)
    first = _first(joined, above, names)
    thread_names = []
    for number in range(len(names)):
        root = _root(joined, number)
        by_gmail = gmail.get(number) or adopted.get(root)
        thread_names.append(f"gmail-thread:{by_gmail}" if by_gmail else names[first[root]])
    return thread_names


def _first(joined: array[int], above: array[int], names: Sequence[str]) -> array[int]:
    """For the root of each set its first mail: the lowest id of those that nothing is above."""
    first = array("q", [-1]) * len(names)
    for number, name in enumerate(names):
        root = _root(joined, number)
        before = first[root]
        if before < 0 or (above[number] >= 0, name) < (above[before] >= 0, names[before]):
            first[root] = number
    return first


def _root(joined: array[int], number: int) -> int:
    while (above := joined[number]) != number:
        joined[number] = joined[above]
        number = above
    return number


def _join(joined: array[int], mail: int, other: int) -> None:
    mail, other = _root(joined, mail), _root(joined, other)
    if mail != other:
        joined[max(mail, other)] = min(mail, other)


def _above_each(chains: _ReplyChains, names: Sequence[str]) -> array[int]:
    """The mail right above each, present or not, or -1: what a mail says itself, else what those below it say.

    Where several say something else (copies of one mail, shortened references), the one with more mails above it
    is believed, then the one with the lowest id.
    """
    above, weights = array("q", [-1]) * len(names), array("q", [0]) * len(names)

    def believe(number: int, candidate: int, weight: int) -> None:
        lower = weight == weights[number] and names[candidate] < names[above[number]]
        if weight > weights[number] or lower:
            above[number], weights[number] = candidate, weight

    for chain in chains:
        if len(chain) > 1:
            believe(chain[-1], chain[-2], OWN_WORD + len(chain))
    for chain in chains:
        for index in range(1, len(chain) - 1):
            if weights[chain[index]] < OWN_WORD:
                believe(chain[index], chain[index - 1], index)
    return above


def _cut_circles(above: array[int], names: Sequence[str]) -> None:
    """Makes the lowest id of every circle its first mail."""
    seen = array("q", [-1]) * len(above)
    for start in range(len(above)):
        at = start
        while at >= 0 and seen[at] < 0:
            seen[at] = start
            at = above[at]
        if at >= 0 and seen[at] == start:
            circle = [at]
            while (following := above[circle[-1]]) != at:
                circle.append(following)
            above[min(circle, key=names.__getitem__)] = -1


def _nearest_present(above: array[int], own: array[int]) -> array[int]:
    """For each mail the nearest present one above it, or -1."""
    present = bytearray(len(above))
    for number in own:
        present[number] = 1
    nearest = array("q", above)
    for number in own:
        path = [number]
        at = above[number]
        while at >= 0 and not present[at]:
            path.append(at)
            at = nearest[at]
        for passed in path:
            nearest[passed] = at
    return nearest
