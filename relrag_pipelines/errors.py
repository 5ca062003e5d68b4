"""The bases of the errors that end what was asked for."""

from typing import ClassVar


class RelragError(Exception):
    """A foreseen fault: the message names the thing, what was found and what to do.

    It is written for the owner, at the command line, and may hold a path or what somebody typed. In Dagster's events,
    which others may read, `safe_message` stands in its place.
    """

    stored: ClassVar[str] = "relrag could not go on; the command line says why"
    """What stands there."""

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
