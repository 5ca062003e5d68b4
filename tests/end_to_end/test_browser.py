"""The pages in headless Chromium: what is typed, clicked and pointed at, and hostile texts that run nothing.

Skipped where there is no Chromium (CHROMIUM, else the first on PATH) or no playwright.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from docs.screenshot import FLAGS, SOFTWARE_GL, chromium
from relrag_pipelines.ui.login import Login, ticket
from relrag_query.service import Service
from relrag_query.web.app import create_app
from tests import archive
from tests.cases import cases
from tests.sources.document.test_page_picture import pdf
from tests.web.test_app import HOSTILE
from tests.web_app import KEY, TOKEN

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright, the extra `browser`")
CHROMIUM = chromium()
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; install it, or name it in CHROMIUM")
PAGE = ["The tenant pays nine hundred a month.", "Call Dana on 052-123-4567 about keys.", "The orangery is cold."]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server over an archive with a PDF, hostile texts and related records."""
    folder = tmp_path_factory.mktemp("browser")
    config = archive.make(folder, '[graphrag]\nmethod = "fast"')
    (folder / "papers" / "lease 2024-01-05.md").unlink()
    (folder / "papers" / "lease 2024-01-05.pdf").write_bytes(pdf(PAGE))
    hostile = [
        {"id": f"h{number}", "text": f"Hostile {text} INV-77001", "subject": text, "from": text, "thread_id": "evil"}
        for number, text in enumerate(HOSTILE)
    ]
    archive.write_notes(folder, *hostile)
    archive.first_sync(config)
    server = uvicorn.Server(uvicorn.Config("", host="127.0.0.1", port=0, log_level="critical"))
    listening = server.config.bind_socket()
    port = listening.getsockname()[1]
    with Service.open(config) as service:
        server.config.app = create_app(service, Login(KEY), lambda: TOKEN, "127.0.0.1", port)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{port}"
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[sync_api.Browser]:
    with sync_api.sync_playwright() as playwright:
        flags = [flag for flag in FLAGS if flag != "--disable-gpu"]
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=[*flags, *SOFTWARE_GL])
        yield opened
        opened.close()


@pytest.fixture
def page(browser: sync_api.Browser, site: str) -> Iterator[sync_api.Page]:
    """A page that is logged in. What it says on its console, and dialogs, fail the test; so does any other address."""
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    opened = context.new_page()
    wrong: list[str] = []
    opened.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
    opened.on("request", lambda sent: None if sent.url.startswith((site, "data:")) else wrong.append(sent.url))
    opened.goto(f"{site}/login?token={ticket(KEY, 'link', 60)}")
    assert opened.url == f"{site}/"
    yield opened
    context.close()
    assert [one for one in wrong if "GPU stall" not in one and "GL Driver" not in one] == []


def test_a_question_is_answered_and_its_source_opens_beside_it(page: sync_api.Page, site: str) -> None:
    page.fill("input[name=q]", "What does the tenant pay?")
    page.keyboard.press("Enter")
    page.wait_for_selector("blockquote")
    assert "nine hundred" in page.inner_text("blockquote >> nth=0")
    assert page.inner_text(".verdict") == "Strong match"
    assert page.url.startswith(f"{site}/ask?q=What+does+the+tenant+pay")
    page.click("a.cite >> nth=0")
    page.wait_for_selector("#source mark")
    assert "nine hundred" in page.inner_text("#source mark >> nth=0")
    answer, source = (page.locator(one).bounding_box() for one in ("#answer", "#source"))
    assert answer
    assert source
    assert source["x"] > answer["x"] + answer["width"] - 1, "beside, not below"
    picture = page.locator("#source img")
    picture.scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('#source img')?.naturalWidth === 1240")
    page.keyboard.press("Escape")
    assert page.locator("#source").is_hidden()
    assert page.evaluate("document.activeElement.className") == "cite"


def test_a_citation_of_a_person_opens_beside_the_answer(page: sync_api.Page) -> None:
    page.fill("input[name=q]", "Who is Dana Levi?")
    page.keyboard.press("Enter")
    page.wait_for_selector("a.cite")
    page.click("a.cite >> nth=0")
    page.wait_for_selector("#source article")
    assert page.inner_text("#source h1, #source h2 >> nth=0")
    assert page.locator("header.bar").count() == 1, "not the whole site within itself"


