"""What may import what: Dagster stays in its shells, and the commands start without anything heavy."""

import ast
import functools
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from relrag_pipelines.sources import KINDS, RECORD_TYPES
from tests import ROOT, archive

PACKAGES = ("relrag_pipelines", "relrag_query")
MODULES = sorted(path.relative_to(ROOT).as_posix() for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
DAGSTER_SHELLS = (
    "relrag_pipelines/assets/",
    "relrag_pipelines/assets/run_tags.py",
    "relrag_pipelines/definitions.py",
    "relrag_pipelines/orchestration/runner.py",
    "relrag_pipelines/orchestration/sqlite_storage.py",
    "relrag_pipelines/ui/server.py",
)
WRITERS = "relrag_pipelines.orchestration.runner"
ASKS = "relrag_pipelines/assets/evaluation.py"
REPORTERS = {"onnxruntime", "fastembed", "faster_whisper", "huggingface_hub", "hf_xet", "ray"}
"""what sends reports of its use unless relrag_pipelines/__init__.py was there before it, or imports what does"""
EVERYWHERE = MODULES + sorted(
    path.relative_to(ROOT).as_posix()
    for name in ("bench", "docs", "examples", "tests")
    for path in (ROOT / name).rglob("*.py")
    if ".venv" not in path.parts
)
HEAVY = {"dagster", "pyarrow", "presidio_analyzer", "duckdb", "qdrant_edge", "rich", "numpy"}


@functools.cache
def imported(module: str, *, at_top: bool = False) -> tuple[str, ...]:
    """Full names of what a module imports: everywhere, or only when it is imported itself."""
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    return tuple(names(module, nodes_at_top(tree) if at_top else ast.walk(tree)))


def nodes_at_top(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that are in no function, and not for types only."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_for_types(node):
            yield node
            yield from nodes_at_top(node)


def names(module: str, nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Full names of what these nodes import."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            yield from (f"{node.module}.{name.name}" for name in node.names)


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imports(begins: tuple[str, ...], *, at_top: bool = False) -> set[tuple[str, str]]:
    """Modules, and what each imports that begins so."""
    return {(module, name) for module in MODULES for name in imported(module, at_top=at_top) if name.startswith(begins)}


def test_dagster_stays_in_its_shells() -> None:
    assert {module for module, _ in imports(("dagster",)) if not module.startswith(DAGSTER_SHELLS)} == set()


def test_queries_reach_dagster_only_through_the_commands_that_write() -> None:
    shells = (WRITERS, "relrag_pipelines.definitions", "relrag_pipelines.assets", "relrag_pipelines.ui.server")
    at_top, within = (
        {(module, name) for module, name in found if module.startswith("relrag_query/")}
        for found in (imports(shells, at_top=True), imports(shells))
    )
    assert at_top == set()
    assert {one for one in within if not one[0].startswith("relrag_query/cli/commands/")} == set()
    assert {name for _, name in within if not name.startswith(WRITERS)} == set()


LAYERS = [
    *(
        f"relrag_pipelines/{name}"
        for name in ("__init__.py", "errors.py", "records.py", "files", "privacy", "languages", "text", "workers")
    ),
    *(
        f"relrag_pipelines/{name}"
        for name in (
            *("sources", "stores", "settings", "pii", "model_service.py"),
            *("embedders", "language_models", "identity"),
        )
    ),
    *(f"relrag_pipelines/{name}" for name in ("journal", "workspace.py", "links", "people", "chunking")),
    *(
        f"relrag_pipelines/{name}"
        for name in ("graphrag", "erasure", "ingest", "onboarding", "stages", "publishing", "legacy")
    ),
    *(
        f"relrag_query/{name}"
        for name in ("__init__.py", "understanding", "retrieval", "people", "display", "answering")
    ),
    *(
        f"relrag_query/{name}"
        for name in (
            "results.py",
            "steps.py",
            "pipeline.py",
            "graph",
            "archive.py",
            "statements",
            "exploration",
            "graphrag",
            "evaluation",
            "forgetting",
            "jobs",
        )
    ),
    "relrag_query/service",
    "relrag_query/owner",
    "relrag_query/operations",
    *(f"relrag_pipelines/{name}" for name in ("assets", "definitions.py", "orchestration", "ui", "maintenance")),
    *(f"relrag_query/{name}" for name in ("langchain.py", "llama_index.py", "http", "mcp", "web")),
    "relrag_query/cli",
]
"""the folders, and the files beside them, from the lowest to the highest"""


def test_no_folder_imports_one_above_it() -> None:
    """Imports within functions and for types count as well."""
    assert {one for one in imports(PACKAGES) if layer(path_of(one[1])) > layer(one[0])} == set()


def layer(path: str) -> int:
    (found,) = (number for number, name in enumerate(LAYERS) if path == name or path.startswith(f"{name}/"))
    return found


def path_of(name: str) -> str:
    """The file or folder of a dotted name, which may end with something that a module holds."""
    parts = name.split(".")[:2]
    folder = "/".join(parts)
    if (ROOT / folder).is_dir() and len(parts) > 1:
        return f"{folder}/"
    return f"{folder}.py" if (ROOT / f"{folder}.py").exists() else f"{parts[0]}/__init__.py"


def test_pipelines_know_nothing_of_queries() -> None:
    """But for the asset that asks what it has published, and imports it only then."""
    begins = ("relrag_query",)
    knowing = {module for module, _ in imports(begins) if module.startswith("relrag_pipelines/")}
    assert knowing == {ASKS}
    assert ASKS not in {module for module, _ in imports(begins, at_top=True)}


def test_what_reports_its_use_is_imported_by_one_package_only() -> None:
    """A package runs its `__init__` before any module of it, and that of relrag_pipelines forbids the reports."""
    importing = {
        module
        for module in EVERYWHERE
        if "/.venv/" not in module
        if {name.split(".")[0] for name in imported(module)} & REPORTERS
    }
    assert importing == {
        "relrag_pipelines/embedders/e5/__init__.py",
        "relrag_pipelines/embedders/fastembed.py",
        "relrag_pipelines/embedders/minilm.py",
        "relrag_pipelines/sources/call_recording/transcribe.py",
        "relrag_pipelines/workers/ray_tasks.py",
    }


@pytest.mark.parametrize("module", ["relrag_pipelines", "relrag_query.cli", "relrag_query.archive"])
def test_a_variable_cannot_turn_reports_on(module: str) -> None:
    """What is read is the environment of the process, which libraries in C ask."""
    script = (
        f"import ctypes, {module}; ask = ctypes.CDLL(None).getenv; ask.restype = ctypes.c_char_p; "
        "print(*map(ask, (b'ORT_DISABLE_TELEMETRY', b'HF_HUB_DISABLE_TELEMETRY', b'RAY_USAGE_STATS_ENABLED')))"
    )
    given = {"ORT_DISABLE_TELEMETRY": "0", "HF_HUB_DISABLE_TELEMETRY": "0", "RAY_USAGE_STATS_ENABLED": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=given, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "b'1' b'1' b'0'\n"


def test_modules_are_named_for_what_they_are_about() -> None:
    names = {part for module in MODULES for part in Path(module).with_suffix("").parts}
    assert names.isdisjoint({"utils", "helpers", "common", "misc"})


NAMES_A_KIND = {
    "relrag_pipelines/settings/models.py": "examples of values",
    "relrag_pipelines/settings/policy_presets.py": "policies, by the channels that they were made for",
    "relrag_pipelines/identity/entries.py": "kinds of identifiers",
    "relrag_pipelines/identity/participants.py": "kinds of identifiers",
    "relrag_pipelines/identity/suggestions.py": "kinds of identifiers",
    "relrag_pipelines/identity/journal_statements.py": "a kind of statement",
    "relrag_pipelines/people/profiles.py": "a field of what a card says",
    "relrag_query/cli/people_report.py": "kinds of identifiers",
    "relrag_query/people/answers.py": "kinds of identifiers",
    "relrag_query/people/questions.py": "kinds of identifiers",
    "relrag_pipelines/text/values.py": "a type of values",
    "relrag_query/answering/features.py": "a type of values",
    "relrag_query/answering/reader/support.py": "a type of values",
    "relrag_pipelines/erasure/verification.py": "kinds of identifiers",
    "relrag_pipelines/pii/entities.py": "kinds of identifiers",
    "relrag_pipelines/pii/spelled_addresses.py": "a word",
    "relrag_pipelines/pii/emails.py": "the program git",
    "relrag_pipelines/onboarding/archive_owner.py": "the program git",
    "relrag_pipelines/onboarding/environment.py": "the program git",
    "relrag_query/understanding/intent.py": "patterns of questions",
    "relrag_query/exploration/nodes.py": "a field of a record",
    "relrag_query/graph/full_graph.py": "types of nodes, by the names that front ends know",
    "relrag_query/retrieval/attachment_filter.py": "types of files",
    "relrag_query/graphrag/citations.py": "names of tables that models write",
    "relrag_query/graphrag/chunk_lookup.py": "a field of another store",
    "relrag_query/graphrag/page_lookup.py": "a field of another store",
    "relrag_query/graphrag/service.py": "a field of a source",
    "relrag_query/graphrag/workspace.py": "a column of a table",
}
"""what has a word in it that is also the name of a kind or of a type of records -> what it means there"""


EVERYDAY_WORDS = frozenset({"note", "notes", "task", "tasks", "photo", "photos", "calendar", "bank"})
"""names of kinds and of types of records that are words of modules which know nothing of these kinds"""


def test_no_module_outside_of_sources_names_a_kind() -> None:
    """What is known of a kind stands in its row of sources/kinds.py."""
    names = (KINDS.keys() | RECORD_TYPES.keys()) - EVERYDAY_WORDS | {f"{name}:" for name in KINDS}
    naming = {
        module
        for module in MODULES
        if not module.startswith("relrag_pipelines/sources/")
        for node in ast.walk(ast.parse((ROOT / module).read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in names
    }
    assert naming == NAMES_A_KIND.keys()


@pytest.mark.parametrize("command", [[], ["sync"], ["ask"], ["init"]], ids=["all", "sync", "ask", "init"])
def test_help_is_quick_and_loads_nothing_heavy(command: list[str]) -> None:
    script = f"""
import sys, time
begun = time.process_time()
import typer
library = time.process_time() - begun
from relrag_query.cli import command
sys.argv = {["relrag", *command, "--help"]!r}
try:
    command()
finally:
    print((time.process_time() - begun) / library, *sorted({HEAVY!r} & sys.modules.keys()), file=sys.stderr)
"""
    arguments = [sys.executable, "-c", script]
    runs = [subprocess.run(arguments, capture_output=True, text=True, check=True) for _ in range(3)]
    assert all("Usage: relrag" in run.stdout for run in runs)
    times, *heavy = min((run.stderr.split() for run in runs), key=lambda found: float(found[0]))
    assert heavy == []
    assert float(times) < 5, "as often as long as the library that parses the command line takes to load"


NOT_NEEDED = {
    *(
        "dagster",
        "duckdb",
        "pandas",
        "phonenumbers",
        "icalendar",
        "pypdfium2",
        "charset_normalizer",
        "lxml",
        "onnxruntime",
    ),
    *("relrag_pipelines.pii.redactor", "relrag_pipelines.chunking", "relrag_pipelines.erasure.rule_matching"),
    *("relrag_pipelines.sources.mail", "relrag_pipelines.sources.document"),
}
"""what is imported when there is something to do: together it takes longer than finding that there is nothing"""


def test_a_sync_that_finds_nothing_to_do_imports_and_reads_little(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    archive.sync(config)
    script = f"""
import sys
from relrag_query.cli import command
from relrag_pipelines.stores import unit_state as units
loaded, load = [], units.load
units.load = lambda home, source: (loaded.append(source), load(home, source))[1]
sys.argv = ["relrag", "sync", "--config", {str(config)!r}]
code = command()
print(code, sorted(loaded), sorted({NOT_NEEDED!r} & sys.modules.keys()))
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == [
        "Nothing to do: generation 1 is up to date.",
        "0 ['chat', 'notes', 'papers'] []",
    ]
