"""The objects of a bucket that speaks S3, below one prefix: put and fetched whole, and swapped under a condition.

Credentials, region and endpoint are those of the standard AWS variables and files; no message holds what a server or a
library says of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relrag_pipelines.errors import SafeError
from relrag_pipelines.privacy.loopback import is_loopback_url

_REQUESTS = 16
"""at once"""
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_MAX_BYTES = 5 * 2**30
"""of an object that is put by one request; parts of a larger one could outlast a kill and be listed nowhere"""
_REFUSED = ("PreconditionFailed", "ConditionalRequestConflict")
_ABSENT = ("NoSuchKey", "404")
_NO_VERSIONS = ("NotImplemented", "501", "MethodNotAllowed")
_ADVICE = {
    "NoSuchBucket": "there is no such bucket; create it, or correct `home_lake`",
    "NoSuchKey": "an object is gone; run `relrag verify`",
    "AccessDenied": "these credentials may not do that; docs/deploy.md names the permissions",
    "InvalidAccessKeyId": "the server does not know this access key; see AWS_ACCESS_KEY_ID",
    "SignatureDoesNotMatch": "the secret key does not fit the access key; see AWS_SECRET_ACCESS_KEY",
    "ExpiredToken": "the credentials have expired; get new ones",
    "NoCredentialsError": "there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "PartialCredentialsError": "the credentials lack a part; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "ProfileNotFound": "there is no such profile; see AWS_PROFILE",
    "EndpointConnectionError": "the server cannot be reached; see AWS_ENDPOINT_URL and the network",
}
"""error code of the server, or class of the library's error -> what to do"""


class ObjectStoreError(SafeError):
    """The bucket cannot be used; the message names it and says what to do, without secrets."""


class SwapRefused(ObjectStoreError):
    """Another writer has changed the object since it was read."""


@dataclass(frozen=True)
class ObjectVersion:
    """An object as a bucket lists it, or one of its older versions where the bucket keeps these."""

    key: str
    """within the prefix"""
    id: str | None
    """of the version; None where the server knows no versions"""
    bytes: int
    is_latest: bool
    """what a reader gets; a mark of a deleted object is none"""