def test_a_click_in_the_graph_says_what_it_added(page: sync_api.Page, site: str) -> None:
    page.goto(f"{site}/graph?each=1")
    page.wait_for_function("() => document.getElementById('graph').dataset.drawn")
    before = page.evaluate("drawn.graph.order")
    node = page.evaluate(
        """() => {
          const { graph, renderer } = drawn
          const id = graph.filterNodes((_, node) => node.kind === 'person').sort()[0]
          const { x, y } = renderer.graphToViewport(graph.getNodeAttributes(id))
          const { left, top } = document.getElementById('graph').getBoundingClientRect()
          return [id, left + x, top + y]
        }"""
    )
    page.mouse.move(node[1], node[2])
    page.mouse.click(node[1], node[2])
    page.wait_for_function(f"() => drawn.graph.order > {before}")
    added = page.evaluate("drawn.graph.order") - before
    page.wait_for_function("() => document.getElementById('tooltip').textContent.includes('added')")
    page.mouse.move(1, 1)
    assert f"{added} added: " in page.inner_text("#tooltip")


def test_all_of_it_is_reached_by_keyboard(page: sync_api.Page) -> None:
    page.fill("input[name=q]", "What does the tenant pay?")
    page.keyboard.press("Enter")
    page.wait_for_selector("a.cite")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == "cite":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("#source article")
    assert page.evaluate("document.activeElement.id") == "source"


def test_a_link_from_another_page_works_without_scripts(browser: sync_api.Browser, site: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}/login?token={ticket(KEY, 'link', 60)}")
    page.fill("input[name=q]", "What does the tenant pay?")
    page.click("button >> text=Ask")
    page.click("a.cite >> nth=0")
    assert "nine hundred" in page.inner_text("mark >> nth=0")
    context.close()


@pytest.mark.parametrize(*cases(__file__, "hostile_texts_run_nothing"))
def test_hostile_texts_run_nothing(page: sync_api.Page, site: str, path: str) -> None:
    page.goto(f"{site}{path}")
    if path == "/graph":
        page.wait_for_selector("#graph[data-drawn]")
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    for link in page.query_selector_all("[data-beside]")[:6]:
        link.click()
        page.wait_for_selector("#source article")
        page.keyboard.press("Escape")
    assert page.evaluate("document.querySelectorAll('script:not([src])').length") == 0
    assert "onerror" not in page.evaluate(
        "[...document.querySelectorAll('*')].flatMap(one => one.getAttributeNames()).join()"
    )
    assert page.title().endswith("· relrag")


@pytest.mark.requirement("S0-99")
@pytest.mark.requirement("S0-100")
def test_the_graph_is_drawn_expands_and_has_a_table(page: sync_api.Page, site: str) -> None:
    page.goto(f"{site}/graph")
    page.wait_for_selector("#graph[data-drawn]")
    nodes = page.evaluate("drawn.graph.order")
    assert nodes > 2
    rows = page.locator(".same tbody tr")
    assert rows.count() == page.evaluate("drawn.graph.size")
    places = page.evaluate("drawn.graph.mapNodes((id, node) => [id, node.x, node.y])")
    page.reload()
    page.wait_for_selector("#graph[data-drawn]")
    assert page.evaluate("drawn.graph.mapNodes((id, node) => [id, node.x, node.y])") == places
    where = """() => { const {graph, renderer} = drawn, id = graph.nodes()[0]
      const {x, y} = renderer.graphToViewport(graph.getNodeAttributes(id))
      const box = document.getElementById('graph').getBoundingClientRect()
      return [x + box.left, y + box.top, graph.getNodeAttribute(id, 'label')] }"""
    x, y, label = page.evaluate(where)
    page.mouse.move(x, y)
    page.wait_for_selector("#tooltip:not([hidden])")
    assert label[:10].split()[0] in page.inner_text("#tooltip")
    page.mouse.wheel(0, -300)
    page.wait_for_function("() => drawn.renderer.getCamera().ratio < 1")
    page.wait_for_timeout(400)
    x, y, _ = page.evaluate(where)
    with page.expect_response(lambda answer: "/graph/around" in answer.url):
        page.mouse.click(x, y)


