"""Programming languages: their file names, and which syntax nodes are functions, classes and comments.

The grammars are tree-sitter's, one wheel a language; a language without one is read as lines.
"""

from __future__ import annotations

import functools
import importlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Parser

_CONDITIONS = frozenset(
    {
        *("if_statement", "else_clause", "elif_clause", "try_statement", "except_clause", "finally_clause"),
        *("with_statement", "block"),
    }
)
_PREPROCESSOR = frozenset({"preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif"})
_C_CLASSES = frozenset({"struct_specifier", "union_specifier", "enum_specifier"})
_SCRIPT_CLASSES = frozenset({"class_declaration", "class"})
_SCRIPT_FUNCTIONS = frozenset(
    {
        *("function_declaration", "generator_function_declaration", "method_definition"),
        *("function_expression", "arrow_function"),
    }
)
_TYPED_CLASSES = frozenset(
    {
        "abstract_class_declaration",
        "interface_declaration",
        "enum_declaration",
    }
)


@dataclass(frozen=True)
class Grammar:
    """Node types of one language, as its tree-sitter grammar names them."""

    module: str
    """the wheel's module"""
    functions: frozenset[str]
    classes: frozenset[str]
    comments: frozenset[str] = frozenset({"comment"})
    """nodes that belong to the definition right below them: comments, attributes"""
    wrappers: frozenset[str] = frozenset()
    """nodes that enclose a definition with more that belongs to it: decorators, `export`, `template<...>`"""
    containers: frozenset[str] = frozenset()
    """nodes whose definitions count as if outside: conditions, preprocessor blocks"""
    namespaces: frozenset[str] = frozenset()
    """like containers, but their name becomes part of the names inside"""
    bases: tuple[str, ...] = ()
    """fields or child types that name the class that a class extends"""
    package: str = ""
    """node type of the clause that names the package; `path`: the file's path names it"""
    function: str = "language"
    """the module's function that returns the grammar"""


_JAVASCRIPT = Grammar(
    "tree_sitter_javascript",
    _SCRIPT_FUNCTIONS,
    _SCRIPT_CLASSES,
    wrappers=frozenset({"export_statement", "lexical_declaration", "variable_declaration", "expression_statement"})
    | {"variable_declarator", "assignment_expression", "field_definition"},
    bases=("class_heritage",),
    package="path",
)


def _typescript(function: str) -> Grammar:
    return Grammar(
        "tree_sitter_typescript",
        _SCRIPT_FUNCTIONS,
        _SCRIPT_CLASSES | _TYPED_CLASSES,
        wrappers=_JAVASCRIPT.wrappers - {"field_definition"} | {"public_field_definition", "ambient_declaration"},
        comments=frozenset({"comment", "decorator"}),
        namespaces=frozenset({"internal_module", "module"}),
        bases=("class_heritage", "extends_type_clause"),
        package="path",
        function=function,
    )


