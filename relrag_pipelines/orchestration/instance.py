"""The configuration of the Dagster instance of a home: dagster/dagster.yaml."""

import hashlib
import re
from pathlib import Path

from relrag_pipelines.files.atomic import write_text

_TEMPLATES = {
    "sqlite": Path(__file__).with_name("dagster.yaml"),
    "postgres": Path(__file__).with_name("dagster_postgres.yaml"),
}
"""by dagster_storage"""
_FOLDER = re.compile(r"#.*; (.+) is its own place\.")
_TICK_DAYS = re.compile(r"(?<=purge_after_days: )\d+")
DEFAULT_TICK_DAYS = 7
_EARLIER = frozenset(
    {
        "c2cbb40739bfa223806e8f5ce78a1fe8f14ab78f5be4adcecd1c5534fab271ea",
        "b190534c2674ed46e669d99cf3c8ae306b4b8fca0a17b5eeba163013b20955a5",
        "c66ada8c1ede4ba6c8a6c3f8f73f3800c5e4e312582a7a4a284c1e7a7804c66b",
        "c327276b878dd17503170a23825062607b9664767e2c8974799155811e878ed0",
        "ec89b45547fbc3b940ad8ac32cac1844a6348e9a8f98b281b7dbf5e9c7990354",
    }
)
"""SHA-256 of templates of earlier versions, which the next sync replaces"""


def dagster_yaml(home: Path, storage: str = "sqlite", tick_days: int = DEFAULT_TICK_DAYS) -> str:
    """The configuration for that home, with Dagster's runs and events kept in that storage, ticks for some days."""
    template = _TEMPLATES[storage].read_text().replace("{tick_days}", str(tick_days))
    return template.replace("{folder}", (home / "dagster").as_posix())


def instance_folder(home: Path, storage: str = "sqlite", tick_days: int = DEFAULT_TICK_DAYS) -> Path:
    """DAGSTER_HOME of the archive, with its dagster.yaml."""
    folder = home / "dagster"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    content = dagster_yaml(home, storage, tick_days)
    file = folder / "dagster.yaml"
    if not file.exists() or file.read_text() != content:  # also after the home has been moved
        write_text(file, content)
    return folder


def is_dagster_yaml(text: str) -> bool:
    """Whether a text is the configuration of some home: one that was moved still names its former folder."""
    folder = _FOLDER.match(text)
    template = _TICK_DAYS.sub("{tick_days}", text.replace(folder[1], "{folder}") if folder else text)
    written = {template_file.read_text() for template_file in _TEMPLATES.values()}
    return template in written or hashlib.sha256(template.encode()).hexdigest() in _EARLIER
