"""The API under /api/v1: the service's results as JSON, with the field names of the Python models."""
