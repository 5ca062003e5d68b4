"""Which addresses a secret may be sent to."""

from __future__ import annotations

from urllib.parse import urlsplit

from relrag_pipelines.privacy.loopback import is_loopback
from relrag_pipelines.sources.remote import FetchError


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
