"""Sources that are on a server: a fetcher mirrors what the server has into a folder, and a connector reads that.

A fetcher is a function `fetch(server, mirror)` in the module that a kind names as `fetcher`. It adds, replaces and
removes items of the mirror until it holds what the server has, and raises FetchError if the server does not let it
come to an end; what was mirrored until then stays, and the next fetch continues from there. A fetcher removes an item
only if the server confirms that it is gone (`deletions.py`). An item that it leaves out for another reason, such as its
size, is noted in the mirror, and becomes a row in failures.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from relrag_pipelines.errors import SafeError
from relrag_pipelines.privacy import fault_report
from relrag_pipelines.sources.kind import Kind
from relrag_pipelines.sources.remote.mirror import Mirror

__all__ = ["CONTINUES", "FetchError", "Fetcher", "Mirror", "Server", "fetcher_of", "readable_answers"]

CONTINUES = "what was fetched is kept, and the next `relrag sync` continues from there"
"""ends the message of an error that the next fetch may not meet"""


class FetchError(SafeError):
    """A server did not give what it was asked for; the message names the server, what was found and what to do.

    It never holds a credential, nor anything that the server sent.
    """


@dataclass(frozen=True)
class Server:
    """A server as relrag.toml names it, and how to log in."""

    url: str
    """scheme, host, port and path, without credentials"""
    user: str
    """the account; empty if only the secret names it"""
    secret: Callable[[], str]
    """reads the password, token or JSON of tokens; raises SecretError"""
    secret_name: str
    """where the secret is expected, for messages"""
    folders: tuple[str, ...] = ()
    """only these folders of a mail server, as glob patterns; empty for all"""
    max_bytes: int = 2 * 2**30
    """largest body that is stored"""
    accept_deletions: bool = False
    """the owner knows that many items were deleted; see deletions.py"""
    ca_file: Path | None = None
    """certificates to trust instead of the system's"""
    report: Callable[[int, int], None] = lambda done, total: None
    """called with how many items were fetched, of how many"""


Fetcher = Callable[[Server, Mirror], None]


def fetcher_of(kind: Kind) -> Fetcher:
    """The fetcher of a kind that has one, imported when first used."""
    return cast("Fetcher", importlib.import_module(f"relrag_pipelines.sources.{kind.fetcher}").fetch)


@contextmanager
def readable_answers(host: str) -> Iterator[None]:
    """Replaces the error of an answer that has an unexpected form, such as a missing field, by a FetchError.

    The error itself may quote what the server sent, so only its type and code location are kept.
    """
    try:
        yield
        return
    except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        fault = f"{type(error).__name__} in {fault_report.code_location(error)}"
    raise FetchError(f"{host} sent an answer of an unexpected form ({fault}); {CONTINUES}")
