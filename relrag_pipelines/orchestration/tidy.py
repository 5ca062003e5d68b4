"""Ends runs whose process has died, before a UI starts: `python -m relrag_pipelines.orchestration.tidy`.

A process of its own, since `relrag ui`, which waits as long as the UI runs, would take 150 MB more with Dagster.
"""

from __future__ import annotations

import sys

from relrag_pipelines import settings
from relrag_pipelines.orchestration import runner
from relrag_pipelines.settings import SettingsError
from relrag_pipelines.workspace import Workspace


def main() -> None:
    """Ends with 2, and prints why, where the instance cannot be opened."""
    try:
        runner.tidy_before_ui(Workspace(settings.load()))
    except SettingsError as error:
        print(error)
        sys.exit(2)


if __name__ == "__main__":
    main()
