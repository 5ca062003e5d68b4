"""What an index says without a model: themes of what is asked about, and sentences whose citations resolve."""

import random
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

from relrag_pipelines.graphrag import parquet
from relrag_pipelines.graphrag.build import build
from relrag_pipelines.graphrag.llm.extraction_schema import Extraction, FoundClaim, FoundEntity, FoundRelationship
from relrag_pipelines.records import Chunk
from relrag_query.graphrag.answer import NOTHING, GraphAnswer, Method, SemanticMatches, ask
from relrag_query.graphrag.citations import Dataset, parse
from relrag_query.graphrag.corpus import Corpus
from relrag_query.graphrag.index import open_index
from relrag_query.graphrag.scope import scope_of, words_of
from relrag_query.graphrag.trace import State, trace
from tests.cases import cases
from tests.passages import ARCHIVE, HOUSE, passage, table

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Prague")
FAMILY = [
    passage(
        "f:1",
        "Mum: the garden needs a new fence, 4,500 Kč says the carpenter",
        day=0,
        subject="Family",
        participants=["Mum", "Dad"],
    ),
    passage(
        "f:2", "Dad: the carpenter comes for the fence on Tuesday", day=2, subject="Rodina", participants=["Mum", "Dad"]
    ),
    passage(
        "f:3",
        "Mum: the fence is up, the carpenter forgot the gate",
        day=4,
        subject="Rodina",
        participants=["Mum", "Dad"],
    ),
    passage("f:4", "Dad: Rex chewed the carpenter's fence", day=400, subject="Rodina", participants=["Mum", "Dad"]),
]
LANDLORD = [
    passage("l:1", "Mr Kolar, our landlord, raises the rent to 900 EUR from July.", day=5, sender="Igor Kolar"),
    passage(
        "l:2",
        "The landlord will repair the balcony in May: the balcony leaks. The rent stays.",
        day=6,
        sender="Igor Kolar",
    ),
    passage("l:3", "The balcony is repaired, the bill for the balcony was 320 EUR.", day=8, sender="Igor Kolar"),
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return opened(tmp_path_factory.mktemp("index"), [*ARCHIVE, *FAMILY, *LANDLORD])


def opened(folder: Path, chunks: list[Chunk]) -> Corpus:
    names = ["Dana Levi", "Petr Kolar", "Eva Nová", "Marek Dvořák"]
    people = pd.DataFrame(list(enumerate(names)), columns=["person_id", "name"])
    parquet.write(build(table(chunks), people), folder)
    return Corpus(open_index(folder, whole=True))


def asked(question: str, corpus: Corpus, method: Method = "global") -> GraphAnswer:
    return ask(question, corpus, method, NOW, ZONE)


@pytest.mark.parametrize(*cases(__file__, "the_words_of_a_question_that_say_what_it_is_about"))
def test_the_words_of_a_question_that_say_what_it_is_about(question: str, words: list[str]) -> None:
    assert words_of(question) == words


def test_a_family_is_found_in_all_languages_and_within_its_time(corpus: Corpus) -> None:
    scope = scope_of("What did the family discuss most in 2024?", corpus, NOW, ZONE)
    texts = [corpus.texts[unit] for unit in scope.units]
    assert texts == [one.text for one in FAMILY[:3]]
    assert scope.time
    assert scope.time.phrase == "2024"


def test_a_role_stands_for_the_person_beside_whom_it_is_named(corpus: Corpus) -> None:
    scope = scope_of("main topics with the landlord", corpus, NOW, ZONE)
    assert scope.people == ("Igor Kolar",)
    assert [corpus.texts[unit] for unit in scope.units] == [one.text for one in LANDLORD]


def test_a_theme_has_its_people_time_figures_and_cited_sentences(corpus: Corpus) -> None:
    answer = asked("What did the family discuss most in 2024?", corpus)
    theme = answer.themes[0]
    assert set(theme.title.split(", ")) >= {"carpenter", "fence"}
    assert (theme.first, theme.last, theme.figures) == ("2024-03-01", "2024-03-05", ("4,500 Kč",))
    assert [one.text for one in theme.statements] == [one.text for one in FAMILY[:3]]
    found = trace(answer.text, corpus.index)
    assert {one.state for one in found.references} == {State.RESOLVED}
    assert found.count(Dataset.SOURCES) >= 3
    assert answer.text.startswith("## ")


def test_themes_of_everything_keep_to_different_passages(corpus: Corpus) -> None:
    found = asked("What was talked about most?", corpus).themes
    titles = " / ".join(one.title for one in found)
    for word in ("boiler", "Janáček", "הכרטיסים", "fence"):
        assert word in titles
    said = [one.text for theme in found for one in theme.statements]
    assert len(said) == len(set(said))
    assert not {"Dana Levi", "Eva Nová"} & {part for theme in found for part in theme.title.split(", ")}


@pytest.mark.parametrize("method", ["local", "basic"])
def test_a_question_is_answered_by_the_sentences_that_hold_its_words(corpus: Corpus, method: Method) -> None:
    answer = asked("Who paid the invoice for the boiler?", corpus, method)
    first = answer.text.splitlines()[0]
    assert first.startswith("Petr Kolar paid invoice INV-1187 for the boiler, 7,980 Kč.")
    cited = {one.dataset for citation in parse(first) for one in citation.references}
    of_local = {Dataset.ENTITIES, Dataset.REPORTS, Dataset.SOURCES}
    assert cited == (of_local if method == "local" else {Dataset.SOURCES})
    assert bool(answer.records.entities) == bool(answer.records.reports) == (method == "local")
    assert {one.state for one in trace(answer.text, corpus.index).references} == {State.RESOLVED}


def test_what_a_search_by_meaning_finds_is_taken_where_words_find_nothing(corpus: Corpus) -> None:
    unit = next(unit for unit, text in enumerate(corpus.texts) if "balcony is repaired" in text)
    assert asked("Opravená lodžie?", corpus, "basic").text == NOTHING
    found = ask("Opravená lodžie?", corpus, "basic", NOW, ZONE, SemanticMatches([unit]))
    assert found.text.startswith("The balcony is repaired, the bill for the balcony was 320 EUR. [Data: Sources (")


def test_of_what_is_found_by_meaning_alone_only_the_best_is_said_beside_words(corpus: Corpus) -> None:
    units = [unit for unit, text in enumerate(corpus.texts) if "Janáček" in text]
    assert len(units) > 3
    found = ask("Who paid invoice INV-1187?", corpus, "basic", NOW, ZONE, SemanticMatches(units))
    assert "Petr Kolar paid invoice INV-1187" in found.text
    assert len([one for one in found.text.splitlines() if "Janáček" in one or "scores" in one]) <= 2


def claim(description: str, words: str) -> FoundClaim:
    return FoundClaim(
        subject="Petr Kolar",
        object="NONE",
        type="PAYMENT",
        status="TRUE",
        start_date="2024-03-02",
        end_date="NONE",
        description=description,
        source_text=words,
    )


@pytest.fixture(scope="module")
def claimed(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """An index of two claims in one passage."""
    folder, chunks = tmp_path_factory.mktemp("claimed"), table(HOUSE)
    found = Extraction(
        entities=[FoundEntity(name=name, type="PERSON", description="") for name in ("Dana Levi", "Petr Kolar")],
        relationships=[FoundRelationship(source="Dana Levi", target="Petr Kolar", description="", strength=5)],
        claims=[
            claim(
                "The invoice was settled by Petr Kolar.", "Petr Kolar paid invoice INV-1187 for the boiler, 7,980 Kč."
            ),
            claim("Petr Kolar spent money on heating.", "nowhere in so many words"),
        ],
    )
    text = next(text for text in chunks["text"] if "7,980" in text)
    parquet.write(build(chunks, extractions={text: found}, claims=True), folder)
    return Corpus(open_index(folder, whole=True))


def test_a_sentence_that_states_a_claim_cites_it(claimed: Corpus) -> None:
    answer = asked("Who paid the invoice?", claimed, "local")
    first = answer.text.splitlines()[0]
    assert first.startswith("Petr Kolar paid invoice INV-1187 for the boiler, 7,980 Kč.")
    assert "[Data: Claims (0); Entities (" in first
    assert "settled" not in answer.text
    assert {one.state for one in trace(answer.text, claimed.index).references} == {State.RESOLVED}
    assert "Claims" not in asked("Who paid the invoice?", claimed, "basic").text


def test_a_claim_that_no_sentence_states_is_said_itself(claimed: Corpus) -> None:
    said = asked("What did Petr Kolar spend money on, heating?", claimed, "local").text
    assert "Petr Kolar spent money on heating. [Data: Claims (1); Entities (" in said


def test_nothing_is_said_of_what_the_index_does_not_hold(tmp_path: Path) -> None:
    empty = opened(tmp_path, [])
    for method in ("local", "global", "basic"):
        assert asked("What about the boiler?", empty, method).text == NOTHING  # type: ignore[arg-type]


TALKED = [
    ["Babička má termín na operaci kyčle {}. května", "Doktor Svoboda chce po operaci kyčle dva měsíce rehabilitace",
     "Rehabilitace stojí {}00 Kč týdně"],
    ["Letos pojedeme na chalupu do Krkonoš", "Střecha na chalupě teče, pokrývač chce {}00 Kč",
     "Pokrývač přijde na chalupu {}. června"],
    ["Tomáš dělá přijímačky na gymnázium", "Doučování matematiky stojí {}00 Kč měsíčně",
     "Přijímačky na gymnázium jsou {}. dubna"],
]  # fmt: skip


def test_no_passage_is_told_by_two_themes(tmp_path: Path) -> None:
    chance = random.Random(4)
    said = [chance.choice(TALKED[day // 12 % 3]).format(chance.randint(2, 28)) for day in range(220)]
    chunks = [passage(f"t:{day}", text, day=day, sender="Jana Nováková") for day, text in enumerate(said)]
    talked = opened(tmp_path, chunks)
    found = asked("O čem se nejvíc mluvilo?", talked).themes
    told = [unit for one in found for unit in one.units]
    assert len(found) > 3
    assert len(told) == len(set(told))
    scope = asked("O čem se nejvíc mluvilo v roce 2024?", talked).scope
    assert scope is not None
    assert scope.words == ()


ERRANDS = [
    "The carpenter builds the fence of oak", "The carpenter wants a receipt for the fence",
    "The carpenter painted the fence, the receipt is here", "The fence of the carpenter stands",
    "The plumber looks at the boiler", "The plumber sent the receipt for the boiler",
    "The plumber repaired the boiler, the receipt is lost", "The boiler of the plumber hums",
    "A receipt lies in the drawer", "The receipt for the umbrella faded",
]  # fmt: skip


def test_what_earlier_themes_mostly_told_is_no_theme_of_its_own(tmp_path: Path) -> None:
    chunks = [passage(f"e:{day}", text, day=day, sender="Jana Nováková") for day, text in enumerate(ERRANDS)]
    answered = opened(tmp_path, chunks)
    found = asked("What was talked about most?", answered).themes
    told = [{answered.texts[unit] for unit in one.units} for one in found]
    assert {*ERRANDS[:4]} in told
    assert {*ERRANDS[4:8]} in told
    assert {*ERRANDS[8:]} not in told, "most receipts are those of the fence and the boiler"
