"""Measures answers that a small model on this machine writes, beside those without a model: `make reader`."""
