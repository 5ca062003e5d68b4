"""The owner's statements: one journal, to which entries are only added."""
