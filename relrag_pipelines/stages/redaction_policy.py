"""Everything that decides how a source is redacted; the plan compares it and names what changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from relrag_pipelines import pii
from relrag_pipelines.settings import Source
from relrag_pipelines.sources.kinds import KINDS, RECORD_TYPES
from relrag_pipelines.stores.fingerprint import fingerprint
from relrag_pipelines.workspace import Workspace

RECOGNISERS = "recognisers"
"""what `policy` calls the version of what is found and replaced; all else in it is a setting"""


def possible_channels(workspace: Workspace, source: Source) -> set[str]:
    """The channels that records of the source may have."""
    kind = KINDS[source.kind]
    types = RECORD_TYPES.values() if kind.any_type else kind.record_types
    return {workspace.channel(source), *(type_.channel for type_ in types if type_.channel)}


def _policies(workspace: Workspace, source: Source) -> Mapping[str, Any]:
    """The policies of the channels that records of the source may have; another one's changes do not concern it."""
    given, channels = workspace.settings.pii_policies, possible_channels(workspace, source)
    if channels - given.keys():
        channels |= {"default"}
    return {name: given[name].model_dump() for name in sorted(channels & given.keys())}


def _digest(path: Path | None) -> str:
    """Hash of a file's contents; empty if there is no file."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path and path.is_file() else ""


def policy(workspace: Workspace, source: Source) -> Mapping[str, Any]:
    """All that decides how a source is redacted."""
    settings = workspace.settings
    return {
        "pii_redaction_enabled": settings.pii_redaction_enabled,
        "pii_policies": _policies(workspace, source),
        "channel": workspace.channel(source),
        "pii_allow_list": settings.pii_allow_list,
        "pii_regions": list(workspace.regions),
        "pii_recognizers": _digest(settings.pii_recognizers_path),
        "pii_language_model": _digest(settings.pii_language_model_path),
        "keys_file": workspace.keys.fingerprint,
        RECOGNISERS: pii.VERSION,
    }


def policy_hash(workspace: Workspace) -> str:
    """A hash that changes when anything is redacted differently."""
    return fingerprint([policy(workspace, source) for source in workspace.settings.sources])


def is_current(workspace: Workspace, published: str | None) -> bool:
    """Whether what was made under policies of that hash is as those of now would have it: also with redaction off."""
    return not workspace.settings.pii_redaction_enabled or published == policy_hash(workspace)
