"""The page of the archive: contents, pending work, failures and evaluation results."""

from __future__ import annotations

from typing import Any

from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import evaluation_history
from relrag_pipelines.ui.guard import USUAL_PORT, address
from relrag_query.service import Service
from relrag_query.service.archive_status import redacted_failures

_MAX_FAILURES = 200
"""maximum rows of the list"""
_MAX_EVALUATIONS = 40
"""number of evaluations on the page, newest ones"""


def template_context(service: Service) -> dict[str, Any]:
    """The context of the template. Raises NotServed if the service is limited to clients."""
    settings = service.settings
    status = service.status()
    failures = redacted_failures(settings)
    return {
        "archive": status,
        "failures": failures[:_MAX_FAILURES],
        "more": len(failures) - _MAX_FAILURES,
        "zone": service.zone,
        "evaluations": evaluation_history.load(settings.home_path)[-_MAX_EVALUATIONS:],
        "ui": _ui(settings),
    }


def _ui(settings: Settings) -> str:
    """Address of Dagster's UI; empty behind a proxy, since its users cannot reach ports of this machine."""
    return settings.ui_public_url or ("" if settings.web_public_url else address("127.0.0.1", USUAL_PORT))
