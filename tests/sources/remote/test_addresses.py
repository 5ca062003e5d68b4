"""To which addresses a secret is sent."""

from __future__ import annotations

import pytest

from relrag_pipelines.sources.remote import FetchError
from relrag_pipelines.sources.remote.http_client import HttpClient
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "an_address_that_nobody_else_reads"))
def test_an_address_that_nobody_else_reads(url: str) -> None:
    HttpClient(url, dict, "the secret").close()


@pytest.mark.parametrize(
    "url",
    ["http://papers.example.org", "http://192.168.1.7:8000", "http://10.0.0.1", "http://papers", "http://localhost.example.org",
     "http://[fe80::1]", "http://127.0.0.1.example.org", "http://0.0.0.0"],
)  # fmt: skip
def test_an_address_over_which_others_could_read_the_secret(url: str) -> None:
    def secret() -> dict[str, str]:
        raise AssertionError

    with pytest.raises(
        FetchError, match="everybody on the way could read the secret, so nothing was sent; write https:"
    ):
        HttpClient(url, secret, "the secret").get_json("api/")
