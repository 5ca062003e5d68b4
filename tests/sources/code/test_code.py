"""Source files as records: fields, what is left out, odd input."""

import dataclasses
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.records import Record
from relrag_pipelines.sources import KINDS, ListingError, ListingScope
from relrag_pipelines.sources.code import is_generated, text_outside_nested
from relrag_pipelines.sources.code.languages import GRAMMARS, language_of, parser
from tests.repositories import READING, commit, git, make, read, units_of

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
SERVICE = '''"""Users."""
LIMIT = 3


class UserService(Base):
    """Knows users."""

    def authenticate(self, token: str) -> bool:
        return bool(token)

    def refuse(self) -> None:
        pass


def top() -> int:
    return 1
'''


def put(root: Path, name: str, text: str | bytes = "x = 1\n") -> Path:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return root / name


def records(root: Path, name: str, text: str | bytes) -> list[Record]:
    put(root, name, text)
    (unit,) = [one for one in units_of("code", root) if one.path == name]
    items, failures = read("code", unit)
    assert failures == []
    return items


@pytest.mark.requirement("S3-2", "S3-18", "S3-25")
def test_the_records_of_a_file_with_all_their_fields(tmp_path: Path) -> None:
    file = put(tmp_path, "src/users/service.py", SERVICE)
    os.utime(file, (1736520480, 1736520480))
    outside, service, authenticate, refuse, top = records_of(tmp_path)
    assert (outside.subject, outside.text) == ("service.py", '"""Users."""\nLIMIT = 3')
    assert (outside.parent_ref, outside.index_in_parent, outside.total_siblings) == ("users.service", None, 1)
    assert (service.text, service.total_siblings) == ('class UserService(Base):\n    """Knows users."""', 2)
    assert authenticate == Record(
        source_id="0123456789abcdef:UserService.authenticate",
        text="    def authenticate(self, token: str) -> bool:\n        return bool(token)",
        subject="UserService.authenticate",
        ts=1736520480,
        date_quality="modified",
        parent_ref="users.service.UserService",
        index_in_parent=0,
        total_siblings=2,
        content_type="python",
        file_name="src/users/service.py",
        locations=["src/users/service.py#L8-L9"],
        extra={
            "language": "python",
            "package_name": "users.service",
            "symbol_name": "UserService.authenticate",
            "class_name": "UserService",
            "parent_class": "Base",
            "method_name": "authenticate",
            "line_start": 8,
            "line_end": 9,
        },
    )
    assert (refuse.index_in_parent, refuse.parent_ref) == (1, authenticate.parent_ref)
    assert service.parent_ref == authenticate.parent_ref
    assert (top.subject, top.parent_ref, top.index_in_parent, top.total_siblings) == ("top", "users.service", 0, 1)
    assert "class_name" not in top.extra


def records_of(root: Path) -> list[Record]:
    (unit,) = units_of("code", root)
    items, failures = read("code", unit)
    assert failures == []
    return items


def test_overloads_have_ids_of_their_own(tmp_path: Path) -> None:
    found_ = records(tmp_path, "A.java", "class A {\n void f() {}\n void f(int x) {}\n}\n")
    assert [one.source_id.partition(":")[2] for one in found_] == ["A", "A.f", "A.f~2"]
    assert [one.index_in_parent for one in found_] == [None, 0, 1]


def test_equal_paths_of_two_sources_are_two_files(tmp_path: Path) -> None:
    put(tmp_path, "a.py")
    (unit,) = units_of("code", tmp_path)
    asked: list[str] = []

    def hash_(text: str) -> str:
        asked.append(text)
        return "h"

    reading = dataclasses.replace(READING, source="other", hash=hash_)
    list(KINDS["code"].read(unit, reading))
    assert asked == ["other\0a.py"]


def test_other_languages_are_one_record(tmp_path: Path) -> None:
    (one,) = records(tmp_path, "deploy.sh", "#!/bin/sh\nrun() {\n  echo hi\n}\n")
    assert (one.text, one.content_type) == ("#!/bin/sh\nrun() {\n  echo hi\n}", "shell")
    assert (one.locations, one.extra["line_end"]) == (["deploy.sh#L1-L4"], 4)


@pytest.mark.parametrize("language", GRAMMARS)
def test_every_grammar_loads(language: str) -> None:
    assert parser(language).parse(b"x").root_node.end_byte == 1


def test_a_header_is_of_the_language_it_looks_like() -> None:
    assert language_of("a.h", b"struct S;") == "c"
    assert language_of("a.h", b"  class A;") == "cpp"
    assert (language_of("Makefile"), language_of("README.md"), language_of(".gitignore")) == ("make", None, None)


@needs_git
def test_of_a_repository_the_tracked_files_are_read(tmp_path: Path) -> None:
    project = make(tmp_path / "project")
    (tmp_path / "secret.py").write_text("token = 1\n")
    put(project, "vendor/theirs.go")
    put(project, "web/app.min.js")
    put(project, "api/users_pb2.py")
    put(project, "logo.png", b"\x89PNG")
    (project / "link.py").symlink_to(tmp_path / "secret.py")
    commit(project, "one", {"src/pkg/a.py": SERVICE, "gone.py": "x", ".gitignore": "*.log\nbuild/\n"})
    put(project, "untracked.py")
    put(project, "build/out.py")
    put(project, "build/more.py")
    put(project, "x.log")
    (project / "gone.py").unlink()
    (tmp_path / "plain.py").write_text("x = 1\n")
    *files, counted = units_of("code", tmp_path)
    assert [unit.path for unit in files] == ["plain.py", "secret.py", "project/src/pkg/a.py"]
    (none, failures) = read("code", counted)
    assert none == []
    assert [(one.fault, one.message) for one in failures] == [
        ("generated", "left out: 2 generated files, told by their names"),
        ("ignored", "left out: 2 files and folders that git ignores"),
        ("vendored", "left out: 1 files and folders of others' code"),
    ]
    assert read("code", files[2])[0][0].parent_ref == "pkg.a"


