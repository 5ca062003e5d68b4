"""Compares how questions are answered today with a stored baseline: `python -m tuning.baseline [--set NAME ...]`.

`baseline.json` holds, for each question of each set, columns of 1 and 0 that do not depend on the form of an answer.
A column is absent where it does not apply. `--write` stores the results of the working tree as the new baseline.

| set | questions |
|---|---|
| `people_words`, `people_e5` | `tuning/people`, searched by words alone, or by meaning too |
| `answers` | the held-back archives of `tuning/archives`, with the defaults of a new archive |
| `musique_100`, `2wiki_101` | questions that need several passages, from `../shared/data/retrieval` |
| `bench` | figures that the last run of `python -m bench` stored; they are compared, not measured again |

| column | meaning |
|---|---|
| `excerpts_same`, `excerpts_other` | evidence in the first three excerpts; in the question's language, or in another |
| `search_same`, `search_other` | the same for the first three hits of `search` |
| `value_first` | the first excerpt holds the right value, or names the right person |
| `superseded_first` | the first excerpt holds a superseded value (questions of kind `version` and `now`) |
| `source_listed` | the file of the evidence is among the sources |
| `sure`, `sure_wrong` | the answer claims to be sure; of a wrong person |
| `gold_all`, `gold_first` | all records that answer are among the first eight hits; the first hit is one of them |
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from relrag_pipelines.text import language
from relrag_query.archive import Archive
from relrag_query.cli.commands.sync import sync
from relrag_query.evaluation import metrics
from relrag_query.evaluation.answer_sets import SAME, LabelledQuestion, Place, words
from relrag_query.results import Answer
from tuning import archives
from tuning.people import measure as people

FILE = Path(__file__).with_name("baseline.json")
ROOT = Path(__file__).resolve().parent.parent
EXCERPTS = 3
UNSEEN = ("hargreaves", "peretz", "souckova")
"""archives by writers who knew neither rules nor questions"""
LOSSES = ("superseded_first", "sure_wrong")
"""columns in which 1 is worse than 0"""
SETS = ("people_words", "people_e5", "answers", "musique_100", "2wiki_101")

Row = dict[str, Any]
"""a question: `part`, `id`, and its columns"""


def main() -> None:
    """Prints the comparison; with `--write`, stores a new baseline."""
    parser = argparse.ArgumentParser(prog="python -m tuning.baseline", description=__doc__)
    parser.add_argument("--set", dest="sets", action="append", choices=SETS, help="only this set; may be repeated")
    parser.add_argument("--write", action="store_true", help="store the results as the baseline")
    parser.add_argument("--work", type=Path, help="keep the synced archives in this folder")
    options = parser.parse_args()
    stored: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        for name in options.sets or SETS:
            rows = list(measure(name, options.work or Path(folder)))
            print_comparison(name, stored.get(name, []), rows)
            if options.write:
                stored[name] = rows
                stored["bench"] = bench_figures()
                write(stored)
    if not options.write:
        print_bench(stored.get("bench", {}))


def write(stored: Mapping[str, Any]) -> None:
    """Stores a baseline, a question a line, so that a change shows as lines of a diff."""
    parts = []
    for name, rows in sorted(stored.items()):
        lines = rows if isinstance(rows, list) else [rows]
        body = ",\n".join(json.dumps(row, ensure_ascii=False, sort_keys=True) for row in lines)
        parts.append(f"{json.dumps(name)}: [\n{body}\n]" if isinstance(rows, list) else f"{json.dumps(name)}: {body}")
    FILE.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def measure(name: str, work: Path) -> Iterator[Row]:
    """The rows of a set."""
    if name == "people_words":
        return people_rows(work / "words", "none")
    if name == "people_e5":
        return people_rows(work / "e5", "e5")
    if name == "answers":
        return answer_rows(work / "answers")
    return retrieval_rows(name, work / name)


# people


def people_rows(work: Path, embedder: str) -> Iterator[Row]:
    """One row a question about people. `part` says how far the questions were known when rules were written."""
    for number, judgement in enumerate(people.measure(people.questions(), work, embedder)):
        question = judgement.asked
        part = "unseen" if question.archive in UNSEEN else "held_back" if question.half == "held" else "looked_at"
        yield {
            "part": part,
            "id": f"{question.archive}/{number}",
            "value_first": int(judgement.right),
            "sure_wrong": int(judgement.wrong),
        }


# answers


def answer_rows(work: Path) -> Iterator[Row]:
    """One row a question about a held-back archive."""
    for name in archives.names(held_back=True):
        with archives.opened(name, work) as archive:
            for number, question in enumerate(archives.questions(name)):
                yield {
                    "part": name,
                    "id": f"{name}/{number}",
                    **answer_columns(archive, question, archive.ask(question.question)),
                }


def answer_columns(archive: Archive, question: LabelledQuestion, answer: Answer) -> Row:
    """The columns of one question and its answer."""
    columns: Row = {"sure": int(answer.confidence == "sure")}
    if not question.answerable:
        return columns
    excerpts = quoted_excerpts(answer)
    hits = archive.search(question.question).hits[:EXCERPTS]
    # a hit does not say which file it is from: its source and its text decide
    files = " ".join(place.file for place in question.evidence)
    passages = [(f"{hit.sender or ''} {hit.chunk.text}", [(hit.chunk.source, files)]) for hit in hits]
    suffix = "same" if in_language_of(question) else "other"
    columns[f"excerpts_{suffix}"] = int(any(holds_evidence(question, excerpt) for excerpt in excerpts[:EXCERPTS]))
    columns[f"search_{suffix}"] = int(any(holds_evidence(question, passage) for passage in passages))
    columns["value_first"] = int(any(holds_evidence(question, excerpt) for excerpt in excerpts[:1]))
    if question.kind in ("version", "now"):
        columns["superseded_first"] = int(any(holds_decoy(question, excerpt) for excerpt in excerpts[:1]))
    listed = [(source.hit.chunk.source, " ".join(source.locations)) for source in answer.sources]
    columns["source_listed"] = int(any(in_file(place, listed) for place in question.evidence))
    return columns


Excerpt = tuple[str, list[tuple[str, str]]]
"""a text, and the source and the locations of each record that holds it"""


def quoted_excerpts(answer: Answer) -> list[Excerpt]:
    """What an answer quotes, in its order."""
    files = {
        source.number: (source.hit.chunk.source, " ".join([*source.locations, source.hit.chunk.source_uri or ""]))
        for source in answer.sources
    }
    return [
        (f"{quote.sender or ''} {quote.text}", [files[number] for number in quote.sources if number in files])
        for quote in answer.quotes
    ]


def in_language_of(question: LabelledQuestion) -> bool:
    """Whether some evidence is in the language of the question."""
    return any(language.identify(place.text) == question.language for place in question.evidence)


def holds_evidence(question: LabelledQuestion, excerpt: Excerpt) -> bool:
    """Whether an excerpt holds evidence, and one of the values that an answer must have."""
    text_words = words(excerpt[0])
    if question.answer_has and not any(words(value) <= text_words for value in question.answer_has):
        return False
    return any(holds(place, excerpt) for place in question.evidence)


def holds_decoy(question: LabelledQuestion, excerpt: Excerpt) -> bool:
    """Whether an excerpt holds text that only seems to answer, or a superseded value, and no evidence."""
    if holds_evidence(question, excerpt):
        return False
    text_words = words(excerpt[0])
    has_old_value = any(words(value) <= text_words for value in question.superseded)
    return has_old_value or any(holds(place, excerpt) for place in question.decoys)


def holds(place: Place, excerpt: Excerpt) -> bool:
    """Whether an excerpt of that file holds three quarters of the words of a labelled text."""
    text, files = excerpt
    wanted = words(place.text)
    return in_file(place, files) and len(wanted & words(text)) >= SAME * len(wanted)


def in_file(place: Place, files: Iterable[tuple[str, str]]) -> bool:
    """Whether one of these (source, locations) is the labelled file."""
    return any(source == place.source and place.file in locations for source, locations in files)


# retrieval


def retrieval_rows(name: str, work: Path) -> Iterator[Row]:
    """One row a question of a retrieval set, searched with the default embedder."""
    folder = Path(os.environ.get("RELRAG_SHARED_DATA", ROOT.parent / "shared" / "data")) / "retrieval" / name
    work.mkdir(parents=True, exist_ok=True)
    config = work / "relrag.toml"
    lines = [f'archive = "{name}"', 'keys_file = "tuning.keys"', 'embedder = "e5"', "pii_redaction_enabled = false"]
    lines += ["[[sources]]", 'name = "wiki"', 'kind = "jsonl"', f'path = "{folder / "corpus.jsonl"}"']
    config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if sync(config) > 1:
        raise RuntimeError(f"{name} cannot be synced")
    with Archive.open(config) as archive:
        for number, question in enumerate(metrics.corpus_questions(folder / "questions.jsonl")):
            results = archive.search(question.question, limit=metrics.ALL_GOLD_DEPTH)
            found = [hit.chunk.asset_id.rsplit(":", 1)[1] for hit in results.hits]
            yield {
                "part": name,
                "id": f"{name}/{number}",
                "gold_all": int(question.gold <= set(found[: metrics.ALL_GOLD_DEPTH])),
                "gold_first": int(found[:1] != [] and found[0] in question.gold),
            }


# comparison


def bench_figures() -> dict[str, float]:
    """The figures that the last run of the bench stored, by name."""
    figures: dict[str, float] = {}
    for name in ("results.json", "full.json"):
        stored = json.loads((ROOT / "bench" / name).read_text(encoding="utf-8"))
        figures |= {figure["name"]: figure["value"] for figure in figure_rows(stored)}
    return figures


def figure_rows(stored: Any) -> Iterator[dict[str, Any]]:
    """Each object with a name and a value, however deep it lies."""
    if isinstance(stored, dict):
        if {"name", "value"} <= stored.keys():
            yield stored
        for value in stored.values():
            yield from figure_rows(value)
    elif isinstance(stored, list):
        for value in stored:
            yield from figure_rows(value)


def print_bench(before: Mapping[str, float]) -> None:
    """Prints the figures of the bench that have changed."""
    now = bench_figures()
    for name in sorted(before.keys() & now.keys()):
        if before[name] != now[name]:
            print(f"bench: {name}: {before[name]:g} -> {now[name]:g}")


def print_comparison(name: str, before: Sequence[Row], now: Sequence[Row]) -> None:
    """Prints, for each part and column, both counts, the interval of today's share, and what was gained and lost."""
    previous = {row["id"]: row for row in before}
    parts = list(dict.fromkeys(row["part"] for row in now))
    for part in [*parts, *(["all"] if len(parts) > 1 else [])]:
        rows = [row for row in now if part in ("all", row["part"])]
        for column in sorted({key for row in rows for key in row} - {"part", "id"}):
            values = [(previous.get(row["id"], {}).get(column), row[column]) for row in rows if column in row]
            print(f"{name:13} {part:12} {column:16} {comparison(column, values)}", flush=True)


