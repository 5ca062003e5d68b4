"""Says elsewhere that something is wrong: by mail, Slack, ntfy or a webhook, through Apprise (`alert_urls`).

Only counts, names of jobs and of sources are sent: never a message of an error, which may quote a text.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from relrag_pipelines.settings import Settings, SettingsError


def check(settings: Settings) -> None:
    """Raises SettingsError if alerts are set up and cannot be sent: Apprise is missing, or an address is none."""
    if not settings.alert_urls:
        return
    if importlib.util.find_spec("apprise") is None:
        raise SettingsError("alert_urls needs Apprise; install relrag[alerts]")
    for position, url in enumerate(settings.alert_urls, 1):
        if not _notifier([url]):
            raise SettingsError(f"alert_urls: number {position} is no address that Apprise knows")


def send(settings: Settings, title: str, body: str) -> bool:
    """Sends an alert to every address; returns whether all took it. Without addresses there is nothing to do."""
    if not settings.alert_urls:
        return True
    check(settings)
    notifier = _notifier(settings.alert_urls)
    return bool(notifier and notifier.notify(title=f"relrag, archive {settings.archive}: {title}", body=body))


def _notifier(urls: list[str]) -> Any:
    import apprise

    notifier = apprise.Apprise()
    return notifier if all(notifier.add(url) for url in urls) else None
