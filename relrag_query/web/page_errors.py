"""What a page says when something went wrong, or could not be read: in the language of the page."""

from __future__ import annotations

from http import HTTPStatus

from starlette.requests import Request

from relrag_pipelines.privacy import fault_report
from relrag_query.http.problems import describe
from relrag_query.people.indexed_person import SeveralPeople
from relrag_query.service import Service
from relrag_query.service.person_replies import PersonChoice
from relrag_query.web.wording import Wording, preferred_wording

_REMEDIES = {
    "access": ("link_outside", "not_a_file", "unreadable"),
    "again": (
        *("broken_page", "broken_part", "compression", "corrupt", "cut_off", "damaged", "damaged_audio", "no_end"),
        *("no_page", "not_a_tar", "not_a_zip", "not_json", "shallow", "truncated"),
    ),
    "charset": ("charset", "garbled_text"),
    "forgotten": ("like_forgotten",),
    "format": (
        *("collection", "mixed_forms", "no_cards", "no_clipping", "no_cues", "no_messages", "not_a_calendar"),
        *("not_a_chat", "not_a_log", "not_mail", "not_read", "old_format", "two_transcripts", "unreadable_calendar"),
        *("unsupported", "wrong_format"),
    ),
    "item": (
        *("bad_calendar_line", "bad_calendar_property", "bad_cue", "bad_line", "bad_row", "bad_timestamp", "bad_value"),
        *("covers", "date", "duplicate_id", "missing_id", "no_date", "no_event", "no_header", "no_id", "no_name"),
        *("not_a_message", "not_a_point", "not_object", "odd_time", "open_quote", "unknown_zone", "wrong_cells"),
        "wrong_type",
    ),
    "limits": (
        *("memory_limit", "text_too_long", "time_limit", "too_deep", "too_large", "too_long", "too_many_events"),
    ),
    "nothing": ("binary", "empty", "generated", "ignored", "irregular_rules", "no_speech", "no_text", "vendored"),
    "ocr": ("ocr", "picture", "scanned"),
    "order": ("date_order", "half_of_day"),
    "password": ("encrypted",),
    "private": ("known_value",),
    "program": ("git_missing", "needs_library", "no_model", "not_transcribed"),
    "report": ("crash", "internal", "killed", "redaction"),
    "server": ("server",),
    "unpack": ("nested_zip", "unsafe_path", "zip"),
}
REMEDY_OF = {fault: remedy for remedy, faults in _REMEDIES.items() for fault in faults}
"""fault word of a failure -> what helps against it, by its key in the table `remedy` of the pages"""


def people_meant(service: Service, error: Exception) -> list[PersonChoice]:
    """The people whom the name in an error may mean, to choose from."""
    return service.people_to_choose(error.person_ids) if isinstance(error, SeveralPeople) else []


def described_choice(choice: PersonChoice, words: Wording) -> str:
    """What tells a person from others of the name: 12 records, the newest of 3 May 2024."""
    records = str(words.say("base.records", choice.records))
    return f"{records}, {words.day(choice.latest, clock=False)}" if choice.latest else records


def describe_on_page(request: Request, error: Exception) -> tuple[int, str]:
    """The status of an error, and what a page says of it; in English where the pages have no text for it."""
    status, message = describe(error)
    words = preferred_wording(request.headers.get("accept-language", ""))
    if isinstance(error, SeveralPeople):
        return HTTPStatus.MULTIPLE_CHOICES, words.fill("people.several", **error.values)
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        where = f"{type(error).__name__}, {fault_report.code_location(error)}"
        return status, words.fill("error.unexpected", where=where)
    return status, words.error(error) or message
