"""The benchmarks themselves: each on a few hundred documents, so that they keep working; no time is asserted."""

import functools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bench import __main__ as bench
from bench import (
    clock,
    code,
    corpus,
    documents,
    embedding,
    full,
    git,
    graphrag,
    index_floor,
    mail,
    redaction,
    report,
    search,
    stores,
    threads,
    whatsapp_parse,
)
from bench.clock import medians
from bench.measurement import Figure, from_json, to_json
from bench.peers import Peer

OTHERS = [Peer("Other", 20.0, 300.0, {"other": "1.0"})]


def test_documents_are_the_same_every_time_and_look_like_text() -> None:
    made = corpus.documents(200)
    assert made == corpus.documents(200)
    assert {len(document["text"]) for document in made} == {500}
    assert sum("from" in document for document in made) == 100
    words = " ".join(document["text"] for document in made).lower().split()
    assert words.count("the") > 20 * words.count("them")
    assert len(set(words)) > 3_000
    months = {document["ts"] // (59 * 86_400) for document in made}
    assert len(months) <= 2


def test_the_words_of_a_question_stand_in_one_document() -> None:
    made = corpus.documents(200)
    asked = corpus.questions(made, 50)
    assert {len(question.split()) for question in asked} == {2, 3, 4, 5}
    assert all(any(set(one.split()) <= set(document["text"].split()) for document in made) for one in asked)


def test_a_ceiling_is_read_as_a_multiple_and_a_floor_as_a_speed_up() -> None:
    slower = Figure("a", 3.0, other=1.5, against="b", at_most=2.0)
    assert (slower.ratio, slower.ok) == (2.0, True)
    faster = Figure("a", 2.0, other=30.0, against="b", at_least=20.0)
    assert (faster.ratio, faster.ok) == (15.0, False)
    rate = Figure("a", 900.0, "texts/s", 300.0, "b", at_least=3.0)
    assert (rate.ratio, rate.ok) == (3.0, True)
    slower_rate = Figure("a", 100.0, "texts/s", 250.0, "b", at_most=2.0)
    assert (slower_rate.ratio, slower_rate.ok) == (2.5, False)
    alone = Figure("a", 0.31, at_most=0.3)
    assert (alone.ratio, alone.ok) == (None, False)
    enough = Figure("a", 5.1, "MB/s", at_least=5)
    assert (enough.ok, enough.cells()[4]) == (True, "at least 5 MB/s")
    assert faster.cells() == ["a", "2 s", "30 s (b)", "15x", "at least 20x", "SHORT"]
    assert from_json(to_json(faster)) == faster


def test_only_absolute_times_and_rates_are_scaled_to_the_machine() -> None:
    """At half the speed of the machine that gates are for, a search may take twice as long."""
    search = Figure("a", 9.0, "ms", at_most=5.0)
    assert (search.ok, search.on_machine(2.0).ok) == (False, True)
    assert search.on_machine(2.0).cells()[4] == "at most 10 ms"
    reading = Figure("a", 11.0, "MB/s", at_least=20.0).on_machine(2.0)
    assert (reading.ok, reading.cells()[4]) == (True, "at least 10 MB/s")
    assert not Figure("a", 9.9, "MB/s", at_least=20.0).on_machine(2.0).ok
    for same in (
        Figure("a", 3.0, "GiB", at_most=2.0),
        Figure("a", 97.0, "%", at_least=98.0),
        Figure("a", 3.0, other=1.0, against="b", at_most=2.0),
        Figure("a", 3.0),
    ):
        assert same.on_machine(2.0) == same
    assert from_json(to_json(search.on_machine(2.0))) == search.on_machine(2.0)
    assert report.scale(2.0) == (
        "`import dagster` took 1.32 s, where gates in seconds are for 0.66 s: they are scaled by 2.00."
    )


def test_the_median_is_of_runs_by_turns() -> None:
    order: list[str] = []
    values = iter([5.0, 1.0, 3.0])
    seen = medians(3, a=lambda: order.append("a") or next(values), b=lambda: order.append("b") or 2.0)
    assert (seen, order) == ({"a": 3.0, "b": 2.0}, ["a", "b", "a", "b", "a", "b"])


def test_the_floor_holds_every_document(tmp_path: Path) -> None:
    seconds = index_floor.ingest(tmp_path, corpus.documents(300))
    assert seconds.keys() == {"vectors", "table"}
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "texts.duckdb"), read_only=True) as connection:
        assert connection.execute("SELECT count(*), count(subject) FROM texts").fetchone() == (300, 150)


