"""What of a mail's text is new."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Parts:
    """A text in parts."""

    fresh: str
    quoted: str = ""
    signature: str = ""
    disclaimer: str = ""
    forwarded: str = ""


def split(text: str) -> Parts:
    """The parts."""
    fresh = [line for line in text.split("\n") if not line.startswith(">")]
    quoted = [line for line in text.split("\n") if line.startswith(">")]
    return Parts("\n".join(fresh), "\n".join(quoted))
