"""What the files are called in which Outlook stores mails, known without the readers of mail."""

from __future__ import annotations

SUFFIXES = (".pst", ".ost")
