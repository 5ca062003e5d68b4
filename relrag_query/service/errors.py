"""Errors of a service."""

from __future__ import annotations

from relrag_pipelines.errors import RelragError


class UnknownRef(RelragError):
    """The archive has no such id."""


class NotServed(RelragError):
    """This service does not offer the requested data; the message says how to enable it."""
