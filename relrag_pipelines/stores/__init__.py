"""Everything that reads and writes the files and databases of a home."""
