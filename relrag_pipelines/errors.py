"""The bases of the errors that end what was asked for."""

from typing import ClassVar


class RelragError(Exception):
    """A foreseen fault: the message names the thing, what was found and what to do.

    It is written for the owner, at the command line, and may hold a path or what somebody typed. Dagster's events,
    which others read, hold `safe_message` instead; pages the text that page.toml has for `code`, with `values` in it.
    """

    stored: ClassVar[str] = "relrag could not go on; the command line says why"

    def __init__(self, *message: object, code: str = "", **values: str | int) -> None:
        super().__init__(*message)
        self.code, self.values = code, values

    @property
    def safe_message(self) -> str:
        """What is wrong, without any text of the archive: `stored`, or the message itself where that is empty."""
        return self.stored or str(self)


class SafeError(RelragError):
    """A foreseen fault whose messages are written by this project alone and hold no text of the archive."""

    stored: ClassVar[str] = ""
