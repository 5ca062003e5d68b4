"""Recognises mail sent to many or by a program: lists, newsletters, notifications, automatic replies.

After RFC 2369 (List-Unsubscribe and others), RFC 2919 (List-Id), RFC 3834 (Auto-Submitted), RFC 8058, and what senders
write by custom: Precedence, Feedback-ID, marks of campaigns.
"""

from __future__ import annotations

from collections.abc import Iterable

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
    precedence = fields.get("precedence", "")
    if fields.get("auto-submitted", "no").split(";")[0].strip() not in ("no", "") or any(
        n in fields for n in _AUTOMATIC
    ):
        return "auto_submitted"
    if precedence == "auto_reply":
        return "auto_submitted"
    if fields.get("list-post", "no").split("(")[0].strip() not in ("no", ""):
        return "mailing_list"
    for name, reason in (("list-id", "list_id"), ("list-unsubscribe", "unsubscribe")):
        if fields.get(name):
            return reason
    if precedence in ("bulk", "junk", "list"):
        return "precedence"
    if any(name.startswith(_CAMPAIGN) for name in fields):
        return "campaign"
    return "feedback_id" if fields.get("feedback-id") else None
