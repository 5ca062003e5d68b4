"""Goes in a real Chromium from an empty home to the first answer, through the pages alone (`make proofs-page`).

`relrag open` makes a new archive and serves it; then everything is clicked: the demo's folder is added, a file is
uploaded over a connection that is cut, a sync is watched, cancelled and started again, a question asked, a citation
opened, a call played with its transcript, a source listed without words, two people merged and that undone, a failure
read again, a record forgotten. Skipped where there is no Chromium.
With a folder as argument, pictures of the pages are stored in it, at 1280 and 390 pixels, light and dark.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, Route, sync_playwright

from docs.screenshot import FLAGS, chromium, free_port, login
from relrag_pipelines.stores import dagster_runs, progress_file
from tests import ROOT
from tests.owner.test_calls import record_sound
from tests.sources.document.test_page_picture import pdf

QUESTION = "What did Alex tell me about the invoice?"
LETTER = "The harbour master counted fourteen herons at the quay."
PAGE_OF_LEASE = "The lease of the boathouse ends in October."
CALL, SPOKEN = "Call_recording_Vera_Mala_250110_090000", "The lighthouse lamp is out."
SECONDS = 60
"""of the call, with a caption in each: more than its list shows at once"""
CAPTIONS = "WEBVTT\n\n" + "\n".join(
    f"00:{second:02}.000 --> 00:{second:02}.900\n<v Vera>{SPOKEN if not second else f'Bring ladder {second}.'}\n"
    for second in range(SECONDS)
)
IS_IN_VIEW = """() => {
  const list = document.querySelector('[data-transcript]').getBoundingClientRect()
  const row = document.querySelector('a[aria-current=true]').getBoundingClientRect()
  return row.top >= list.top && row.bottom <= list.bottom
}"""
LONGEST_LAG = 1.0
"""seconds that the page may be behind the process that syncs"""
FIRST_ANSWER = 300.0
"""seconds"""
WATCH_STEPS = """() => {
  window.seen = JSON.parse(sessionStorage.seen ?? '{}')
  const look = () => {
    for (const row of document.querySelectorAll('.steps th[scope=row]')) {
      window.seen[row.textContent] ??= Date.now() / 1000
    }
    sessionStorage.seen = JSON.stringify(window.seen)
  }
  new MutationObserver(look).observe(document.body, {childList: true, subtree: true})
}"""


def axe_script() -> Path | None:
    """The script of axe-core, if axe-playwright-python is installed (extra `axe`)."""
    found = importlib.util.find_spec("axe_playwright_python")
    return Path(found.origin).with_name("axe.min.js") if found and found.origin else None


AXE = axe_script()
NO_AXE = "" if AXE else " (without axe-core, which is not installed)"
IS_WIDER = "document.documentElement.scrollWidth > innerWidth"


class Visit:
    """A browser at the pages of a new archive, and what was checked on the way."""

    def __init__(self, context: BrowserContext, address: str, home: Path, pictures: Path | None) -> None:
        self.context, self.address, self.home, self._pictures = context, address, home, pictures
        self.page: Page = context.new_page()
        self.wrong: list[str] = []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", lambda line: self.wrong.append(line.text) if line.type == "error" else None)

    def goto(self, path: str) -> None:
        """Opens a page."""
        self.page.goto(f"{self.address}{path}")

    def look(self, name: str) -> None:
        """Looks at the page in both sizes and schemes: stores pictures if there is a folder, and runs axe-core."""
        findings = []
        for scheme, width in itertools.product(("dark", "light"), (390, 1280)):
            self.page.emulate_media(color_scheme=scheme)
            self.page.set_viewport_size({"width": width, "height": 860})
            findings += self._findings(f"{scheme}, {width}")
            if self._pictures:
                self.page.screenshot(path=self._pictures / f"{name}-{width}-{scheme}.png", full_page=True)
        self.check(f"{name}: nothing wrong for anyone, light and dark{NO_AXE}", findings == [])

    def _findings(self, how: str) -> list[str]:
        """What axe-core finds, and whether the page is wider than the window."""
        found = [f"{how}: wider than the window"] if self.page.evaluate(IS_WIDER) else []
        if AXE:
            self.page.evaluate(AXE.read_text(encoding="utf-8"))
            violations = self.page.evaluate("axe.run()")["violations"]
            found += [f"{how}: {violation['id']} {violation['nodes'][0]['html'][:100]}" for violation in violations]
        for line in found:
            print(f"     {line}")
        return found

    def check(self, what: str, is_so: object) -> None:
        """Prints what was seen; ends the proof where it was not."""
        print(f"{'yes' if is_so else 'NO '}  {what}", flush=True)
        if not is_so:
            print(self.page.inner_text("main"))
            sys.exit(1)


def main(pictures: Path | None = None) -> None:
    """Runs the proof in a temporary folder and prints what was seen."""
    path = chromium()
    if not path:
        print("skipped: no Chromium found; install it, or name it in CHROMIUM")
        return
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name).resolve(), free_port()
        prepare(folder)
        os.environ |= {"HOME": name, "RELRAG_EMBEDDER": "none", "RELRAG_NOW": "2025-01-20T12:00:00+00:00"}
        for variable in ("RELRAG_CONFIG", "RELRAG_HOME"):
            os.environ.pop(variable, None)
        relrag = str(Path(sys.executable).with_name("relrag"))
        options = ["--port", str(port)]
        server = subprocess.Popen([relrag, "open", "memory", "--no-browser", *options], cwd=folder)
        try:
            link = login([relrag, "serve", *options, "--config", str(folder / "memory" / "relrag.toml")])
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
                context = browser.new_context(viewport={"width": 1280, "height": 860})
                visit = Visit(context, f"http://127.0.0.1:{port}", folder / "memory" / ".relrag", pictures)
                start = time.monotonic()
                first_answer(visit, link, folder)
                seconds = time.monotonic() - start
                visit.check(f"the first answer took {seconds:.0f} s, of 300", seconds < FIRST_ANSWER)
                for part in (hear_a_call, list_a_source, merge_and_undo, retry_a_failure, forget_a_record):
                    part(visit, folder)
                visit.check("nothing on the console", not visit.wrong)
                browser.close()
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


def prepare(folder: Path) -> None:
    """The demo's files with one that cannot be read, and a letter to upload."""
    shutil.copytree(ROOT / "examples" / "archive", folder / "exports")
    (folder / "exports" / "documents" / "boathouse.pdf").write_bytes(b"%PDF-1.4 nothing")
    record_sound(folder / "exports" / "calls" / f"{CALL}.wav", SECONDS)
    (folder / "exports" / "calls" / f"{CALL}.vtt").write_text(CAPTIONS)
    (folder / "letter.md").write_text(f"# Herons\n\n{LETTER}\n" + "Nothing else happened that day.\n" * 60_000)


