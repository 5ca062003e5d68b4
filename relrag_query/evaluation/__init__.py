"""Measures answers to labelled questions."""
