"""The page of the archive: what is indexed, how fresh it is, what failed, and how well it has answered."""

from __future__ import annotations

from typing import Any

from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import evaluation_history
from relrag_pipelines.ui.guard import USUAL_PORT, address
from relrag_query.service import Service
from relrag_query.service.archive_status import redacted_failures

_FAILURES = 200
"""rows of a list"""
_EVALUATIONS = 40
"""the newest that are shown"""


def template_context(service: Service) -> dict[str, Any]:
    """What the template shows. Raises NotServed to those who see a part of the archive."""
    settings = service.settings
    status = service.status()
    failures = redacted_failures(settings)
    return {
        "found": status,
        "failures": failures[:_FAILURES],
        "more": len(failures) - _FAILURES,
        "zone": service.zone,
        "evaluations": evaluation_history.load(settings.home_path)[-_EVALUATIONS:],
        "ui": _ui(settings),
    }


def _ui(settings: Settings) -> str:
    """Where Dagster's UI is, if it is served: who comes through a proxy reaches no port of this machine."""
    return settings.ui_public_url or ("" if settings.web_public_url else address("127.0.0.1", USUAL_PORT))
