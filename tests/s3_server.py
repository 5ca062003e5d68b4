"""A server on this machine that speaks S3, moto's, and what tests ask of a bucket beside relrag."""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

KEY, SECRET = "AKIDEXAMPLE", "not-a-secret-of-anybody"
_numbers = itertools.count(1)


class Bucket:
    """An empty bucket of the server."""

    def __init__(self, client: Any, *, versioned: bool = False) -> None:
        self.name, self.client = f"lake-{next(_numbers)}", client
        client.create_bucket(Bucket=self.name)
        if versioned:
            client.put_bucket_versioning(Bucket=self.name, VersioningConfiguration={"Status": "Enabled"})

    @property
    def url(self) -> str:
        """As `home_lake` names it."""
        return f"s3://{self.name}/archive"

    def versions(self) -> list[tuple[str, str]]:
        """Key and id of every version of every object, and of marks of deleted ones."""
        listed = self.client.list_object_versions(Bucket=self.name)
        every = [*listed.get("Versions", ()), *listed.get("DeleteMarkers", ())]
        return sorted((version["Key"], version["VersionId"]) for version in every)

    def object_keys(self) -> list[str]:
        """Keys of the objects that a reader sees."""
        return sorted(listed["Key"] for listed in self.client.list_objects_v2(Bucket=self.name).get("Contents", ()))

    def get(self, key: str) -> bytes:
        """An object."""
        data: bytes = self.client.get_object(Bucket=self.name, Key=key)["Body"].read()
        return data

    def put(self, key: str, data: bytes) -> None:
        """Stores an object as another program does."""
        self.client.put_object(Bucket=self.name, Key=key, Body=data)

    def download(self, folder: Path) -> Path:
        """Writes every version of every object into a folder, for a search of its bytes."""
        marks = {
            (mark["Key"], mark["VersionId"])
            for mark in self.client.list_object_versions(Bucket=self.name).get("DeleteMarkers", ())
        }
        for number, (key, version) in enumerate(self.versions()):
            if (key, version) not in marks:
                path = folder / f"{number}" / key
                path.parent.mkdir(parents=True)
                stored = self.client.get_object(Bucket=self.name, Key=key, VersionId=version)
                path.write_bytes(stored["Body"].read())
        return folder


class S3Server:
    """The server, and who makes buckets on it."""

    def __init__(self, url: str) -> None:
        import botocore.session
        from botocore.config import Config

        self.url = url
        self._client = botocore.session.get_session().create_client(
            "s3",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
            config=Config(s3={"addressing_style": "path"}),
        )

    def bucket(self, *, versioned: bool = False) -> Bucket:
        """A new one."""
        return Bucket(self._client, versioned=versioned)


@contextmanager
def serving() -> Iterator[S3Server]:
    """The server while it runs; the standard variables name it and its credentials. ImportError without moto."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    variables = {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    try:
        with mock.patch.dict(os.environ, variables):
            yield S3Server(url)
    finally:
        server.stop()
