"""Which sources an answer shows, and how a source is described."""
