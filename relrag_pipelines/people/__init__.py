"""The people of an archive: the stages that make their tables, and the owner's own statements about them."""

VERSION = 19
"""raised when equal input gives other people; the next sync then builds them again from every month"""
