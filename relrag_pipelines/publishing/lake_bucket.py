"""The bucket of an archive whose lake is on object storage; without `home_lake` each function does nothing.

All raise ObjectStoreError where the bucket cannot be used or the package for it is absent, and LakeError for what is
in it.
"""

from __future__ import annotations

from typing import NamedTuple

from relrag_pipelines.erasure import shared_rules
from relrag_pipelines.journal import journal
from relrag_pipelines.stores.bucket_commit import RESTORING
from relrag_pipelines.stores.bucket_lake import BucketLake
from relrag_pipelines.stores.private_copies import PrivateCopies
from relrag_pipelines.workspace import Workspace


class Pulled(NamedTuple):
    """What a home has taken over from another machine."""

    files: int = 0
    """of the lake, fetched"""
    rules: int = 0
    """of erasure, which `purge.resume` applies"""
    private_files: int = 0
    """fetched because the home had none"""


def _open(workspace: Workspace) -> BucketLake | None:
    """The lake in the bucket; None where it is a folder alone."""
    settings = workspace.settings
    if not settings.home_lake:
        return None
    private = PrivateCopies(workspace.home, workspace.keys) if settings.home_lake_private else None
    return BucketLake(workspace.home, settings.home_lake, workspace.keys.id_fingerprint, private)


def pull(workspace: Workspace) -> Pulled:
    """Fetches the files and the erasure rules that another machine has committed.

    A home without private files gets those of the bucket. The caller then resumes the purge, which applies the rules.
    """
    bucket = _open(workspace)
    if bucket is None:
        return Pulled()
    private_files = _pull_private(workspace, bucket)
    files = bucket.pull()
    return Pulled(files, shared_rules.take_over(workspace.home, workspace.keys), private_files)


def _pull_private(workspace: Workspace, bucket: BucketLake) -> int:
    """Fetches the private files into a home without any, and appends its own journal entries to the fetched journal."""
    if not workspace.settings.home_lake_private:
        return 0
    fresh = not (workspace.home / RESTORING).exists()
    own = [entry.statement for entry in journal.entries(workspace.home) if entry.statement] if fresh else []
    files = bucket.pull_private()
    if files and own:
        journal.append(workspace.home, own)
    return files


def foreign_commit(workspace: Workspace) -> str:
    """The id of the bucket's commit if another machine made it since this one's last pull or commit; else empty."""
    bucket = _open(workspace)
    return bucket.foreign_commit() if bucket else ""


def commit(workspace: Workspace) -> None:
    """Makes the lake of the home, with its erasure rules, that of the bucket, and deletes all else there."""
    if bucket := _open(workspace):
        shared_rules.share(workspace.home, workspace.keys)
        bucket.commit()


def damage(workspace: Workspace) -> list[tuple[str, str]]:
    """(key, what is wrong) of objects that differ from the bucket's manifest, or that it does not name."""
    bucket = _open(workspace)
    return bucket.damage() if bucket else []
