"""The keys of an archive, and the output of libraries that could hold private text."""