GRAMMARS = {
    "python": Grammar(
        "tree_sitter_python",
        frozenset({"function_definition"}),
        frozenset({"class_definition"}),
        wrappers=frozenset({"decorated_definition"}),
        containers=_CONDITIONS,
        bases=("superclasses",),
        package="path",
    ),
    "javascript": _JAVASCRIPT,
    "typescript": _typescript("language_typescript"),
    "tsx": _typescript("language_tsx"),
    "java": Grammar(
        "tree_sitter_java",
        frozenset(
            {
                "method_declaration",
                "constructor_declaration",
                "compact_constructor_declaration",
            }
        ),
        frozenset(
            {
                "class_declaration",
                "interface_declaration",
                "enum_declaration",
                "record_declaration",
            }
        )
        | {"annotation_type_declaration"},
        comments=frozenset({"line_comment", "block_comment"}),
        containers=frozenset({"enum_body_declarations"}),
        bases=("superclass", "extends_interfaces"),
        package="package_declaration",
    ),
    "go": Grammar(
        "tree_sitter_go",
        frozenset({"function_declaration", "method_declaration"}),
        frozenset({"type_spec"}),
        wrappers=frozenset({"type_declaration"}),
        package="package_clause",
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        frozenset({"function_item", "macro_definition"}),
        frozenset({"struct_item", "enum_item", "trait_item", "union_item"}),
        comments=frozenset({"line_comment", "block_comment", "attribute_item"}),
        namespaces=frozenset({"mod_item", "impl_item"}),
        bases=("bounds",),
        package="path",
    ),
    "c": Grammar(
        "tree_sitter_c",
        frozenset({"function_definition"}),
        _C_CLASSES,
        wrappers=frozenset({"type_definition"}),
        containers=_PREPROCESSOR | {"linkage_specification", "declaration_list"},
    ),
    "cpp": Grammar(
        "tree_sitter_cpp",
        frozenset({"function_definition"}),
        _C_CLASSES | {"class_specifier"},
        wrappers=frozenset({"type_definition", "template_declaration"}),
        containers=_PREPROCESSOR | {"linkage_specification", "declaration_list"},
        namespaces=frozenset({"namespace_definition"}),
        bases=("base_class_clause",),
    ),
}
"""language -> its grammar"""

_SUFFIXES = {
    "python": ".py .pyi .pyw",
    "javascript": ".js .jsx .mjs .cjs",
    "typescript": ".ts .mts .cts",
    "tsx": ".tsx",
    "java": ".java",
    "go": ".go",
    "rust": ".rs",
    "c": ".c .h",
    "cpp": ".cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .ipp .tpp",
    "assembly": ".s .asm",
    "clojure": ".clj .cljs .cljc",
    "csharp": ".cs",
    "css": ".css .scss .sass .less",
    "cuda": ".cu .cuh",
    "dart": ".dart",
    "elixir": ".ex .exs",
    "erlang": ".erl .hrl",
    "fsharp": ".fs .fsx",
    "fortran": ".f .f90 .f95 .f03",
    "graphql": ".graphql .gql",
    "groovy": ".groovy .gradle",
    "haskell": ".hs",
    "julia": ".jl",
    "kotlin": ".kt .kts",
    "lisp": ".lisp .el .scm .rkt",
    "lua": ".lua",
    "make": ".mk .cmake",
    "matlab": ".m",
    "nix": ".nix",
    "objective-cpp": ".mm",
    "ocaml": ".ml .mli",
    "pascal": ".pas",
    "perl": ".pl .pm",
    "php": ".php",
    "powershell": ".ps1 .psm1",
    "protobuf": ".proto",
    "r": ".r",
    "ruby": ".rb .rake",
    "scala": ".scala .sc",
    "shell": ".sh .bash .zsh .fish",
    "sql": ".sql",
    "svelte": ".svelte",
    "swift": ".swift",
    "terraform": ".tf",
    "vue": ".vue",
    "zig": ".zig",
}
_LANGUAGE_BY_SUFFIX = {suffix: language for language, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_LANGUAGE_BY_NAME = {"makefile": "make", "gnumakefile": "make", "cmakelists.txt": "make", "dockerfile": "docker"}
_CPP = re.compile(rb"^\s*(?:class|namespace|template|using|public:|private:|protected:)\b|std::", re.MULTILINE)


def language_of(name: str, head: bytes = b"") -> str | None:
    """The language of a file by its name; None for other files. A .h is C++ if its head looks like it."""
    lower = name.lower()
    dot = lower.rfind(".")
    language = _LANGUAGE_BY_NAME.get(lower) or (_LANGUAGE_BY_SUFFIX.get(lower[dot:]) if dot > 0 else None)
    return "cpp" if lower.endswith(".h") and _CPP.search(head) else language


@functools.cache
def parser(language: str) -> Parser:
    """The parser of a language of GRAMMARS, loaded on first use."""
    from tree_sitter import Language, Parser

    grammar = GRAMMARS[language]
    return Parser(Language(getattr(importlib.import_module(grammar.module), grammar.function)()))
