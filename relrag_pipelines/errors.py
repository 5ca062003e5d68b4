"""The bases of the errors that end what was asked for."""

from __future__ import annotations

from typing import ClassVar, TypeVar

Kind = TypeVar("Kind", bound="RelragError")


class RelragError(Exception):
    """A foreseen fault: the message names the thing, what was found and what to do.

    It is written for the owner, at the command line, and may hold a path or what somebody typed. In Dagster's events,
    which others may read, `safe_message` stands in its place.
    """

    def __init__(self, *message: object, code: str = "", **values: str | int) -> None:
        super().__init__(*message)
        self.code, self.values = code, values
        """by what name pages know the message in each language, empty if they do not, and what is filled in there"""

    stored: ClassVar[str] = "relrag could not go on; the command line says why"
    """What stands there."""

    def as_kind(self, kind: type[Kind]) -> Kind:
        """The same fault as an error of another class."""
        return kind(str(self), code=self.code, **self.values)

    @property
    def safe_message(self) -> str:
        """What is wrong, without any text of the archive."""
        return self.stored


class SafeError(RelragError):
    """A foreseen fault whose messages are written by this project alone and hold no text of the archive."""

    @property
    def safe_message(self) -> str:
        """The message itself."""
        return str(self)
