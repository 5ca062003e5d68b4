"""All of the server behind its guard, and pages that show what is in an archive and run nothing of it."""

import itertools
import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from relrag_pipelines import settings as settings_module
from relrag_pipelines.stores import evaluation_history
from relrag_pipelines.stores.evaluation_history import Evaluation
from relrag_pipelines.ui.login import Login, ticket
from relrag_query import statements
from relrag_query.cli.commands.show import show as show_command
from relrag_query.http.api_token import load_token, stored_token, token_path
from relrag_query.service import Service
from relrag_query.web.app import create_app
from relrag_query.web.rendering import web_address
from tests import archive
from tests.web_app import BEARER, COOKIE, KEY, OURS, PORT, TOKEN, client

OVERRIDE, ESCAPE = "\u202e", "\x1b[31m"
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'-alert(1)-'",
    "<svg/onload=alert(1)>",
    "{{ 7*7 }}{% raw %}",
    "</title></textarea></style><script>alert(1)</script>",
    f"{OVERRIDE}gpj.exe{ESCAPE}red\x07",
    "&lt;b&gt; &amp; <b>",
    "<a href=javascript:alert(1)>x</a>",
    "<base href=//evil.example>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
]
_RUNS = (
    "<script>alert({0})</script>", "<img src=x onerror=alert({0})>", "<svg onload=alert({0})>", "javascript:alert({0})",
    "<a href='javascript:alert({0})'>go</a>", "<body onload=alert({0})>", "<input autofocus onfocus=alert({0})>",
    "<math href=javascript:alert({0})>x", "<style>@import'//evil.example/{0}'</style>", "${{alert({0})}}",
    "\u202e<b onclick=alert({0})>\u202c",
)  # fmt: skip
_AROUND = ("{}", '">{}', "'>{}", "</textarea>{}", "-->{}", "]]>{}", "\x1b]0;{}\x07", "\u2066{}\u2069")
HOSTILE += [
    around.format(runs.format(number)) for number, (around, runs) in enumerate(itertools.product(_AROUND, _RUNS))
]
"""a hundred of them"""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    config = archive.make(folder)
    notes = [
        {
            "id": f"h{number}",
            "text": f"Hostile {payload} payload",
            "from": payload,
            "subject": f"{payload} subject",
            "thread_id": "evil",
            "source_uri": ["javascript:alert(1)", "https://fine.example/x", "data:text/html,x"][number % 3],
            "timestamp": f"2024-{number // 28 + 3:02}-{number % 28 + 1:02}T08:00:00Z",
        }
        for number, payload in enumerate(HOSTILE)
    ]
    archive.write_notes(folder, *notes)
    archive.first_sync(config)
    return config


@pytest.fixture(scope="module")
def browser(config: Path) -> Iterator[TestClient]:
    with client(config) as opened:
        opened.headers |= COOKIE
        yield opened


def every_path(config: Path) -> list[tuple[str, str]]:
    """Method and path of each route; what a mount serves stands for itself."""
    with Service.open(config) as service:
        routes = create_app(service, Login(KEY), lambda: TOKEN, "127.0.0.1", PORT).routes
    found = []
    for route in routes:
        assert isinstance(route, Route | Mount)
        path = f"{route.path}/relrag.css" if isinstance(route, Mount) else re.sub(r"\{.*\}", "x", route.path)
        methods = (route.methods if isinstance(route, Route) else None) or {"GET", "POST"}
        found += [(method, path) for method in sorted(methods)]
    return found


def test_no_route_is_open_but_the_health_check(config: Path) -> None:
    """Without a login 401, under another name 403, from another site 403: whatever the route and the method."""
    paths = every_path(config)
    assert {"/", "/search", "/record", "/page.png", "/static/relrag.css", "/mcp", "/api/v1/ask"} <= {
        path for _, path in paths
    }
    with client(config) as stranger:
        for method, path in paths:
            statuses = {
                "stranger": stranger.request(method, path).status_code,
                "host": stranger.request(method, path, headers={**COOKIE, "host": "evil.example"}).status_code,
                "origin": stranger.request(
                    method, path, headers={**COOKIE, "origin": "http://evil.example"}
                ).status_code,
                "site": stranger.request(method, path, headers={**BEARER, "sec-fetch-site": "same-site"}).status_code,
            }
            open_to_all = path == "/health" and method in ("GET", "HEAD")
            expected = {"stranger": 200 if open_to_all else 401, "host": 403, "origin": 403, "site": 403}
            assert statuses == expected, (method, path)


