"""What is forgotten while many ask: no fault, no mixture of generations, and afterwards not a byte of it anywhere."""

import gc
import threading
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from relrag_pipelines.ui.login import Login
from relrag_query.cli.commands import forget as forgetting
from relrag_query.forgetting import ForgetRequest
from relrag_query.service import Service, caches
from relrag_query.service.open_generation import POLL_SECONDS
from relrag_query.web.app import create_app
from tests import archive
from tests.sources.document.test_page_picture import pdf
from tests.web_app import COOKIE, KEY, OURS, PORT, TOKEN

PAPER = ["The zeppelin is in the barn of Ota.", "The other page is about pears."]


@pytest.mark.slow
def test_what_is_forgotten_under_load_is_gone_from_everything(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    (tmp_path / "papers" / "barn 2024-01-07.pdf").write_bytes(pdf(PAPER))
    note = {"id": "gone", "text": "The zeppelin is in the barn.", "ts": "1709280000", "from": "Zora Zeppelin"}
    archive.write_notes(tmp_path, note)
    archive.sync(config)
    statuses: set[int] = set()
    with Service.open(config) as service:
        app = create_app(service, Login(KEY), lambda: TOKEN, "127.0.0.1", PORT)
        with TestClient(app, OURS, follow_redirects=False, raise_server_exceptions=False) as opened:
            opened.headers |= COOKIE
            (paper,) = {
                hit.asset_id for hit in service.search("zeppelin barn").hits if hit.asset_id.startswith("document:")
            }
            paths = (
                "/search?q=zeppelin barn", "/ask?q=Where is the zeppelin?", "/ask/stream?q=Where is the zeppelin?",
                "/graph", "/api/v1/graph?records=100", "/people", "/record?ref=jsonl:notes:gone",
                f"/record?ref={paper}", f"/page.png?ref={paper}&page=1&quote=zeppelin",
                "/api/v1/show?ref=jsonl:notes:gone", "/entities/graph/full",
            )  # fmt: skip
            before = {path: opened.get(path) for path in paths}
            served = [one for one in caches.functions() if one.__module__.startswith("relrag_query.")]
            assert [one for one in served if _holds(str(gc.get_referents(one)))]
            assert b"PNG" in before[paths[8]].content[:8]
            assert sum(_holds(answer.text) for path, answer in before.items() if ".png" not in path) > 5
            done = threading.Event()
            answered = dict.fromkeys(paths[:8], 0)
            held: set[tuple[int, bool]] = set()

            def ask(path: str) -> None:
                # a pause, because a caller of this process takes the time of what forgets
                while not done.wait(0.1):
                    answer = opened.get(path)
                    statuses.add(answer.status_code)
                    if path.startswith("/api/") and answer.status_code == 200:
                        held.add((answer.json()["generation"], _holds(answer.text)))
                    answered[path] += 1

            callers = [threading.Thread(target=ask, args=(path,)) for path in answered]
            for caller in callers:
                caller.start()
            code = forgetting.forget(ForgetRequest(refs=["jsonl:notes:gone", paper]), config, yes=True)
            time.sleep(2 * POLL_SECONDS)
            done.set()
            for caller in callers:
                caller.join()
            assert code == 0
            assert min(answered.values()) > 5
            assert statuses <= {200, 404, 503}
            assert held == {(1, True), (2, False)}
            # `forget` runs in this process here and in one of its own elsewhere: what it keeps is not the server's
            served = [one for one in caches.functions() if one.__module__.startswith("relrag_query.")]
            assert not [one for one in served if _holds(str(gc.get_referents(one)))]
            after = {path: opened.get(path) for path in paths}
            assert after[paths[8]].status_code == 404
            for path, answer in after.items():
                assert not _holds(answer.text), path
            kept = service._graph._cached
            assert kept is None or not _holds(kept[1].model_dump_json())


def _holds(text: str) -> bool:
    """Whether an answer says more of it than the words of its question."""
    return any(one in text.lower() for one in ("zora", "is in the barn", "barn of ota"))
