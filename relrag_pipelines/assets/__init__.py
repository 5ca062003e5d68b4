"""The Dagster assets, one module a layer: read, call one function, write, report metadata."""
