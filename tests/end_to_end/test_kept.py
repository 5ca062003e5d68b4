"""What the rules keep of forgotten mails, and what the report leaves out, as docs/privacy.md says."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

from relrag_pipelines.erasure import mail_quotes, verification, word_hashes
from relrag_pipelines.erasure.byte_search import SearchResult
from relrag_pipelines.erasure.record_selection import ErasureSelection
from relrag_pipelines.erasure.rule_file import ErasureRule
from relrag_pipelines.erasure.verification import ErasureProof, SimilarRecord
from relrag_pipelines.privacy.keys import Keys
from relrag_query.cli import forget_report
from relrag_query.cli.forget_report import ForgetPreview
from tests.cases import cases
from tests.conftest import ROOT

KEYS = Keys(ids=b"i" * 32, pseudonyms=b"p" * 32, version="k1")
OTHERS = Keys(ids=b"o" * 32, pseudonyms=b"p" * 32, version="k1")
PRIVACY = " ".join((ROOT / "docs" / "privacy.md").read_text().split())


def kept(text: str) -> word_hashes.Hashes:
    """What a rule keeps of a mail of that text."""
    said = mail_quotes.own_shingles(pa.table({"text": [text], "extra": ["{}"]}), word_hashes.WordHasher(KEYS.id_hash))
    return np.unique(np.concatenate(said))


def guessed(guess: str, stored: word_hashes.Hashes, keys: Keys = KEYS) -> bool:
    words = word_hashes.WordHasher(keys.id_hash)
    own, (heads, tails) = words.hash_words(guess), words.edges(guess)
    forms = [word_hashes.line_of(own), word_hashes.runs_of(own), word_hashes.pieces_of(own)]
    forms += [word_hashes.heads_of(own, heads), word_hashes.tails_of(own, tails)]
    return bool(word_hashes.contains(np.concatenate(forms), stored).any())


@pytest.mark.parametrize(*cases(__file__, "whoever_has_the_keys_too_can_test_guesses"))
def test_whoever_has_the_keys_too_can_test_guesses(guess: str, known: bool) -> None:
    stored = kept("Yes\nthe surgery on Monday went well, and nobody but Dana has to know of it")
    assert guessed(guess, stored) is known
    assert not guessed(guess, stored, OTHERS), "with other keys nothing fits"


def test_six_hashes_a_word_up_to_a_thousand_words_and_one_beyond() -> None:
    counts = {length: len(kept(" ".join(f"w{number}" for number in range(length)))) for length in (1000, 2000, 4000)}
    assert 5.9 < counts[1000] / 1000 <= 6
    assert (counts[2000] - counts[1000], counts[4000] - counts[2000]) == (1000, 2000)
    assert "six hashes for each of the first 1,000 words" in PRIVACY


def test_the_older_lists_show_ids_only(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ErasureSelection(set())
    chosen.repeating["email:repeats"] = 20
    chosen.copies.add("document:copy")
    forget_report.print_remaining(ForgetPreview(ErasureRule(1, "records", "", said="x"), chosen, ["email:quotes"]))
    listed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert listed == ["  email:quotes", "  email:repeats", "  document:copy"]


def test_the_report_gives_no_number_of_what_exceeds_the_sample(capsys: pytest.CaptureFixture[str]) -> None:
    found = ErasureProof(
        SearchResult(files=3),
        values=verification.MAX_VALUES,
        is_sample=True,
        similar_records=[SimilarRecord("gmail", "email", 0, "", "email:a", 2)],
    )
    assert forget_report.report(found, ZoneInfo("UTC")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  gmail  1970-01-01 00:00  email:a  (2 phrases)" in lines
    assert "  what exceeds the sample" in lines
    assert lines[-1].startswith("Searched 3 files for 20,000 values (a sample)")
    assert f"looks for {verification.MAX_VALUES:,} values at most" in PRIVACY
