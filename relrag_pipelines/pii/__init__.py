"""Finding and replacing personal data."""
