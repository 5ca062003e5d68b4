"""Language of a text, its tokens, and reference numbers in it."""
