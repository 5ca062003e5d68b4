"""The functions, methods and classes of a source file, from its tree-sitter syntax tree.

A tree is made of anything: where the syntax is wrong the nodes around are still told apart. What stands inside a
function belongs to it. Names are as written; a method that is defined outside of its class (Go, C++, Rust) is one of
that class all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from relrag_pipelines.sources.code.languages import GRAMMARS, Grammar, parser

if TYPE_CHECKING:
    from tree_sitter import Node

_NAME = 200
"""longest name, characters"""
_GENERIC = re.compile(r"<[^<>]*>")
_RECEIVER = re.compile(r"([^\W\d]\w*)\s*(?:\[[^)]*\])?\s*,?\s*\)\Z")
_NAMED_BY = ("name", "property", "left", "type")
"""fields that may hold the name of a definition, or of the wrapper around it"""


@dataclass(frozen=True)
class Symbol:
    """One definition."""

    name: str
    is_class: bool
    namespaces: tuple[str, ...]
    """of the package and those in the file"""
    classes: tuple[str, ...]
    """the class and those around it; of a class itself included; empty for a function of none"""
    parent_class: str | None
    """what its class extends, as written"""
    start: int
    """bytes, with comments and decorators right above, from the beginning of the line where nothing else is on it"""
    end: int
    line: int
    """from 1"""
    last_line: int

    @property
    def scope(self) -> str:
        """Qualified name of the class, of a class its own; of a function that of the package or file."""
        return ".".join([*self.namespaces, *self.classes])

    @property
    def symbol(self) -> str:
        """Name within the package or file."""
        return ".".join(self.classes if self.is_class else [*self.classes, self.name])


@dataclass(frozen=True)
class _Scope:
    namespaces: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    parent_class: str | None = None


def symbols(source: bytes, language: str, module: str) -> tuple[list[Symbol], str]:
    """The definitions of a file in order, and its package; `module` is the package where the path names it.

    source is UTF-8, language one of GRAMMARS.
    """
    grammar = GRAMMARS[language]
    root = parser(language).parse(source).root_node
    package = module if grammar.package == "path" else _package(root, grammar)
    found: list[Symbol] = []
    waiting = [(root, _Scope((package,) if package else ()))]
    while waiting:
        node, scope = waiting.pop()
        for whole, core, start, line in _members(node, grammar):
            if core.type in grammar.functions:
                found.append(_function(whole, core, start, line, scope, source))
            elif core.type in grammar.classes:
                body = core.child_by_field_name("body") or core.child_by_field_name("type")
                if body is None and language in ("c", "cpp"):
                    continue  # only mentioned
                inner = _class_scope(whole, core, scope, grammar)
                found.append(_symbol(whole, inner.classes[-1], True, inner, start, line, source))
                if body is not None:
                    waiting.append((body, inner))
            elif core.type in grammar.namespaces:
                waiting.append((core.child_by_field_name("body") or core, _inner_scope(core, scope)))
            else:
                waiting.append((core, scope))
    return sorted(found, key=lambda one: (one.start, -one.end)), package


def _members(node: Node, grammar: Grammar) -> Iterator[tuple[Node, Node, int, int]]:
    """What of a node's children may define something: the whole, its core, where it begins with its comments."""
    wanted = grammar.functions | grammar.classes | grammar.containers | grammar.namespaces
    begin: tuple[int, int] | None = None
    row = behind = -1
    for child in node.named_children:
        if child.type in grammar.comments:
            joined = begin is not None and child.start_point.row <= row + 1
            if not joined:
                # a comment behind something else on its line belongs to that
                begin = (child.start_byte, child.start_point.row) if child.start_point.row > behind else None
            row = _last_row(child)
            continue
        core = _unwrap(child, grammar)
        if core.type in wanted or (core.type in grammar.wrappers and child.named_child_count > 1):
            joined = begin is not None and child.start_point.row <= row + 1
            start, line = begin if begin and joined else (child.start_byte, child.start_point.row)
            yield child, core, start, line + 1
        begin, behind = None, _last_row(child)


def _unwrap(node: Node, grammar: Grammar) -> Node:
    """The definition in a wrapper, if it is the only one; else the node itself."""
    while node.type in grammar.wrappers:
        inside = [one for one in node.named_children if _may_define(one, grammar)]
        if len(inside) != 1:
            return node
        node = inside[0]
    return node


def _may_define(node: Node, grammar: Grammar) -> bool:
    defining = grammar.functions | grammar.classes | grammar.wrappers | grammar.namespaces
    return node.type in defining