def test_the_token_is_for_api_and_mcp_only(config: Path) -> None:
    with client(config) as program:
        for path in ("/", "/search", "/record?ref=jsonl:notes:n1", "/page.png", "/static/relrag.css", "/archive"):
            assert program.get(path, headers=BEARER).status_code == 401
        assert program.get("/api/v1/status", headers=BEARER).status_code == 200
        for wrong in ("Bearer", "Bearer x", f"Basic {TOKEN}", TOKEN, "Bearer é"):
            answer = program.get("/api/v1/status", headers=[(b"authorization", wrong.encode())])
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
            assert answer.headers["content-type"] == "application/problem+json"


def test_a_link_logs_in_once_and_leaves_no_token_behind(config: Path) -> None:
    with client(config) as stranger:
        token = ticket(KEY, "link", 60)
        entered = stranger.get(f"/login?token={token}")
        assert (entered.status_code, entered.headers["location"]) == (303, "/")
        assert "HttpOnly" in entered.headers["set-cookie"]
        assert "samesite=strict" in entered.headers["set-cookie"].lower()
        home = stranger.get("/")
        assert home.status_code == 200
        assert token not in home.text
        stranger.cookies.clear()
        assert stranger.get(f"/login?token={token}").status_code == 401


@pytest.mark.parametrize("path", ["/", "/search?q=x", "/static/ask.js", "/nothing", "/api/v1/status", "/record?ref=x"])
def test_no_answer_goes_without_these(browser: TestClient, path: str) -> None:
    headers = browser.get(path).headers
    policy = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert ("no-store" in headers.get("cache-control", "")) == (not path.startswith("/static/"))


