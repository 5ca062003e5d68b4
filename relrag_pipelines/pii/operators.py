"""Replacements of values as Presidio's operators, in addition to its `redact` and `replace`.

Each gets the entity and the archive's keys as parameters. Equal values get equal replacements, so that two
syncs write the same bytes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from presidio_anonymizer.entities import InvalidParamError, OperatorConfig
from presidio_anonymizer.operators import Operator, OperatorsFactory, OperatorType

from relrag_pipelines.pii.entities import EntityType
from relrag_pipelines.privacy import keyed_pseudonyms
from relrag_pipelines.privacy.keys import Keys


class _Keyed(Operator):
    """Base of relrag's operators, which need an entity and keys."""

    name = ""

    def validate(self, params: dict[str, Any] | None = None) -> None:
        """Raises InvalidParamError if entity or keys are missing."""
        if not params or not {"entity", "keys"} <= params.keys():
            raise InvalidParamError(f"{self.name} needs entity and keys")

    def operator_name(self) -> str:
        """The name of the action in policies."""
        return self.name

    def operator_type(self) -> OperatorType:
        """The operator anonymises."""
        return OperatorType.Anonymize


class Pseudonymize(_Keyed):
    """`<PHONE_NUMBER:k1:ab12cd34ef56>`: the keyed hash of the normalised value."""

    name = "pseudonymize"

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        """The pseudonym of the value."""
        assert params
        entity, keys = params["entity"], params["keys"]
        return keyed_pseudonyms.pseudonym(entity.name, entity.keyed_as, entity.normalise(text), keys)


class Mask(_Keyed):
    """`**** **** **** 1111`: all letters and digits except the last four as stars."""

    name = "mask"

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        """The masked value; a short one shows nothing."""
        return mask(text)


class Encrypt(_Keyed):
    """`<IBAN_CODE:k1:e4a1...>`: the encrypted value, which only the archive's keys decrypt."""

    name = "encrypt"

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        """The encrypted value, the same for the same value."""
        assert params
        return keyed_pseudonyms.encrypt(params["entity"].name, text, params["keys"])


_SHOWN_CHARS = 4
_MIN_SHOWN_LENGTH = 8
"""number of letters and digits from which a value shows its last four"""


def mask(value: str) -> str:
    """The value with letters and digits as stars; a long value without @ keeps its last four."""
    positions = [position for position, char in enumerate(value) if char.isalnum()]
    shown = set(positions[-_SHOWN_CHARS:]) if len(positions) >= _MIN_SHOWN_LENGTH and "@" not in value else set()
    return "".join("*" if char.isalnum() and position not in shown else char for position, char in enumerate(value))


def operation(config: OperatorConfig) -> Callable[[str], str]:
    """The operator of a configuration as a function. Raises InvalidParamError if a parameter is missing."""
    operator = _factory().create_operator_class(config.operator_name, OperatorType.Anonymize)
    operator.validate(config.params)
    return lambda value: str(operator.operate(value, config.params))


OPERATORS = (Pseudonymize, Mask, Encrypt)
"""relrag's operators"""


@functools.cache
def _factory() -> OperatorsFactory:
    """Presidio's operators and relrag's."""
    factory = OperatorsFactory()  # type: ignore[no-untyped-call]
    for operator in OPERATORS:
        factory.add_anonymize_operator(operator)
    return factory


def config(action: str, entity: EntityType, keys: Keys) -> OperatorConfig:
    """The operator configuration of a policy's action."""
    if action in ("redact", "replace"):
        return OperatorConfig(action, {"new_value": f"<{entity.name}>"} if action == "replace" else {})
    return OperatorConfig(action, {"entity": entity, "keys": keys})
