"""The Dagster assets, one module per layer. An asset reads, calls one function, writes and reports metadata."""
