"""What pages and the API say of files that could not be read."""

import json
import shutil
from pathlib import Path

import pytest

from relrag_query.cli.commands.status import status
from tests import archive
from tests.web_app import BEARER, COOKIE, client

PLANTED = ("052-123-4567", "rina.katz@example.org")


def test_names_of_files_are_redacted_but_on_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = archive.make(tmp_path)
    (tmp_path / "papers" / "call 052-123-4567.pdf").write_bytes(b"%PDF-1.4 broken")
    (tmp_path / "papers" / "to rina.katz@example.org .xyz").write_bytes(b"\0\1")
    archive.first_sync(config)
    with client(config) as asked:
        page = asked.get("/archive", headers=COOKIE).text
        said = asked.get("/api/v1/status", headers=BEARER).text
    assert "call &lt;PHONE_NUMBER:k1:" in page
    assert "EMAIL_ADDRESS:k1:" in page and "EMAIL_ADDRESS:k1:" in said
    for planted in PLANTED:
        assert planted not in page + said
    capsys.readouterr()
    status(config, failures=True)
    assert PLANTED[0] in capsys.readouterr().out
    status(config, as_json=True)
    assert PLANTED[1] in json.dumps(json.loads(capsys.readouterr().out)["left_out"])


def test_coverage_says_what_was_seen_indexed_skipped_and_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = archive.make(tmp_path)
    (tmp_path / "papers" / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    paper = next(path for path in (tmp_path / "papers").iterdir() if path.name != "broken.pdf")
    shutil.copy2(paper, paper.with_name(f"z {paper.name}"))
    archive.write_notes(tmp_path, {"id": "n9", "text": "The fence is painted.", "timestamp": "2024-06-02T08:00:00Z"})
    archive.first_sync(config)
    status(config, as_json=True)
    chat, papers, notes = json.loads(capsys.readouterr().out)["sources"]
    assert (papers["units"], papers["indexed"], papers["skipped"], papers["failed"]) == (3, 1, {}, {"damaged": 1})
    assert papers["copies"] == 1
    assert (chat["oldest"], chat["newest"]) == ("2023-12-24T17:00:00Z", "2024-02-14T20:40:00Z")
    assert notes["gaps"] == ["2024-03 to 2024-05"]
    status(config)
    lines = capsys.readouterr().out.splitlines()
    assert "chat: 1 of 1 file indexed; 2023-12-24 to 2024-02-14" in lines
    assert "papers: 1 of 3 files indexed, 1 more is a copy; 2024-01-05; failed: 1 damaged" in lines
    assert "notes: 1 of 1 file indexed; 2024-02-15 to 2024-06-02; nothing in 2024-03 to 2024-05" in lines


def test_what_is_asked_wrongly_is_a_bad_request(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    archive.first_sync(config)
    with client(config) as asked:
        wrong = [
            ({"query": "kiln", "kinds": ["nope"]}, 400),
            ({"query": "kiln", "since": "2024", "until": "2020"}, 409),
        ]
        for body, status in wrong:
            reply = asked.post("/api/v1/search", json=body, headers=BEARER)
            assert (reply.status_code, reply.headers.get("retry-after")) == (status, None), reply.text
