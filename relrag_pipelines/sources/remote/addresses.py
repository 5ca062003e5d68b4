"""Which addresses a secret may be sent to."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from relrag_pipelines.sources.remote import FetchError


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, so that nobody else can read what is sent to it."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def require_encryption(url: str) -> None:
    """Raises FetchError for an http:// address of another machine."""
    parts = urlsplit(url)
    if parts.scheme == "https" or is_loopback(parts.hostname or ""):
        return
    address = parts.netloc.rpartition("@")[2]
    raise FetchError(
        f"{address} is named with {parts.scheme}://, over which everybody on the way could read the secret, so nothing "
        f"was sent; write https://{address}, or reach a server without TLS through this machine (localhost)"
    )
