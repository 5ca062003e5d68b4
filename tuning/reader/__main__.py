"""Asks English questions with a small model on this machine and without: `make reader`, an hour on two cores.

The questions are those of three archives of `tuning/archives`; none is shown. What is measured goes into
docs/answers.md.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from relrag_pipelines.onboarding.local_models import LocalServerError, models_of
from relrag_query.archive import Archive
from relrag_query.evaluation.answer_sets import LabelledQuestion
from relrag_query.results import Answer
from tuning import archives

NAMES = ("tonelli", "sawalqa", "harbour")
"""archives with evidence in English"""
PAGE = Path("docs/answers.md")
_BEGIN, _END = "<!-- written by make reader -->\n", "<!-- end of what make reader writes -->"
_START_SECONDS = 120
_SETTINGS = {"answerer": "local", "answer_model": "qwen", "answer_context_tokens": 1500, "answer_max_tokens": 300}


@dataclass(frozen=True)
class Result:
    """What became of a question."""

    answerable: bool
    verdict: str
    """`right`, `wrong` or `refused`"""
    default_verdict: str
    """the same of the first excerpt, without the model"""
    removed: int
    seconds: float
    processor_seconds: float
    """of the server"""
    tokens: int


def main() -> None:
    """Prints a line for each question as it is answered, without its words; then writes the table."""
    parser = argparse.ArgumentParser(prog="python -m tuning.reader", description=__doc__)
    parser.add_argument("environment", type=Path, help="the environment with the server and the model")
    parser.add_argument("--questions", type=int, default=60, help="how many questions, of all archives together")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--seconds", type=int, default=180, help="time of an answer")
    parser.add_argument("--work", type=Path, help="keep the synced archives in this folder")
    given = parser.parse_args()
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as folder, served(given.environment, given.threads) as (url, server):
        for position, name in enumerate(NAMES):
            count = (given.questions + len(NAMES) - 1 - position) // len(NAMES)
            with archives.opened(name, given.work or Path(folder)) as archive:
                for question in english_questions(name, count):
                    results.append(ask(archive, question, url, given.seconds, server))
                    print(json.dumps({"archive": name, **vars(results[-1])}), flush=True)
    write_page(results)


@contextmanager
def served(environment: Path, threads: int) -> Iterator[tuple[str, int]]:
    """A server of the model: its address and its process."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = [environment / "bin/python", "tuning/reader/llama_server.py", environment / "model.gguf"]
    with subprocess.Popen([*map(str, program), str(port), str(threads)]) as process:
        url = f"http://127.0.0.1:{port}/v1"
        try:
            _wait(url)
            yield url, process.pid
        finally:
            process.terminate()


def _wait(url: str) -> None:
    for _ in range(_START_SECONDS):
        time.sleep(1)
        try:
            if models_of(url):
                return
        except LocalServerError:
            continue
    raise SystemExit(f"The server has not started within {_START_SECONDS} seconds.")


def english_questions(name: str, count: int) -> list[LabelledQuestion]:
    """The first English questions of an archive whose answer is labelled; one in five has none."""
    english = [question for question in archives.questions(name) if question.language == "en"]
    unanswerable = [question for question in english if not question.answerable][: count // 5]
    answerable = [question for question in english if question.answerable and question.answer_has]
    return [*answerable[: count - len(unanswerable)], *unanswerable]


def ask(archive: Archive, question: LabelledQuestion, url: str, seconds: int, server: int) -> Result:
    """Asks with the model; the answer without it is what is shown where nothing of the model's stands."""
    plain = archive.ask(question.question)
    usual = archive.settings
    started, processor = time.monotonic(), _processor_seconds(server)
    archive.settings = usual.model_copy(update={**_SETTINGS, "answer_url": url, "answer_seconds": seconds})
    try:
        answer = archive.ask(question.question)
    finally:
        archive.settings = usual
    return Result(
        question.answerable,
        _verdict(question, answer.text if answer.written else ""),
        _verdict(question, _first_excerpt(plain)),
        answer.written.removed if answer.written else answer.notice.count("removed"),
        round(time.monotonic() - started, 1),
        round(_processor_seconds(server) - processor, 1),
        answer.tokens.tokens_read + answer.tokens.tokens_written,
    )


def _first_excerpt(answer: Answer) -> str:
    return answer.quotes[0].text if answer.quotes else ""


def _verdict(question: LabelledQuestion, text: str) -> str:
    if not text:
        return "refused"
    held = question.answerable and any(_plain(value) in _plain(text) for value in question.answer_has)
    return "right" if held else "wrong"


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in decomposed if sign.isalnum())


def _processor_seconds(process: int) -> float:
    """Of a process of Linux (proc(5)); 0 elsewhere."""
    file = Path(f"/proc/{process}/stat")
    if not file.exists():
        return 0.0
    fields = file.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def write_page(results: Sequence[Result]) -> None:
    """Writes the table into docs/answers.md."""
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(_BEGIN, 1)
    after = rest.partition(_END)[2]
    PAGE.write_text(f"{before}{_BEGIN}\n{table(results)}\n{_END}{after}", encoding="utf-8")


def table(results: Sequence[Result]) -> str:
    """How many are right, wrong and refused, and what an answer takes."""
    lines = ["| | questions | right | wrong | refused |", "|---|---|---|---|---|"]
    for answerable, of in ((True, "with an answer"), (False, "without an answer")):
        some = [result for result in results if result.answerable is answerable]
        verdicts = {"model": [one.verdict for one in some], "first excerpt": [one.default_verdict for one in some]}
        for what, counts in ((what, Counter(given)) for what, given in verdicts.items()):
            cells = " | ".join(str(counts[verdict]) for verdict in ("right", "wrong", "refused"))
            lines.append(f"| {of}, {what} | {len(some)} | {cells} |")
    taken = [sorted(getattr(one, name) for one in results) for name in ("seconds", "processor_seconds", "tokens")]
    middle = [values[len(values) // 2] for values in taken]
    removed = sum(result.removed for result in results)
    lines += ["", f"Median of an answer: {middle[0]} seconds, {middle[1]} of a processor, {middle[2]} tokens. "]
    lines[-1] += f"Answers or statements removed by the check: {removed}."
    return "\n".join(lines)


if __name__ == "__main__":
    main()
