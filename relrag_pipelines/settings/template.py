"""Generates the template of a relrag.toml, and docs/settings.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from relrag_pipelines.settings.config_file import ENVIRONMENT_ONLY
from relrag_pipelines.settings.models import STRUCTURED, Collection, GraphRAG, People, Settings, Source
from relrag_pipelines.settings.policy_presets import ACTIONS, POLICIES, PRESETS
from relrag_pipelines.sources import KINDS

_NAMED = ("name", "kind", "path")
"""options that the template gives each source"""


def _setting(name: str, chosen: Mapping[str, Any], remark: str) -> list[str]:
    """The lines of a setting: its description, a remark, and its value, which is a comment where it is the default."""
    declared = Settings.model_fields[name]
    value = chosen.get(name, declared.get_default(call_default_factory=True))
    mark = "" if name in chosen else "# "
    comments = [f"# {remark}"] if remark else []
    return [f"# {declared.description}", *comments, f"{mark}{name} = {_toml(value)}", ""]


def template(
    archive: str, sources: list[dict[str, Any]], chosen: Mapping[str, Any], remarks: Mapping[str, str] | None = None
) -> str:
    """A relrag.toml with the `chosen` settings and `sources`; every other setting is a comment with its default.

    `remarks` are comments by setting name. Raises ValueError if a value cannot be written in TOML, such as a path that
    is not Unicode.
    """
    lines = ["# Settings of this archive. Commented lines show the defaults; docs/settings.md explains them all.", ""]
    for name in filter(lambda name: name not in STRUCTURED, Settings.model_fields):
        lines += _setting(name, {"archive": archive, **chosen}, (remarks or {}).get(name, ""))
    channel, policy = next(iter(POLICIES.items()))
    lines += ["# Redaction of a channel can be changed, by a table such as this:", f"#   [pii_policies.{channel}]"]
    lines += [*(f"#   {name} = {_toml(value)}" for name, value in policy.items()), ""]
    lines += ["# GraphRAG indexes are made where this table is given:", "#   [graphrag]", *_graphrag_template(), ""]
    lines += ["# A language model reads texts for facts about people where this table is given:", "#   [people]"]
    lines += [*_example(People, {"method": "llm"}), ""]
    options = [_option(name, field) for name, field in Source.model_fields.items() if name not in _NAMED]
    for number, source in enumerate(sources):
        lines += ["[[sources]]", *(f"{key} = {_toml(value)}" for key, value in source.items())]
        lines += ["", *([] if number else ["# any source may also have:", *options, ""])]
    return "\n".join(lines)


def markdown() -> str:
    """docs/settings.md."""
    lines = ["# Settings", "", "Generated from `relrag_pipelines/settings/` by `make docs`; do not edit.", ""]
    lines += [
        "A setting is read from `RELRAG_<NAME>`, else from relrag.toml, else it has its default. An empty variable"
    ]
    lines += ["counts as not set. Keys, kinds and `RELRAG_*` variables that are not listed here are refused.", ""]
    lines += ["| setting | default | meaning |", "|---|---|---|"]
    lines += [
        f"| `{name}` | {_default(declared)} | {declared.description} |"
        for name, declared in Settings.model_fields.items()
        if name != "folder"
    ]
    lines += ["", "## `[[sources]]`", "", "| key | default | meaning |", "|---|---|---|"]
    lines += [
        f"| `{name}` | {_default(declared)} | {declared.description} |"
        for name, declared in Source.model_fields.items()
    ]
    lines += ["", "## Kinds", "", "| kind | reads |", "|---|---|"]
    lines += [f"| `{kind.name}` | {kind.meaning} |" for kind in KINDS.values()]
    for title, model in (("[graphrag]", GraphRAG), ("[graphrag.collections.<name>]", Collection), ("[people]", People)):
        lines += ["", f"## `{title}`", "", "| key | default | meaning |", "|---|---|---|"]
        lines += [
            f"| `{name}` | {_default(field)} | {field.description} |" for name, field in model.model_fields.items()
        ]
    lines += ["", "## `[pii_policies.<channel>]`", "", "| channel | entities | action |", "|---|---|---|"]
    lines += [
        f"| `{name}` | {', '.join(policy['entities'])} | {policy['action']} |" for name, policy in POLICIES.items()
    ]
    strict = PRESETS["strict"]["default"]
    lines += [f'| all, with `pii_preset = "strict"` | {", ".join(strict["entities"])} | {strict["action"]} |', ""]
    lines += ["`actions` gives single entities another action, and has them looked for.", ""]
    lines += ["| action | what stands in for a value |", "|---|---|"]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in ACTIONS.items()]
    lines += ["", "## Environment only", "", "| variable | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in ENVIRONMENT_ONLY.items()]
    return "\n".join([*lines, ""])


def _graphrag_template() -> list[str]:
    part = ["#   [graphrag.collections.letters]  # an index of a part", '#   kinds = ["gmail"]']
    return _example(GraphRAG, {"method": "fast"}) + part


def _example(table: type[BaseModel], example: Mapping[str, Any]) -> list[str]:
    """The simple values of a table as commented lines, each with its default or from `example`."""
    return [
        f"#   {name} = {_toml(example.get(name, field.default))}  # {field.description}"
        for name, field in table.model_fields.items()
        if name != "collections"
    ]


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(_toml(element) for element in value)}]"
    return f'"{"".join(_toml_character(character) for character in str(value))}"'


def _toml_character(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if 0xD800 <= ord(character) <= 0xDFFF:
        raise ValueError("a path or name is not Unicode; rename it")
    # TOML 1.0 allows no line ends, tabs or other control characters in basic strings
    return f"\\u{ord(character):04x}" if ord(character) < 0x20 or ord(character) == 0x7F else character


def _option(name: str, declared: Any) -> str:
    example = (declared.examples or [declared.get_default(call_default_factory=True)])[0]
    return f"# {name} = {_toml(example)}  # {declared.description}"


def _default(declared: Any) -> str:
    if declared.is_required():
        return "required"
    if declared.default_factory is not None:
        return "none" if declared.default_factory is list else "see below"
    return "none" if declared.default in (None, "") else f"`{_toml(declared.default)}`"
