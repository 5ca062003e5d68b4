"""The steps of a query, each a function from hits to hits."""
