"""Further processes: a pool for computation, and a sandbox for libraries that parse files."""
