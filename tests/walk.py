"""Every kind of page opened in headless Chromium, and all that goes wrong there.

`python -m tests.walk CONFIG [FOLDER [QUESTION]]` serves an archive and opens its pages wide and in light, and as wide
as a phone and in dark; with a folder all four, and a picture of each goes there, to be looked at. It prints what a page
says on its console, answers that are errors, requests to another address and pages wider than their window, and ends
with 1 where there is any.
"""

from __future__ import annotations

import subprocess
import sys
import urllib.parse
from pathlib import Path

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, Response, sync_playwright

from docs.screenshot import FLAGS, SOFTWARE_GL, chromium, free_port, login

LOOKS = {"light": ("light", 1280), "dark": ("dark", 1280), "phone": ("light", 360), "phone-dark": ("dark", 360)}
"""name -> colours, and width in pixels"""
QUESTION = "Who has the key of the cabin?"
LINKED = ("source", "record", "thread", "person")
"""pages that are found by the links of others"""
OF_ITS_OWN = ("update.googleapis.com", "content-autofill.googleapis.com")
"""what Chromium looks up by itself, whatever the page"""
_HARMLESS = ("GPU stall", "GL Driver")
"""what drawing without a graphics card says"""


class Walk:
    """The pages of one server, opened in one look after another."""

    def __init__(self, address: str, question: str, pictures: Path | None) -> None:
        self._address, self._pictures = address, pictures
        asked = urllib.parse.quote_plus(question)
        self.paths = {
            "ask": "/",
            "answer": f"/ask?q={asked}",
            "search": f"/search?q={asked}",
            "people": "/people",
            "graph": "/graph",
            "graphrag": "/graphrag",
            "graphrag-answer": f"/graphrag?q={asked}",
            "archive": "/archive",
        }
        """name -> path of each kind of page; `find_linked` adds the rest"""
        self.wrong: list[str] = []

    def page_of(self, context: BrowserContext, link: str) -> Page:
        """A page that is logged in and whose faults are noted."""
        page = context.new_page()
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.wrong.append(f"{page.url}: {error}"))
        page.on("request", self._request)
        page.on("response", self._response)
        page.goto(link)
        return page

    def find_linked(self, page: Page) -> None:
        """Finds a page of each kind that others lead to."""
        found = [*self._links(page, self.paths["search"]), *self._links(page, self.paths["people"])]
        for source in [one for one in found if one.startswith("/source?")]:
            found += self._links(page, source)
        for kind in LINKED:
            if links := [one for one in found if one.startswith(f"/{kind}?")]:
                self.paths[kind] = links[0]
            else:
                self.wrong.append(f"nothing leads to a {kind}")

    def _links(self, page: Page, path: str) -> list[str]:
        page.goto(f"{self._address}{path}")
        links: list[str] = page.eval_on_selector_all("a[href]", "all => all.map(one => one.getAttribute('href'))")
        return links

    def open_all(self, page: Page, look: str) -> int:
        """Opens every page; returns how many."""
        for name, path in self.paths.items():
            page.goto(f"{self._address}{path}", wait_until="networkidle")
            if name == "graph":
                page.wait_for_selector("#graph[data-drawn]")
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            page.wait_for_load_state("networkidle")
            if page.evaluate("document.documentElement.scrollWidth") > LOOKS[look][1]:
                self.wrong.append(f"{look}: {path} is wider than its window")
            if self._pictures:
                page.screenshot(path=str(self._pictures / f"{name}-{look}.png"), full_page=True)
        return len(self.paths)

    def _console(self, said: ConsoleMessage) -> None:
        if said.type in ("error", "warning") and not any(one in said.text for one in _HARMLESS):
            self.wrong.append(f"console: {said.text}")

    def _request(self, sent: Request) -> None:
        if not sent.url.startswith((self._address, "data:")):
            self.wrong.append(f"asked of another: {sent.url}")

    def _response(self, answer: Response) -> None:
        if answer.status >= 400:
            self.wrong.append(f"{answer.status}: {answer.url}")


def main() -> None:
    """Serves and walks."""
    config, *further = sys.argv[1:]
    pictures = Path(further[0]) if further else None
    port = free_port()
    serve = [str(Path(sys.executable).with_name("relrag")), "serve", "--port", str(port), "--config", config]
    walk = Walk(f"http://127.0.0.1:{port}", further[1] if len(further) > 1 else QUESTION, pictures)
    server = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        login(serve)
        with sync_playwright() as playwright:
            flags = [flag for flag in FLAGS if flag != "--disable-gpu"]
            flags.append(f"--host-resolver-rules={', '.join(f'MAP {one} ~NOTFOUND' for one in OF_ITS_OWN)}")
            browser = playwright.chromium.launch(executable_path=chromium(), args=[*flags, *SOFTWARE_GL])
            for look in LOOKS if pictures else ("light", "phone-dark"):
                scheme, width = LOOKS[look]
                colours = "dark" if scheme == "dark" else "light"
                context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=colours)
                page = walk.page_of(context, login(serve))
                if look == "light":
                    walk.find_linked(page)
                print(f"{look}: {walk.open_all(page, look)} pages, {' '.join(walk.paths)}")
                context.close()
            browser.close()
    finally:
        server.terminate()
        server.wait()
    print(*walk.wrong, sep="\n")
    sys.exit(bool(walk.wrong))


if __name__ == "__main__":
    main()
