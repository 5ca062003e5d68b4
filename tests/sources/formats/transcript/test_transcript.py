"""Transcripts: real caption files with the values of their SOURCE.md, and each program's manner of naming speakers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import transcripts
from relrag_pipelines.records import SpeechSegment
from relrag_pipelines.sources.formats.transcript import (
    Cue,
    Transcript,
    TranscriptError,
    captions,
    format_transcript,
    read,
    speakers,
    swap_speakers,
    word_count,
)
from tests.cases import case_values, cases

COUNTS = {
    "captions_with_bom.vtt": 4, "comments.vtt": 3, "cue_tags.vtt": 3, "invalid_timeframe_in_cue_text.vtt": 4,
    "metadata_headers.vtt": 2, "metadata_headers_multiline.vtt": 2, "missing_caption_text.vtt": 5,
    "missing_caption_text.srt": 4, "missing_caption_text.sbv": 4, "one_caption.vtt": 1, "one_caption.srt": 1,
    "sample.vtt": 16, "sample.srt": 5, "sample.sbv": 5, "styles.vtt": 1, "two_captions.sbv": 2,
    "using_identifiers.vtt": 6, "youtube_dl.vtt": 4,
}  # fmt: skip
"""captions of the files of webvtt-py, as SOURCE.md says"""
WITH_ONE_BAD_CUE = {
    "invalid_timeframe.vtt": (6, "bad_cue"), "invalid_timeframe.srt": (5, "odd_time"),
    "invalid_timeframe.sbv": (4, "bad_cue"), "missing_timeframe.vtt": (6, "bad_cue"),
    "missing_timeframe.srt": (4, "bad_cue"), "missing_timeframe.sbv": (4, "bad_cue"),
}  # fmt: skip
REFUSED = {
    "empty.vtt": "empty", "no_captions.vtt": "no_cues", "invalid_format.sbv": "no_cues",
    "invalid_format1.srt": "no_cues", "invalid_format2.srt": "no_cues", "invalid_format3.srt": "no_cues",
    "invalid_format4.srt": "no_cues",
}  # fmt: skip


@pytest.fixture(scope="module")
def files(shared_data: Path) -> Path:
    return shared_data / "transcripts" / "webvtt_py"


def of(file: Path) -> Transcript:
    return read(file.read_bytes(), file.suffix)


def said(text: str, suffix: str) -> list[tuple[str | None, str]]:
    return [(cue.speaker, cue.text) for cue in read(text.encode(), suffix).cues]


# --- real files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COUNTS)
def test_a_real_file_gives_its_captions_and_no_failure(files: Path, name: str) -> None:
    found = of(files / name)
    assert (len(found.cues), found.faults) == (COUNTS[name], [])


@pytest.mark.parametrize("name", WITH_ONE_BAD_CUE)
def test_of_a_file_with_a_bad_cue_the_others_are_kept_and_it_is_told(files: Path, name: str) -> None:
    found = of(files / name)
    assert (len(found.cues), [fault.fault for fault in found.faults]) == (
        WITH_ONE_BAD_CUE[name][0],
        [WITH_ONE_BAD_CUE[name][1]],
    )


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_is_no_transcript_is_refused(files: Path, name: str) -> None:
    with pytest.raises(TranscriptError) as refused:
        of(files / name)
    assert refused.value.fault == REFUSED[name]


def test_every_file_is_accounted_for(files: Path) -> None:
    there = {file.name for file in files.iterdir() if file.suffix in (".vtt", ".srt", ".sbv")}
    assert there == COUNTS.keys() | WITH_ONE_BAD_CUE.keys() | REFUSED.keys() | {"invalid.vtt"}


def test_captions_without_a_header_are_read_and_told(files: Path) -> None:
    found = of(files / "invalid.vtt")
    assert (len(found.cues), found.cues[6].text) == (7, "Caption text #7")
    assert [fault.fault for fault in found.faults] == ["no_header"]


def test_times_and_texts_of_real_captions(files: Path) -> None:
    assert of(files / "one_caption.vtt").cues == [Cue(0.5, 7.0, None, "Caption text #1")]
    third = of(files / "sample.vtt").cues[2]
    assert (third.start, third.end) == (11.89, 16.32)
    assert [cue.text for cue in of(files / "cue_tags.vtt").cues] == [
        "When the moon hits your eye", "Like a big-a pizza pie", "That's amore",
    ]  # fmt: skip
    assert [cue.start for cue in of(files / "cue_tags.vtt").cues] == [16.5, 18.5, 20.5]
    missing = of(files / "missing_caption_text.vtt").cues
    assert (missing[1].text, missing[2].text) == ("", "Caption text #3")
    assert of(files / "youtube_dl.vtt").language == "en"


def test_rolling_captions_are_joined_without_doubling(files: Path) -> None:
    assert format_transcript(of(files / "youtube_dl.vtt").cues)[0] == "yeah\nwhat\nthis will happen is I'm telling"


def test_a_comment_is_no_caption(files: Path) -> None:
    text = format_transcript(of(files / "comments.vtt").cues)[0]
    assert "Kyle" not in text
    assert "translate well" not in text
    assert "- Det är inte varmt." in text


# --- who speaks -----------------------------------------------------------------------------------------------------

TEAMS = """WEBVTT

