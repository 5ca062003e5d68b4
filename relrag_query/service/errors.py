"""The errors of a service that cannot give what was asked for."""

from __future__ import annotations

from relrag_pipelines.errors import RelragError


class UnknownRef(RelragError):
    """The archive has nothing of that id."""


class NotServed(RelragError):
    """What was asked for is not there in this service; the message says how to have it."""
