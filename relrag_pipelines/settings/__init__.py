"""Every setting, declared once: its default, its meaning, where it may be set.

A setting comes from `RELRAG_<NAME>` in the environment (an empty variable counts as not set), else from relrag.toml,
else from its default. The template that `relrag init` writes and docs/settings.md are derived from the declarations in
`models.py` and `policy_presets.py`. An unknown key, kind or `RELRAG_*` variable is an error that names the known ones.
"""

from relrag_pipelines.settings.config_file import ENVIRONMENT_ONLY, default_embedder, find_config, load, now
from relrag_pipelines.settings.models import (
    BUILT_IN,
    COLLECTION_NAME,
    CONFIG_NAME,
    OFF,
    Collection,
    GraphRAG,
    People,
    Settings,
    SettingsError,
    Source,
    days,
)
from relrag_pipelines.settings.policy_presets import ACTIONS, POLICIES, PRESETS, Policy
from relrag_pipelines.settings.template import markdown, template

__all__ = [
    "ACTIONS",
    "BUILT_IN",
    "COLLECTION_NAME",
    "CONFIG_NAME",
    "ENVIRONMENT_ONLY",
    "OFF",
    "POLICIES",
    "PRESETS",
    "Collection",
    "GraphRAG",
    "People",
    "Policy",
    "Settings",
    "SettingsError",
    "Source",
    "days",
    "default_embedder",
    "find_config",
    "load",
    "markdown",
    "now",
    "template",
]
