"""The owner's statements: an append-only journal."""
