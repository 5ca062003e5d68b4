"""Relations between records, one module per way to find them."""
