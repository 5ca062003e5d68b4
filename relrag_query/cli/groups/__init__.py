"""The commands with their options; what they do is in `commands`."""