FACTS = ["birthday: 1986-05-02", "lives in: Haifa"]
DRAWN: dict[str, list[dict[str, Any]]] = {
    "nodes": [
        *({"id": f"person:{number}", "type": "person", "label": f"Sara {number}", "x": number, "y": 0.0,
           "facts_count": 9 - 9 * (number > 0), "aliases_count": 2, **({} if number else {"facts": FACTS})}
          for number in range(21)),
        *({"id": kind, "type": kind, "label": kind, "x": place, "y": 3.0, "timestamp": "2024-02-15T09:00:00Z",
           "preview": "Of the cabin"}
          for place, kind in enumerate(("whatsapp_msg", "document", "call_recording", "gmail"))),
    ],
    "edges": [
        *({"source": "person:0", "target": f"person:{number}", "type": f"type_{number}"} for number in range(1, 21)),
        *({"source": "person:0", "target": "gmail", "type": kind} for kind in ("sender", "recipient", "mentioned")),
        {"source": "document", "target": "gmail", "type": "attachment_of"},
    ],
}  # fmt: skip


@pytest.mark.requirement("S0-99")
def test_each_type_has_its_colour_and_a_person_her_facts(page: sync_api.Page, site: str) -> None:
    page.route("**/api/v1/graph?*", lambda route: route.fulfill(json={"generation": 1, "omitted": {}, **DRAWN}))
    page.goto(f"{site}/graph")
    page.wait_for_selector("#graph[data-drawn]")
    nodes = page.evaluate(
        "Object.fromEntries(drawn.graph.mapNodes((id, node) => [node.kind, [node.type, node.color]]))"
    )
    assert nodes == {
        "person": ["circle", "#2b6cb0"], "whatsapp_msg": ["square", "#3d8b53"], "document": ["square", "#c47a20"],
        "call_recording": ["square", "#7656a5"], "gmail": ["square", "#b8433f"],
    }  # fmt: skip
    colours = page.evaluate("Object.fromEntries(drawn.graph.mapEdges((id, edge) => [edge.kind, edge.color]))")
    assert len(colours) == len(set(colours.values())) == 24
    legend = page.evaluate(
        """() => [...document.querySelectorAll('#edges > span')]
          .map(one => [one.textContent, one.firstChild.style.backgroundColor])"""
    )
    channels = {kind: [int(colour[at : at + 2], 16) for at in (1, 3, 5)] for kind, colour in colours.items()}
    assert dict(legend) == {kind.replace("_", " "): f"rgb({r}, {g}, {b})" for kind, (r, g, b) in channels.items()}
    assert page.locator("#edges").is_visible()
    said = "Object.fromEntries(drawn.graph.mapNodes((id, node) => [id, node.said]))"
    told = page.evaluate(said)
    assert told["person:0"] == "Sara 0: birthday: 1986-05-02 · lives in: Haifa · 7 more facts · 2 names"
    assert told["person:1"] == "Sara 1: no facts · 2 names"
    assert told["gmail"] == "2024-02-15 · gmail · Of the cabin"
    x, y = page.evaluate(
        """() => { document.getElementById('graph').scrollIntoView()
          const { x, y } = drawn.renderer.graphToViewport(drawn.graph.getNodeAttributes('person:0'))
          const box = document.getElementById('graph').getBoundingClientRect()
          return [x + box.left, y + box.top] }"""
    )
    page.mouse.move(x, y)
    page.wait_for_selector("#tooltip:not([hidden])")
    assert page.inner_text("#tooltip") == told["person:0"]


@pytest.mark.requirement("S0-99", "S0-100")
def test_the_cards_are_a_view_that_can_be_chosen(page: sync_api.Page, site: str) -> None:
    page.goto(f"{site}/graph?persons=50")
    page.wait_for_selector("#graph[data-drawn]")
    page.click(".views >> text=Cards")
    assert "persons=50" in page.url
    assert page.locator(".cards > li", has_text="Dana Levi").first.is_visible()
    assert page.locator("#graph").count() == 0
    assert page.inner_text(".views [aria-current=page]") == "Cards"
    page.click(".views >> text=Graph")
    page.wait_for_selector("#graph[data-drawn]")
    assert page.locator("#cards").is_hidden()


