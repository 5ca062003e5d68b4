"""Check, repair and back up a home."""
