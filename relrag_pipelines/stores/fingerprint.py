"""Fingerprints of what something was read or made with: when they differ, it is made again.

That of settings names each of them, `name:hash` with commas between, so that a plan can say which one changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

_DIGITS = 8


def fingerprint(parts: Any) -> str:
    """Hash of anything JSON can hold: 16 hex digits."""
    return hashlib.blake2b(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS), digest_size=8).hexdigest()


def settings_fingerprint(settings: Mapping[str, Any]) -> str:
    """The settings by their names, each as the beginning of its hash."""
    return ",".join(f"{name}:{fingerprint(value)[:_DIGITS]}" for name, value in settings.items())


def changed_settings(before: str, now: str) -> list[str]:
    """Names of the settings in which two of these differ; none where one of them is of another form."""
    if not all(":" in part for text in (before, now) for part in text.split(",")):
        return []
    settings = [dict(part.split(":", 1) for part in text.split(",")) for text in (before, now)]
    return [name for name in {**settings[0], **settings[1]} if settings[0].get(name) != settings[1].get(name)]


def describe_changes(names: list[str]) -> str:
    """That these settings have changed, in words."""
    return f"{'setting' if len(names) == 1 else 'settings'} {', '.join(names)} changed" if names else "settings changed"
