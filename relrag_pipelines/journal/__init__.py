"""What the owner states, appended entry by entry to one journal."""
