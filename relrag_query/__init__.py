"""Reads a published archive: search, ask, and the command line."""
