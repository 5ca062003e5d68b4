"""Finding and replacing personal data.

`PIIRedactor` is what the rest of the project uses. What is looked for stands in entities.py; one module each finds
e-mail addresses, phone numbers and numbers with a checksum. They are plain functions, quick to import and to run;
presidio.py registers them in Presidio's engine, and lends from it every kind that has no function here.
"""

from relrag_pipelines.pii.redactor import (
    Change,
    PIIEntity,
    PIIRedactor,
    PolicyError,
    RedactionError,
    apply,
    perhaps_in,
    written,
)

__all__ = [
    "VERSION",
    "Change",
    "PIIEntity",
    "PIIRedactor",
    "PolicyError",
    "RedactionError",
    "apply",
    "perhaps_in",
    "written",
]

VERSION = 4
"""raised when anything is found, replaced or normalised otherwise: every month is redacted again then"""
