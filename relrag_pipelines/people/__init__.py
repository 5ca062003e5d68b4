"""The people of an archive: the stages that make their tables, and what the owner says of them."""
