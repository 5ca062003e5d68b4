"""How well known questions are answered."""
