"""What the owner states, appended entry by entry."""
