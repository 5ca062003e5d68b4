"""The changes that `make mutants` applies fit the code as it is, and each names a test that claims its requirement."""

from __future__ import annotations

import ast
import functools

import pytest

from tests import ROOT
from tests.proofs import mutants
from tests.proofs.mutants import Mutant


@functools.cache
def claims(file: str) -> dict[str, set[str]]:
    """Test -> the requirements that it is marked with."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {
        function.name: {
            argument.value
            for mark in function.decorator_list
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.requirement"
            for argument in mark.args
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        }
        for function in functions
    }


@pytest.mark.parametrize("mutant", mutants.load(), ids=lambda mutant: mutant.name)
def test_a_change_fits_and_its_test_claims_the_requirement(mutant: Mutant) -> None:
    assert mutants.changed_text(mutant, ROOT) != (ROOT / mutant.file).read_text(encoding="utf-8")
    file, _, test = mutant.test.partition("::")
    assert mutant.requirement in claims(file)[test]
