"""The keys of an archive, and protection against private text in errors and in the output of libraries."""