def first_answer(visit: Visit, link: str, folder: Path) -> None:
    """From the login to a citation that opens."""
    page = visit.page
    page.goto(link)
    visit.look("first-steps")
    visit.check("the pages ask whether they may change the archive", page.get_by_text("May these pages change").count())
    page.get_by_role("button", name="Yes, let them change it").click()
    page.get_by_role("link", name="Add a folder of this machine").click()
    page.get_by_role("link", name=str(folder), exact=True).click()
    page.get_by_role("link", name="exports", exact=True).click()
    page.get_by_role("link", name="Look for sources in this folder").click()
    page.get_by_role("button", name="Add these sources").wait_for()
    visit.look("add-a-source")
    page.get_by_role("button", name="Add these sources").click()
    page.get_by_role("button", name="Sync now").wait_for()
    config = (folder / "memory" / "relrag.toml").read_text()
    visit.check("relrag.toml has the sources and its comments", config.count("[[sources]]") > 5 and "\n# " in config)
    upload(visit, folder / "letter.md")
    sync(visit)
    visit.look("archive")
    visit.goto("/")
    page.fill("input[name=q]", QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_selector("a.cite")
    page.click("a.cite >> nth=0")
    page.wait_for_selector("#source:not([hidden]) h2, #source:not([hidden]) h1")
    visit.check("a question is answered and its citation opens", page.inner_text("#source"))
    visit.look("answer")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as text").click()
    saved = download.value.path().read_text(encoding="utf-8")
    visit.check("it is saved with its sources", QUESTION in saved and "[1]" in saved and visit.address in saved)
    visit.goto("/")
    visit.look("home")
    visit.check("the page remembers the question", QUESTION in page.inner_text(".home"))
    page.get_by_role("button", name="Clear these questions").click()
    page.get_by_role("button", name="Clear these questions").wait_for(state="detached")
    visit.check("until it is cleared", QUESTION not in page.inner_text(".home"))


def upload(visit: Visit, file: Path) -> None:
    """Uploads a file over a connection that is cut twice, and adds what it is."""
    page, cuts, offsets = visit.page, [1, 2], []

    def cut(route: Route) -> None:
        offset = int(route.request.url.rpartition("offset=")[2])
        offsets.append(offset)
        if offset and cuts:
            cuts.pop()
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route("**/owner/upload?**", cut)
    visit.goto("/archive/add")
    page.set_input_files("input[type=file]", file)
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_text(f"{file.name}: stored").wait_for(timeout=60_000)
    page.unroute("**/owner/upload?**")
    stored = visit.home.parent / "incoming" / file.name
    visit.check("an upload that was cut is whole", stored.read_bytes() == file.read_bytes())
    visit.check("and no confirmed piece was sent twice", offsets.count(0) == 1 and len(offsets) > 2)
    visit.wrong.clear()  # the browser tells of the connections that were cut
    page.get_by_role("link", name="Look for sources in what was uploaded").click()
    page.get_by_role("button", name="Add these sources").click()
    page.get_by_role("button", name="Sync now").wait_for()


def sync(visit: Visit) -> None:
    """Starts a sync, cancels it, and watches the next one to its end."""
    page = visit.page
    page.get_by_role("button", name="Sync now").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Sync was cancelled").wait_for(timeout=60_000)
    visit.check("a sync is cancelled", True)
    page.add_init_script(f"addEventListener('DOMContentLoaded', {WATCH_STEPS})")
    visit.goto("/archive")
    page.get_by_role("button", name="Sync now").click()
    steps = watch(visit.home, lambda: bool(page.get_by_text("Sync is done").count()))
    seen: dict[str, float] = json.loads(page.evaluate("sessionStorage.seen"))
    lags = [seen[step] - at for step, at in steps.items() if step in seen]
    visit.check(
        f"{len(lags)} of {len(steps)} steps seen, at most {max(lags):.2f} s after they began", max(lags) < LONGEST_LAG
    )
    visit.check("the sync is done and stands in Dagster", dagster_runs.count_unfinished(visit.home) == 0)


def watch(home: Path, is_done: Callable[[], bool]) -> dict[str, float]:
    """When each step of the sync began, by its file, in seconds since 1970."""
    began: dict[str, float] = {}
    until = time.monotonic() + 300
    while not is_done() and time.monotonic() < until:
        if progress := progress_file.load(home):
            began |= {step.name: step.started_at for step in progress.steps}
        time.sleep(0.05)
    return began


def hear_a_call(visit: Visit, _: Path) -> None:
    """Plays the original of a call from a stretch of its transcript, which follows."""
    page = visit.page
    visit.goto(f"/search?q={SPOKEN}")
    page.locator(".hits a").first.click()
    page.get_by_role("link", name="The whole").click()
    page.get_by_role("link", name="The original file").click()
    page.locator("a[data-start='41.0']").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    # a list in which the reader moves does not scroll by itself
    page.evaluate("document.activeElement.blur(); document.querySelector('[data-transcript]').scrollTo(0, 0)")
    followed = page.locator("a[data-start='41.0'][aria-current=true]")
    followed.wait_for(timeout=20_000)
    second = page.evaluate("document.querySelector('audio').currentTime")
    visit.check(f"a call is played, and its transcript follows, at {second:.1f} s", second >= 40.9)
    page.locator("audio").evaluate("audio => audio.pause()")
    page.wait_for_timeout(1_000)  # a smooth scroll ends
    visit.check("the row that is heard is in view", page.evaluate(IS_IN_VIEW))
    visit.look("player")


def list_a_source(visit: Visit, _: Path) -> None:
    """Lists a source without words, in pages, and a later page."""
    page = visit.page
    visit.goto("/search?source=mail")
    count = page.locator(".hits > li").count()
    visit.check(f"a source is listed without words: {count} records", count == 20)
    visit.look("list")
    page.get_by_role("link", name="More", exact=True).click()
    visit.check("and so is the next page", page.locator(".hits > li").count() > 0)


def merge_and_undo(visit: Visit, _: Path) -> None:
    """Accepts the first suggestion by the keyboard, and takes it back."""
    page = visit.page
    visit.goto("/people/pairs")
    visit.look("people")
    first = page.locator("[data-pairs] > li >> nth=0 >> p >> nth=0").inner_text()
    page.keyboard.press("j")
    page.keyboard.press("y")
    undo = page.get_by_role("button", name="Undo")
    undo.wait_for()
    visit.check(
        "two people are one, by the keyboard", page.locator("[data-pairs]").get_by_text(first, exact=True).count() == 0
    )
    undo.click()
    undo.wait_for(state="detached")
    visit.check("and two again", first in page.inner_text("[data-pairs]"))


def retry_a_failure(visit: Visit, folder: Path) -> None:
    """Has a file read again that could not be read."""
    page = visit.page
    visit.goto("/archive")
    failure = page.locator(".failures li", has_text="boathouse.pdf")
    visit.check("what could not be read is named with its reason", failure.count() == 1)
    (folder / "exports" / "documents" / "boathouse.pdf").write_bytes(pdf([PAGE_OF_LEASE]))
    failure.get_by_role("button", name="Retry").click()
    page.get_by_role("button", name="Cancel").wait_for(timeout=30_000)
    page.get_by_text("is done", exact=False).wait_for(timeout=90_000)
    remaining = page.locator(".failures", has_text="boathouse.pdf").count()
    visit.check("a failure that is read again is none", remaining == 0)
    visit.goto(f"/search?q={PAGE_OF_LEASE}")
    visit.check("and what it says is found", page.locator(".hits", has_text="boathouse").count())
    visit.check("with its words marked", page.locator(".hits mark", has_text="boathouse").count())
    visit.look("search")


def forget_a_record(visit: Visit, _: Path) -> None:
    """Forgets the letter that was uploaded, and looks for it."""
    page = visit.page
    visit.goto(f"/search?q={LETTER}")
    page.locator(".hits a").first.click()
    page.get_by_role("link", name="The whole").click()
    page.get_by_role("link", name="Forget this record").click()
    visit.look("forget")
    page.get_by_role("button", name="Forget 1 record").click()
    page.locator("#activity").get_by_text("is done", exact=False).wait_for(timeout=90_000)
    visit.goto(f"/search?q={LETTER}")
    visit.check("what is forgotten is gone", LETTER not in page.inner_text("main"))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
