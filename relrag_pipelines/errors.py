"""The base of the errors that end what was asked for."""

from typing import ClassVar


class RelragError(Exception):
    """A foreseen fault: the message names the thing, what was found and what to do.

    It is written for the owner, at the command line. What stands in Dagster's events, which others may read, is
    `safe_message`.
    """

    stored: ClassVar[str] = ""
    """What stands there in place of the message, where that may hold a path or what somebody typed."""

    @property
    def safe_message(self) -> str:
        """What is wrong, without any text of the archive."""
        return self.stored or str(self)