class Page(HTMLParser):
    """What a browser would run, load or follow."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.links: list[str] = []
        self.handlers: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        given = {name: value or "" for name, value in attrs}
        self.handlers += [name for name in given if name.startswith("on") or name in ("style", "srcdoc", "formaction")]
        if tag == "script":
            self.scripts.append(given.get("src", "inline"))
        self.links += [given[name] for name in ("href", "src", "action") if name in given]


PATHS = [
    "/search?q=hostile payload",
    "/ask?q=hostile payload",
    "/thread?id=evil",
    "/archive",
    *(f"/record?ref=jsonl:notes:h{number}" for number in range(len(HOSTILE))),
    *(f"/search?q={payload}" for payload in ("<script>alert(1)</script>", '" autofocus onfocus=alert(1) x="')),
    "/ask?q=<script>alert(1)</script>",
    "/record?ref=<script>alert(1)</script>",
    "/thread?id=<script>alert(1)</script>",
    "/source?chunk=<script>alert(1)</script>",
    "/search?q=x&from=<script>&source=<script>",
    "/<script>",
]


@pytest.mark.parametrize("path", PATHS)
def test_hostile_texts_are_inert(browser: TestClient, path: str) -> None:
    answer = browser.get(path)
    page = Page(answer.text)
    assert all(script.startswith("/static/") for script in page.scripts)
    assert page.handlers == []
    assert not page.tags & {"iframe", "base", "svg", "object", "embed"}
    for link in page.links:
        assert urlsplit(link).scheme in ("", "https", "http")
        assert link.startswith(("/", "#", "https://fine.example/")) or link == "http://127.0.0.1:3000"
        assert not link.startswith("//")
    assert OVERRIDE not in answer.text
    assert "\x1b" not in answer.text
    assert "\x07" not in answer.text


def test_a_hundred_hostile_texts_were_shown() -> None:
    assert len(HOSTILE) == len(set(HOSTILE)) == 100


def test_what_a_hostile_text_says_is_still_read(browser: TestClient) -> None:
    page = browser.get("/record?ref=jsonl:notes:h0").text
    assert "Hostile &lt;script&gt;alert(1)&lt;/script&gt; payload" in page
    assert "{{ 7*7 }}" in browser.get("/record?ref=jsonl:notes:h4").text
    assert 'href="https://fine.example/x"' in browser.get("/record?ref=jsonl:notes:h1").text
    assert "javascript:alert(1)" in browser.get("/record?ref=jsonl:notes:h0").text  # said, and no link


def test_an_answer_cites_passages_that_open_with_the_quote_marked(browser: TestClient) -> None:
    page = browser.get("/ask?q=What does the tenant pay?").text
    assert "Strong match" in page
    (link,) = re.findall(r'<a class="cite" href="([^"]+)"', page)
    source = browser.get(link.replace("&amp;", "&") + "&part").text
    assert "<mark>The tenant pays nine hundred a month.</mark>\n\nThe orangery may not be heated." in source
    assert "<html" not in source
    assert "<html" in browser.get(link.replace("&amp;", "&")).text


def test_pages_say_what_is_not_known(browser: TestClient) -> None:
    assert (
        "The archive does not hold an answer to this"
        in browser.get("/ask?q=Who won the chess championship in Lima?").text
    )
    missing = browser.get("/record?ref=jsonl:none")
    assert missing.status_code == 404
    assert "has nothing named" in missing.text
    assert browser.get("/source?chunk=none").status_code == 404


def test_the_archive_page_counts_and_names_failures_gaps_and_what_was_measured(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    (tmp_path / "papers" / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    archive.write_notes(tmp_path, {"id": "n3", "text": "The plumber came.", "timestamp": "2024-06-20T08:00:00Z"})
    home = archive.first_sync(config).home
    for number, share in ((1, 0.25), (2, 0.875)):
        figures = {"recall@5": share, "questions": 40}
        evaluation_history.keep(home, Evaluation(number, "2024-07-01T08:00:00+00:00", "", "q", figures))
    with client(config) as browser:
        page = browser.get("/archive", headers=COOKIE).text
        (notes,) = (one for one in browser.get("/api/v1/status", headers=BEARER).json()["sources"] if one["gaps"])
    assert "<dt>Records</dt><dd>9</dd>" in page
    assert "broken.pdf" in page
    assert "1 damaged" in page
    assert (notes["name"], notes["gaps"]) == ("notes", ["2024-03 to 2024-05"])
    assert '<span class="day">2024-03 to 2024-05</span>' in page
    assert re.findall(r'value="([.0-9]+)"></meter></td><td class="n">(\d+%)', page) == [
        ("0.25", "25%"),
        ("0.875", "88%"),
    ]
    assert "recall@5 of 40 questions" in page
    assert 'href="http://127.0.0.1:3000"' in page


def test_what_is_no_page_says_so_in_words(browser: TestClient) -> None:
    answer = browser.get("/nothing/of/that")
    assert answer.status_code == 404
    assert "There is no such page" in answer.text
    assert "<nav" in answer.text


def test_before_anything_is_published_every_page_says_so(tmp_path: Path) -> None:
    with client(archive.make(tmp_path)) as browser:
        for path in ("/search?q=x", "/ask?q=x", "/record?ref=x", "/thread?id=x"):
            answer = browser.get(path, headers=COOKIE)
            assert answer.status_code == 503
            assert "relrag sync" in answer.text
        assert "Nothing is published yet" in browser.get("/archive", headers=COOKIE).text


def test_what_is_forgotten_is_gone_from_pages_and_api(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    archive.write_notes(tmp_path, {"id": "gone", "text": "The zeppelin is in the barn.", "ts": "1709280000"})
    archive.first_sync(config)
    paths = ("/search?q=zeppelin", "/ask?q=Where is the zeppelin?", "/record?ref=jsonl:notes:gone")
    with client(config) as browser:
        browser.headers |= COOKIE
        assert all("in the barn" in browser.get(path).text for path in paths)
        archive.write_notes(tmp_path)
        archive.sync(config)
        assert not any("in the barn" in browser.get(path).text for path in paths)
        assert browser.get("/api/v1/show?ref=jsonl:notes:gone").status_code == 404
        assert browser.get(f"{OURS}/ask/stream?q=Where is the zeppelin?").text.count("in the barn") == 0


def test_links_of_older_answers_open_after_a_publish(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    archive.write_notes(tmp_path, {"id": "gone", "text": "The zeppelin is in the barn.", "ts": "1709280000"})
    archive.first_sync(config)
    chat = tmp_path / "chats" / "WhatsApp Chat with Hiking.txt"
    with client(config) as browser:
        browser.headers |= COOKIE
        answers = {
            question: browser.post("/api/v1/ask", json={"question": question})
            for question in ("Who has the key of the cabin?", "What did the plumber quote?", "Where is the zeppelin?")
        }
        sources = {question: answer.json()["sources"][0] for question, answer in answers.items()}
        pages = {question: browser.get("/ask", params={"q": question}).text for question in answers}
        links = {
            question: unescape(re.findall(r'class="cite" href="([^"]+)"', page)[0]) for question, page in pages.items()
        }
        key, plumber, zeppelin = links.values()
        window = sources["Who has the key of the cabin?"]["asset_id"]
        assert "key of the cabin" in browser.get(key).text
        # the window of the chat goes on, and a record is deleted
        chat.write_text(
            archive.CHAT.replace("052-123-4567\n", "052-123-4567\n13/01/2024, 10:17 - Dana Levi: Thanks!\n")
        )
        archive.write_notes(tmp_path)
        archive.sync(config)
        newer = browser.post("/api/v1/ask", json={"question": "Who has the key of the cabin?"}).json()
        assert newer["sources"][0]["asset_id"] != window
        for link in (key, f"{key}&part", f"/record?ref={window}"):
            opened = browser.get(link)
            assert opened.status_code == 200
            assert "key of the cabin" in opened.text
            assert "Thanks!" in opened.text
        shown = browser.get("/api/v1/show", params={"ref": window}).json()
        assert "Thanks!" in shown["passages"][0]["text"]
        assert browser.get(plumber).status_code == 200
        deleted = browser.get(zeppelin)
        assert deleted.status_code == 404
        assert "was deleted or forgotten since" in deleted.text
        assert "zeppelin is in the barn" not in deleted.text


def test_a_wrong_date_keeps_the_form_and_what_was_typed(config: Path) -> None:
    with client(config) as browser:
        browser.headers |= COOKIE
        for path in ("/search", "/ask"):
            page = browser.get(f"{path}?q=the+boiler&from=2024-13&to=2024-14&source=notes&person=Ota")
            assert page.status_code == 400
            assert 'value="the boiler"' in page.text
            assert 'value="2024-13"' in page.text
            assert 'value="Ota"' in page.text
            assert re.search(r'value="notes" checked', page.text)
            assert "is not a date; write 2024, 2024-03 or 2024-03-15" in page.text
        unknown = browser.get("/search?q=boiler&person=Nobody+Atall")
        assert unknown.status_code == 404
        assert 'value="Nobody Atall"' in unknown.text


def test_a_person_opens_in_the_panel_without_the_frame_of_a_page(config: Path) -> None:
    with client(config) as browser:
        browser.headers |= COOKIE
        whole, part = (browser.get(f"/person?name=Ota{more}").text for more in ("", "&part"))
        assert "<header" in whole
        assert "<article" in part
        assert "<header" not in part
        assert "<html" not in part
        assert part.strip() in whole


def test_counts_and_dates_of_a_person_agree(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    called = {"text": "Dana Levi called.", "timestamp": "2024-03-05", "from": "Dana Levi"}
    days = [{"id": f"d{place}", **called} for place in range(2)]
    named = [{"id": "m", "text": "Ask Dana Levi about it.", "timestamp": "2024-05-01T08:00:00Z", "from": "Ota"}]
    new_year = [{"id": "y", "text": "Happy new year", "timestamp": "2023-12-31T23:30:00Z", "from": "Dana Levi"}]
    archive.write_notes(tmp_path, *days, *named, *new_year)
    archive.first_sync(config)
    with client(config) as browser:
        browser.headers |= COOKIE
        listed = browser.get("/api/v1/people").json()["people"]
        people = [browser.get("/api/v1/person", params={"name": one["person_id"]}).json() for one in listed]
        for brief, one in zip(listed, people, strict=True):
            counts = {brief["records"], one["records"], sum(channel["records"] for channel in one["channels"])}
            assert counts == {sum(year["records"] for year in one["years"])}
        (person,) = (one for one in people if one["last_contact"] == "2024-03-05")
        assert person["records"] == 3
        # half past midnight on 1 January in Prague
        assert person["years"] == [{"year": 2024, "records": 3}]
        assert [one["time"] for one in person["latest"]] == ["2024-03-05", "2024-03-05", "2024-01-01T00:30:00+01:00"]
        page = browser.get("/person", params={"name": person["person_id"]}).text
        assert "1 January 2024 to 5 March 2024" in page
        assert "<span>3 records" in page
        assert person["mentions"] in (0, 1)  # of two who bear the name, a text may mean either


def test_the_token_is_that_of_its_file_now(config: Path) -> None:
    settings = settings_module.load(config)
    held = stored_token(settings)
    with Service.open(config) as service:
        app = create_app(service, Login(KEY), held, "127.0.0.1", PORT)
        with TestClient(app, OURS) as opened:

            def status(token: str) -> int:
                return opened.get("/api/v1/status", headers={"authorization": f"Bearer {token}"}).status_code

            former = held()
            assert status(former) == 200
            newer = load_token(settings, new=True)
            assert (status(former), status(newer)) == (401, 200)
            token_path(settings).unlink()
            assert (status(newer), status("")) == (401, 401)


def test_an_address_that_is_none_is_no_link() -> None:
    assert [web_address(one) for one in ("http://[foo/", "https://x.example/a", "javascript:x", None)] == [
        "", "https://x.example/a", "", "",
    ]  # fmt: skip


def test_an_answer_about_a_person_leads_to_the_page_about_him(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = archive.make(tmp_path)
    monkeypatch.chdir(tmp_path)
    archive.first_sync(config)
    statements.add_fact("Dana Levi", "birthday", "1984-05-03", config=config)
    with client(config) as browser:
        browser.headers |= COOKIE
        page = browser.get("/ask?q=When was Dana Levi born?").text
        (link, *_) = re.findall(r'<a class="cite" href="([^"]+)"', page)
        assert link.startswith("/person?name=")
        person = browser.get(link)
        assert person.status_code == 200
        assert "1984-05-03" in person.text
        number = link.removeprefix("/person?name=")
        assert browser.get(f"/record?ref=person:{number}").headers["location"].endswith(link)
        shown = browser.get("/api/v1/show", params={"ref": f"person:{number}"}).json()
        assert (shown["person"]["name"], shown["record"]) == ("Dana Levi", None)
    assert show_command(f"person:{number}", config) == 0
    assert "birthday: 1984-05-03" in capsys.readouterr().out


def test_a_person_has_a_page_that_leads_to_records_and_other_people(browser: TestClient) -> None:
    people = browser.get("/people").text
    assert ">Dana Levi</a>" in people
    assert ">Petr Kolar</a>" in people
    person = browser.get("/person?name=Dana Levi")
    assert person.status_code == 200
    assert "3 messages" in person.text
    assert "The boiler of the cabin is broken again" in person.text
    assert "052-123-4567" not in person.text
    years = re.findall(r'scope="row">(\d+)</th>.*?value="(\d+)"', person.text)
    assert years == [("2023", "1"), ("2024", "2")]
    nobody = browser.get("/person?name=<script>")
    assert nobody.status_code == 404
    assert all(script.startswith("/static/owner.js?") for script in Page(nobody.text).scripts)
    told = browser.get("/api/v1/person", params={"name": "Dana Levi"}).json()
    assert (told["name"], told["channels"][0]["records"]) == ("Dana Levi", 3)
    assert told["latest"][0]["preview"] == "The boiler of the cabin is broken again"
    listed = browser.get("/api/v1/people?limit=100").json()["people"]
    assert {one["name"]: one["records"] for one in listed}["Dana Levi"] == 3
    assert [one["records"] for one in listed] == sorted((one["records"] for one in listed), reverse=True)
    assert browser.get("/api/v1/people?limit=1").json()["people"] == listed[:1]
