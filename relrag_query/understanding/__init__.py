"""Reads a question: intent, channels, time."""
