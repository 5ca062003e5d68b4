"""All pages in Chromium, within a network that leads nowhere: they work, and nothing is asked of another machine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from docs.screenshot import chromium
from tests import archive, network
from tests.end_to_end.test_privacy import bare

pytest.importorskip("playwright", reason="needs playwright, the extra `browser`")
pytestmark = pytest.mark.skipif(chromium() is None, reason="no Chromium; install it, or name it in CHROMIUM")
KINDS = "ask answer search people graph graphrag graphrag-answer archive source record thread person"
LOOKS = ("light", "phone-dark")


def test_without_internet_all_pages_work(tmp_path: Path) -> None:
    """No request leaves, no console speaks of an error, and no page is wider than a phone."""
    if why := network.missing():
        pytest.skip(why)
    config = archive.make(tmp_path, '[graphrag]\nmethod = "fast"')
    lease = tmp_path / "papers" / "lease 2024-01-05.md"
    lease.rename(lease.with_name(f"{'the_key_of_the_cabin_' * 4}.md"))
    archive.sync(config)
    command = [sys.executable, "-m", "tests.walk", str(config)]
    seen = network.run(command, bare(tmp_path / "user"), tmp_path / "sent.json")
    assert (seen.code, seen.sent) == (0, []), seen.said
    assert seen.said.split("\n") == [*(f"{look}: 12 pages, {KINDS}" for look in LOOKS), "", ""]