def _function(whole: Node, core: Node, start: int, line: int, scope: _Scope, source: bytes) -> Symbol:
    name = _name(whole, core)
    if receiver := core.child_by_field_name("receiver"):
        of = _RECEIVER.search(_text(receiver))
        scope = replace(scope, classes=(of[1],)) if of else scope
    if "::" in name and not name.startswith("operator"):
        *outside, name = name.split("::")
        scope = replace(scope, classes=(*scope.classes, *(one for one in outside if one)))
    return _symbol(whole, name, False, scope, start, line, source)


def _class_scope(whole: Node, core: Node, scope: _Scope, grammar: Grammar) -> _Scope:
    named = [core.child_by_field_name(base) for base in grammar.bases]
    named += [child for child in core.children if child.type in grammar.bases]
    bases = next((_text(base) for base in named if base is not None), "")
    bases = re.sub(r"^(?:extends\b|implements\b|:)?\s*|[()]", "", bases)
    first = re.match(r"(?:(?:public|private|protected|virtual)\s+)*([\w$.:]+)", bases)
    return _Scope(scope.namespaces, (*scope.classes, _name(whole, core)), first[1] if first else None)


def _inner_scope(core: Node, scope: _Scope) -> _Scope:
    """A namespace or module by its name; of Rust's `impl` by the type, which is the class of what it holds."""
    name = _name(core, core)
    if core.type != "impl_item":
        return replace(scope, namespaces=(*scope.namespaces, *(part for part in re.split(r"::|\.", name) if part)))
    trait = core.child_by_field_name("trait")
    return replace(scope, classes=(name.split("::")[-1],), parent_class=_text(trait) if trait else None)


def _symbol(whole: Node, name: str, is_class: bool, scope: _Scope, start: int, line: int, source: bytes) -> Symbol:
    begin, end = _to_line_ends(source, start, whole.end_byte)
    names = (scope.namespaces, scope.classes, scope.parent_class)
    return Symbol(name, is_class, *names, begin, end, line, _last_row(whole) + 1)


def _to_line_ends(source: bytes, start: int, end: int) -> tuple[int, int]:
    """The span with the white space around it on its lines, and the line end, where nothing else is on them."""
    line = source.rfind(b"\n", max(0, start - _NAME), start) + 1 or max(0, start - _NAME)
    if not source[line:start].strip() and (line == 0 or source[line - 1 : line] == b"\n"):
        start = line
    behind = source.find(b"\n", end, end + _NAME)
    behind = min(end + _NAME, len(source)) if behind < 0 else behind + 1
    if not source[end:behind].strip(b" \t\r\n;"):
        end = behind
    return start, end


def _name(whole: Node, core: Node) -> str:
    """The name of a definition as written, without type parameters."""
    node = core.child_by_field_name("name") or _declared_node(core)
    if node == core:
        fields = (around.child_by_field_name(by) for around in _wrappers_of(whole, core) for by in _NAMED_BY)
        named = next((one for one in fields if one is not None and one != core), None)
        if named is None:
            return _typedef_name(whole) or ("default" if whole.type == "export_statement" else "(anonymous)")
        node = named
    text = " ".join(_text(node).split())
    while "operator" not in text and (plain := _GENERIC.sub("", text)) != text:
        text = plain
    return text[:_NAME]


def _declared_node(core: Node) -> Node:
    """The node that a C declarator declares: in `int *f(int a)` it is `f`. Without a declarator the node itself."""
    node = core
    while (inner := node.child_by_field_name("declarator")) or (node.type == "reference_declarator" and node.children):
        node = inner or node.named_children[-1]
    return node


def _wrappers_of(whole: Node, core: Node) -> Iterator[Node]:
    """A definition and the wrappers around it, the innermost first."""
    node: Node | None = core
    while node is not None and node.start_byte >= whole.start_byte and node.end_byte <= whole.end_byte:
        yield node
        node = node.parent if node != whole else None


def _typedef_name(whole: Node) -> str:
    declarator = whole.child_by_field_name("declarator")
    return _text(declarator)[:_NAME] if declarator and whole.type == "type_definition" else ""


def _package(root: Node, grammar: Grammar) -> str:
    if grammar.package:
        for child in root.named_children:
            if child.type == grammar.package and child.named_children:
                return _text(child.named_children[-1])
    return ""


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _last_row(node: Node) -> int:
    end = node.end_point
    return end.row - 1 if end.column == 0 and end.row > node.start_point.row else end.row
