"""What something was read or made with: `name:hash` of each setting that decides it, with commas between."""

from __future__ import annotations

from collections.abc import Mapping

_DIGITS = 8


def format_fingerprint(hashes: Mapping[str, str]) -> str:
    """The settings by their names, each as the beginning of its hash."""
    return ",".join(f"{name}:{value[:_DIGITS]}" for name, value in hashes.items())


def changed_settings(before: str, now: str) -> list[str]:
    """Names of the settings in which two of these differ; none where one of them is of another form."""
    if not all(":" in part for one in (before, now) for part in one.split(",")):
        return []
    told = [dict(part.split(":", 1) for part in one.split(",")) for one in (before, now)]
    return [name for name in {**told[0], **told[1]} if told[0].get(name) != told[1].get(name)]


def describe_changes(names: list[str]) -> str:
    """That these settings have changed, in words."""
    return f"{'setting' if len(names) == 1 else 'settings'} {', '.join(names)} changed" if names else "settings changed"
