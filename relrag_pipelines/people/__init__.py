"""The people of an archive: the stages that make their tables, and what the owner says of them."""

VERSION = 18
"""raised when equal input gives other people; the next sync makes them again, from every month"""
