"""The functions, methods and classes of a source file, from its tree-sitter syntax tree.

Any input gives a tree: around a syntax error the other nodes are still recognised. Definitions inside a function are
part of that function. Names are as written. A method that is defined outside its class (Go, C++, Rust) still belongs
to that class.
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
    """those of the package and those in the file"""
    classes: tuple[str, ...]
    """enclosing classes, outermost first, a class's own name included; empty for a function outside classes"""
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
        """Qualified name of the class (for a class, its own), or of the package or file of other functions."""
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
    """The definitions of a file in order, and its package.

    `source` is UTF-8, `language` one of GRAMMARS, `module` the package for languages where the path names it.
    """
    grammar = GRAMMARS[language]
    root = parser(language).parse(source).root_node
    package = module if grammar.package == "path" else _package(root, grammar)
    definitions: list[Symbol] = []
    pending = [(root, _Scope((package,) if package else ()))]
    while pending:
        node, scope = pending.pop()
        for wrapper, core, start, line in _members(node, grammar):
            if core.type in grammar.functions:
                definitions.append(_function(wrapper, core, start, line, scope, source))
            elif core.type in grammar.classes:
                body = core.child_by_field_name("body") or core.child_by_field_name("type")
                if body is None and language in ("c", "cpp"):
                    continue  # only mentioned
                inner = _class_scope(wrapper, core, scope, grammar)
                definitions.append(_symbol(wrapper, inner.classes[-1], True, inner, start, line, source))
                if body is not None:
                    pending.append((body, inner))
            elif core.type in grammar.namespaces:
                pending.append((core.child_by_field_name("body") or core, _inner_scope(core, scope)))
            else:
                pending.append((core, scope))
    return sorted(definitions, key=lambda symbol: (symbol.start, -symbol.end)), package


def _members(node: Node, grammar: Grammar) -> Iterator[tuple[Node, Node, int, int]]:
    """Yields (node, definition within, start byte, line) of children that may define something; comments included."""
    defining_types = grammar.functions | grammar.classes | grammar.containers | grammar.namespaces
    begin: tuple[int, int] | None = None
    row = previous_row = -1
    for child in node.named_children:
        if child.type in grammar.comments:
            joined = begin is not None and child.start_point.row <= row + 1
            if not joined:
                # a comment after other code on its line belongs to that code
                begin = (child.start_byte, child.start_point.row) if child.start_point.row > previous_row else None
            row = _last_row(child)
            continue
        core = _unwrap(child, grammar)
        if core.type in defining_types or (core.type in grammar.wrappers and child.named_child_count > 1):
            joined = begin is not None and child.start_point.row <= row + 1
            start, line = begin if begin and joined else (child.start_byte, child.start_point.row)
            yield child, core, start, line + 1
        begin, previous_row = None, _last_row(child)


def _unwrap(node: Node, grammar: Grammar) -> Node:
    """The definition in a wrapper that encloses only one; else the node itself."""
    while node.type in grammar.wrappers:
        candidates = [child for child in node.named_children if _may_define(child, grammar)]
        if len(candidates) != 1:
            return node
        node = candidates[0]
    return node


def _may_define(node: Node, grammar: Grammar) -> bool:
    defining = grammar.functions | grammar.classes | grammar.wrappers | grammar.namespaces
    return node.type in defining


def _function(wrapper: Node, core: Node, start: int, line: int, scope: _Scope, source: bytes) -> Symbol:
    name = _name(wrapper, core)
    if receiver := core.child_by_field_name("receiver"):
        receiver_type = _RECEIVER.search(_text(receiver))
        scope = replace(scope, classes=(receiver_type[1],)) if receiver_type else scope
    if "::" in name and not name.startswith("operator"):
        *qualifiers, name = name.split("::")
        scope = replace(scope, classes=(*scope.classes, *(part for part in qualifiers if part)))
    return _symbol(wrapper, name, False, scope, start, line, source)