@pytest.mark.requirement("S0-100")
def test_without_webgl_people_are_shown_as_cards(browser: sync_api.Browser, site: str) -> None:
    context = browser.new_context()
    context.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    page = context.new_page()
    page.goto(f"{site}/login?token={ticket(KEY, 'link', 60)}")
    page.goto(f"{site}/graph")
    page.wait_for_selector("#why:not([hidden])")
    assert "no WebGL" in page.inner_text("#why")
    assert page.locator("#graph").is_hidden()
    card = page.locator(".cards > li", has_text="Dana Levi").first
    assert card.is_visible()
    card.locator("h2 a").click()
    assert page.url.startswith(f"{site}/person?name=")
    context.close()


def test_the_largest_nodes_are_named(page: sync_api.Page, site: str) -> None:
    page.goto(f"{site}/graph")
    page.wait_for_selector("#graph[data-drawn]")
    people = page.evaluate(
        """() => drawn.graph.filterNodes((id, node) => node.kind === 'person')
          .sort((a, b) => drawn.graph.degree(b) - drawn.graph.degree(a)).slice(0, 3)
          .map(id => drawn.renderer.getNodeDisplayedLabels().has(id))"""
    )
    assert people == [True] * len(people) != []
    assert page.locator("#cards").is_hidden()


def test_a_question_is_asked_on(page: sync_api.Page, site: str) -> None:
    page.goto(f"{site}/ask?q=What does the tenant pay?")
    page.fill("form.follow input[name=q]", "and what is cold?")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Going on from: What does the tenant pay?")
    assert "after=What+does+the+tenant+pay" in page.url
    assert page.input_value("#ask input[name=q]") == "and what is cold?"


def test_an_original_is_revealed_and_gone_when_the_page_is_left(page: sync_api.Page, site: str) -> None:
    page.goto(f"{site}/search?q=Dana keys&source=papers")
    page.click("[data-beside] >> nth=0")
    page.click("#source .links a >> nth=0")
    page.wait_for_selector("article.record")
    assert "052-123-4567" not in page.content()
    page.click(".reveal summary")
    page.fill("#why", "to ring her")
    page.click(".reveal button")
    page.wait_for_selector(".original")
    assert "052-123-4567" in page.inner_text("#original")
    page.goto(f"{site}/")
    page.go_back()
    assert "052-123-4567" not in page.content()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_phone_and_have_contrast(browser: sync_api.Browser, site: str, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{site}/login?token={ticket(KEY, 'link', 60)}")
    luminance = """style => { const [r, g, b] = getComputedStyle(document.documentElement)[style].match(/[\\d.]+/g)
      .map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
      return .2126 * r + .7152 * g + .0722 * b }"""
    for path in ("/", "/ask?q=What does the tenant pay?", "/search?q=hostile", "/thread?id=evil", "/archive", "/graph"):
        page.goto(f"{site}{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
        light, dark = sorted((page.evaluate(luminance, one) for one in ("color", "backgroundColor")), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 7
    context.close()


def test_a_page_of_an_original_is_redacted_and_the_token_gets_none(page: sync_api.Page, site: str) -> None:
    page.goto(f"{site}/search?q=Dana keys&source=papers")
    page.click("[data-beside] >> nth=0")
    page.wait_for_selector("#source img")
    address = page.get_attribute("#source img", "src")
    answer = page.request.get(f"{site}{address}")
    assert answer.headers["x-covered"] == "1"
    stranger = page.context.browser.new_context(extra_http_headers={"authorization": f"Bearer {TOKEN}"})  # type: ignore[union-attr]
    assert stranger.request.get(f"{site}{address}").status == 401
    stranger.close()


def test_nothing_is_asked_of_another_machine() -> None:
    """No file of ours names one."""
    web = Path(__file__).parents[2] / "relrag_query" / "web"
    for path in [*web.rglob("*.html"), *web.rglob("*.css"), *web.glob("static/*.js")]:
        assert "//" not in path.read_text(encoding="utf-8").replace("// ", "").replace("://www.w3.org", ""), path
