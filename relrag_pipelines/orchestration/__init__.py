"""Syncs run by Dagster in this process, and runs that their process left behind."""