class ObjectStore:
    """The objects below the prefix of a URL such as s3://bucket/prefix."""

    def __init__(self, url: str) -> None:
        """Opens no connection yet. Raises ObjectStoreError for an endpoint without TLS on another machine."""
        bucket, _, prefix = url.removeprefix("s3://").strip("/").partition("/")
        self.url, self._bucket, self._prefix = url, bucket, f"{prefix}/" if prefix else ""
        self._client = _client(url)

    def read(self, key: str) -> tuple[bytes, str] | None:
        """A small object and its tag; None if there is none."""
        with _translated(self.url):
            try:
                answer = self._client.get_object(Bucket=self._bucket, Key=self._prefix + key)
            except Exception as error:
                if _code(error) in _ABSENT:
                    return None
                raise
            return answer["Body"].read(), answer["ETag"]

    def fetch(self, key: str, path: Path) -> None:
        """Writes an object to a file. Raises ObjectStoreError if there is none."""
        with _translated(self.url), path.open("wb") as file:
            body = self._client.get_object(Bucket=self._bucket, Key=self._prefix + key)["Body"]
            for block in body.iter_chunks(2**20):
                file.write(block)

    def put(self, key: str, path: Path) -> None:
        """Stores a file as an object, by one request."""
        if path.stat().st_size > _MAX_BYTES:
            raise ObjectStoreError(f"{self.url}: {key} has more than 5 GiB, which one request cannot store")
        with _translated(self.url), path.open("rb") as file:
            self._client.put_object(Bucket=self._bucket, Key=self._prefix + key, Body=file)

    def put_bytes(self, key: str, data: bytes) -> None:
        """Stores bytes as an object."""
        with _translated(self.url):
            self._client.put_object(Bucket=self._bucket, Key=self._prefix + key, Body=data)

    def swap(self, key: str, data: bytes, tag: str | None) -> None:
        """Stores an object if it still has that tag, or if there still is none. Raises SwapRefused otherwise."""
        condition = {"IfNoneMatch": "*"} if tag is None else {"IfMatch": tag}
        with _translated(self.url):
            try:
                self._client.put_object(Bucket=self._bucket, Key=self._prefix + key, Body=data, **condition)
            except Exception as error:
                # an object that is gone has no tag that could match
                if _code(error) not in (*_REFUSED, *_ABSENT):
                    raise
                raise SwapRefused(f"{self.url}: {key} was changed by another writer") from None

    def versions(self, folder: str) -> list[ObjectVersion]:
        """Every object below a folder of the prefix, with older versions and marks of deleted ones."""
        with _translated(self.url):
            try:
                return [*self._versions(folder)]
            except Exception as error:
                if _code(error) not in _NO_VERSIONS:
                    raise
            return [*self._objects(folder)]

    def _versions(self, folder: str) -> Iterator[ObjectVersion]:
        for page in self._pages("list_object_versions", folder):
            for version in page.get("Versions", ()):
                yield ObjectVersion(self._within(version), version["VersionId"], version["Size"], version["IsLatest"])
            for mark in page.get("DeleteMarkers", ()):
                yield ObjectVersion(self._within(mark), mark["VersionId"], 0, is_latest=False)

    def _objects(self, folder: str) -> Iterator[ObjectVersion]:
        for page in self._pages("list_objects_v2", folder):
            for listed in page.get("Contents", ()):
                yield ObjectVersion(self._within(listed), None, listed["Size"], is_latest=True)

    def _pages(self, operation: str, folder: str) -> Iterable[dict[str, Any]]:
        pages: Iterable[dict[str, Any]] = self._client.get_paginator(operation).paginate(
            Bucket=self._bucket, Prefix=f"{self._prefix}{folder}/"
        )
        return pages

    def _within(self, listed: dict[str, Any]) -> str:
        return str(listed["Key"]).removeprefix(self._prefix)

    def delete(self, versions: Sequence[ObjectVersion]) -> None:
        """Deletes these versions for good."""

        def delete(version: ObjectVersion) -> None:
            which = {} if version.id is None else {"VersionId": version.id}
            self._client.delete_object(Bucket=self._bucket, Key=self._prefix + version.key, **which)

        with _translated(self.url):
            each(delete, versions)


def each(work: Any, items: Iterable[Any]) -> None:
    """Does the work for every item, several at once; the first error ends it when those under way are done."""
    pool = ThreadPoolExecutor(_REQUESTS)
    try:
        for _ in pool.map(work, items):
            pass
    finally:
        pool.shutdown(cancel_futures=True)


def _client(url: str) -> Any:
    try:
        import botocore.session
        from botocore.config import Config
    except ImportError:
        raise ObjectStoreError(f"home_lake {url} needs a package; run: pip install 'relrag[s3]'") from None
    # a server that is named has its buckets below its own address
    addressing = {"addressing_style": "path"} if any(map(os.environ.get, _ENDPOINTS)) else {}
    config = Config(
        s3=addressing,
        retries={"mode": "standard", "total_max_attempts": 3},
        connect_timeout=10,
        read_timeout=60,
        max_pool_connections=_REQUESTS,
        # servers other than Amazon's refuse the newer checksums; the hash is in each object's name
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    with _translated(url):
        region = os.environ.get("AWS_REGION") or None
        client = botocore.session.get_session().create_client("s3", region_name=region, config=config)
    endpoint = str(client.meta.endpoint_url)
    if not endpoint.startswith("https://") and not is_loopback_url(endpoint):
        raise ObjectStoreError(
            f"home_lake {url}: the endpoint (AWS_ENDPOINT_URL) is not https; only on this machine plain http will do"
        )
    return client


@contextmanager
def _translated(url: str) -> Iterator[None]:
    """Replaces errors of the library, whose messages quote what was sent."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (BotoCoreError, ClientError) as error:
        code = _code(error)
        raise ObjectStoreError(f"{url}: {_ADVICE.get(code, 'the server refused or did not answer')} ({code})") from None


def _code(error: Exception) -> str:
    """The server's code of an error, or the class of an error that it did not send."""
    code = str(getattr(error, "response", {}).get("Error", {}).get("Code", ""))
    return code if re.fullmatch(r"[A-Za-z0-9]{1,60}", code) else type(error).__name__
