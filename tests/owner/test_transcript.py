"""A transcript in the stretches that a player follows."""

from relrag_pipelines.records import SpeechSegment
from relrag_query.owner.transcript import Segment, segments

TEXT = "Dana: Hello. How are you?\nOmer: Fine."


def test_stretches_are_in_order_of_time_and_say_where_another_speaks() -> None:
    spoken = [SpeechSegment(4.0, 5.0, 26, 37), SpeechSegment(0.0, 1.5, 0, 12), SpeechSegment(1.5, 3.0, 12, 25)]
    assert segments(TEXT, spoken) == [
        Segment(0.0, 1.5, "Dana: Hello.", True),
        Segment(1.5, 3.0, "How are you?", False),
        Segment(4.0, 5.0, "Omer: Fine.", True),
    ]


def test_without_times_or_text_there_are_none() -> None:
    assert segments(TEXT, None) == []
    assert segments("   ", [SpeechSegment(0.0, 1.0, 0, 3)]) == []
