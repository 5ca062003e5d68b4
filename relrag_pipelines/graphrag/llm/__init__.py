"""Entities and relationships by a language model, where one is configured."""