7f3c1c2e-0001/12-0
00:00:03.120 --> 00:00:05.800
<v Jan Novák>Dobré ráno, můžeme
začít?</v>

7f3c1c2e-0001/14-0
00:00:06.000 --> 00:00:08.000
<v Petr Svoboda>Ano &amp; hned.</v>
"""
ZOOM = """WEBVTT

1
00:00:01.000 --> 00:00:03.000
Alex Rubin: Listen: the light goes.

2
00:00:03.000 --> 00:00:04.000
Noa Ben-Ami: Yes.

3
00:00:04.000 --> 00:00:06.000
Alex Rubin: Then quickly.

4
00:00:06.000 --> 00:00:07.000
Attention: a train.
"""


def test_voice_tags_as_teams_writes_them() -> None:
    assert said(TEAMS, ".vtt") == [
        ("Jan Novák", "Dobré ráno, můžeme začít?"),
        ("Petr Svoboda", "Ano & hned."),
    ]


def test_several_voices_in_one_caption_are_several_cues() -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:03.000\n<v.loud Ann>Go!\n<v Bob>No."
    assert read(text.encode(), ".vtt").cues == [Cue(1.0, 3.0, "Ann", "Go!"), Cue(1.0, 3.0, "Bob", "No.")]


def test_a_name_before_a_colon_speaks_and_another_word_does_not() -> None:
    assert said(ZOOM, ".vtt") == [
        ("Alex Rubin", "Listen: the light goes."),
        ("Noa Ben-Ami", "Yes."),
        ("Alex Rubin", "Then quickly."),
        (None, "Attention: a train."),
    ]


@pytest.mark.parametrize(*cases(__file__, "text_with_speakers"))
def test_text_with_speakers(text: str, expected: list[str], why: str) -> None:
    assert speakers(read(text.encode(), ".txt").cues) == expected, why


def test_times_in_text_make_cues_that_end_where_the_next_begins() -> None:
    found = read(b"[0:05] Dana: Hi\nhow are you?\n[1:07] Ota: Fine\n", ".txt").cues
    assert found == [
        Cue(5.0, 67.0, "Dana", "Hi"), Cue(5.0, 67.0, "Dana", "how are you?"), Cue(67.0, None, "Ota", "Fine"),
    ]  # fmt: skip
    clock = read(b"[Dana] 10:01:05\nHi\n[Ota] 10:02:07\nHello\n", ".txt").cues
    assert [cue.start for cue in clock] == [0.0, 62.0], "times of the day count from the first"


def test_prose_is_one_cue_as_it_stands() -> None:
    assert read(b"First line.\n\n  Second.\n", ".txt").cues == [Cue(None, None, None, "First line.\n\n  Second.")]


def test_transcripts_of_whisper_and_its_relatives() -> None:
    whisper = b'{"language": "he", "segments": [{"start": 0, "end": 2.5, "text": " Hi "}, {"start": "x", "text": 7}]}'
    found = read(whisper, ".json")
    assert (found.cues, found.language) == ([Cue(0, 2.5, None, "Hi")], "he")
    assert [fault.fault for fault in found.faults] == ["bad_cue"]
    named = b'{"segments": [{"start": 1, "end": 2, "speaker": "SPEAKER_00", "text": "Hi"}]}'
    assert read(named, ".json").cues == [Cue(1, 2, "SPEAKER_00", "Hi")]
    cpp = b'{"result": {"language": "cs"}, "transcription": [{"offsets": {"from": 0, "to": 3200}, "text": " Ahoj"}]}'
    assert (read(cpp, ".json").cues, read(cpp, ".json").language) == ([Cue(0, 3.2, None, "Ahoj")], "cs")


@pytest.mark.parametrize(
    ("data", "suffix", "fault"),
    [
        (b"{", ".json", "not_json"),
        (b'{"name": "x"}', ".json", "no_cues"),
        (b"[]", ".json", "no_cues"),
        (b"\x00\x01\x02\x03" * 50, ".vtt", "binary"),
        (b"  \n", ".txt", "empty"),
        (b"WEBVTT\n\nNOTE nothing\n", ".vtt", "no_cues"),
    ],
)
def test_what_is_no_transcript_says_why(data: bytes, suffix: str, fault: str) -> None:
    with pytest.raises(TranscriptError) as refused:
        read(data, suffix)
    assert refused.value.fault == fault


def test_damaged_utf8_is_read_and_told() -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\n" + "Žluťoučký kůň úpěl ďábelské ódy. " * 4
    found = read(text.encode() + b"\xff", ".vtt")
    assert "Žluťoučký kůň" in found.cues[0].text
    assert [(fault.fault, fault.location) for fault in found.faults] == [("charset", "text")]


def test_overlapping_and_backward_cues_are_kept_with_sound_times() -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:09.000\nA\n\n00:02.000 --> 00:03.000\nB\n\n00:08.000 --> 00:07.000\nC\n"
    assert format_transcript(read(text.encode(), ".vtt").cues) == (
        "A\nB\nC", [SpeechSegment(1.0, 9.0, 0, 1), SpeechSegment(2.0, 3.0, 2, 3), SpeechSegment(8.0, 8.0, 4, 5)],
    )  # fmt: skip


def test_windows_line_ends_and_long_hours() -> None:
    text = "1\r\n100:00:01,000 --> 100:00:02,500\r\nHello\r\n\r\n2\r\n100:00:03,000 --> 100:00:04,000\r\nagain\r\n"
    assert read(text.encode(), ".srt").cues == [
        Cue(360001.0, 360002.5, None, "Hello"), Cue(360003.0, 360004.0, None, "again"),
    ]  # fmt: skip


def test_subrip_numbers_without_an_empty_line_are_no_text() -> None:
    text = "1\n00:00:01,000 --> 00:00:02,000\nHello\n2\n00:00:03,000 --> 00:00:04,000\n1984\n"
    assert [cue.text for cue in read(text.encode(), ".srt").cues] == ["Hello", "1984"]


# --- one text -------------------------------------------------------------------------------------------------------


def test_turns_are_lines_and_every_cue_has_its_place() -> None:
    cues = [Cue(0, 1, "Dana", "Hi."), Cue(1, 2, "Dana", "You?"), Cue(2, 3, "Ota", "Fine."), Cue(3, 4, None, "(door)")]
    text, spoken = format_transcript(cues)
    assert text == "Dana: Hi. You?\nOta: Fine.\n(door)"
    assert [text[one.start : one.end] for one in spoken] == ["Dana: Hi.", " You?", "Ota: Fine.", "(door)"]
    assert [(one.start_second, one.end_second) for one in spoken] == [(0, 1), (1, 2), (2, 3), (3, 4)]


CUES = st.lists(
    st.builds(
        Cue,
        st.floats(0, 1e5),
        st.floats(0, 1e5),
        st.sampled_from([None, "Dana", "Ota"]),
        st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=9),
    ),
    max_size=9,
)


@given(CUES)
def test_the_places_of_the_cues_follow_each_other_and_hold_their_texts(cues: list[Cue]) -> None:
    text, spoken = format_transcript(cues)
    heard = [cue for cue in cues if cue.text]
    assert len(spoken) == len(heard)
    for one, cue in zip(spoken, heard, strict=True):
        assert text[one.start : one.end].endswith(cue.text)
        assert one.start_second <= one.end_second
    assert all(before.end <= after.start for before, after in pairwise(spoken))
    assert not spoken or spoken[-1].end == len(text)


def test_two_speakers_can_be_swapped_and_three_not() -> None:
    two = [Cue(0, 1, "Dana", "Hi"), Cue(1, 2, "Ota", "Yo"), Cue(2, 3, None, "-")]
    assert [cue.speaker for cue in swap_speakers(two)] == ["Ota", "Dana", None]
    assert swap_speakers(swap_speakers(two)) == two
    three = [*two, Cue(3, 4, "Eva", "No")]
    assert swap_speakers(three) == three


def test_words_are_compared_without_times_and_speakers() -> None:
    assert word_count([Cue(0, 1, "A", "one  two")]) == word_count(
        [Cue(None, None, None, "one"), Cue(None, None, None, "two")]
    )


PIECES = case_values(__file__, "pieces")


ALIKE = [
    *("WEBVTT\n", "00:00:01.000 --> 00:00:02.000", "00:00:03,000 --> 00:00:04,500", "", "", "7", "7f3c/1-0", "- Hi: x"),
    *("00:61:01.000 --> 00:00:02.000", "00:00:01.000 --> 00:00:02.000 align:start", "a --> b", "NOTE x", "Ann: hi"),
    *("<v Ann>hi there</v>", "<v Ann> a &amp; b", "<v Ann>one\ntwo</v>", "<v Ann>a<v Bob>b", "<i>x</i>", "Ann: a\n- b"),
]


@given(st.lists(st.sampled_from(ALIKE)), st.sampled_from([captions.vtt, captions.srt]))
def test_captions_read_as_a_whole_are_those_read_one_by_one(
    lines: list[str], reader: Callable[[str], Transcript]
) -> None:
    text = "\n".join(lines)
    whole = reader(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(captions, "_cut_uniform", lambda text: None)
        patch.setattr(captions, "_uniform_texts", lambda *parts: None)
        patch.setattr(captions, "_ONE_VOICE", re.compile("(?!)"))
        assert reader(text) == whole


def test_long_captions_are_read_as_a_whole(tmp_path: Path) -> None:
    """Else they are read at a third of the speed."""
    for name in ("teams.vtt", "zoom.vtt", "subrip.srt"):
        transcripts.write(tmp_path / name, cues=20)
        cut = captions._cut_uniform((tmp_path / name).read_text())
        assert cut, name
        assert (len(cut.starts), cut.starts[3], cut.ends[3]) == (20, 12.0, 15.5)
        assert captions._uniform_texts(cut.bodies, name.endswith(".srt"), "-->"), name


def caption_file(*lines: str) -> bytes:
    cues = (f"00:00:{n:02}.000 --> 00:00:{n + 1:02}.000\n{line}\n" for n, line in enumerate(lines))
    return ("WEBVTT\n\n" + "\n".join(cues)).encode()


@pytest.mark.parametrize(
    ("lines", "speakers"),
    [
        (
            ["Jana: Hello.", "Petr Novák: Hi.", "Ludwig van der Berg: Servus."],
            ["Jana", "Petr Novák", "Ludwig van der Berg"],
        ),
        (["יעל: שלום", "נועה: היי"], ["יעל", "נועה"]),
        (["李雷: 你好", "韩梅梅: 你好"], ["李雷", "韩梅梅"]),
        (["Jana: Hello.", "Jana: Again.", "Petr: Hi.", "and more"], ["Jana", "Jana", "Petr", None]),
        (["Speaker 1: Hello.", "Speaker 2: Hi."], ["Speaker 1", "Speaker 2"]),
        # no dialogue: one line, or few, or a sentence before the colon
        (["Jana: Hello."], [None]),
        (["We talk.", "Note: this is recorded.", "Then we go.", "And stop."], [None] * 4),
        (["there is one rule: be kind", "and another: be quick"], [None, None]),
    ],
)
def test_captions_in_which_each_speaks_once(lines: list[str], speakers: list[str | None]) -> None:
    for suffix in (".vtt", ".srt"):
        data = caption_file(*lines)
        data = data.removeprefix(b"WEBVTT\n\n").replace(b".000", b",000") if suffix == ".srt" else data
        found = read(data, suffix)
        assert [cue.speaker for cue in found.cues] == speakers
        assert all(not cue.text.startswith(f"{cue.speaker}:") for cue in found.cues)


@pytest.mark.parametrize(*cases(__file__, "json_of_other_programs_is_no_transcript"))
def test_json_of_other_programs_is_no_transcript(found: object) -> None:
    with pytest.raises(TranscriptError) as refused:
        read(json.dumps(found).encode(), ".json")
    assert refused.value.fault == "no_cues"


def test_a_list_of_segments_is_a_transcript() -> None:
    found = [{"start": 0.0, "end": 2.5, "text": " Hello", "speaker": "A"}, {"start": 2.5, "end": 4, "text": "there"}]
    assert read(json.dumps(found).encode(), ".json").cues == [Cue(0, 2.5, "A", "Hello"), Cue(2.5, 4, None, "there")]


@given(st.lists(st.sampled_from(PIECES)), st.sampled_from([".vtt", ".srt", ".sbv", ".json", ".txt", ".md"]))
def test_any_text_gives_cues_or_is_refused(lines: list[str], suffix: str) -> None:
    try:
        found = read("\n".join(lines).encode(), suffix)
    except TranscriptError as refused:
        assert refused.fault in ("empty", "no_cues", "not_json", "binary", "charset")
    else:
        text, spoken = format_transcript(found.cues)
        assert text.strip()
        assert all(0 <= one.start < one.end <= len(text) for one in spoken)


def numbered(*bodies: str) -> str:
    return "".join(
        f"{number}\n00:00:0{number},000 --> 00:00:0{number},900\n{body}\n" for number, body in enumerate(bodies, 1)
    )


@pytest.mark.parametrize(
    ("bodies", "texts", "faults"),
    [
        (["first\n\nsecond half\n", "next\n"], ["first second half", "next"], []),
        (["first\n\n\n\nsecond\n \nthird\nfourth\n", "next\n"], ["first second third fourth", "next"], []),
        (["\nbelow an empty line\n", "next\n"], ["below an empty line", "next"], []),
        (["first\n", "last\n\nNOTE that it goes on\n"], ["first", "last NOTE that it goes on"], []),
        (["first\n\nsecond half", "next\n\nfourth half"], ["first second half", "next fourth half"], []),
        (["first\n\n7\na cue without a time\n", "next\n"], ["first", "next"], ["bad_cue"]),
        (["first\n\n7\n00:0x --> 00:09\nanother\n\nits second half\n", "next\n"], ["first", "next"], ["bad_cue"]),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_text_behind_an_empty_line_belongs_to_its_cue(
    bodies: list[str], texts: list[str], faults: list[str], line_end: str
) -> None:
    transcript = read(numbered(*bodies).replace("\n", line_end).encode(), ".srt")
    assert [cue.text for cue in transcript.cues] == texts
    assert [fault.fault for fault in transcript.faults] == faults
