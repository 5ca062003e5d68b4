"""A language model reads the first excerpts and answers; only statements that its quotes support are shown."""
