"""Owners and tags of assets: what Dagster's catalog is filtered by."""

import re

from relrag_pipelines.settings import Source
from relrag_pipelines.workspace import Workspace

PRIVATE, REDACTED, PUBLISHED = "private", "redacted", "published"
KIND, CHANNEL, PRIVACY = "relrag/kind", "relrag/channel", "relrag/privacy"
_OTHER_SIGNS = re.compile(r"[^A-Za-z0-9_.-]+")
"""that a value of a tag cannot hold"""


def owners(workspace: Workspace) -> list[str]:
    """Who answers for the assets, as Dagster writes it: an address, or team:<name>."""
    return [workspace.settings.asset_owner]


def source_tags(workspace: Workspace, source: Source, privacy: str) -> dict[str, str]:
    """The tags of an asset of a source."""
    channel = _OTHER_SIGNS.sub("_", workspace.channel(source))
    return {KIND: source.kind, CHANNEL: channel, PRIVACY: privacy}


def archive_tags(privacy: str) -> dict[str, str]:
    """The tags of an asset of all sources."""
    return {PRIVACY: privacy}
