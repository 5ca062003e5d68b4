"""How each channel is redacted by default, and the presets to start from."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

ACTIONS = {
    "pseudonymize": "`<TYPE:k1:...>`, equal values alike",
    "hash": "its old name",
    "replace": "`<TYPE>`",
    "redact": "removed",
    "mask": "stars but for the last four digits",
    "encrypt": "`<TYPE:k1:e...>`, which only the archive's keys read",
    "keep": "left as it is",
}
"""what may become of a finding"""
_KNOWN_ACTIONS = f"known: {', '.join(ACTIONS)}"


class Policy(BaseModel):
    """What is done with personal data of one channel."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    entities: list[str] = Field(description="which entities are looked for")
    action: str = Field(description="; ".join(f"{name}: {meaning}" for name, meaning in ACTIONS.items()))
    actions: dict[str, str] = Field(
        default_factory=dict, description='another action for some entities, such as `CREDIT_CARD = "mask"`'
    )

    @field_validator("action")
    @classmethod
    def _known_action(cls, action: str) -> str:
        if action not in ACTIONS:
            raise ValueError(f'is "{action}"; {_KNOWN_ACTIONS}')
        return "pseudonymize" if action == "hash" else action

    @field_validator("actions")
    @classmethod
    def _known_actions(cls, actions: dict[str, str]) -> dict[str, str]:
        if unknown := [(name, action) for name, action in actions.items() if action not in ACTIONS]:
            name, action = unknown[0]
            raise ValueError(f'has {name} = "{action}"; {_KNOWN_ACTIONS}')
        return {name: "pseudonymize" if action == "hash" else action for name, action in actions.items()}


_IDS = ["NATIONAL_ID", "IL_ID_NUMBER", "CZ_BIRTH_NUMBER", "US_SSN"]
_NUMBERS = ["PHONE_NUMBER", "EMAIL_ADDRESS", "CREDIT_CARD", "IBAN_CODE", *_IDS]
_MACHINES = ["IP_ADDRESS", "MAC_ADDRESS", "CREDENTIALS", "API_KEY"]
_EVERYDAY = [*_NUMBERS, "PASSPORT", "DRIVER_LICENSE", *_MACHINES]
POLICIES: dict[str, dict[str, Any]] = {
    "whatsapp": {
        "entities": ["PHONE_NUMBER", "EMAIL_ADDRESS", "CREDIT_CARD", "IBAN_CODE"],
        "action": "pseudonymize",
    },
    "gmail": {"entities": ["PHONE_NUMBER", "CREDIT_CARD", "IBAN_CODE", *_IDS], "action": "replace"},
    "paperless": {"entities": ["CREDIT_CARD", "IBAN_CODE"], "action": "redact"},
    "call_recording": {"entities": ["PHONE_NUMBER", "CREDIT_CARD"], "action": "replace"},
    "chat": {"entities": _EVERYDAY, "action": "pseudonymize"},
    "default": {"entities": _EVERYDAY, "action": "pseudonymize"},
}
"""Redaction by channel; the first four are the policies this project started from, `chat` is for all chats but those
of WhatsApp, `default` serves every other."""
_STRICT = [*_EVERYDAY, "BANK_ACCOUNT", "IL_COMPANY_NUMBER", "CZ_COMPANY_NUMBER", "CZ_TAX_NUMBER"]
PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "balanced": POLICIES,
    "strict": {channel: {"entities": _STRICT, "action": "pseudonymize"} for channel in POLICIES},
}
"""policies to start from; `strict` hides the same things in every channel, the addresses of mails too"""