@pytest.mark.slow
def test_documents_are_measured_with_the_stages_of_their_sync() -> None:
    figures, details = documents.measure(300, turns=1, others=OTHERS)
    names = [figure.against for figure in figures]
    assert names == ["the floor", "Other", "", "", ""]
    assert figures[1].ratio == pytest.approx(20.0 / figures[0].ours)
    stages = details["stages"]
    assert {"start-up", "export", "redacted", "chunks", "duckdb_catalog", "rest"} <= stages.keys()
    for place in (0, 1):
        assert all(seconds[place] > 0 for seconds in stages.values())
    assert sum(plain for plain, _ in stages.values()) == pytest.approx(figures[0].ours + figures[2].ours)


@pytest.mark.slow
def test_search_is_measured_on_a_published_archive() -> None:
    figures = search.measure(300, asked=20, others=OTHERS)
    assert figures[0].what == "search of 300 passages, p50"
    assert 0 < figures[0].ours <= figures[1].ours
    assert figures[2].what == "the same by meaning too, with embedding the question, p50"
    assert 0 < figures[2].ours <= figures[3].ours
    assert figures[4].ratio == pytest.approx(300.0 / figures[0].ours)


def test_stores_are_measured_with_their_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QDRANT_URL", raising=False)
    *speed, recall = stores.measure(600, local=100, asked=10)
    assert [figure.unit for figure in speed] == ["points/s", "ms", "ms"]
    assert all(figure.ours > 0 and figure.ratio for figure in speed)
    assert 90 < recall.ours <= 100
    assert recall.at_least == 98


def test_redaction_is_measured_by_kind_of_text(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {"chat_texts": redaction.chat_texts(30), "mail_texts": redaction.mail_texts(5)}
    few["quiet_texts"] = redaction.quiet_texts(20)
    for name, texts in few.items():
        monkeypatch.setattr(redaction, name, lambda count, texts=texts: texts)
    monkeypatch.setattr(redaction, "annotated", lambda: [{"full_text": "Call 052-123-4567"}])
    figures, _ = bench.MEASURES["redaction"]()
    gates = {figure.what: figure.at_least for figure in figures}
    assert gates == {
        "redaction, chat, 30 texts": 5.0,
        "redaction, mail, 5 texts": 3.0,
        "redaction, nothing, 20 texts": 20.0,
        "redaction, presidio-research, 1 texts": 2.0,
    }
    assert all(figure.ours > 0 and figure.other for figure in figures)


def test_reading_whatsapp_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    write_few = functools.partial(
        whatsapp_parse.write_chat, lines=3_000
    )  # fewer end before the 13th, which decides the order of dates
    monkeypatch.setattr(whatsapp_parse, "write_chat", write_few)
    figures, _ = bench.MEASURES["whatsapp"]()
    assert [figure.at_most for figure in figures] == [2.0, None, None]
    assert all(figure.ours > 0 and figure.other for figure in figures)


def test_reading_git_and_code_is_measured() -> None:
    gated, against = git.measure(300)
    assert (gated.at_least, gated.other, against.at_least) == (20_000, None, None)
    assert gated.ours == against.ours > 0
    assert against.other
    (parsed,) = code.measure(100_000)
    assert (parsed.at_most, parsed.ours > 0) == (3.4, True)
    assert parsed.other


def test_reading_mail_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "mails", functools.partial(threads.mails, 1_000))
    monkeypatch.setattr(mail, "measure", functools.partial(mail.measure, 20))
    figures, _ = bench.MEASURES["mail"]()
    assert [(figure.at_least, figure.at_most) for figure in figures] == [
        (8.0, None), (None, None), (None, 5.0), (None, 2.0),
    ]  # fmt: skip
    assert all(figure.ours > 0 for figure in figures)


