"""The configuration of the Dagster instance of a home: dagster/dagster.yaml."""

import re
from pathlib import Path

_TEMPLATES = {
    "sqlite": Path(__file__).with_name("dagster.yaml"),
    "postgres": Path(__file__).with_name("dagster_postgres.yaml"),
}
"""by dagster_storage"""


def dagster_yaml(home: Path, storage: str = "sqlite") -> str:
    """The configuration for that home, with Dagster's runs and events kept in that storage."""
    return _TEMPLATES[storage].read_text().replace("{folder}", (home / "dagster").as_posix())


def is_dagster_yaml(text: str) -> bool:
    """Whether a text is the configuration of some home: one that was moved still names its former folder."""
    return any(_matches_template(template.read_text(), text) for template in _TEMPLATES.values())


def _matches_template(template: str, text: str) -> bool:
    anywhere = "(?P<folder>.+)".join(map(re.escape, template.split("{folder}", 1)))
    return bool(re.fullmatch(anywhere.replace(r"\{folder\}", "(?P=folder)"), text))