def _class_scope(wrapper: Node, core: Node, scope: _Scope, grammar: Grammar) -> _Scope:
    base_nodes = [core.child_by_field_name(base) for base in grammar.bases]
    base_nodes += [child for child in core.children if child.type in grammar.bases]
    bases = next((_text(base) for base in base_nodes if base is not None), "")
    bases = re.sub(r"^(?:extends\b|implements\b|:)?\s*|[()]", "", bases)
    first = re.match(r"(?:(?:public|private|protected|virtual)\s+)*([\w$.:]+)", bases)
    return _Scope(scope.namespaces, (*scope.classes, _name(wrapper, core)), first[1] if first else None)


def _inner_scope(core: Node, scope: _Scope) -> _Scope:
    """The scope inside a namespace or module, or inside a Rust `impl`, whose type is the class of its functions."""
    name = _name(core, core)
    if core.type != "impl_item":
        return replace(scope, namespaces=(*scope.namespaces, *(part for part in re.split(r"::|\.", name) if part)))
    trait = core.child_by_field_name("trait")
    return replace(scope, classes=(name.split("::")[-1],), parent_class=_text(trait) if trait else None)


def _symbol(wrapper: Node, name: str, is_class: bool, scope: _Scope, start: int, line: int, source: bytes) -> Symbol:
    begin, end = _to_line_ends(source, start, wrapper.end_byte)
    names = (scope.namespaces, scope.classes, scope.parent_class)
    return Symbol(name, is_class, *names, begin, end, line, _last_row(wrapper) + 1)


def _to_line_ends(source: bytes, start: int, end: int) -> tuple[int, int]:
    """Widens the span to whole lines where only white space surrounds it on them."""
    line = source.rfind(b"\n", max(0, start - _NAME), start) + 1 or max(0, start - _NAME)
    if not source[line:start].strip() and (line == 0 or source[line - 1 : line] == b"\n"):
        start = line
    line_end = source.find(b"\n", end, end + _NAME)
    line_end = min(end + _NAME, len(source)) if line_end < 0 else line_end + 1
    if not source[end:line_end].strip(b" \t\r\n;"):
        end = line_end
    return start, end


def _name(wrapper: Node, core: Node) -> str:
    """The name of a definition as written, without type parameters."""
    node = core.child_by_field_name("name") or _declared_node(core)
    if node == core:
        name_node = _name_in_wrappers(wrapper, core)
        if name_node is None:
            return _typedef_name(wrapper) or ("default" if wrapper.type == "export_statement" else "(anonymous)")
        node = name_node
    text = " ".join(_text(node).split())
    while "operator" not in text and (shorter := _GENERIC.sub("", text)) != text:
        text = shorter
    return text[:_NAME]


def _name_in_wrappers(wrapper: Node, core: Node) -> Node | None:
    """The field that names a definition, from its own node outwards to the wrapper."""
    for node in _wrappers_of(wrapper, core):
        for field in _NAMED_BY:
            name_node = node.child_by_field_name(field)
            if name_node is not None and name_node != core:
                return name_node
    return None


def _declared_node(core: Node) -> Node:
    """The node that a C declarator declares: in `int *f(int a)` it is `f`. Without a declarator the node itself."""
    node = core
    while (inner := node.child_by_field_name("declarator")) or (node.type == "reference_declarator" and node.children):
        node = inner or node.named_children[-1]
    return node


def _wrappers_of(wrapper: Node, core: Node) -> Iterator[Node]:
    """A definition and the wrappers around it, the innermost first."""
    node: Node | None = core
    while node is not None and node.start_byte >= wrapper.start_byte and node.end_byte <= wrapper.end_byte:
        yield node
        node = node.parent if node != wrapper else None


def _typedef_name(wrapper: Node) -> str:
    declarator = wrapper.child_by_field_name("declarator")
    return _text(declarator)[:_NAME] if declarator and wrapper.type == "type_definition" else ""


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
