"""The stages of a month, and the plan of what is stale."""