def test_an_unknown_measure_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main(["serach"])
    assert 'no measure is named "serach"; known: unchanged, redaction' in capsys.readouterr().err


def test_a_short_gate_is_said_and_fails_only_a_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(bench.MEASURES, "search", lambda: ([Figure("a search", 7.0, "ms", at_most=5.0)], {}))
    monkeypatch.setattr(clock, "process", lambda *_: 0.66)
    assert bench.main(["search"]) == 0
    assert "SHORT of their gates: a search." in capsys.readouterr().out
    assert bench.main(["search", "--check"]) == 1


def test_what_misses_a_gate_is_measured_once_more_and_that_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(clock, "process", lambda *_: 0.66)
    seen = {"search": iter([7.0, 4.0]), "mail": iter([1.0])}
    for name, taken in seen.items():
        monkeypatch.setitem(
            bench.MEASURES,
            name,
            lambda name=name, taken=taken: ([Figure(f"a {name}", next(taken), "MB", at_most=5.0)], {}),
        )
    assert bench.main(["search", "mail", "--check"]) == 0
    said = capsys.readouterr().out
    assert "short at first: a search\nmeasuring search ..." in said
    assert [line.split()[2] for line in said.splitlines() if line.startswith("a ")] == ["4", "1"]


def test_the_page_says_what_the_results_say() -> None:
    found = json.loads(report.RESULTS.read_text())
    page = report.PAGE.read_text()
    assert report.with_tables(page, found) == page
    assert found["figures"].keys() == bench.MEASURES.keys()
    assert "| search of 50,000 passages, p50 |" in page


@pytest.mark.slow
def test_the_embedder_and_the_bare_runtime_embed_the_same_texts() -> None:
    seen = embedding.turns(3)
    assert seen.keys() == {"e5", "e5_bare", "minilm", "minilm_bare", "engine", "memory"}
    assert min(seen.values()) > 0
    assert seen["memory"] > 100


@pytest.mark.slow
def test_a_graphrag_index_is_traced_and_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row by row leads to the documents of all entities of a community."""
    graphrag.write(tmp_path, 2_000)
    frames = {path.stem: pd.read_parquet(path) for path in tmp_path.glob("*.parquet")}
    entities = frames["communities"]["entity_ids"][3]
    units = set(np.concatenate(frames["entities"].set_index("id").loc[entities, "text_unit_ids"].tolist()))
    documents = frames["text_units"].set_index("id").loc[sorted(units), "document_id"]
    assert graphrag.by_rows(frames, [3]) == set(documents)
    monkeypatch.setattr(graphrag, "GRAPHRAG", tmp_path / "none")
    figures = graphrag.measure(2_000, 50, 500, 1_000)
    assert [figure.what for figure in figures] == [
        "tracing 10 cited reports among 2,000 entities",
        "the same",
        "opening that index, with the first trace",
        *(f"building an index of {count} passages" for count in (50, 100, 200)),
        "extracting what they name, alone",
        "2 times as many passages take so many times as long",
        "4 times as many passages take so many times as long",
        "communities of 500 edges",
        "memory of the whole process",
        "pairing, weighing and pruning 881 relations",
        "the table of communities of 546 relations",
    ]
    assert all(figure.ours > 0 for figure in figures)


@pytest.mark.parametrize(
    ("share", "options", "code"),
    [(4.9, ["--check"], 0), (5.1, ["--check"], 1), (5.1, [], 0)],
)
def test_the_full_measure_exits_with_1_when_a_gate_is_short(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], share: float, options: list[str], code: int
) -> None:
    figures = [Figure("first sync", 80.0), Figure("search for replaced values, of the sync", share, "%", at_most=5.0)]
    details = {"factor": 1.0, "stages": {"chunks": 9.0}}
    monkeypatch.setattr(full, "measure", lambda *_, **__: (figures, details))
    monkeypatch.setattr("sys.argv", ["bench.full", "--scale", "0.1", "--once", *options])
    assert full.main() == code
    assert ("SHORT" in capsys.readouterr().out) == (share > 5)
