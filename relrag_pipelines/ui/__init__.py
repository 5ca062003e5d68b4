"""Dagster's UI behind a guard: who may log in, what a request must look like, and which endpoints are served."""
