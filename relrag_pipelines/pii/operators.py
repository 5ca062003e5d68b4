"""What stands in for a value, as Presidio's operators: ours beside its `redact` and `replace`.

Each is given the entity and the archive's keys as parameters. Equal values get equal replacements, so that two
syncs write the same bytes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from presidio_anonymizer.entities import InvalidParamError, OperatorConfig
from presidio_anonymizer.operators import Operator, OperatorsFactory, OperatorType

from relrag_pipelines.pii import pseudonyms
from relrag_pipelines.pii.entities import EntityType
from relrag_pipelines.privacy.keys import Keys


class _Keyed(Operator):
    """An operator of ours: what it needs, and what Presidio asks of it."""

    name = ""

    def validate(self, params: dict[str, Any] | None = None) -> None:
        """Raises InvalidParamError where entity or keys are missing."""
        if not params or not {"entity", "keys"} <= params.keys():
            raise InvalidParamError(f"{self.name} needs entity and keys")

    def operator_name(self) -> str:
        """As policies name it."""
        return self.name

    def operator_type(self) -> OperatorType:
        """It replaces."""
        return OperatorType.Anonymize


class Pseudonymize(_Keyed):
    """`<PHONE_NUMBER:k1:ab12cd34ef56>`: the keyed hash of the normalised value."""

    name = "pseudonymize"

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        """The pseudonym of the value."""
        assert params
        entity, keys = params["entity"], params["keys"]
        return pseudonyms.pseudonym(entity.name, entity.keyed_as, entity.normalise(text), keys)


class Mask(_Keyed):
    """`**** **** **** 1111`: all letters and digits as stars but the last four."""

    name = "mask"

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        """The masked value; a short one shows nothing."""
        return mask(text)


class Encrypt(_Keyed):
    """`<IBAN_CODE:k1:e4a1...>`: the value itself, which only the archive's keys read."""

    name = "encrypt"

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        """The encrypted value, the same for the same value."""
        assert params
        return pseudonyms.encrypt(params["entity"].name, text, params["keys"])


_SHOWN = 4
_LONG = 8
"""letters and digits from which on a value shows its last four"""


def mask(value: str) -> str:
    """The value with its letters and digits as stars, but for the last four digits of a long number."""
    telling = [position for position, char in enumerate(value) if char.isalnum()]
    shown = set(telling[-_SHOWN:]) if len(telling) >= _LONG and "@" not in value else set()
    return "".join("*" if char.isalnum() and position not in shown else char for position, char in enumerate(value))


def operation(config: OperatorConfig) -> Callable[[str], str]:
    """What the operator makes of a value. Raises InvalidParamError where the configuration lacks something."""
    operator = _factory().create_operator_class(config.operator_name, OperatorType.Anonymize)
    operator.validate(config.params)
    return lambda value: str(operator.operate(value, config.params))


OPERATORS = (Pseudonymize, Mask, Encrypt)
"""ours"""


@functools.cache
def _factory() -> OperatorsFactory:
    """Presidio's operators and ours."""
    factory = OperatorsFactory()  # type: ignore[no-untyped-call]
    for operator in OPERATORS:
        factory.add_anonymize_operator(operator)
    return factory


def config(action: str, entity: EntityType, keys: Keys) -> OperatorConfig:
    """The operator of an action of a policy."""
    if action in ("redact", "replace"):
        return OperatorConfig(action, {"new_value": f"<{entity.name}>"} if action == "replace" else {})
    return OperatorConfig(action, {"entity": entity, "keys": keys})
