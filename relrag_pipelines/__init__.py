"""Turns exports into the lake and a published index. See ARCHITECTURE.md."""
