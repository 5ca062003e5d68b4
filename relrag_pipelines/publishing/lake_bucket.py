"""The bucket of an archive whose lake is on object storage; without `home_lake` each function does nothing.

All raise ObjectStoreError where the bucket cannot be used or the package for it is absent, and LakeError for what is
in it.
"""

from __future__ import annotations

from relrag_pipelines.stores.bucket_lake import BucketLake
from relrag_pipelines.workspace import Workspace


def _open(workspace: Workspace) -> BucketLake | None:
    """The lake in the bucket; None where it is a folder alone."""
    url = workspace.settings.home_lake
    return BucketLake(workspace.home, url, workspace.keys.id_fingerprint) if url else None


def pull(workspace: Workspace) -> int:
    """Takes over what another machine has committed; returns how many files it fetched."""
    bucket = _open(workspace)
    return bucket.pull() if bucket else 0


def commit(workspace: Workspace) -> None:
    """Makes the lake of the home that of the bucket, and deletes all else there."""
    if bucket := _open(workspace):
        bucket.commit()


def damage(workspace: Workspace) -> list[tuple[str, str]]:
    """(key, what is wrong) of objects that differ from the bucket's manifest, or that it does not name."""
    bucket = _open(workspace)
    return bucket.damage() if bucket else []
