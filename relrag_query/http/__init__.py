"""The API under /api/v1: the service's results as JSON, by the names that Python uses."""
