"""Recognises mail sent to many or by a program: lists, newsletters, notifications, automatic replies.

After RFC 2369 (List-Unsubscribe and others), RFC 2919 (List-Id), RFC 3834 (Auto-Submitted), RFC 8058, and what senders
write by custom: Precedence, Feedback-ID, marks of campaigns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

_CAMPAIGN = (
    *("x-campaign", "x-campaignid", "x-mailer-campaign", "x-mailing-id", "x-mc-user", "x-mailchimp", "x-sfmc-stack"),
    *("x-hubspot", "x-csa-complaints", "x-job", "x-cm-campaign", "x-newsletter", "x-mailjet-campaign", "x-sib-id"),
)
"""How the names of such headers begin."""
_AUTOMATIC = ("x-autoreply", "x-autorespond", "x-auto-response-suppress-reply", "x-failed-recipients")


def bulk_reason(headers: Iterable[tuple[str, str]]) -> str | None:
    """The first of these reasons why a mail counts as bulk; None for personal mail.

    auto_submitted: a program answered or reported; mailing_list: a list that people post to; list_id: sent to a list;
    unsubscribe: one can unsubscribe; precedence: bulk, junk or list; campaign; feedback_id: sent through a mass mailer,
    which bills and orders are as well.
    """
    fields: dict[str, str] = {}
    for name, value in headers:
        fields.setdefault(name.strip().lower(), value.strip().lower())
    return next((reason for reason, applies in _REASONS.items() if applies(fields)), None)


_Fields = Mapping[str, str]
"""names of headers -> their values, in lower case"""


def _is_automatic(fields: _Fields) -> bool:
    submitted = fields.get("auto-submitted", "no").split(";")[0].strip()
    return (
        submitted not in ("no", "")
        or any(name in fields for name in _AUTOMATIC)
        or fields.get("precedence") == "auto_reply"
    )


def _is_discussion(fields: _Fields) -> bool:
    """Whether one can post to the list: some lists say NO (RFC 2369, 3.4)."""
    return fields.get("list-post", "no").split("(")[0].strip() not in ("no", "")


_REASONS: Mapping[str, Callable[[_Fields], bool]] = {
    "auto_submitted": _is_automatic,
    "mailing_list": _is_discussion,
    "list_id": lambda fields: bool(fields.get("list-id")),
    "unsubscribe": lambda fields: bool(fields.get("list-unsubscribe")),
    "precedence": lambda fields: fields.get("precedence") in ("bulk", "junk", "list"),
    "campaign": lambda fields: any(name.startswith(_CAMPAIGN) for name in fields),
    "feedback_id": lambda fields: bool(fields.get("feedback-id")),
}
"""reason -> whether it applies; the first that does counts"""
