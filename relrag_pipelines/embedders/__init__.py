"""Dense vectors, one module a backend."""
