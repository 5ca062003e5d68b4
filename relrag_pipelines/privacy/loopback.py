"""Which addresses are this machine, so that nothing that is sent to them leaves it."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, so that nobody else can read what is sent to it."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def is_loopback_url(url: str) -> bool:
    """Whether a URL is an http(s) address of this machine, without a user or a query."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # ValueError if it is no number
    except ValueError:
        return False
    plain = parts.scheme in ("http", "https") and not parts.username and not parts.query
    return plain and is_loopback(parts.hostname or "")