@needs_git
def test_a_tracked_file_behind_a_link_is_not_followed(tmp_path: Path) -> None:
    project = make(tmp_path / "project")
    commit(project, "one", {"sub/a.py": "x = 1\n"})
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.py").write_text("secret = 1\n")
    shutil.rmtree(project / "sub")
    (project / "sub").symlink_to(tmp_path / "outside")
    assert units_of("code", project) == []


@needs_git
def test_a_repository_that_git_cannot_list_stops_the_source_so_that_nothing_is_deleted(tmp_path: Path) -> None:
    project = make(tmp_path / "project")
    commit(project, "one", {"a.py": "x = 1\n"})
    (project / ".git" / "HEAD").write_text("nonsense")
    with pytest.raises(ListingError, match=r"the repository project cannot be listed: .* or exclude it"):
        units_of("code", tmp_path)
    units = KINDS["code"].units
    assert units
    assert units(ListingScope(tmp_path, lambda path: path.startswith("project/"))).units == ()


@needs_git
def test_the_work_tree_that_a_config_names_is_not_looked_at(tmp_path: Path) -> None:
    project = make(tmp_path / "project")
    commit(project, "one", {"a.py": "x = 1\n"})
    git(project, "config", "core.worktree", "/")
    assert [unit.path for unit in units_of("code", project)] == ["a.py"]


@pytest.mark.parametrize(
    ("name", "data", "faults"),
    [
        ("a.c", b"int x;\0\x01\x02", ["binary"]),
        ("a.go", b"// Code generated by protoc-gen-go. DO NOT EDIT.\npackage x\n", ["generated"]),
        ("a.js", b"var a=1;" * 1000, ["generated"]),
        ("a.py", '# This file is @generated\nx = "č"\n'.encode(), ["generated"]),
        ("a_pb.py", b'"""Generated protocol buffer code."""\n', ["generated"]),
        ("b.py", b'message = "Do not edit this invoice"\n', []),
        ("c.py", b'"""Tables, generated from the declarations."""\n# reports generated by hand\n', []),
        ("empty.py", b"", []),
    ],
)
def test_what_is_left_out_by_its_content(tmp_path: Path, name: str, data: bytes, faults: list[str]) -> None:
    put(tmp_path, name, data)
    (unit,) = units_of("code", tmp_path)
    assert [one.fault for one in read("code", unit)[1]] == faults
    assert is_generated(data) == (faults == ["generated"])


def test_other_charsets_are_read(tmp_path: Path) -> None:
    text = "# Kontrola přihlášení uživatele a jeho oprávnění, žádné další účely\ndef ověř(): pass\n"
    put(tmp_path, "a.py", text.encode("cp1250"))
    (unit,) = units_of("code", tmp_path)
    (items, _) = read("code", unit)
    assert [one.subject for one in items] == ["ověř"]
    assert items[0].text == text.strip()
    bom = records(tmp_path, "b.py", "\ufeffdef f(): pass\r\ndef g(): pass\r\n".encode())
    assert [(one.subject, one.text) for one in bom] == [("f", "def f(): pass"), ("g", "def g(): pass")]


@pytest.mark.slow
def test_a_hundred_thousand_lines(tmp_path: Path) -> None:
    text = "".join(f"def f{number}():\n" + "    x = 1\n" * 19 for number in range(5_000))
    found_ = records(tmp_path, "long.py", text)
    assert len(found_) == 5_000
    assert (found_[-1].subject, found_[-1].extra["line_end"], found_[-1].total_siblings) == ("f4999", 100_000, 5_000)


def test_twice_the_same_and_in_any_order(tmp_path: Path) -> None:
    for name in ("b.py", "a.py"):
        put(tmp_path, name, SERVICE)
    once = [read("code", unit) for unit in units_of("code", tmp_path)]
    again = [read("code", unit) for unit in reversed(units_of("code", tmp_path))]
    assert once == again[::-1]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60))), st.text("ab {}\n", max_size=60))
def test_texts_hold_every_character_once(pairs: list[tuple[int, int]], text: str) -> None:
    source = text.encode()
    spans = [(min(pair), max(pair)) for pair in pairs if max(pair) <= len(source)]
    spans.sort(key=lambda span: (span[0], -span[1]))
    texts = text_outside_nested(source, spans)
    assert len(texts) == len(spans) + 1
    for letter in "ab{}":
        assert sum(one.count(letter) for one in texts) == text.count(letter)


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_a_failure(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.py", "a.cpp", "a.ts"):
            put(Path(folder), name, data)
        for unit in units_of("code", Path(folder)):
            items, failures = read("code", unit)
            assert len({one.source_id for one in items}) == len(items)
            assert all(one.fault in {"binary", "charset", "generated"} for one in failures)