def comparison(column: str, values: Sequence[tuple[int | None, int]]) -> str:
    """`before -> now of all, interval of now; gains, losses, p`, where p is that of McNemar's exact test."""
    now = sum(value for _, value in values)
    low, high = wilson(now, len(values))
    text = f"{now:4} of {len(values):4}  {now / len(values):6.1%} ({low:.1%} to {high:.1%})"
    pairs = [(old, new) for old, new in values if old is not None]
    if not pairs:
        return text
    rises, falls = pairs.count((0, 1)), pairs.count((1, 0))
    gains, losses = (falls, rises) if column in LOSSES else (rises, falls)
    before = sum(old for old, _ in pairs)
    return f"{before:4} -> {text}  gains {gains}, losses {losses}, p {mcnemar(gains, losses):.3f}"


def wilson(count: int, total: int) -> tuple[float, float]:
    """Wilson's score interval of a share, 95 % (https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval)."""
    share, z = count / total, 1.96
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    reach = z / (1 + z * z / total) * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return middle - reach, middle + reach


def mcnemar(gains: int, losses: int) -> float:
    """Two-sided p of McNemar's exact test: gains and losses are equally likely (binomial with a half)."""
    total = gains + losses
    if total == 0:
        return 1.0
    tail = sum(math.comb(total, count) for count in range(min(gains, losses) + 1)) / 2**total
    return min(1.0, 2 * tail)


if __name__ == "__main__":
    main()
