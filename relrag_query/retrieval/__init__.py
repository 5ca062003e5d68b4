"""From a question to hits, step by step."""
