"""Identities of people across channels, and the statements about them."""
