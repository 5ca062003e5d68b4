"""The people of an archive as queries see them, and questions about them."""
